// One calendar: what it leaves out of a month, which jobs use it, and its document.
import { answer, ask, Problem } from "../api.js";
import { jobList, removeCalendar, saveCalendar } from "../calendar-changes.js";
import { diffView } from "../diff-view.js";
import { h } from "../dom.js";
import { facts, inNamespace, namespace } from "../facts.js";
import { area } from "../form.js";
import { crumbs, heading, page, start, tell, tools } from "../frame.js";
import { daysOf, monthOf, monthView } from "../month.js";
import { keep } from "../poll.js";
import { query, setQuery } from "../query.js";
import { mayAll } from "../rights.js";
import { button, empty, note, refusal, section } from "../ui.js";
import { w } from "../words.js";

/** @typedef {{detail: import("../types/api").CalendarDetail, etag: string}} Stored etag is empty for one that is not there yet */

const calendar = facts.params.calendar ?? "";
const isFixed = !mayAll("admin");
const example = "timeZone: " + Intl.DateTimeFormat().resolvedOptions().timeZone + "\nweekly:\n  - SAT,SUN\ndates:\n  - 12-25\n";

const syntax = [
  ["timeZone: Europe/Berlin", w("calendar.helpZone")],
  ["dates: [2026-12-24..2026-12-31, 05-01]", w("calendar.helpDates")],
  ['weekly: ["SAT,SUN", "MON-FRI 18:00-08:00"]', w("calendar.helpWeekly")],
  ['only: ["MON-FRI 08:00-18:00"]', w("calendar.helpOnly")],
  ["icalendar: |", w("calendar.helpICalendar")],
];

/** @type {Stored} */
let stored;
/** What somebody else has saved while this was edited. @type {Stored | undefined} */
let theirs;
let text = "";
let month = /^[1-9]\d{3}-(0[1-9]|1[0-2])$/.test(query().month ?? "") ? query().month : monthOf();
/** @type {import("../types/api").CalendarPlan | undefined} */
let plan;
/** @type {string | undefined} */
let wrong;
/** Why the text could not be checked, or saved. @type {unknown} */
let refused;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let asked = 0;
let again = () => {};

crumbs([namespace, inNamespace([])], [w("nav.calendars"), inNamespace(["calendars"])]);
heading(calendar);

/** @returns {Promise<Stored>} */
async function read() {
  try {
    const { value, etag } = await answer("GET /namespaces/{namespace}/calendars/{calendar}", { namespace, calendar });
    return { detail: value, etag };
  } catch (e) {
    const isNew = query().new && !isFixed && e instanceof Problem && e.status === 404;
    if (!isNew) throw e;
    return { detail: { name: calendar, version: 0, document: "", jobs: [] }, etag: "" };
  }
}

const isDirty = () => text !== stored.detail.document;

/** Asks what the text leaves out of the month. */
async function look() {
  const mine = ++asked;
  const params = { namespace, from: month + "-01", days: daysOf(month) };
  try {
    const found = await ask("POST /namespaces/{namespace}/calendars:plan", params, { document: text });
    if (mine !== asked) return;
    [plan, wrong, refused] = [found, undefined, undefined];
  } catch (e) {
    if (mine !== asked) return;
    if (e instanceof Problem && e.status === 422) [plan, wrong, refused] = [undefined, e.errors[0]?.reason ?? e.message, undefined];
    else refused = e;
  }
  again();
}

/** @param {string} value */
function edit(value) {
  text = value;
  clearTimeout(timer);
  timer = setTimeout(look, 400);
  again();
}

/** @param {Stored} s */
function begin(s) {
  stored = s;
  theirs = undefined;
  text = s.etag ? s.detail.document : example;
  head();
  void look();
}

/** Who else has changed it, and which jobs use it now. */
async function refresh() {
  const known = stored.etag;
  try {
    const now = await read();
    if (known !== stored.etag) return; // it was saved meanwhile, and this may be older
    if (now.etag !== stored.etag && isDirty()) theirs = now;
    else if (now.etag !== stored.etag) begin(now);
    else stored = now;
  } finally {
    again();
  }
}

