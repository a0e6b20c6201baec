// The command palette, and the keys that work everywhere: jobs, pages, and the actions of the page that is open, by their names.
import { ask } from "./api.js";
import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { facts, inNamespace, namespace } from "./facts.js";
import { pairs } from "./ui.js";
import { w } from "./words.js";

/** @typedef {{text: string, kind: string, act: () => void}} Entry */

const maxNamespaces = 5; // whose jobs are searched: that of the page first
const maxJobs = 8; // of each of them

/** @param {string} selector @returns {HTMLElement[]} */
const every = (selector) => [...document.querySelectorAll(selector)].map((el) => /** @type {HTMLElement} */ (el));

/** What the page has now: actions beside its heading, and where its navigation leads. @returns {Entry[]} */
function ofPage() {
  const entry = (/** @type {string} */ kind) => (/** @type {HTMLElement} */ el) => ({ text: el.textContent?.trim() ?? "", kind, act: () => el.click() });
  const spaces = every("#namespace option:not(:checked)").map((el) => /** @type {HTMLOptionElement} */ (el));
  return [
    ...every("#tools a, #tools button:not(:disabled)").map(entry(w("palette.action"))),
    ...every(".side nav a").map(entry(w("palette.page"))),
    ...spaces.map((o) => ({ text: o.text, kind: w("palette.namespace"), act: () => location.assign(o.value) })),
  ];
}

/** Jobs of a namespace; none if it cannot tell. @param {string} search @param {string} of @returns {Promise<Entry[]>} */
async function jobsOf(search, of) {
  try {
    const { rows } = await ask("GET /namespaces/{namespace}/jobs", { namespace: of, search, limit: maxJobs });
    return rows.map((j) => ({ text: j.name, kind: w("palette.job", { namespace: of }), act: () => location.assign(inNamespace(["jobs", j.name], {}, of)) }));
  } catch (e) {
    console.info("jobs were not found:", e);
    return [];
  }
}

async function open() {
  const all = ofPage();
  const spaces = [namespace, ...Object.keys(facts.databases ?? {}).filter((n) => n !== namespace)].filter(Boolean).slice(0, maxNamespaces);
  let text = "";
  let at = 0;
  /** @type {Map<string, Entry[]>} */
  let jobs = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  const chosen = await dialog(w("palette.title"), (/** @type {(entry?: Entry) => void} */ done, again) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = [...all.filter((e) => words.every((word) => e.text.toLowerCase().includes(word))), ...spaces.flatMap((n) => jobs.get(n) ?? [])];
    at = Math.min(at, Math.max(hits.length - 1, 0));
    const find = (/** @type {string} */ search) => spaces.forEach(async (n) => {
      const found = await jobsOf(search, n);
      if (search !== text.trim()) return;
      jobs.set(n, found);
      again();
    });
    const type = (/** @type {Event} */ e) => {
      [text, at, jobs] = [/** @type {HTMLInputElement} */ (e.target).value, 0, new Map()];
      clearTimeout(typing);
      if (text.trim()) typing = setTimeout(find, 150, text.trim());
      again();
    };
    const press = (/** @type {KeyboardEvent} */ e) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (step && hits.length) at = (at + step + hits.length) % hits.length;
      else if (e.key === "Enter") addEventListener("keyup", () => done(hits[at]), { once: true }); // a key that is held must not answer what the action asks
      else return;
      e.preventDefault();
      again();
      requestAnimationFrame(() => document.getElementById("palette-" + at)?.scrollIntoView({ block: "nearest" }));
    };
    return h("div", { class: "palette" },
      h("input", {
        type: "text", role: "combobox", "aria-label": w("palette.hint"), placeholder: w("palette.hint"), "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list",
        "aria-activedescendant": hits.length ? "palette-" + at : null, autocomplete: "off", spellcheck: "false", autofocus: true, value: text, oninput: type, onkeydown: press,
      }),
      h("div", { role: "listbox", id: "palette-list", "aria-label": w("palette.title") }, hits.map((e, i) => h("div", { role: "option", id: "palette-" + i, "aria-selected": String(i === at), onclick: () => done(e) },
        h("span", null, e.text), h("span", { class: "soft" }, e.kind)))),
      h("p", { class: "hint", role: "status" }, hits.length ? w("palette.count", { n: hits.length }) : w("palette.none")));
  });
  chosen?.act();
}

const keys = () => dialog(w("palette.keys"), (done) => [
  pairs([["Ctrl K", w("palette.title")], ["/", w("palette.toSearch")], ["↑ ↓", w("palette.rows")], ["Esc", w("palette.leave")], ["?", w("palette.keys")]]),
  h("div", { class: "ends" }, h("button", { type: "button", autofocus: true, onclick: () => done() }, w("ui.close"))),
]);

/** @param {KeyboardEvent} e */
function press(e) {
  const isPalette = (e.ctrlKey || e.metaKey) && !e.altKey && e.key.toLowerCase() === "k";
  const isTyping = /** @type {Element} */ (e.target).closest?.("input, textarea, select, [contenteditable]");
  if (document.querySelector("dialog[open]") || (!isPalette && (isTyping || e.ctrlKey || e.metaKey || e.altKey))) return;
  const search = document.getElementById("search");
  const act = isPalette ? open : e.key === "?" ? keys : e.key !== "/" ? undefined : search ? () => search.focus() : open;
  if (!act) return;
  e.preventDefault();
  void act();
}

if (facts.user) {
  document.addEventListener("keydown", press);
  document.getElementById("palette")?.addEventListener("click", open);
}
