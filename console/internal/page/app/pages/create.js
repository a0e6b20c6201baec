// A new job: what it runs, when, in which items; checked while it is written, and shown as it would be.
import { all, ask } from "../api.js";
import { itemsView } from "../create-items.js";
import { Draft } from "../create-state.js";
import { typeView } from "../create-type.js";
import { cronField } from "../cron-field.js";
import { h } from "../dom.js";
import { inNamespace, namespace } from "../facts.js";
import { field } from "../form.js";
import { crumbs, page, start, tell } from "../frame.js";
import { query } from "../query.js";
import { mayAll, maySome } from "../rights.js";
import { control, groups } from "../settings-fields.js";
import { ticks } from "../settings-plan.js";
import { propsTable } from "../settings-props.js";
import { describedOf } from "../type-props.js";
import { button, note, refusal, section } from "../ui.js";
import { w } from "../words.js";

/** Settings that stand above "More settings", and those that have controls of their own. */
const failures = ["misfire", "failover", "props: execution.timeout.seconds", "props: retry.attempts"];
const own = ["cron", "timeZone", "shardingTotalCount", "shardingItemParameters", ...failures];
/** Settings with which the ticks are others than those of the expression. */
const ticking = ["props: cron.more", "props: schedule.calendars", "props: expiry.at", "props: expiry.ticks"];
const fields = groups.flatMap((g) => g.fields);

const from = query().from ?? "";
/** @type {string[] | undefined} */
let offers;
/** @type {string[]} */
let calendars = [];
let isDone = false;
let again = () => {};
const draft = new Draft(() => again());
const cron = cronField("cron", () => again());

crumbs([namespace, inNamespace([])], [w("nav.jobs"), inNamespace(["jobs"])]);

void start(async () => {
  const [copied, processes, found] = await Promise.all([
    from ? ask("GET /namespaces/{namespace}/jobs/{job}/settings", { namespace, job: from }) : undefined,
    // Suggestions only: without them the form works as well.
    mayAll("viewer") ? all("GET /namespaces/{namespace}/processes", { namespace }, 2000).catch(() => undefined) : undefined,
    all("GET /namespaces/{namespace}/calendars", { namespace }, 1000).catch(() => undefined), // as these
  ]);
  draft.described = describedOf(processes?.rows ?? []);
  if (processes) offers = [...new Set(processes.rows.flatMap((p) => p.offers ?? []))].sort();
  calendars = found?.rows.map((c) => c.name) ?? [];
  if (copied) draft.copy(copied);
}, () => {
  again = page(view);
  if (from) void draft.check();
  document.getElementById("name")?.focus();
});

addEventListener("beforeunload", (e) => {
  if (draft.touched.size && !isDone) e.preventDefault();
});

async function create() {
  if (!(await draft.create())) {
    again();
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector("#page [aria-invalid=true]"))?.focus());
    return;
  }
  isDone = true;
  tell("good", w("create.done", { job: draft.name }));
  location.assign(inNamespace(["jobs", draft.name]));
  await new Promise(() => {}); // the page goes
}

/** @type {import("../settings-fields.js").Form} */
const form = {
  value: (key) => draft.fields[key] ?? "", change: (key, value) => draft.edit(key, () => (draft.fields[key] = value)),
  error: (key) => draft.error(key), disabled: false, get calendars() { return calendars; },
};

/** @param {string} key */
const setting = (key) => fields.filter((f) => f.key === key).map((f) => control(f, form));

function view() {
  if (!maySome("admin")) return note("warn", w("create.notAdmin"));
  return h("form", {
    class: "settings create", "aria-label": w("title.create"), novalidate: true,
    onsubmit: (/** @type {Event} */ e) => e.preventDefault(),
  },
  h("div", { class: "parts" },
    draft.secrets.length ? note("warn", w("create.secrets"), " ", h("code", null, draft.secrets.join(", "))) : null,
    section(w("create.about"), {},
      field({
        id: "name", label: w("create.name"), hint: w("create.nameHint"), required: true, code: true, value: draft.name, error: draft.error("jobName"),
        change: (v) => draft.edit("jobName", () => {
          draft.name = v.trim();
          draft.plan = undefined;
        }),
      }),
      field({ id: "description", label: w("create.description"), hint: w("create.descriptionHint"), value: form.value("description"), error: draft.error("description"), change: (v) => form.change("description", v) })),
    section(w("create.what"), {}, typeView(draft, offers)),
    section(w("create.when"), {},
      cron.view({ value: form.value("cron"), zone: form.value("timeZone"), error: draft.error("cron"), change: (v) => form.change("cron", v) }), setting("timeZone")),
    section(w("create.items"), {}, itemsView(draft)),
    section(w("create.failures"), {}, h("div", { class: "fields" }, failures.flatMap(setting))),
    section(w("create.more"), {}, h("details", null, h("summary", null, w("create.moreHint")), ...moreView()))),
  aside());
}

function moreView() {
  return [
    groups.map((g) => {
      const some = g.fields.filter((f) => !own.includes(f.key));
      return some.length ? h("div", { class: "group" }, h("h3", null, w(`settings.${g.name}`)), h("div", { class: "fields" }, some.map((f) => control(f, form)))) : null;
    }),
    h("div", { class: "group" }, h("h3", null, w("settings.props")), propsTable(draft.rows, (rows) => draft.edit("props", () => (draft.rows = rows)), (key) => draft.errors.get(key), false)),
  ];
}

/** What would be written, and the button that does it. */
function aside() {
  const { plan } = draft;
  const isWrong = draft.isTried && (draft.missing.size > 0 || draft.errors.size > 0);
  // The button stands above what comes and goes: it stays where it is.
  return section(w("create.preview"), { class: "draft", tools: button(w("create.create"), create, { kind: "first" }) },
    isWrong ? h("p", { class: "error", role: "alert" }, w("create.wrong", { n: new Set([...draft.missing.keys(), ...draft.errors.keys()]).size })) : null,
    otherErrors(),
    refusal(draft.problem),
    plan?.new ? [
      (plan.warnings ?? []).map((text) => note("warn", text)),
      ticking.some((key) => form.value(key)) ? ticks(w("create.ticks"), plan.ticksAfter, form.value("timeZone")) : null,
      h("pre", { class: "code", tabindex: "0", "aria-label": w("create.document") }, plan.after),
    ] : h("p", { class: "hint" }, draft.errors.size ? w("create.unready") : w("create.unnamed")));
}

/** What is wrong with what has no field here. */
function otherErrors() {
  const known = new Set([...fields.map((f) => f.key), "jobName", "description", "implementation"]);
  const rest = [...draft.errors].filter(([key]) => !known.has(key) && !key.startsWith("props: "));
  return rest.length ? h("ul", { class: "error" }, rest.map(([key, reason]) => h("li", null, h("code", null, key), " ", reason))) : null;
}
