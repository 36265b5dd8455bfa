// The page of all games: the filter in its form and in the address, a hundred rows at a time.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const PAGE = 100;
  const NEAR = 3; // pages linked on either side of the current one
  const { createElement } = malice;
  const $ = (id) => document.getElementById(id);
  const formatNumber = (number) => number.toLocaleString("en-US");
  let games = null;
  let shown = null; // the filter on display

  const getControls = () => [...$("filter").querySelectorAll("[name]")];

  /** Give a choice its options, each with its exact value; labels that look alike are numbered. */
  function fillChoice(id, options) {
    const seen = new Map();
    const made = options.map(([value, text]) => {
      const count = (seen.get(text) ?? 0) + 1;
      seen.set(text, count);
      return createElement("option", { value }, count > 1 ? `${text} (${count})` : text);
    });
    $(id).append(...made);
  }

  const unique = (pairs) => [...new Map(pairs)];
  const sortByText = (pairs) => pairs.sort(([, one], [, other]) => one.localeCompare(other, "en", { numeric: true }));

  /** List the entries, and each version of those that have several. */
  function listBots() {
    const labels = unique(games.names.map(({ label, shown: text }) => [label, text]));
    return sortByText(labels).flatMap(([label, text]) => {
      const versions = games.names.filter((name) => name.label === label).map(({ version }) => version);
      const each = versions.length > 1 ? versions.sort((one, other) => one - other) : [];
      return [[label, text], ...each.map((version) => [`${label}@${version}`, `${text}, version ${version}`])];
    });
  }

  function fillForm() {
    const bots = listBots();
    fillChoice("bot", bots);
    fillChoice("opponent", bots);
    const verdicts = games.endings.flatMap((ending) => ending.verdicts.filter(Boolean).map((code) => [code, code]));
    const reasons = games.endings.map(({ reason, words }) => [reason, words]);
    fillChoice("ending", [...sortByText(unique(reasons)), ...sortByText(unique(verdicts)).map(([code]) => [code, `verdict: ${code}`])]);
    fillChoice("ruleset", sortByText(games.rulesets.map(({ name, shown: text }) => [name, text])));
    const seats = new Set(games.lineups.map(({ names }) => names.length));
    fillChoice("seats", [...seats].sort((one, other) => one - other).map((count) => [String(count), String(count)]));
    $("ruleset").parentElement.hidden = games.rulesets.length < 2;
    $("seats").parentElement.hidden = seats.size < 2;
  }

  /** Show the filter in the form; a value that no game has becomes an option, so that one sees it. */
  function showForm(filter) {
    for (const control of getControls()) {
      const value = filter[control.name];
      const unknown = control.options && [...control.options].every((option) => option.value !== value);
      if (unknown) control.append(createElement("option", { value }, value));
      control.value = value;
      if (control.name !== "sort" && value) control.parentElement.hidden = false;
    }
    $("result").disabled = !filter.bot;
    describeForm(filter);
    for (const view of ["games", "deals"]) {
      const current = (filter.view || "games") === view;
      $(`as-${view}`).href = malice.makeAddress(filter, { view, page: "", game: "" });
      if (current) $(`as-${view}`).setAttribute("aria-current", "page");
      else $(`as-${view}`).removeAttribute("aria-current");
    }
    $("reset").href = malice.makeAddress({ view: filter.view, sort: filter.sort });
  }

  /** Say in the summary, for when the form is folded, what is set. */
  function describeForm(filter) {
    const set = getControls().filter(({ name }) => name !== "sort" && filter[name]);
    const texts = set.map((control) => `${control.parentElement.firstChild.textContent.trim()} ${control.selectedOptions?.[0].textContent ?? control.value}`);
    $("chosen").textContent = texts.join(" · ");
  }

  function readForm() {
    const chosen = Object.fromEntries(getControls().map((control) => [control.name, control.value]));
    return { ...shown, ...chosen, result: chosen.bot ? chosen.result : "", page: "", game: "" };
  }

  function listPages(current, last) {
    const near = Array.from({ length: 2 * NEAR + 1 }, (_, place) => current - NEAR + place);
    return [...new Set([1, ...near, last])].filter((page) => page >= 1 && page <= last);
  }

  function drawPager(filter, current, last) {
    const link = (page, text, attributes) => createElement("a", { href: malice.makeAddress(filter, { page: String(page), game: "" }), ...attributes }, text);
    const parts = [current > 1 ? link(current - 1, "‹ back", { rel: "prev" }) : null];
    let before = 0;
    for (const page of listPages(current, last)) {
      if (page > before + 1) parts.push(createElement("span", { class: "none" }, "…"));
      parts.push(link(page, formatNumber(page), page === current ? { "aria-current": "page" } : {}));
      before = page;
    }
    parts.push(current < last ? link(current + 1, "on ›", { rel: "next" }) : null);
    $("pager").replaceChildren(...parts.filter(Boolean));
    $("pager").hidden = last < 2;
  }

  const HEADS = [["Game"], ["Seats: place, bot, points", "who"], ["End", "end"], ["Ruleset", "ruleset"], ["Actions", "num actions"], ["Started (UTC)", "when"]];

  function drawGames(rows, filter) {
    return malice.makeTable("games", "Games", HEADS, rows.map((row) => malice.drawGame(games, row, filter.game)));
  }

  function drawDeals(deals, seats) {
    const read = deals.map((deal) => malice.readDeal(games, deal, seats));
    const rotations = Math.max(0, ...read.map(({ cells }) => cells.length));
    const heads = Array.from({ length: rotations }, (_, place) => [`Rotation ${place}`, "outcome"]);
    const rows = read.map((deal) => malice.drawDeal(games, deal, rotations));
    return malice.makeTable("games by-deal", "Deals", [["Deal"], ["Bot", "who"], ...heads, ["Points", "num sum"], ["Ruleset", "ruleset"]], rows);
  }

  /** Say how many there are, and what of the address was left out. */
  function countFound(found, filter, ignored) {
    const narrowed = Object.entries(filter).some(([name, value]) => value && !["sort", "view", "page", "game"].includes(name));
    const deals = filter.view === "deals";
    const all = deals ? malice.groupDeals(games).count : games.count;
    const noun = `${deals ? "deal" : "game"}${all === 1 ? "" : "s"}`;
    const which = deals && narrowed ? "; each has at least one such game" : "";
    const strange = ignored.length ? `. Not understood: ${ignored.join(", ")}` : "";
    const missing = filter.game && !deals && found.findIndex((row) => malice.makeKey(games, row) === filter.game) < 0;
    return `${formatNumber(found.length)} of ${formatNumber(all)} ${noun}${which}${missing ? `. Game ${filter.game} is not among them` : ""}${strange}`;
  }

  /** Return the page to show: the one that the address names, or that of its game. */
  function choosePage(found, filter, last) {
    const place = filter.game && !filter.page ? found.findIndex((row) => malice.makeKey(games, row) === filter.game) : -1;
    const wanted = place < 0 ? Number(filter.page || 1) : Math.floor(place / PAGE) + 1;
    return Math.min(wanted, last);
  }

  function show() {
    const { filter, ignored } = malice.readFilter(location.hash);
    const deals = filter.view === "deals";
    const seats = malice.findSeats(games, filter);
    const rows = malice.selectGames(games, filter, seats);
    const found = deals ? malice.selectDeals(games, rows) : rows;
    const last = Math.max(1, Math.ceil(found.length / PAGE));
    const page = choosePage(found, filter, last);
    const some = [...found.subarray((page - 1) * PAGE, page * PAGE)];
    showForm(filter);
    $("count").textContent = countFound(found, filter, ignored);
    $("lead-deals").hidden = !deals;
    $("list").replaceChildren(...(some.length ? [deals ? drawDeals(some, seats) : drawGames(some, filter)] : []));
    drawPager(filter, page, last);
    const turned = shown !== null && shown.page !== filter.page;
    shown = filter;
    if (turned) $("count").scrollIntoView();
    $("list").querySelector(".here")?.scrollIntoView({ block: "center" });
  }

  /** Follow the form with an entry of its own in the history. */
  function apply() {
    const address = malice.makeAddress(readForm());
    if (address === malice.makeAddress(shown)) return;
    history.pushState(null, "", address);
    show();
  }

  function listen() {
    $("filter").addEventListener("change", apply);
    $("filter").addEventListener("submit", (event) => {
      event.preventDefault(); // each choice is followed at once
      document.querySelector("table.games")?.scrollIntoView();
    });
    window.addEventListener("hashchange", show);
  }

  async function start() {
    const blocks = $("browse").dataset.blocks.split(" ").filter(Boolean);
    if (!blocks.length) return;
    const before = $("count").textContent;
    $("count").textContent = `${before} The others are being loaded …`;
    try {
      games = await malice.loadList(blocks.map(Number));
    } catch (error) {
      $("count").textContent = `${before} The others are missing: ${error.message}`;
      return;
    }
    fillForm();
    $("box").open = matchMedia("(min-width: 60.01rem)").matches;
    $("browse").hidden = false;
    listen();
    show();
  }

  start();
})(window.malice);
