// The configuration of a job: a form or its text, checked while it is edited, and saved after a look at what changes.
import { askAbout, isConflict } from "../actions.js";
import { all, answer } from "../api.js";
import { calendarPreview } from "../calendar-preview.js";
import { cronField } from "../cron-field.js";
import { h } from "../dom.js";
import { inNamespace, job, namespace } from "../facts.js";
import { area, field } from "../form.js";
import { page, start, tell } from "../frame.js";
import { jobHead, jobTabs } from "../job-tabs.js";
import { listen } from "../live.js";
import { may, mayAll } from "../rights.js";
import { conflictView } from "../settings-conflict.js";
import { control, groups, idOf } from "../settings-fields.js";
import { implementation } from "../settings-implement.js";
import { namesOf } from "../settings-model.js";
import { planView, ticks } from "../settings-plan.js";
import { propsTable } from "../settings-props.js";
import { Editor, read } from "../settings-state.js";
import { typeFields } from "../type-fields.js";
import { describedOf } from "../type-props.js";
import { button, note, refusal, section } from "../ui.js";
import { w } from "../words.js";

const isFixed = !may("admin", job);
/** @type {string[]} */
let calendars = [];
let isSaving = false;
let isGone = false;

jobHead(w("title.settings"));
const cron = cronField(idOf("cron"), () => again());
const preview = calendarPreview(() => again());
let isPreviewed = false;
/** @type {Editor} */
let editor;
let again = () => {};

void start(async () => {
  const [stored, found, processes] = await Promise.all([
    read(),
    all("GET /namespaces/{namespace}/calendars", { namespace }, 1000).catch(() => ({ rows: [] })), // those of the job are shown all the same
    mayAll("viewer") ? all("GET /namespaces/{namespace}/processes", { namespace }, 2000).catch(() => ({ rows: [] })) : { rows: [] }, // without them properties are in a table
  ]);
  calendars = found.rows.map((c) => c.name);
  return { stored, described: describedOf(processes.rows) };
}, ({ stored, described }) => {
  editor = new Editor(stored, described, () => again());
  again = page(view);
  listen("/namespaces/{namespace}/jobs/{job}/watch", { namespace, job }, {
    removed: () => {
      isGone = true;
      again();
    },
    job: (now) => {
      if (now.info.version !== editor.newest.info.version && !isSaving) void editor.meet().catch(() => {}); // saving finds it out
    },
  });
});

addEventListener("beforeunload", (e) => {
  if (editor?.changed.length && !isFixed) e.preventDefault();
});

/** Saves what was edited, if somebody has seen what that changes. */
async function save() {
  if (!(await editor.check())) return showFirstError();
  const plan = editor.plan;
  if (!plan) return;
  const before = editor.stored.flat.timeZone;
  isSaving = true;
  await askAbout({
    title: w("settings.review"), does: w("ui.save"), quiet: true,
    text: planView(plan, before, editor.isText ? before : editor.flat.timeZone),
    run: async ({ dryRun }) => {
      try {
        await answer("PUT /namespaces/{namespace}/jobs/{job}/settings", { namespace, job, dryRun, "If-Match": editor.stored.etag }, editor.body);
      } catch (e) {
        if (isConflict(e)) await editor.meet();
        if (!editor.conflict) throw e;
        return;
      }
      editor.begin(await read());
      tell("good", w("settings.saved"));
    },
  });
  isSaving = false;
  again();
}

function showFirstError() {
  again();
  requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector("#page [aria-invalid=true]"))?.focus());
}

function view() {
  const e = editor;
  return [
    jobTabs(),
    isFixed ? note("info", w("settings.fixed")) : null,
    isGone ? note("bad", h("p", null, h("strong", null, w("settings.gone"))), h("p", null, h("a", { href: inNamespace(["create"]) }, w("settings.goneHelp")))) : null,
    e.stored.info.error ? note("bad", h("p", null, h("strong", null, w("settings.unreadable"))), h("p", { class: "detail" }, e.stored.info.error)) : null,
    e.conflict ? conflictView(e.conflict, { draw: () => again(), goOn: () => e.goOn(), drop: () => dropAll() }) : null,
    h("form", { class: "settings", onsubmit: (/** @type {Event} */ ev) => ev.preventDefault(), "aria-label": w("title.settings") },
      e.isText ? textView() : formView(), bar()),
    e.stored.info.config ? implementation(e.stored.info.implementation ?? "", isFixed, async () => {
      isSaving = true;
      await e.meet();
      isSaving = false;
    }) : null,
  ];
}

function dropAll() {
  editor.begin(editor.newest);
  again();
}

/** How the form and the text reach the editor. @returns {import("../settings-fields.js").Form} */
function form() {
  const e = editor;
  return {
    value: (key) => e.fields[key] ?? "", disabled: isOff(), calendars, error: (key) => e.errors.get(key),
    change: (key, value) => e.edit(() => (e.fields[key] = value)),
  };
}

