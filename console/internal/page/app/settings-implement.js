// What runs the job, and how it gets another implementation.
import { askAbout } from "./actions.js";
import { ask } from "./api.js";
import { h } from "./dom.js";
import { job, namespace } from "./facts.js";
import { field } from "./form.js";
import { button, section } from "./ui.js";
import { w } from "./words.js";

/**
 * @param {string} now
 * @param {boolean} isFixed
 * @param {() => unknown} done
 */
export function implementation(now, isFixed, done) {
  const change = async () => {
    let to = now;
    const was = await askAbout({
      title: w("settings.implementTitle"), does: w("settings.implementDoes"), danger: true, preview: true, text: w("settings.implementText"),
      form: (again) => field({
        id: "implementation", label: w("settings.implementation"), value: to, code: true, autofocus: true,
        change: (v) => {
          to = v;
          again();
        },
      }),
      valid: () => to.trim() !== "" && to !== now,
      run: ({ dryRun }) => ask("POST /namespaces/{namespace}/jobs/{job}/implement", { namespace, job, dryRun }, { from: now, to: to.trim() }),
    });
    if (was) await done();
  };
  return section(w("settings.implementation"), { tools: isFixed ? null : button(w("settings.implementChange"), change) },
    h("p", null, h("code", null, now || "–")), h("p", { class: "hint" }, w("settings.implementHint")));
}
