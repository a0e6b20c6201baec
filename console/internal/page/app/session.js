// A session that ends while its page is open: the user logs in over the page, and what has failed is asked for again.
import { once } from "./api.js";
import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { facts } from "./facts.js";
import { LoginForm, providerLink } from "./login-form.js";
import { w } from "./words.js";

/** @type {Promise<void> | undefined} */
let asking;
/** Ends the question. */
let close = (/** @type {true} */ _) => {};

/** Asks the user of the page to log in, and resolves when he is: one question for all requests that have failed. */
export function logInAgain() {
  asking ??= question().finally(() => (asking = undefined));
  return asking;
}

async function question() {
  if (!facts.passwords && !facts.provider) { // whom a proxy names logs in there
    location.reload();
    await new Promise(() => {});
  }
  let draw = () => {};
  const form = new LoginForm({ id: "session-", name: facts.user, done: () => close(true), draw: () => draw() });
  const ask = () => dialog(w("login.ended"), (/** @type {(done?: true) => void} */ done, again) => {
    [close, draw] = [done, again];
    return h("div", { class: "login" },
      h("p", null, w("login.endedText")),
      hasPassword() ? form.view() : null,
      facts.provider ? [providerLink(location.pathname + location.search, { target: "_blank" }), h("p", { class: "hint" }, w("login.comeBack"))] : null,
      h("button", { class: "quiet", type: "button", onclick: () => location.reload() }, w("login.somebodyElse")));
  });
  while (!(await ask())); // Escape, or a click beside, would leave a page that can ask for nothing
}

/** Whether the user may have a password here: whom a provider knows has a name with a colon, and none. */
const hasPassword = () => facts.passwords && !facts.user?.includes(":");

// Another tab may have logged in the user of the page, or somebody else, who gets a page of his own.
document.addEventListener("visibilitychange", async () => {
  if (document.hidden || !facts.user) return;
  const me = await once("GET /me", {}).catch(() => undefined);
  if (me?.value.name === facts.user) close(true);
  else if (me) location.reload();
});
