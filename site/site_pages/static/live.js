// Tells when the site was updated and how the games go on; a page that has a stamp follows them if asked to.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const EVERY_MS = 10_000;
  const OLD_MS = 90_000; // a run that was killed says nothing more
  const place = document.getElementById("moment");
  const root = new URL("..", document.currentScript.src);
  const stamp = place.dataset.stamp;
  const kept = `malice place ${location.pathname}`;
  let follow = null;

  /** The storage of this tab, as far as the browser grants it. */
  malice.remember = function (name, value) {
    try {
      if (value === undefined) return JSON.parse(sessionStorage.getItem(name));
      sessionStorage.setItem(name, JSON.stringify(value));
    } catch {
      // The reader denies it, or it is full: nothing is remembered.
    }
    return null;
  };

  /** Load the news, which is a script, since from file:// nothing else can be read; it calls `malice.tell`. */
  function load() {
    const script = document.createElement("script");
    const address = new URL("data/live.js", root);
    address.search = `?${Date.now()}`;
    script.src = address.href;
    script.onload = script.onerror = () => script.remove();
    document.head.append(script);
  }

  function formatTime(date) {
    return date.toLocaleString("sv-SE"); // 2030-01-31 18:00:00
  }

  function makeTime(seconds) {
    const date = new Date(1000 * seconds);
    const time = document.createElement("time");
    time.dateTime = date.toISOString();
    time.textContent = formatTime(date);
    time.title = date.toString();
    return time;
  }

  function makeFollow() {
    const label = document.createElement("label");
    follow = document.createElement("input");
    follow.type = "checkbox";
    follow.id = "follow";
    follow.checked = malice.remember(`malice follow ${root}`) === true;
    follow.addEventListener("change", () => {
      malice.remember(`malice follow ${root}`, follow.checked);
      if (follow.checked) load();
    });
    label.append(follow, " Follow");
    label.title = "Show new pages as soon as they are written";
    return label;
  }

  function makeReload() {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Show newer games";
    button.addEventListener("click", reload);
    return button;
  }

  /** List by caption how tables are sorted; a new page may have more tables. */
  function listSorts() {
    const sorts = {};
    for (const table of document.querySelectorAll("table.sortable")) {
      const cells = [...table.tHead.rows[0].cells];
      const column = cells.findIndex((cell) => cell.hasAttribute("aria-sort"));
      if (column >= 0) sorts[table.caption?.textContent] = [column, cells[column].getAttribute("aria-sort")];
    }
    return sorts;
  }

  function sortAgain(sorts) {
    for (const table of document.querySelectorAll("table.sortable")) {
      const [column, direction] = sorts[table.caption?.textContent] || [];
      const cell = table.tHead.rows[0].cells[column];
      const button = cell?.querySelector("button");
      for (let clicks = 0; button && clicks < 2 && cell.getAttribute("aria-sort") !== direction; clicks++) button.click();
    }
  }

  /** Load this page again, and come back to the same place in it. */
  function reload() {
    malice.remember(kept, {
      scrolled: [scrollX, scrollY],
      regions: [...document.querySelectorAll(".scroll")].map((region) => [region.scrollLeft, region.scrollTop]),
      opened: [...document.querySelectorAll("main details")].map((details) => details.open),
      sorts: listSorts(),
      focus: document.activeElement?.id,
    });
    location.reload();
  }

  function comeBack() {
    const was = malice.remember(kept);
    if (!was) return;
    malice.remember(kept, null);
    sortAgain(was.sorts);
    document.querySelectorAll("main details").forEach((details, index) => (details.open = was.opened[index] ?? details.open));
    document.querySelectorAll(".scroll").forEach((region, index) => region.scrollTo(...(was.regions[index] || [0, 0])));
    if (was.focus) document.getElementById(was.focus)?.focus({ preventScroll: true });
    addEventListener("load", () => scrollTo(...was.scrolled));
  }

  /** Reload once for each new state, so that a page which comes from a cache does not reload for ever. */
  function goOn(news) {
    const typing = document.activeElement?.matches("input:not([type=checkbox]), select, textarea");
    if (typing || document.querySelector("dialog[open]") || malice.remember(`malice seen ${root}`) === news) return;
    malice.remember(`malice seen ${root}`, news);
    reload();
  }

  /** Show what data/live.js says of the moment, which calls this. */
  malice.tell = function (news) {
    if (news.updated === null) return;
    const old = Date.now() - 1000 * news.updated > OLD_MS;
    const running = news.running && !old;
    const newer = stamp !== undefined && news.stamp !== stamp;
    const label = stamp === undefined ? null : follow ? follow.parentNode : makeFollow();
    const following = label !== null && follow.checked;
    const parts = [document.createElement("span")];
    parts[0].append("updated ", makeTime(news.updated), ...(news.running && old ? [] : news.words).map((word) => ` · ${word}`));
    if (newer && !following) parts.push(makeReload());
    if (label && (running || following)) parts.push(label);
    show(parts);
    if (newer && following) goOn(news.stamp);
    clearTimeout(malice.waiting);
    if (running || following) malice.waiting = setTimeout(load, EVERY_MS);
  };

  /** Put parts in place of others; the checkbox stays where it is, and keeps the focus. */
  function show(parts) {
    for (const part of [...place.children]) if (!parts.includes(part)) part.remove();
    const last = place.firstElementChild;
    for (const part of parts) if (part !== last) place.insertBefore(part, last);
    place.hidden = false;
  }

  addEventListener("DOMContentLoaded", comeBack); // after other scripts made what can be opened and sorted
  load();
})(window.malice);
