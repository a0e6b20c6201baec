// What this program is, and where its documents are.
import { h } from "../dom.js";
import { facts } from "../facts.js";
import { page } from "../frame.js";
import { pairs, section } from "../ui.js";
import { w } from "../words.js";

/** @param {string} href @param {string} text */
const line = (href, text) => h("li", null, h("a", { href: facts.root + href }, text));

page(() => [
  section("ElasticJob", {}, h("p", null, w("about.what")), pairs([[w("about.version"), facts.version ?? "–"], [w("about.user"), facts.user]])),
  section(w("about.api"), {}, h("p", null, w("about.apiText")), h("ul", null, line("api/v1/openapi.json", w("about.json")), line("api/v1/openapi.yaml", w("about.yaml")))),
]);
