// What the calendars of a job leave out of a month.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { inNamespace, namespace } from "./facts.js";
import { daysOf, monthOf, monthView } from "./month.js";
import { w } from "./words.js";

const most = 4;

/**
 * Makes a preview; its view is drawn with the calendars that are chosen now.
 * @param {() => void} again draws the page
 */
export function calendarPreview(again) {
  let month = monthOf();
  /** By calendar and month; undefined is asked for. @type {Map<string, import("./types/api").CalendarPlan | undefined>} */
  const plans = new Map();
  /** @param {string} calendar */
  const look = async (calendar) => {
    const key = calendar + " " + month;
    if (plans.has(key)) return;
    plans.set(key, undefined);
    const none = { rows: [], more: false, error: w("calendar.noPreviewOf") };
    plans.set(key, await ask("GET /namespaces/{namespace}/calendars/{calendar}/plan", { namespace, calendar, from: month + "-01", days: daysOf(month) }).catch(() => none)); // it says that there is none
    again();
  };
  /** @param {string[]} names */
  const view = (names) => h("div", { class: "previews" }, names.slice(0, most).map((name) => {
    void look(name);
    const plan = plans.get(name + " " + month);
    return h("section", { key: name, "aria-label": name },
      h("h3", null, h("a", { href: inNamespace(["calendars", name]) }, name), plan?.timeZone ? h("span", { class: "soft" }, " · " + plan.timeZone) : null),
      plan?.error ? h("p", { class: "hint" }, plan.error) : monthView(month, plan, (m) => {
        month = m;
        again();
      }));
  }));
  return { view };
}
