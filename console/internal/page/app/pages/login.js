// The log-in: shown at the address that somebody wanted to see, which comes afterwards; or where a log-in at a provider has
// failed, and the first page comes then.
import { ask, Problem } from "../api.js";
import { h } from "../dom.js";
import { facts } from "../facts.js";
import { field } from "../form.js";
import { page } from "../frame.js";
import { lasting } from "../time.js";
import { note, problem } from "../ui.js";
import { w } from "../words.js";

const typed = { name: "", password: "" };
/** @type {{busy: boolean, until: number, error: unknown}} */
const state = { busy: false, until: 0, error: undefined };

const home = new URL(facts.root, location.href).pathname;

/** For how many seconds the console takes no log-in, after too many that failed. */
const wait = () => Math.max(0, Math.ceil((state.until - Date.now()) / 1000));

async function enter() {
  if (state.busy || wait()) return;
  Object.assign(state, { busy: true, error: undefined });
  again();
  try {
    await ask("POST /login", {}, { name: typed.name, password: typed.password });
    if (facts.reason) location.assign(home);
    else location.reload();
    return; // the page goes
  } catch (e) {
    state.error = e;
    if (e instanceof Problem && e.code === "refused") typed.password = "";
    if (e instanceof Problem && e.status === 429 && e.wait) hold(e.wait);
  }
  state.busy = false;
  again();
  document.getElementById("password")?.focus();
}

/** Counts the seconds down until there may be another log-in. @param {number} seconds */
function hold(seconds) {
  state.until = Date.now() + seconds * 1000;
  const timer = setInterval(() => {
    if (!wait()) {
      clearInterval(timer);
      state.error = undefined;
    }
    again();
  }, 1000);
}

function trouble() {
  const { error } = state;
  if (!error) return null;
  if (wait()) return note("warn", h("p", null, w("login.limited")), h("p", { class: "num", "aria-live": "off" }, w("login.wait", { time: lasting(wait()) })));
  if (error instanceof Problem && error.code === "refused") return note("bad", w("login.refused"));
  return problem(error);
}

function byPassword() {
  return h("form", {
    class: "login",
    onsubmit: (/** @type {Event} */ e) => {
      e.preventDefault();
      void enter();
    },
  },
  trouble(),
  field({ id: "name", label: w("login.name"), value: typed.name, change: (v) => (typed.name = v), required: true, autofocus: true, autocomplete: "username" }),
  field({ id: "password", label: w("login.password"), type: "password", value: typed.password, change: (v) => (typed.password = v), required: true, autocomplete: "current-password" }),
  h("button", { class: "first", type: "submit", "aria-disabled": state.busy || wait() ? "true" : null }, w("login.enter")));
}

function byProvider() {
  const href = facts.provider + "?" + new URLSearchParams({ return: facts.reason ? home : location.pathname + location.search });
  return h("p", null, h("a", { class: facts.passwords ? "button" : "button first", href }, w("login.provider")));
}

const again = page(() => h("div", { class: "block login" },
  facts.reason ? note("bad", h("p", null, h("strong", null, w("login.notByProvider"))), h("p", { class: "detail" }, facts.reason), h("p", { class: "help" }, w("login.helpProvider"))) : null,
  facts.passwords && byPassword(),
  facts.passwords && facts.provider ? h("p", { class: "or" }, w("login.or")) : null,
  facts.provider ? byProvider() : null));
/** @type {HTMLElement | null} */ (document.querySelector("[autofocus]"))?.focus();
