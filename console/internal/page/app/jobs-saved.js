// Filters of the list of jobs that a user has saved: in this browser, under his name, for all namespaces.
import { askAbout } from "./actions.js";
import { facts } from "./facts.js";
import { field } from "./form.js";
import { filterFields, filterOf } from "./jobs-list.js";
import { menu } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./jobs-list.js").Filter} Filter */

const place = `elasticjob-filters-${facts.user}`;

/** @returns {Record<string, Filter>} by the names that he has given them */
function saved() {
  try {
    return JSON.parse(localStorage.getItem(place) ?? "{}") ?? {};
  } catch {
    return {}; // the browser keeps nothing, or somebody else has written it
  }
}

/** @param {Record<string, Filter>} all */
function save(all) {
  localStorage.setItem(place, JSON.stringify(all));
}

/** @param {Filter} a @param {Filter} b */
const isSame = (a, b) => filterFields.every((name) => (a[name] ?? "") === (b[name] ?? ""));

/**
 * A menu of them: he chooses one, saves that of now, or forgets it.
 * @param {Filter} now @param {(filter: Filter) => void} choose @param {() => void} again
 */
export function savedFilters(now, choose, again) {
  const all = saved();
  const names = Object.keys(all).sort((a, b) => a.localeCompare(b, facts.language));
  const here = names.find((name) => isSame(all[name], now));
  const keep = async () => {
    let name = "";
    const isDone = await askAbout({
      title: w("jobs.saveFilter"), does: w("ui.save"), quiet: true, valid: () => name.trim() !== "",
      form: (redraw) => field({
        id: "filter-name", label: w("jobs.filterName"), value: name, required: true, autofocus: true, change: (v) => {
          name = v;
          redraw();
        },
      }),
      run: async () => save({ ...saved(), [name.trim()]: now }),
    });
    if (isDone) again();
  };
  const forget = (/** @type {string} */ name) => {
    const { [name]: _, ...rest } = saved();
    save(rest);
    again();
  };
  return menu(w("jobs.savedFilters"), [
    ...names.map((name) => ({ text: name, act: () => choose({ ...filterOf({}), ...all[name] }) })),
    !here && filterFields.some((name) => now[name]) && { text: w("jobs.saveFilter"), act: keep },
    here ? { text: w("jobs.forgetFilter", { name: here }), act: () => forget(here), danger: true } : null,
  ]);
}
