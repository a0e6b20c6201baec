// What all pages have in common: navigation, head, notices, and how a page begins.
import { once } from "./api.js";
import { draw, drawing, h } from "./dom.js";
import { facts, job } from "./facts.js";
import { onStanding, standingOf } from "./hosttime.js";
import "./palette.js";
import { offset, useZone, zoneNow } from "./time.js";
import { blindNote, problem, standingBadge } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./dom.js").View} View */

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * Begins a page: view returns what it shows, from its state; the function that is returned draws it again. How it stands with
 * that is said above it.
 * @param {() => View} view
 */
export function page(view) {
  const root = element("page");
  const whole = () => /** @type {View} */ ([blindNote(standingOf()), view()]);
  const again = drawing(root, whole);
  const stands = () => {
    const standing = standingOf();
    draw(element("live"), standing ? standingBadge(standing) : null);
    again();
  };
  onStanding(stands);
  stands();
  draw(root, whole());
  if (facts.user) draw(element("zone-now"), h("span", { title: offset(Date.now()) }, w("frame.times", { zone: zoneNow() })));
  root.removeAttribute("aria-busy");
  return again;
}

/**
 * Loads what a page cannot be without, and begins it; if that fails, shows why, and tries again when asked.
 * @template T
 * @param {() => Promise<T>} load
 * @param {(loaded: T) => void} begin
 */
export async function start(load, begin) {
  try {
    const [loaded] = await Promise.all([load(), tellZoneOf(job)]);
    begin(loaded);
  } catch (e) {
    console.info("the page cannot begin:", e);
    page(() => problem(e, () => location.reload()));
  }
}

/** Tells times in the zone of a job, if the user wants that. @param {string} of empty: the page is about none */
export async function tellZoneOf(of) {
  if (facts.zone !== "job" || !of) return;
  const view = await once("GET /namespaces/{namespace}/jobs/{job}", { namespace: facts.params.namespace, job: of }).catch(() => undefined);
  useZone(view?.value.info.timeZone);
}

/** Draws actions beside the heading. @param {...View} view */
export function tools(...view) {
  draw(element("tools"), ...view);
}

/** The way to a page from above. @param {[string, string][]} way texts and addresses */
export function crumbs(...way) {
  draw(element("crumbs"), h("nav", { class: "crumbs", "aria-label": w("frame.way") }, way.map(([text, href]) => [h("a", { href }, text), h("span", { "aria-hidden": "true" }, "/")])));
}

/** Another heading than the one that the server has written. @param {string} text */
export function heading(text) {
  element("heading").textContent = text;
  document.title = text + (facts.params.namespace ? " · " + facts.params.namespace : "") + " · ElasticJob";
}

/** @type {{id: number, kind: string, content: View}[]} */
let told = [];
let count = 0;

/**
 * Tells what has happened, for a while; what is bad stays until it is closed.
 * @param {"good" | "warn" | "bad"} kind
 * @param {...View} content
 */
export function tell(kind, ...content) {
  const id = ++count;
  const close = () => {
    told = told.filter((t) => t.id !== id);
    show();
  };
  told = [...told.slice(-3), { id, kind, content: [h("div", null, ...content), h("button", { class: "quiet", "aria-label": w("ui.close"), onclick: close }, "×")] }];
  show();
  if (kind === "good") setTimeout(close, 12000);
}

function show() {
  draw(element("notices"), told.map((t) => h("div", { class: "note " + t.kind, key: t.id }, t.content)));
}

/**
 * Keeps a choice in a cookie. A browser may store what is written after it has asked for the next page; what is read
 * back is stored.
 * @param {string} name @param {string} value
 */
function remember(name, value) {
  const path = new URL(facts.root, location.href).pathname;
  document.cookie = `elasticjob-${name}=${value}; path=${path}; max-age=31536000; samesite=lax`;
  void document.cookie;
}

/** @param {string} id @param {(value: string) => void} act */
function onChoice(id, act) {
  const select = /** @type {HTMLSelectElement | null} */ (document.getElementById(id));
  select?.addEventListener("change", () => act(select.value));
}

onChoice("namespace", (href) => location.assign(href));
// Who comes back finds what he has chosen as he left: but he is in the namespace of the page.
addEventListener("pageshow", () => {
  const spaces = /** @type {HTMLSelectElement | null} */ (document.getElementById("namespace"));
  if (spaces) spaces.selectedIndex = Math.max(0, [...spaces.options].findIndex((o) => o.defaultSelected));
});
for (const name of ["language", "zone"]) {
  onChoice(name, (value) => {
    remember(name, value);
    location.reload();
  });
}
onChoice("theme", (theme) => {
  remember("theme", theme);
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
});
document.getElementById("logout")?.addEventListener("click", async () => {
  const out = await once("POST /logout", {}).catch(() => undefined); // who is logged out already comes to the log-in, too
  location.assign(out?.value.providerURL ?? facts.root);
});
// A wide window shows the navigation; a narrow one behind a button.
const navigation = /** @type {HTMLDetailsElement | null} */ (document.getElementById("menu"));
const wide = matchMedia("(min-width: 56rem)");
const fold = () => navigation && (navigation.open = wide.matches);
wide.addEventListener("change", fold);
fold();
