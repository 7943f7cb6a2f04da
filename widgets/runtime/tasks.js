// Things to try: a task is ticked once the reader has seen what it speaks of. Which tasks a frame
// shows is said by Python, in data-reached; the ticks are kept for this reader.

(() => {
  const TICKED = "lesson.tasks";

  /** @returns {Set<string>} */
  const recall = () => {
    try {
      return new Set(JSON.parse(localStorage.getItem(TICKED) ?? "[]"));
    } catch {
      return new Set(); // nothing to read, or no leave to
    }
  };

  const ticked = recall();

  /** Show the ticks of a task, wherever it stands; returns their words. @param {string} task */
  const tick = (task) => {
    const ticks = document.querySelectorAll(`[data-ticks="${CSS.escape(task)}"]`);
    for (const each of ticks) each.toggleAttribute("hidden", false);
    return ticks[0]?.textContent ?? "";
  };

  for (const task of ticked) tick(task);

  globalThis.lessonTasks = (name, frame) => {
    const reached = (frame.dataset.reached ?? "").split(" ").filter(Boolean);
    const fresh = reached.map((task) => `${name}.${task}`).filter((task) => !ticked.has(task));
    for (const task of fresh) ticked.add(task);
    try {
      if (fresh.length) localStorage.setItem(TICKED, JSON.stringify([...ticked]));
    } catch {
      frame.closest("lesson-widget")?.dispatchEvent(new Event("unsaved")); // ticked for this visit
    }
    return fresh.map(tick);
  };
})();
