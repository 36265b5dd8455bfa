// Light, dark, or as the system: what the reader chose. Runs before anything is drawn, so that no page flashes.
"use strict";

(function () {
  const KEPT = "malice theme";
  const root = document.documentElement;
  // What pressing the button leads to next, and what it shows.
  const THEMES = { system: { next: "light", sign: "◐" }, light: { next: "dark", sign: "☼" }, dark: { next: "system", sign: "☾" } };

  function recall() {
    try {
      return localStorage.getItem(KEPT);
    } catch {
      return null; // some browsers keep nothing for pages on the disk: there a choice holds until the next page
    }
  }

  function keep(theme) {
    try {
      localStorage.setItem(KEPT, theme);
    } catch {
      // as above
    }
  }

  function apply(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
    const button = document.getElementById("theme");
    if (!button) return;
    const now = root.dataset.theme || "system";
    button.firstElementChild.textContent = THEMES[now].sign;
    button.title = `Theme: ${now}; press for ${THEMES[now].next}`;
    button.setAttribute("aria-label", button.title);
    button.hidden = false;
  }

  apply(recall());
  document.addEventListener("DOMContentLoaded", () => {
    apply(root.dataset.theme);
    document.getElementById("theme")?.addEventListener("click", () => {
      const { next } = THEMES[root.dataset.theme || "system"];
      keep(next);
      apply(next);
    });
  });
  // Another tab, or the page that holds this one in a frame, has changed it.
  addEventListener("storage", ({ key, newValue }) => key === KEPT && apply(newValue));
})();
