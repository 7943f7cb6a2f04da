// How far the reader has come, kept in this browser alone: a line under the header while reading,
// a tick in the table of contents for sections that were read, and, on coming back, the way to
// where the reader stopped. Pages of lessons only; on the cover, the way back to the latest.

(() => {
  const PLACES = "lesson.places";
  const READ = 5_000; // ms on screen make a section a read one
  const LINE = 120; // px from the top: the section that stands there is being read

  /** @typedef {{id: string, section: string, page: string, read: string[], at: number}} Place */

  /** @returns {Record<string, Place>} by the path of its page */
  const recall = () => {
    try {
      const places = JSON.parse(localStorage.getItem(PLACES) ?? "{}");
      return Object.fromEntries(Object.entries(places).filter(([, p]) => Array.isArray(p?.read)));
    } catch {
      return {}; // nothing to read, or no leave to
    }
  };

  /** @param {Record<string, Place>} places */
  const keep = (places) => {
    try {
      localStorage.setItem(PLACES, JSON.stringify(places));
    } catch {} // remembered for this visit
  };

  /** @param {string} tag @param {object} [properties] @param {(Node | string)[]} children */
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  /** What a heading says, without the link to itself. @param {Element} heading */
  const words = (heading) =>
    [...heading.childNodes]
      .filter((node) => !(node instanceof Element && node.matches(".headerlink")))
      .map((node) => node.textContent)
      .join("")
      .trim();

  /** Offer the way back. @param {string} path @param {Place} place @param {string} says */
  const offer = (path, place, says) => {
    const go = make("a", { href: `${path}#${encodeURIComponent(place.id)}` }, "接着读");
    const forget = make("button", { type: "button" }, "忘掉");
    const bar = make("aside", { className: "resume", ariaLabel: "上次读到" }, says, go, forget);
    const places = recall();
    forget.addEventListener("click", () => {
      delete places[path];
      keep(places);
      for (const link of document.querySelectorAll(".md-nav__link.read")) link.classList.remove("read");
      bar.remove();
    });
    go.addEventListener("click", () => bar.remove());
    document.body.append(bar);
    return bar;
  };

  const own = location.pathname;
  const article = document.querySelector("article");

  if (document.querySelector(".cover")) {
    const below = Object.entries(recall()).filter(([path]) => path !== own && path.startsWith(own));
    const latest = below.sort(([, a], [, b]) => b.at - a.at)[0];
    if (latest) offer(...latest, `上次读到《${latest[1].page}》里的「${latest[1].section}」`);
  }
  if (!article?.querySelector(".lesson-head")) return;

  const sections = [...article.querySelectorAll("h2[id]")];
  const stopped = recall()[own];
  const read = new Set(stopped?.read ?? []);
  const bar = /** @type {HTMLProgressElement} */ (
    make("progress", { className: "lesson-progress", max: 1, value: 0, ariaLabel: "这一页读到哪里" })
  );
  document.querySelector(".md-header")?.append(bar);

  /** @param {string} id */
  const tick = (id) => {
    const links = document.querySelectorAll(`.md-nav--secondary a[href="#${CSS.escape(id)}"]`);
    for (const link of links) link.classList.add("read"); // a phone has a list of its own
  };
  for (const id of read) tick(id);

  // A reader who was led to a place, by a link or by the browser, knows where to go on.
  let offered =
    stopped && stopped.id !== sections[0]?.id && !location.hash && scrollY < innerHeight / 2
      ? offer(own, stopped, `上次读到「${stopped.section}」`)
      : null;

  /** @type {Element | undefined} */
  let current;
  let reading = 0;
  let moved = false;

  const look = () => {
    moved = false;
    const { top, height } = article.getBoundingClientRect();
    bar.value = Math.min(1, Math.max(0, -top / Math.max(1, height - innerHeight)));
    const now = sections.filter((s) => s.getBoundingClientRect().top < LINE).at(-1);
    if (now === current) return;
    current = now;
    clearTimeout(reading);
    if (!now) return;
    offered?.remove();
    offered = null;
    const place = { id: now.id, section: words(now), page: words(article.querySelector("h1") ?? now) };
    const note = () => keep({ ...recall(), [own]: { ...place, read: [...read], at: Date.now() } });
    note();
    reading = setTimeout(() => {
      read.add(now.id);
      tick(now.id);
      note();
    }, READ);
  };

  const scrolled = () => {
    if (moved) return;
    moved = true;
    requestAnimationFrame(look);
  };
  addEventListener("scroll", scrolled, { passive: true });
  scrolled(); // and not at once, which would have the page laid out just for this
})();
