// Links to a state of this page's widgets, such as ?ring.mode=naive#ring: the widgets take that
// state where they are, and the page is not loaded again. Without this file the links do that.

(() => {
  /** The page that an address names, whatever its state. @param {URL | Location} url */
  const pageOf = ({ origin, pathname }) => origin + pathname;

  /**
   * The widgets that a link speaks of; none where it asks for anything else too.
   * @param {URLSearchParams} asked
   */
  const spokenOf = (asked) => {
    const ids = new Set([...asked.keys()].map((key) => key.split(".", 1)[0]));
    const widgets = [...ids].map((id) => document.getElementById(id));
    return widgets.every((widget) => widget?.matches("lesson-widget[data-alive]"))
      ? /** @type {(HTMLElement & LessonWidget)[]} */ (widgets)
      : [];
  };

  document.addEventListener("click", (event) => {
    const link = /** @type {Element} */ (event.target).closest?.("a[href]");
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (!(link instanceof HTMLAnchorElement) || link.target || elsewhere) return;
    const url = new URL(link.href);
    if (pageOf(url) !== pageOf(location)) return;
    const widgets = spokenOf(url.searchParams);
    if (!widgets.length) return;
    event.preventDefault();
    for (const widget of widgets) widget.take(url.searchParams);
    if (url.hash) location.replace(url.hash); // scrolls there, and piles up no history
    // Its keys work at once, or the control that the link leads to.
    const place = document.getElementById(url.hash.slice(1));
    (place && widgets[0].contains(place) ? place : widgets[0]).focus({ preventScroll: true });
  });
})();
