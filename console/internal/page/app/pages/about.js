// What this program is, and how programs use it.
import { h } from "../dom.js";
import { facts, link } from "../facts.js";
import { page } from "../frame.js";
import { copy, pairs, section } from "../ui.js";
import { w } from "../words.js";

const base = new URL(facts.root + "api/v1/", location.href).href;
const example = `curl -H "Authorization: Bearer $TOKEN" ${base}namespaces`;

/** @param {string} href @param {string} text */
const line = (href, text) => h("li", null, h("a", { href: facts.root + href }, text));

page(() => [
  section("ElasticJob", {}, h("p", null, w("about.what")), pairs([
    [w("about.version"), facts.version || "–"],
    [w("about.user"), h("a", { href: link(["account"]) }, facts.user)],
  ])),
  section(w("about.api"), {},
    h("p", null, w("about.apiText")),
    facts.users ? h("p", null, h("a", { href: link(["account"]) }, w("about.token"))) : null,
    h("div", { class: "example" }, h("pre", null, example), copy(example)),
    h("ul", { class: "ways" }, line("api/v1/openapi.json", w("about.json")), line("api/v1/openapi.yaml", w("about.yaml")))),
]);
