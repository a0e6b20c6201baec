// A view is a function of the state that returns nodes; draw makes the page like them, and touches nothing that is
// like them already: so focus, selection and scrolling stay where they are.

/**
 * @typedef {string | number | false | null | undefined} Text what is false, null or undefined is left out
 * @typedef {{tag: string, props: Record<string, any>, children: Child[], key?: unknown, el?: Element}} Made
 * @typedef {{text: string, el?: globalThis.Text}} Written
 * @typedef {Made | Written} Child
 * @typedef {Made | Text | Made[] | (Made | Text | Made[] | (Made | Text)[])[]} View
 */

/**
 * Returns a node. Among props, key tells children apart that change their places; on… are listeners; style is an object of
 * CSS properties; value and checked are those of the control now, also after the user has changed it; made is called
 * once with the new element. All others are attributes: true is one without a value; false, null and undefined none.
 * @param {string} tag
 * @param {Record<string, any> | null} [props]
 * @param {...View} children
 * @returns {Made}
 */
export function h(tag, props, ...children) {
  const { key, ...rest } = props ?? {};
  return { tag, props: rest, children: flat(children), key };
}

/** @param {any[]} children @returns {Child[]} */
function flat(children) {
  /** @type {Child[]} */
  const out = [];
  for (const c of children.flat(Infinity)) {
    if (c === false || c === null || c === undefined || c === "") continue;
    out.push(typeof c === "object" ? c : { text: visible(String(c)) });
  }
  return out;
}

/**
 * A text in which what turns the direction of writing is written out, such as \\u202e: texts of jobs may have it, and would look
 * like others.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** @type {WeakMap<Element, Child[]>} */
const drawn = new WeakMap();

/**
 * Makes what is in root like the view.
 * @param {Element} root
 * @param {...View} view
 */
export function draw(root, ...view) {
  const before = drawn.get(root);
  if (!before) root.replaceChildren();
  const now = flat(view);
  patchChildren(root, before ?? [], now);
  drawn.set(root, now);
}

/**
 * Draws at most once a frame, however often it is asked to.
 * @param {Element} root
 * @param {() => View} view
 * @returns {() => void}
 */
export function drawing(root, view) {
  let asked = false;
  const now = () => {
    asked = false;
    draw(root, view());
  };
  return () => {
    if (asked) return;
    asked = true;
    // A page in the background gets no frames, and has to be up to date when somebody looks.
    if (document.hidden) setTimeout(now);
    else requestAnimationFrame(now);
  };
}

const svg = "http://www.w3.org/2000/svg";

/** @param {Child} node @param {Element} parent @returns {Node} */
function make(node, parent) {
  if ("text" in node) return (node.el = document.createTextNode(node.text));
  const inSVG = node.tag === "svg" || (parent.namespaceURI === svg && parent.tagName !== "foreignObject");
  const el = inSVG ? document.createElementNS(svg, node.tag) : document.createElement(node.tag);
  node.el = el;
  for (const child of node.children) el.append(make(child, el));
  // The value of a select needs its options.
  for (const [name, value] of Object.entries(node.props)) set(el, name, value, undefined);
  node.props.made?.(el);
  return el;
}

/** @param {Element} el @param {string} name @param {any} value @param {any} before */
function set(el, name, value, before) {
  const any = /** @type {any} */ (el);
  if (name === "made") return;
  if (name.startsWith("on")) {
    if (value !== before) any[name] = value ?? null;
  } else if (name === "style") {
    const style = any.style;
    for (const property of Object.keys(before ?? {})) if (!(property in (value ?? {}))) style.removeProperty(property);
    for (const [property, v] of Object.entries(value ?? {})) if (v !== before?.[property]) style.setProperty(property, String(v));
  } else if ((name === "value" && el.tagName !== "LI" && el.tagName !== "BUTTON") || name === "checked" || name === "indeterminate") {
    // An option's value is an attribute as well, and set here before it is chosen.
    const v = value ?? (name === "value" ? "" : false);
    if (any[name] !== v) any[name] = v;
  } else if (value !== before) {
    if (value === false || value === null || value === undefined) el.removeAttribute(name);
    else el.setAttribute(name, value === true ? "" : name === "title" || name === "aria-label" ? visible(String(value)) : String(value));
  }
}

/** @param {Child} a @param {Child} b */
function same(a, b) {
  if ("text" in a || "text" in b) return "text" in a && "text" in b;
  return a.tag === b.tag && a.key === b.key;
}

/** @param {Child} before @param {Child} now */
function patch(before, now) {
  if ("text" in before) {
    const written = /** @type {Written} */ (now);
    written.el = before.el;
    if (written.text !== before.text && written.el) written.el.data = written.text;
    return;
  }
  const made = /** @type {Made} */ (now);
  const el = /** @type {Element} */ (before.el);
  made.el = el;
  if (made === before) return;
  patchChildren(el, before.children, made.children);
  for (const name of Object.keys(before.props)) if (!(name in made.props)) set(el, name, undefined, before.props[name]);
  for (const [name, value] of Object.entries(made.props)) set(el, name, value, before.props[name]);
}

/** @param {Element} parent @param {Child[]} before @param {Child[]} now */
function patchChildren(parent, before, now) {
  let from = 0;
  let endBefore = before.length;
  let endNow = now.length;
  while (from < endBefore && from < endNow && same(before[from], now[from])) {
    patch(before[from], now[from]);
    from++;
  }
  while (endBefore > from && endNow > from && same(before[endBefore - 1], now[endNow - 1])) {
    patch(before[--endBefore], now[--endNow]);
  }
  /** @type {Map<unknown, Made>} */
  const keyed = new Map();
  /** @type {Child[]} */
  const left = [];
  for (let i = from; i < endBefore; i++) {
    const b = before[i];
    if ("tag" in b && b.key !== undefined) keyed.set(b.key, b);
    else left.push(b);
  }
  let next = endNow < now.length ? /** @type {Node | null} */ (now[endNow].el ?? null) : null;
  /** @type {(Child | undefined)[]} */
  const matches = [];
  for (let i = from; i < endNow; i++) {
    const n = now[i];
    if ("tag" in n && n.key !== undefined) {
      const b = keyed.get(n.key);
      if (b && same(b, n)) {
        keyed.delete(n.key);
        matches[i] = b;
      }
    } else {
      const at = left.findIndex((b) => same(b, n));
      if (at >= 0) matches[i] = left.splice(at, 1)[0];
    }
  }
  for (const b of [...keyed.values(), ...left]) b.el?.remove();
  for (let i = endNow - 1; i >= from; i--) {
    const b = matches[i];
    if (b) patch(b, now[i]);
    const el = /** @type {Node} */ (b ? now[i].el : make(now[i], parent));
    if (el.nextSibling !== next || el.parentNode !== parent) parent.insertBefore(el, next);
    next = el;
  }
}
