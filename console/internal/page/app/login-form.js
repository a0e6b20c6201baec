// The form of a log-in: on the page for it, and over one whose session has ended.
import { once, Problem } from "./api.js";
import { h } from "./dom.js";
import { facts } from "./facts.js";
import { field } from "./form.js";
import { lasting } from "./time.js";
import { note, refusal } from "./ui.js";
import { w } from "./words.js";

export class LoginForm {
  #name;
  #password = "";
  #isBusy = false;
  #until = 0;
  /** @type {unknown} */ #error;
  #o;

  /** @param {{name?: string, id: string, done: () => unknown, draw: () => void}} o name is who has to log in, id begins those of the fields, and done is called when he is logged in */
  constructor(o) {
    this.#o = o;
    this.#name = o.name ?? "";
  }

  /** For how many seconds the console takes no log-in, after too many that failed. */
  get #wait() {
    return Math.max(0, Math.ceil((this.#until - Date.now()) / 1000));
  }

  async #enter() {
    if (this.#isBusy || this.#wait) return;
    this.#isBusy = true;
    this.#error = undefined;
    this.#o.draw();
    try {
      await once("POST /login", {}, { name: this.#name, password: this.#password });
      return void this.#o.done(); // the form goes
    } catch (e) {
      const isRefused = e instanceof Problem && e.code === "refused";
      this.#error = isRefused ? new Problem({ status: e.status, code: e.code }) : e; // more than that nobody is told
      if (isRefused) this.#password = "";
      if (e instanceof Problem && e.status === 429 && e.wait) this.#hold(e.wait);
    }
    this.#isBusy = false;
    this.#o.draw();
    document.getElementById(this.#o.id + "password")?.focus();
  }

  /** Counts the seconds down until there may be another log-in. @param {number} seconds */
  #hold(seconds) {
    this.#until = Date.now() + seconds * 1000;
    const timer = setInterval(() => {
      if (!this.#wait) {
        clearInterval(timer);
        this.#error = undefined;
      }
      this.#o.draw();
    }, 1000);
  }

  view() {
    const { id, name } = this.#o;
    return h("form", {
      class: "login",
      onsubmit: (/** @type {Event} */ e) => {
        e.preventDefault();
        void this.#enter();
      },
    },
    field({ id: id + "name", label: w("login.name"), value: this.#name, change: (v) => (this.#name = v), required: true, disabled: name !== undefined, autofocus: name === undefined, autocomplete: "username" }),
    field({ id: id + "password", label: w("login.password"), type: "password", value: this.#password, change: (v) => (this.#password = v), required: true, autofocus: name !== undefined, autocomplete: "current-password" }),
    this.#wait ? note("warn", h("p", null, w("login.limited")), h("p", { class: "num", "aria-live": "off" }, w("login.wait", { time: lasting(this.#wait) }))) : refusal(this.#error),
    h("button", { class: "first", type: "submit", "aria-disabled": this.#isBusy || this.#wait ? "true" : null }, w("login.enter")));
  }
}

/** The way to log in at a provider, which comes back to a path. @param {string} path @param {Record<string, string>} [props] */
export function providerLink(path, props) {
  const href = facts.provider + "?" + new URLSearchParams({ return: path });
  return h("p", null, h("a", { class: facts.passwords ? "button" : "button first", href, ...props }, w("login.provider")));
}