/** Reads it again at once. */
const reload = () => refresh().catch(() => {}); // it is asked for again soon

async function save() {
  clearTimeout(timer);
  await look();
  if (wrong) return void document.getElementById("document")?.focus();
  if (refused) return;
  try {
    if (!(await saveCalendar(calendar, stored, text, reload))) return;
    setQuery({ new: "" });
    begin(await read());
    tell("good", h("p", null, w("calendar.saved")));
  } catch (e) {
    refused = e;
  }
  again();
}

async function remove() {
  if (await removeCalendar(calendar, stored)) {
    text = stored.detail.document; // nothing is lost when the page goes
    location.assign(inNamespace(["calendars"]));
  }
}

function head() {
  tools(!isFixed && stored.etag ? button(w("calendar.remove"), remove, { kind: "danger" }) : null);
}

addEventListener("beforeunload", (e) => {
  if (stored && stored.etag && isDirty()) e.preventDefault();
});

void start(read, (found) => {
  begin(found);
  again = page(view);
  keep(refresh, 8);
});

function view() {
  const { detail, etag } = stored;
  return [
    etag ? null : note("info", h("p", null, w("calendar.isNew"))),
    detail.error ? note("bad", h("p", null, h("strong", null, w("calendar.unreadable"))), h("p", { class: "detail" }, detail.error)) : null,
    theirs ? conflict(theirs) : null,
    h("div", { class: "twin" }, monthOfText(), h("div", { class: "column" }, textView(), jobsView())),
  ];
}

function monthOfText() {
  const about = plan ? [w("calendar.zone", { zone: plan.timeZone ?? "" }), isDirty() ? " " + w("calendar.asEdited") : null] : wrong ? w("calendar.noPreview") : null;
  return section(w("calendar.leavesOut"), {},
    about ? h("p", { class: "hint" }, about) : null,
    monthView(month, plan, (m) => {
      month = m;
      setQuery({ month: m === monthOf() ? "" : m });
      plan = undefined;
      void look();
      again();
    }));
}

function textView() {
  const isThere = stored.etag !== "";
  const isOff = isFixed || theirs !== undefined;
  const rows = Math.min(30, Math.max(10, text.split("\n").length + 1));
  return section(w("calendar.document"), {},
    area({ id: "document", label: w("calendar.text"), value: text, code: true, rows, change: edit, error: wrong, disabled: isOff, hint: w("calendar.syntax") }),
    h("details", null, h("summary", null, w("calendar.help")), h("dl", { class: "syntax" },
      syntax.map(([code, meaning]) => h("div", null, h("dt", null, h("code", null, code)), h("dd", null, meaning))))),
    isFixed ? h("p", { class: "hint" }, w("calendar.fixed")) : h("div", { class: "tools" }, refusal(refused),
      button(isThere ? w("calendar.reviewAndSave") : w("calendar.create"), save, { kind: "first", disabled: isOff || (isThere && !isDirty()) }),
      isThere && isDirty() ? button(w("calendar.drop"), () => begin(theirs ?? stored)) : null));
}

function jobsView() {
  const { jobs } = stored.detail;
  return section(w("calendar.jobs"), {}, jobs.length ? jobList(jobs) : empty(w("calendar.noJobs")));
}

/** @param {Stored} now */
function conflict(now) {
  return section(w("calendar.conflict"), { class: "conflict" },
    h("p", null, w("calendar.conflictText")),
    h("h3", null, w("calendar.theirs")), diffView(stored.detail.document, now.detail.document, w("calendar.theirs")),
    h("h3", null, w("calendar.mine")), diffView(stored.detail.document, text, w("calendar.mine")),
    h("div", { class: "tools" },
      button(w("calendar.keepMine"), () => {
        stored = now;
        theirs = undefined;
        again();
      }, { kind: "first" }),
      button(w("calendar.takeTheirs"), () => {
        begin(now);
        again();
      })));
}
