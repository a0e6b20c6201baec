// The log-in: shown at the address that somebody wanted to see, which comes afterwards.
import { ask, Problem } from "../api.js";
import { h } from "../dom.js";
import { facts } from "../facts.js";
import { field } from "../form.js";
import { page } from "../frame.js";
import { note, problem } from "../ui.js";
import { w } from "../words.js";

const typed = { name: "", password: "" };
/** @type {unknown} */
let error;

async function enter() {
  error = undefined;
  try {
    await ask("POST /login", {}, { name: typed.name, password: typed.password });
    location.reload();
    await new Promise(() => {}); // the page goes
  } catch (e) {
    error = e;
    again();
  }
}

function byPassword() {
  return h("form", {
    class: "login",
    onsubmit: (/** @type {Event} */ e) => {
      e.preventDefault();
      void enter();
    },
  },
  error instanceof Problem && error.status === 401 ? note("bad", w("login.refused")) : error ? problem(error) : null,
  field({ id: "name", label: w("login.name"), value: typed.name, change: (v) => (typed.name = v), required: true, autofocus: true, autocomplete: "username" }),
  field({ id: "password", label: w("login.password"), type: "password", value: typed.password, change: (v) => (typed.password = v), required: true, autocomplete: "current-password" }),
  h("button", { class: "first", type: "submit" }, w("login.enter")));
}

function byProvider() {
  const href = facts.provider + "?" + new URLSearchParams({ return: location.pathname + location.search });
  return h("p", null, h("a", { class: "button", href }, w("login.provider")));
}

const again = page(() => h("div", { class: "block login" },
  facts.passwords && byPassword(),
  facts.passwords && facts.provider ? h("p", { class: "soft" }, w("login.or")) : null,
  facts.provider ? byProvider() : null));
/** @type {HTMLElement | null} */ (document.querySelector("[autofocus]"))?.focus();
