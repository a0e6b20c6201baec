page => {
  const {role, name, reachable, squeeze} = page;
  const what = element => {
    const classes = [...element.classList].map(c => '.' + c).join('');
    const text = name(element) || squeeze(element.innerText);
    return `<${element.tagName.toLowerCase()}${element.id && '#' + element.id}${classes}>` + (text && ` "${text.slice(0, 40)}"`);
  };
  const isModal = () => !!document.querySelector('dialog:modal');
  const within = () => [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body;

  // Where Tab has been, and isThrough. It is kept between the presses, and taken away at the end.
  const memory = Symbol.for('elasticjob.browsertest.audit');
  const canTab = e => e.tabIndex >= 0 && !e.matches(':disabled') && !e.matches('[type=radio]') && reachable(e)
    && (e.matches('a[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable=true]'));

  // Puts the focus before all that Tab goes to, and returns how often it is to be pressed at most: there are groups of
  // radio buttons, what the focus itself shows, rows that come to a live page meanwhile, and dates with parts.
  const begin = () => {
    const start = document.createElement('span');
    start.tabIndex = -1;
    within().prepend(start);
    start.focus({preventScroll: true});
    start.remove();
    const all = [...document.querySelectorAll('*')].filter(canTab);
    window[memory] = {seen: [], all, back: [], isThrough, note: event => visit(event.target)};
    document.addEventListener('focusin', window[memory].note, true);
    return 2 * all.length + 50 + 8 * all.filter(e => e.matches('[type=date], [type=time], [type=datetime-local], [type=month], [type=week]')).length;
  };
  // Notes where the focus is. A live page may take that element away before anybody asks.
  const visit = now => {
    const walk = window[memory], before = walk.seen.at(-1);
    if (now === before) return; // within a field for a date Tab stops more than once
    if (walk.seen.includes(now) || now === within()) { // a dialog itself has the focus after its last control
      walk.wentRound ||= before?.isConnected;
      return;
    }
    walk.seen.push(now);
    if (before?.isConnected && before.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_PRECEDING) walk.back.push(`Tab goes back from ${what(before)} to ${what(now)}`);
  };
  // Says whether Tab has been everywhere. If what had the focus has gone, the next press goes on from there.
  const isThrough = () => {
    const walk = window[memory], now = document.activeElement, isOut = !now || now === document.body || now === document.documentElement;
    if (!isOut) visit(now);
    return walk.wentRound || isOut && (walk.seen.at(-1)?.isConnected ?? true);
  };
  const end = () => {
    const {seen, all: before, back, note} = window[memory];
    document.removeEventListener('focusin', note, true);
    delete window[memory];
    document.activeElement?.blur();
    const all = before.filter(e => e.isConnected && canTab(e)); // a live page has more by now
    return [
      ...back,
      ...all.filter(e => e.tabIndex > 0).map(e => `${what(e)} has the tabindex ${e.tabIndex}, which goes before all others`),
      ...all.filter(e => e.tabIndex === 0 && !seen.includes(e)).map(e => `Tab does not come to ${what(e)}`),
    ];
  };

  // A colour as [red, green, blue, opacity], each from 0 to 1, whatever notation it has.
  const brush = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const colour = text => {
    if (!known.has(text)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = text;
      brush.fillRect(0, 0, 1, 1);
      known.set(text, [...brush.getImageData(0, 0, 1, 1).data].map(part => part / 255));
    }
    return known.get(text);
  };
  const over = ([r, g, b, a], [r2, g2, b2, a2]) => {
    const sum = a + a2 * (1 - a), mix = (c, c2) => sum && (c * a + c2 * a2 * (1 - a)) / sum;
    return [mix(r, r2), mix(g, g2), mix(b, b2), sum];
  };
  const light = rgb => {
    const [r, g, b] = rgb.map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const canvas = () => {
    const isDark = /dark/.test(getComputedStyle(document.documentElement).colorScheme) && matchMedia('(prefers-color-scheme: dark)').matches;
    return isDark ? [18 / 255, 18 / 255, 18 / 255, 1] : [1, 1, 1, 1];
  };
  // The contrast of a text: it, and what lies behind it, are painted from within outwards.
  const contrast = element => {
    const own = getComputedStyle(element);
    let text = colour(element instanceof SVGElement ? own.fill : own.color), ground = [0, 0, 0, 0];
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e), isOpaque = ground[3] > 0.999;
      if (!isOpaque && style.backgroundImage !== 'none') return null;
      const paint = colour(style.backgroundColor), opacity = Number(style.opacity);
      [text, ground] = [text, ground].map(layer => {
        const [r, g, b, a] = over(layer, paint);
        return [r, g, b, a * opacity];
      });
      if (e.matches('dialog:modal')) break; // in the top layer, before a backdrop
    }
    return ratio(over(text, canvas()), over(ground, canvas()));
  };
  // Texts for screen readers alone are one pixel large.
  const isShown = element => {
    if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) return false;
    for (let e = element; e; e = e.parentElement) {
      const box = e.getBoundingClientRect();
      if (box.width <= 1 && box.height <= 1 && getComputedStyle(e).overflow !== 'visible') return false;
    }
    return true;
  };
  const contrasts = () => {
    const found = new Set(), texts = document.createTreeWalker(within(), NodeFilter.SHOW_TEXT);
    const check = (element, text) => {
      if (!text || element.closest(':disabled, [aria-disabled="true"], script, style, noscript, option') || !isShown(element)) return;
      const has = contrast(element);
      if (has === null) found.add(`contrast of ${JSON.stringify(text.slice(0, 40))} cannot be told: it lies on a picture`);
      else if (has < 4.495) found.add(`contrast of ${JSON.stringify(text.slice(0, 40))} is ${has.toFixed(2)}, want 4.5`);
    };
    while (texts.nextNode()) check(texts.currentNode.parentElement, squeeze(texts.currentNode.data));
    for (const field of within().querySelectorAll('input:not([type=checkbox], [type=radio], [type=range], [type=color]), textarea, select'))
      check(field, squeeze(field.selectedOptions?.[0]?.label ?? field.value));
    return [...found];
  };

  // What can be pressed, is smaller than 24 pixels, and so near to another such thing that a circle of 24 pixels around its
  // middle meets that, or its circle if that is small, too. Links within a sentence may be: WCAG 2.2, 2.5.8.
  const pressed = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'menuitemradio', 'menuitemcheckbox',
    'combobox', 'textbox', 'searchbox', 'spinbutton', 'slider']);
  const isInSentence = e => role(e) === 'link' && getComputedStyle(e).display === 'inline'
    && [...e.parentElement.childNodes].some(n => n.nodeType === Node.TEXT_NODE && squeeze(n.data));
  const area = e => {
    const boxes = [e, ...e.labels ?? []].map(x => x.getBoundingClientRect()).filter(b => b.width && b.height);
    const width = Math.max(0, ...boxes.map(b => b.width)), height = Math.max(0, ...boxes.map(b => b.height));
    const own = e.getBoundingClientRect(), x = own.x + own.width / 2, y = own.y + own.height / 2;
    return {e, boxes, width, height, x, y, isSmall: width < 23.5 || height < 23.5};
  };
  const isNear = (a, b) => b.isSmall ? Math.hypot(a.x - b.x, a.y - b.y) < 24
    : b.boxes.some(box => Math.hypot(Math.max(box.left - a.x, 0, a.x - box.right), Math.max(box.top - a.y, 0, a.y - box.bottom)) < 12);
  const targets = () => {
    const all = [...within().querySelectorAll('*')].filter(e => pressed.has(role(e)) && reachable(e) && isShown(e)).map(area);
    return all.filter(a => a.isSmall && !isInSentence(a.e)).flatMap(a => {
      const near = all.find(b => b !== a && !a.e.contains(b.e) && !b.e.contains(a.e) && isNear(a, b));
      return near ? [`${what(a.e)} is ${Math.round(a.width)} x ${Math.round(a.height)} pixels, want 24 x 24, or as much room to ${what(near.e)}`] : [];
    });
  };

  // What makes the page wider than the window.
  const wide = () => {
    const page = document.scrollingElement;
    if (page.scrollWidth <= page.clientWidth) return [];
    const scrolls = e => e && e !== page && e !== document.body && (getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentElement));
    const all = [...document.body.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > page.clientWidth + 1 && !scrolls(e.parentElement));
    const inner = all.filter(e => !all.some(other => other !== e && e.contains(other)));
    return [`it scrolls sideways: ${page.scrollWidth} pixels, for ${inner.slice(0, 3).map(what).join(', ') || 'a margin'}`];
  };

  return {isModal, begin, end, contrasts, targets, wide};
}
