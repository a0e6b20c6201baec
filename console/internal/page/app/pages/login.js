// The log-in: shown at the address that somebody wanted to see, which comes afterwards; or where a log-in at a provider has
// failed, and the first page comes then.
import { h } from "../dom.js";
import { facts } from "../facts.js";
import { page } from "../frame.js";
import { LoginForm, providerLink } from "../login-form.js";
import { note } from "../ui.js";
import { w } from "../words.js";

sessionStorage.clear(); // what pages have kept was another's
const home = new URL(facts.root, location.href).pathname;
const form = new LoginForm({ id: "", done: () => (facts.reason ? location.assign(home) : location.reload()), draw: () => again() });

const again = page(() => h("div", { class: "block login" },
  facts.reason ? note("bad", h("p", null, h("strong", null, w("login.notByProvider"))), h("p", { class: "detail" }, facts.reason), h("p", { class: "help" }, w("login.helpProvider"))) : null,
  facts.passwords && form.view(),
  facts.passwords && facts.provider ? h("p", { class: "or" }, w("login.or")) : null,
  facts.provider ? providerLink(facts.reason ? home : location.pathname + location.search) : null));
/** @type {HTMLElement | null} */ (document.querySelector("[autofocus]"))?.focus();
