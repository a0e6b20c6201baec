(() => {
  const squeeze = text => (text ?? '').replace(/\s+/g, ' ').trim();

  // What Chromium shows of a page, whatever line it is in.
  const shown = () => squeeze(document.body?.innerText);

  const textOf = selector => {
    const element = document.querySelector(selector);
    return element && squeeze(element.innerText ?? element.textContent);
  };

  // The role that HTML gives an element without the attribute role.
  const inputs = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', hidden: '',
  };
  const tags = {
    A: e => e.hasAttribute('href') ? 'link' : '', AREA: e => e.hasAttribute('href') ? 'link' : '',
    BUTTON: 'button', SUMMARY: 'button', TEXTAREA: 'textbox', OPTION: 'option', DIALOG: 'dialog', FORM: 'form',
    INPUT: e => e.hasAttribute('list') ? 'combobox' : inputs[e.type] ?? 'textbox',
    SELECT: e => e.multiple || e.size > 1 ? 'listbox' : 'combobox',
    H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading',
    NAV: 'navigation', MAIN: 'main', HEADER: 'banner', FOOTER: 'contentinfo', ASIDE: 'complementary', SECTION: 'region',
    TABLE: 'table', TR: 'row', TD: 'cell', TH: e => e.scope === 'row' ? 'rowheader' : 'columnheader',
    UL: 'list', OL: 'list', LI: 'listitem', IMG: 'img', PROGRESS: 'progressbar', METER: 'meter', OUTPUT: 'status',
    FIELDSET: 'group', DETAILS: 'group', ARTICLE: 'article', P: 'paragraph',
  };
  const role = element => {
    const explicit = element.getAttribute('role')?.trim().split(/\s+/)[0];
    if (explicit) return explicit;
    const tag = tags[element.tagName] ?? '';
    return typeof tag === 'function' ? tag(element) : tag;
  };

  // The text of an element and all below it, as its name has it: what is hidden does not count.
  const content = node => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.getAttribute('aria-hidden') === 'true' || !node.checkVisibility({visibilityProperty: true})) return '';
    if (node.hasAttribute('aria-label')) return node.getAttribute('aria-label');
    if (node.tagName === 'IMG') return node.alt;
    if (node.tagName === 'SELECT' || node.tagName === 'TEXTAREA' || node.tagName === 'INPUT') return '';
    const text = [...node.childNodes].map(content).join('');
    return getComputedStyle(node).display.startsWith('inline') ? text : ` ${text} `;
  };
  const named = new Set(['button', 'link', 'option', 'heading', 'tab', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'checkbox',
    'radio', 'switch', 'treeitem', 'cell', 'gridcell', 'row', 'columnheader', 'rowheader', 'tooltip', 'listitem', 'status', 'alert']);
  const name = element => {
    const refer = element.getAttribute('aria-labelledby');
    if (refer) return squeeze(refer.split(/\s+/).map(id => element.ownerDocument.getElementById(id)).filter(Boolean).map(content).join(' '));
    const own = squeeze(element.getAttribute('aria-label'));
    if (own) return own;
    if (element.labels?.length) return squeeze([...element.labels].map(content).join(' '));
    if (element.tagName === 'IMG') return squeeze(element.alt || element.title);
    if (element.tagName === 'INPUT' && inputs[element.type] === 'button') return squeeze(element.value || element.alt || element.title || element.type);
    const heads = {FIELDSET: 'legend', TABLE: 'caption'}[element.tagName];
    const head = heads && element.querySelector(`:scope > ${heads}`);
    if (head) return squeeze(content(head));
    const text = named.has(role(element)) ? squeeze(content(element)) : '';
    return text || squeeze(element.title || element.getAttribute('placeholder'));
  };

  // Whether a person can get at it: it is shown, and no dialog is before it.
  const modal = () => [...document.querySelectorAll('dialog:modal')].at(-1);
  const reachable = (element, before = modal()) => element.checkVisibility({visibilityProperty: true, opacityProperty: true})
      && !element.closest('[aria-hidden="true"], [inert]') && (!before || before.contains(element));
  const all = roles => {
    const before = modal(), has = new Set(roles);
    return [...document.querySelectorAll('*')].filter(e => has.has(role(e)) && reachable(e, before));
  };
  const find = (roles, wanted) => all(roles).filter(e => name(e) === squeeze(wanted));

  // One control, or why it cannot be had.
  const one = (roles, wanted) => {
    const found = find(roles, wanted);
    if (found.length === 0) return {why: 'there is none'};
    if (found.length > 1) return {why: `there are ${found.length} of that name`};
    if (found[0].matches(':disabled, [aria-disabled="true"]')) return {why: 'it is disabled'};
    return {element: found[0]};
  };

  // What a press on a control has come to. A page that draws itself anew meanwhile has something else under the mouse.
  const listen = (roles, wanted) => {
    document.pressed = 'nothing';
    document.listening ??= document.addEventListener('click', e => {
      const control = e.target.closest('a, button, input, select, textarea, summary, label, [role]');
      const of = control?.tagName === 'LABEL' ? control.control : control;
      const [roles, wanted] = document.listensFor;
      document.pressed = !of ? 'nothing' : roles.includes(role(of)) && name(of) === squeeze(wanted) ? 'it' : `${role(of)} ${name(of)}`;
    }, {capture: true}) ?? true;
    document.listensFor = [roles, wanted];
  };
  const pressed = () => document.pressed ?? 'it'; // a new document: the press has led there

  // Where to press a control: nothing may lie over that point.
  const locate = (roles, wanted) => {
    const {element, why} = one(roles, wanted);
    if (why) return {why};
    element.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
    // A link that goes over two lines has boxes, and what lies around them.
    const box = element.getClientRects()[0];
    if (!box || !box.width || !box.height) return {why: 'it has no size'};
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    const hit = document.elementFromPoint(x, y);
    const isHit = hit && (element.contains(hit) || hit.contains(element) || [...element.labels ?? []].some(l => l.contains(hit)));
    if (isHit) listen(roles, wanted);
    return isHit ? {x, y} : {why: hit ? `<${hit.tagName.toLowerCase()}> lies over it` : 'it is outside of the window'};
  };

  // Makes a field the one that keys go to, with all of its text marked.
  const focus = (roles, wanted) => {
    const {element, why} = one(roles, wanted);
    if (why) return {why};
    if (element.readOnly) return {why: 'it cannot be written into'};
    element.scrollIntoView({block: 'nearest', behavior: 'instant'});
    element.focus();
    if (document.activeElement !== element) return {why: 'it does not take the focus'};
    if (element.select) element.select(); else getSelection().selectAllChildren(element);
    return {kind: element.tagName === 'INPUT' ? element.type : ''};
  };

  // Sets a value as a picker of the browser does. Frameworks replace the setter of an element.
  const set = (element, value) => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value').set.call(element, value);
    element.dispatchEvent(new Event('input', {bubbles: true}));
    element.dispatchEvent(new Event('change', {bubbles: true}));
  };
  const pick = value => {
    set(document.activeElement, value);
    return document.activeElement.value === value ? {} : {why: `it takes no ${value}`};
  };

  // Chooses an option of a list. Lists that are no <select> are clicked.
  const choose = (wanted, text) => {
    const {element, why} = one(['combobox', 'listbox'], wanted);
    if (why) return {why};
    if (element.tagName !== 'SELECT') return {why: 'it is no <select>: click it, and then the option'};
    const options = [...element.options].filter(o => squeeze(o.label) === squeeze(text));
    if (options.length !== 1) return {why: `it has ${options.length} such options of: ${[...element.options].map(o => squeeze(o.label)).join(', ')}`};
    if (options[0].disabled) return {why: 'the option is disabled'};
    element.focus();
    set(element, options[0].value);
    return {};
  };

  const controls = ['button', 'link', 'textbox', 'searchbox', 'combobox', 'listbox', 'checkbox', 'radio', 'switch', 'spinbutton',
    'slider', 'tab', 'menuitem', 'heading', 'dialog', 'alert'];
  const describe = () => ({
    url: location.href, title: document.title, text: shown(),
    controls: all(controls).map(e => `${role(e)} ${JSON.stringify(name(e))}${e.matches(':disabled') ? ' (disabled)' : ''}`),
  });

  return {shown, textOf, locate, pressed, focus, pick, choose, describe, role, name, reachable, squeeze};
})()
