// How many items a job has, and the parameter of each: several lines that are put in at once are one for each item.
import { h } from "./dom.js";
import { field } from "./form.js";
import { button } from "./ui.js";
import { number, w } from "./words.js";

/** How many items are shown at first, and how many more each time. */
const step = 20;
let shown = step;

/**
 * @param {import("./create-state.js").Draft} draft
 */
export function itemsView(draft) {
  const { count, parameters } = draft;
  /** @param {number} from @param {string[]} values */
  const put = (from, values) => draft.edit("shardingItemParameters", () => {
    values.forEach((value, i) => (parameters[from + i] = value));
    if (from + values.length > count) draft.fields.shardingTotalCount = String(from + values.length);
    shown = Math.max(shown, Math.min(from + values.length, 200));
  });
  const n = Math.min(count, shown);
  const wrong = draft.error("shardingItemParameters");
  return [
    field({
      id: "count", label: w("create.count"), hint: w("create.countHint"), type: "number", value: draft.fields.shardingTotalCount ?? "", error: draft.error("shardingTotalCount"),
      change: (v) => draft.edit("shardingTotalCount", () => (draft.fields.shardingTotalCount = v)),
    }),
    h("div", { class: "wide" },
      h("table", { class: "items" }, h("caption", null, w("create.parameters")),
        h("thead", null, h("tr", null, h("th", { scope: "col", class: "num" }, w("create.item")), h("th", { scope: "col" }, w("create.parameter")))),
        h("tbody", null, Array.from({ length: n }, (_, item) => h("tr", { key: item }, h("td", { class: "num" }, number(item)), h("td", null, h("input", {
          type: "text", class: "code", "aria-label": w("create.parameterOf", { item }), value: parameters[item] ?? "", spellcheck: "false", autocomplete: "off",
          oninput: (/** @type {Event} */ e) => put(item, [/** @type {HTMLInputElement} */ (e.target).value]),
          onpaste: (/** @type {ClipboardEvent} */ e) => {
            const lines = (e.clipboardData?.getData("text") ?? "").replace(/\r?\n$/, "").split(/\r?\n/);
            if (lines.length < 2) return;
            e.preventDefault();
            put(item, lines.slice(0, 100000 - item));
          },
        })))))),
      wrong ? h("p", { class: "error" }, wrong) : null,
      h("p", { class: "hint" }, w("create.paste")),
      h("p", { class: "tools" },
        button(w("create.addItem"), () => draft.edit("shardingTotalCount", () => {
          draft.fields.shardingTotalCount = String(count + 1);
          shown = Math.max(shown, Math.min(count + 1, 200));
        })),
        count > n ? button(w("create.moreItems", { n: Math.min(step, count - n) }), () => {
          shown += step;
          draft.draw();
        }, { kind: "quiet" }) : null)),
  ];
}
