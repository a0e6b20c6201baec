// Calendars: days and hours on which jobs do not run.
import { all, ask } from "../api.js";
import { dialog, ends } from "../dialog.js";
import { h } from "../dom.js";
import { inNamespace, namespace } from "../facts.js";
import { field } from "../form.js";
import { page, start, tools } from "../frame.js";
import { keep, Kept } from "../poll.js";
import { mayAll } from "../rights.js";
import { by, table } from "../table.js";
import { badge, button, empty, note } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../types/api").CalendarInfo} CalendarInfo */
/** @typedef {import("../types/api").CalendarPlan} CalendarPlan */

const looked = 30;
const found = new Kept(/** @type {{rows: CalendarInfo[], more: boolean}} */ ({ rows: [], more: false }), read, () => again());
/** What they leave out next, by name and version. @type {Map<string, CalendarPlan>} */
const plans = new Map();
/** @type {import("../table.js").Order} */
let order = { by: "name", down: false };
let again = () => {};

/** @param {CalendarInfo} c */
const keyOf = (c) => c.name + " " + c.version;

async function read() {
  const now = await all("GET /namespaces/{namespace}/calendars", { namespace }, 1000);
  void look(now.rows);
  return now;
}

/** Asks what the first calendars leave out, one after the other. @param {CalendarInfo[]} rows */
async function look(rows) {
  for (const c of rows.slice(0, looked)) {
    if (c.error || plans.has(keyOf(c))) continue;
    const plan = await ask("GET /namespaces/{namespace}/calendars/{calendar}/plan", { namespace, calendar: c.name, days: 366 }).catch(() => undefined); // the list says enough without it
    if (plan) plans.set(keyOf(c), plan);
    again();
  }
}

async function add() {
  let name = "";
  const href = await dialog(w("calendars.add"), (/** @type {(href?: string) => void} */ done, draw) => {
    const isTaken = found.now.rows.some((c) => c.name === name);
    return h("form", {
      method: "dialog", onsubmit: (/** @type {Event} */ e) => {
        e.preventDefault();
        if (name && !isTaken) done(inNamespace(["calendars", name], { new: "1" }));
      },
    }, field({
      id: "name", label: w("calendars.name"), value: name, autofocus: true, required: true, hint: w("calendars.nameHint"), error: isTaken ? w("calendars.taken") : undefined,
      change: (v) => {
        name = v.trim();
        draw();
      },
    }), ends(() => done(), h("button", { type: "submit", class: "first" }, w("calendars.goOn"))));
  });
  if (href) location.assign(href);
}

void start(read, (first) => {
  found.now = first;
  again = page(view);
  keep(found.load, 8);
});

function view() {
  const { rows, more } = found.now;
  const adds = mayAll("admin") ? button(w("calendars.add"), add, { kind: "first" }) : null;
  tools(rows.length ? adds : null); // without any it stands where they would
  return [
    h("div", { class: "block" },
      h("p", { class: "hint" }, w("calendars.what")),
      table({
        label: w("title.calendars"), rows, key: (c) => c.name, order, turn: (o) => {
          order = o;
          again();
        },
        empty: empty(w("calendars.none"), adds ?? w("calendars.ask")),
        columns: [
          { name: "name", text: w("calendars.name"), cell: (c) => h("a", { href: inNamespace(["calendars", c.name]) }, c.name), sort: by((c) => c.name) },
          { name: "state", text: w("calendars.state"), cell: (c) => (c.error ? badge("bad", w("calendars.bad"), c.error) : badge("good", w("calendars.good"))), sort: by((c) => (c.error ? 0 : 1)) },
          { name: "next", text: w("calendars.next"), cell: next },
          { name: "zone", text: w("calendars.zone"), cell: (c) => plans.get(keyOf(c))?.timeZone ?? "" },
        ],
      }),
      more ? note("info", w("calendars.first")) : null),
  ];
}

/** What a calendar leaves out next, by its own clock. @param {CalendarInfo} c */
function next(c) {
  if (c.error) return h("span", { class: "detail" }, c.error);
  const plan = plans.get(keyOf(c));
  if (!plan) return "";
  const now = Date.now();
  const span = plan.rows.find((s) => Date.parse(s.to) > now);
  if (!span) return w("calendars.nothing");
  const text = spanText(span.from, span.to);
  return Date.parse(span.from) <= now ? h("span", { class: "num" }, text, " ", badge("warn", w("calendars.now"))) : h("span", { class: "num" }, text);
}

/**
 * Whole days by the last one that is left out, others by their times.
 * @param {string} from
 * @param {string} to
 */
function spanText(from, to) {
  const [first, begin, end] = [from.slice(0, 10), from.slice(11, 16), to.slice(11, 16)];
  if (begin === "00:00" && end === "00:00") {
    const last = new Date(Date.parse(to.slice(0, 10)) - 86400e3).toISOString().slice(0, 10);
    return first === last ? first : `${first} – ${last}`;
  }
  return first === to.slice(0, 10) ? `${first} ${begin}–${end}` : `${first} ${begin} – ${to.slice(0, 10)} ${end}`;
}
