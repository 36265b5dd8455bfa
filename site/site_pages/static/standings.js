// The front page: a tab for each ruleset, a search, a least number of games and older versions, all in the address:
// `#standard-2&search=gre&games=30&versions=all`. Without this script all tables stand below one another.
"use strict";

(function () {
  const panels = [...document.querySelectorAll("[data-tab]")];
  const state = { panel: panels[0], search: "", games: 0, versions: false };
  const tabs = new Map();
  const controls = {};
  const MANY = 12;

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  function anchorOf(panel) {
    return panel.getAttribute("aria-labelledby") ?? panel.dataset.anchor;
  }

  // What is shown

  /** Show or hide a row by its bot and its games; the heading of a part of the table goes with its last row. */
  function filterTable(table) {
    for (const body of table.tBodies) {
      let left = 0;
      for (const row of body.rows) {
        const bot = row.querySelector("th.bot");
        if (bot === null) continue;
        const found = bot.textContent.toLowerCase().includes(state.search.toLowerCase());
        row.hidden = !found || Number(row.dataset.games ?? Infinity) < state.games;
        left += !row.hidden;
      }
      for (const row of body.querySelectorAll("tr.part")) row.hidden = left === 0;
    }
  }

  function countRows() {
    const shown = [...(state.panel ?? document).querySelectorAll("table.ranking tr")].filter(
      (row) => row.querySelector("tbody th.bot") && row.closest("[hidden].newest, [hidden].versions, details") === null,
    );
    const left = shown.filter((row) => !row.hidden).length;
    controls.count.textContent = left === shown.length ? "" : `${left} of ${shown.length} ${shown.length === 1 ? "row" : "rows"}`;
  }

  function show() {
    for (const panel of panels) {
      if (tabs.size > 0) panel.hidden = panel !== state.panel;
      const versions = panel.querySelector(".versions");
      if (versions === null) continue;
      versions.hidden = !state.versions;
      panel.querySelector(".newest").hidden = state.versions;
    }
    for (const [panel, tab] of tabs) {
      tab.setAttribute("aria-selected", String(panel === state.panel));
      tab.tabIndex = panel === state.panel ? 0 : -1;
    }
    for (const table of document.querySelectorAll("main table")) filterTable(table);
    if (controls.count) countRows();
  }

  // The address

  function makeAddress() {
    const parts = [state.panel ? anchorOf(state.panel) : "standings"];
    if (state.search) parts.push(`search=${encodeURIComponent(state.search)}`);
    if (state.games > 0) parts.push(`games=${state.games}`);
    if (state.versions) parts.push("versions=all");
    return `#${parts.join("&")}`;
  }

  /** Take over what an address says; one that names another place of the page, such as `#bots`, changes no table. */
  function readAddress() {
    const [anchor, ...rest] = location.hash.slice(1).split("&");
    const place = document.getElementById(anchor);
    const panel = panels.find((each) => place !== null && each.contains(place));
    if (place !== null && panel === undefined && rest.length === 0) return;
    const values = new URLSearchParams(rest.join("&"));
    const games = Number.parseInt(values.get("games") ?? "0", 10);
    state.panel = panel ?? (location.hash ? state.panel : panels[0]);
    state.search = isLong() ? (values.get("search") ?? "") : "";
    state.games = isLong() && games > 0 ? games : 0;
    state.versions = values.get("versions") === "all";
    if (controls.search) controls.search.value = state.search;
    if (controls.games) controls.games.value = state.games > 0 ? String(state.games) : "";
    if (controls.versions) controls.versions.checked = state.versions;
    show();
    if (place !== null && location.hash) place.scrollIntoView();
  }

  function change(values) {
    Object.assign(state, values);
    show();
    history.replaceState(null, "", makeAddress());
  }

  function openTab(panel) {
    state.panel = panel;
    show();
    if (location.hash !== makeAddress()) history.pushState(null, "", makeAddress());
  }

  // The controls

  function makeTabs() {
    const list = make("div", { className: "tabs" });
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Rulesets");
    for (const panel of panels) {
      const tab = make("button", { type: "button", id: `tab-${anchorOf(panel)}` }, panel.dataset.tab);
      tab.dir = "auto";
      tab.setAttribute("role", "tab");
      panel.dataset.anchor = anchorOf(panel);
      panel.id = `panel-${panel.dataset.anchor}`;
      tab.setAttribute("aria-controls", panel.id);
      tab.addEventListener("click", () => openTab(panel));
      tabs.set(panel, tab);
      list.append(tab);
    }
    for (const [panel, tab] of tabs) {
      panel.setAttribute("role", "tabpanel");
      panel.tabIndex = -1;
      tab.addEventListener("keydown", (event) => moveTab(event, panels.indexOf(panel)));
    }
    return list;
  }

  function moveTab(event, place) {
    const last = panels.length - 1;
    const target = {
      ArrowRight: place === last ? 0 : place + 1,
      ArrowLeft: place === 0 ? last : place - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    openTab(panels[target]);
    tabs.get(panels[target]).focus();
  }

  function makeField(text, input) {
    return make("label", {}, make("span", {}, text), input);
  }

  /** Whether there are so many bots that one would search for one. */
  const isLong = () => document.querySelectorAll(".bots li").length >= MANY;

  function makeFilter() {
    const { search, games } = Object.assign(controls, {
      search: make("input", { type: "search", size: 14, autocomplete: "off" }),
      games: make("input", { type: "number", min: "0", step: "1", inputMode: "numeric" }),
      count: make("output", {}),
    });
    controls.count.setAttribute("role", "status");
    search.addEventListener("input", () => change({ search: search.value }));
    games.addEventListener("input", () => change({ games: Math.max(0, Number.parseInt(games.value, 10) || 0) }));
    const fields = isLong() ? [makeField("Search bots", search), makeField("At least games", games)] : [];
    if (document.querySelector(".versions") !== null) {
      controls.versions = make("input", { type: "checkbox" });
      controls.versions.addEventListener("change", () => change({ versions: controls.versions.checked }));
      fields.push(makeField("All versions", controls.versions));
    }
    const form = make("form", { className: "filter" }, ...fields, controls.count);
    form.setAttribute("role", "search");
    form.setAttribute("aria-label", "Standings");
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  }

  const place = document.getElementById("standings");
  if (panels.length > 0 && (isLong() || document.querySelector(".versions"))) place.append(makeFilter());
  if (panels.length > 1) place.append(makeTabs());
  if (panels.length > 0) readAddress();
  show();
  window.addEventListener("hashchange", readAddress);
  window.addEventListener("popstate", readAddress);
})();
