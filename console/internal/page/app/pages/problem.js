// Why there is no page at this address: the server has found out before the page could ask anything.
import { Problem } from "../api.js";
import { h } from "../dom.js";
import { facts, link } from "../facts.js";
import { heading, page } from "../frame.js";
import { problem, section } from "../ui.js";
import { w } from "../words.js";

/** Statuses of what the server refuses before a page; all others are that there is none. @type {Record<string, number>} */
const statuses = { denied: 403, internal: 500 };

const code = facts.code ?? "no-route";
const again = code === "no-route" ? undefined : () => location.reload();

/** @param {string} href @param {string} text */
const line = (href, text) => h("li", null, h("a", { href }, text));

if (code === "denied") heading(w("next.denied"));
page(() => [
  problem(new Problem({ status: statuses[code] ?? 404, code }), again),
  section(w("next.title"), {}, h("ul", { class: "ways" }, line(facts.root, w("next.home")), facts.user ? line(link(["account"]), w("next.account")) : null)),
]);
