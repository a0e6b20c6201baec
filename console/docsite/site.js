// The documentation's pages work without this script, but for the search. It is no module: pages from file:// may load none.
(() => {
  const root = document.documentElement.dataset.root;
  // What somebody has chosen in the console counts here, too.
  const theme = /elasticjob-theme=(light|dark)/.exec(document.cookie);
  if (theme) document.documentElement.dataset.theme = theme[1];

  const most = 20; // results
  let index; // a promise of the pages: {p: address, t: title, s: [{a: anchor, h: heading, t: text}]}
  const load = () => index ??= new Promise((resolve, reject) => {
    const s = document.createElement("script");
    s.src = root + "search.js";
    s.onload = () => resolve(window.docs);
    s.onerror = reject;
    document.head.append(s);
  });

  // A section is found if it, with the title of its page, has all words; those of headings count for more.
  const find = (pages, words) => pages.flatMap((page) => page.s.map((s) => {
    const heading = (s.h + " " + s.a).toLowerCase(), title = page.t.toLowerCase(), text = s.t.toLowerCase();
    let score = 0;
    for (const word of words) {
      const points = heading === word + " " + word ? 20 : heading.includes(word) ? 5 : title.includes(word) ? 3 : text.includes(word) ? 1 : 0;
      if (!points) return { score: 0 };
      score += points;
    }
    return { score, page, s };
  })).filter((r) => r.score > 0).sort((a, b) => b.score - a.score).slice(0, most);

  const element = (tag, text, more) => Object.assign(document.createElement(tag), { textContent: text }, more);
  const show = (box, words, found) => {
    if (!words.length) return box.replaceChildren();
    if (!found.length) return box.replaceChildren(element("p", box.dataset.none));
    const list = element("ul", "");
    for (const { page, s } of found) {
      const at = Math.max(0, s.t.toLowerCase().indexOf(words[0]) - 40);
      const item = element("li", "");
      item.append(element("a", s.h === page.t ? page.t : page.t + ": " + s.h, { href: root + page.p + "#" + s.a }), element("p", (at ? "… " : "") + s.t.slice(at, at + 160)));
      list.append(item);
    }
    box.replaceChildren(list);
  };

  document.addEventListener("DOMContentLoaded", () => {
    const menu = document.getElementById("docs-menu"), field = document.getElementById("docs-search"), box = document.getElementById("docs-results");
    const wide = matchMedia("(min-width: 56rem)"), fold = () => menu.open = wide.matches;
    wide.addEventListener("change", fold);
    fold();
    field.addEventListener("focus", load);
    field.addEventListener("input", async () => {
      const pages = await load(), words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      show(box, words, find(pages, words));
    });
    document.getElementById("docs-find").addEventListener("submit", (e) => {
      e.preventDefault();
      box.querySelector("a")?.click();
    });
  });
})();
