// Sessions: where somebody is logged in.
import { h } from "./dom.js";
import { table } from "./table.js";
import { at, badge, button, empty, since } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").SessionInfo} Session */

/**
 * @param {Session[]} rows
 * @param {{label: string, users?: (name: string) => import("./dom.js").View, end: (session: Session) => unknown}} o users shows whose it is
 */
export function sessionTable(rows, o) {
  /** @type {import("./table.js").Column<Session>[]} */
  const columns = [
    { name: "address", text: w("sessions.address"), cell: (s) => [s.address || "–", s.mine ? [" ", badge("good", w("sessions.mine"))] : null] },
    { name: "begun", text: w("sessions.begun"), cell: (s) => at(s.begun) },
    { name: "used", text: w("sessions.used"), cell: (s) => since(s.used) },
    { name: "expires", text: w("sessions.expires"), cell: (s) => at(s.expires) },
    { name: "end", text: w("ui.menu"), unseen: true, cell: (s) => (s.mine ? "" : button(w("sessions.end"), () => o.end(s), { kind: "quiet", label: w("sessions.endOf", { address: s.address || s.key }) })) },
  ];
  const users = o.users;
  if (users) columns.unshift({ name: "user", text: w("sessions.user"), cell: (s) => h("strong", null, users(s.user)) });
  return table({ label: o.label, rows, columns, key: (s) => s.key, empty: empty(w("sessions.none")) });
}
