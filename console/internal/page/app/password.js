// Form for a password: one's own, which needs the old one, or that of somebody else.
import { askAbout } from "./actions.js";
import { reasonOf } from "./api.js";
import { field } from "./form.js";
import { w } from "./words.js";

/**
 * Asks for a new password, and sets it. It resolves to whether it was set.
 * @param {{title: string, text: string, isOwn: boolean, set: (password: {old: string, new: string}) => Promise<void>}} o
 */
export function newPassword(o) {
  const typed = { old: "", new: "", again: "" };
  return askAbout({
    title: o.title, text: o.text, does: w("password.set"), valid: () => fits(typed, o.isOwn), run: () => o.set({ old: typed.old, new: typed.new }),
    form: (again, error) => {
      const set = (/** @type {keyof typeof typed} */ name) => (/** @type {string} */ value) => {
        typed[name] = value;
        again();
      };
      return [
        o.isOwn ? field({ id: "old", label: w("password.old"), type: "password", value: typed.old, change: set("old"), required: true, autofocus: true, autocomplete: "current-password", error: reasonOf(error, "old") }) : null,
        field({ id: "new", label: w("password.new"), type: "password", value: typed.new, change: set("new"), required: true, autofocus: !o.isOwn, autocomplete: "new-password", hint: w("password.rule"), error: reasonOf(error, "new") }),
        field({ id: "again", label: w("password.again"), type: "password", value: typed.again, change: set("again"), required: true, autocomplete: "new-password", error: typed.again && typed.again !== typed.new ? w("password.differs") : undefined }),
      ];
    },
  });
}

/** @param {{old: string, new: string, again: string}} typed @param {boolean} isOwn */
function fits(typed, isOwn) {
  return bytes(typed.new) >= 12 && typed.new === typed.again && (!isOwn || typed.old !== "");
}

/** @param {string} text */
const bytes = (text) => new TextEncoder().encode(text).length;