/** Whether nothing can be edited now: in a conflict it is to be said first what counts. */
const isOff = () => isFixed || editor.conflict !== undefined;

function turnButton() {
  return editor.stored.info.config && !editor.conflict ? button(editor.isText ? w("settings.asForm") : w("settings.asText"), () => editor.turn()) : null;
}

const titles = { schedule: w("settings.schedule"), sharding: w("settings.sharding"), missed: w("settings.missed"), failure: w("settings.failure"), more: w("settings.more") };

/** @param {import("../settings-fields.js").Field[]} fields @param {import("../settings-fields.js").Form} f */
function controls(fields, f) {
  const there = fields.filter((one) => one.kind !== "cron"); // that for the expression is the page's
  return h("div", { class: "fields" }, there.map((one) => h("div", { key: one.key, class: one.kind === "area" || one.kind === "lines" ? "wide" : null }, control(one, f))));
}

function formView() {
  const e = editor;
  const f = form();
  const chosen = namesOf(f.value("props: schedule.calendars"));
  const common = { disabled: f.disabled, value: f.value("description"), change: (/** @type {string} */ v) => f.change("description", v) };
  const type = typeFields({ props: e.type, error: (key) => e.type.wrong.get(key) ?? f.error(key), edit: (_, act) => e.edit(act), disabled: f.disabled });
  return [
    section(w("settings.about"), { tools: turnButton() }, field({ id: idOf("description"), label: w("settings.description"), error: f.error("description"), ...common })),
    type.length ? section(w("create.what"), {}, type) : null,
    groups.map((g) => section(titles[g.name], {},
      g.name === "schedule" ? cron.view({ value: f.value("cron"), zone: f.value("timeZone") || undefined, change: (v) => f.change("cron", v), error: f.error("cron"), disabled: f.disabled, isAlone: !(hasMore() && e.plan) }) : null,
      g.name === "more" ? h("details", { open: g.fields.some((one) => f.error(one.key)) }, h("summary", null, w("settings.showMore")), controls(g.fields, f)) : controls(g.fields, f),
      g.name === "schedule" && chosen.length ? h("details", { ontoggle: openPreview }, h("summary", null, w("settings.preview")), isPreviewed ? preview.view(chosen) : null) : null,
      g.name === "schedule" && hasMore() && e.plan ? ticks(w("settings.allTicks"), e.plan.ticksAfter, f.value("timeZone") || undefined) : null)),
    section(w("settings.props"), {}, propsTable(e.rows, (rows) => e.edit(() => (e.rows = rows)), f.error, f.disabled)),
  ];
}

/** @param {Event} e */
function openPreview(e) {
  const { open } = /** @type {HTMLDetailsElement} */ (e.currentTarget);
  if (open !== isPreviewed) {
    isPreviewed = open;
    again();
  }
}

/** Whether more than the expression says when it runs. */
function hasMore() {
  return ["props: cron.more", "props: schedule.calendars", "props: expiry.at", "props: expiry.ticks"].some((key) => editor.fields[key]);
}

function textView() {
  const e = editor;
  return section(w("settings.document"), { tools: turnButton() },
    area({
      id: "document", label: w("settings.text"), hint: w("settings.textHint"), value: e.text, code: true, disabled: isOff(), error: e.errors.get("config"),
      rows: Math.min(40, Math.max(16, e.text.split("\n").length + 1)), change: (v) => e.edit(() => (e.text = v)),
    }));
}

/** What is wrong with keys that are not shown as fields. */
function elsewhere() {
  const shown = (/** @type {string} */ key) => (editor.isText ? key === "config" : editor.isField(key) || key in editor.flat);
  const rest = [...editor.errors].filter(([key]) => !shown(key));
  return rest.length ? note("bad", h("ul", null, rest.slice(0, 20).map(([key, reason]) => h("li", { key }, h("code", null, key), " ", reason)))) : null;
}

/** What was edited, what to do with it, and why that was refused: always in sight. */
function bar() {
  const e = editor;
  const n = e.changed.length;
  if (isFixed) return [elsewhere(), refusal(e.problem)];
  return h("div", { class: "savebar" + (n || e.conflict ? "" : " clean") },
    elsewhere(), refusal(e.problem),
    h("p", { role: "status" }, e.conflict ? h("a", { href: "#conflict" }, w("settings.conflict")) : standing(n)),
    h("div", { class: "tools" },
      button(w("settings.drop"), dropAll, { disabled: !n }),
      button(w("settings.reviewAndSave"), save, { kind: "first", disabled: !n || e.conflict !== undefined })));
}

/** How many settings are changed, or wrong. @param {number} n */
function standing(n) {
  if (n && editor.errors.size) return w("settings.wrong", { n: editor.errors.size });
  if (n && editor.isText) return w("settings.textChanged");
  return n ? w("settings.changed", { n }) : w("settings.unchanged");
}
