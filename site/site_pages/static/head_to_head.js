// The head-to-head page: what two bots made of one another, from either one's point of view.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { createElement, load, readFilter } = malice;
  const $ = (id) => document.getElementById(id);
  const OUTCOMES = ["lost both", "lost one, drew one", "one each", "won one, drew one", "won both"];
  const NONE = "n/a";
  const TOURNAMENT = document.title.replace(/^Head to head/, "");
  let index = null;

  const formatCount = (count, noun) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
  const formatDecimal = (value, digits = 0) => (value === null ? NONE : (Number(value.toFixed(digits)) + 0).toFixed(digits).replace("-", "−"));
  const formatSigned = (value) => (value !== null && Math.round(value) > 0 ? "+" : "") + formatDecimal(value);
  const formatPercent = (value, digits = 1) => (value === null ? NONE : `${formatDecimal(100 * value, digits)} %`);
  const formatMs = (value) => formatDecimal(value, value < 0.1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0);

  /** Write a probability, which is never a certainty. */
  function formatLikelihood(value) {
    if (value === null || (value >= 0.001 && value <= 0.999)) return formatPercent(value);
    return value < 0.5 ? "< 0.1 %" : "> 99.9 %";
  }

  /** Write an interval; with one end, as a bound. */
  function formatEnds([, low, high], format = formatSigned) {
    if (low !== null && high !== null) return `${format(low)} … ${format(high)}`;
    if (low !== null) return `≥ ${format(low)}`;
    return high === null ? "" : `≤ ${format(high)}`;
  }

  const negate = (span) => [span[0], span[2], span[1]].map((value) => (value === null ? null : -value));

  const turnDuel = ({ deals, elo, los, luck, adjusted }) => ({
    deals: [...deals].reverse(),
    elo: negate(elo),
    los: los === null ? null : 1 - los,
    luck,
    adjusted: adjusted && { ...adjusted, elo: negate(adjusted.elo) },
  });

  /** Turn a meeting around: the second bot comes first. */
  const turnAround = ({ games, sides, duel, ...rest }) => ({ ...rest, games: [...games].reverse(), sides: [...sides].reverse(), duel: duel && turnDuel(duel) });

  /** Load what two bots, by their places in the order of entry, made of one another: a meeting for each ranking. */
  async function loadMeetings(bot, opponent) {
    const [first, second] = [bot, opponent].sort((one, other) => one - other);
    if (!index.files.includes(first)) return [];
    const met = (await load(`meetings-${first}`)).filter(({ other }) => other === second);
    return bot === first ? met : met.map(turnAround);
  }

  const linkBot = ({ slug, shown, disc }) => createElement("a", { class: disc || null, href: `bots/${slug}.html` }, createElement("bdi", {}, shown));
  const linkGame = (key, text = key, query = "") => createElement("a", { href: `replay.html#${key}${query}` }, text);
  const linkMirror = (key) => linkGame(key, key.slice(0, key.lastIndexOf(".")), `?mirror=${1 - Number(key.split(".").at(-1))}`);
  const makeCell = (kind, ...children) => createElement("td", { class: kind }, ...children);

  function makeFigure(text, ...told) {
    return createElement("li", {}, createElement("b", {}, text), " ", createElement("span", {}, ...told));
  }

  function drawFigures({ games, duel }) {
    const all = games.reduce((sum, count) => sum + count, 0);
    const figures = [makeFigure(formatPercent((games[0] + games[1] / 2) / all), `of the points, ${games.join("–")} of ${formatCount(all, "game")}`)];
    if (duel) {
      const { deals, elo, los } = duel;
      const ends = formatEnds(elo);
      figures.push(makeFigure(formatSigned(elo[0]), `Elo${ends && `, ${ends}`}`));
      figures.push(makeFigure(formatLikelihood(los), "likelihood that it is the better one"));
      figures.push(makeFigure(deals.reduce((sum, count) => sum + count, 0).toLocaleString("en-US"), "deals from both seats"));
    }
    return createElement("ul", { class: "figures" }, ...figures);
  }

  function drawSeat([games, won, drawn]) {
    if (!games) return makeCell("num", "–");
    return makeCell("num", `${won}–${drawn}–${games - won - drawn} `, createElement("small", {}, formatPercent((won + drawn / 2) / games, 0)));
  }

  function drawSide(bot, row, { seats, ms = null, failed = 0 }) {
    const [rank, of, elo, ends] = row ?? ["–", "", NONE, ""];
    return createElement(
      "tr",
      {},
      createElement("th", { scope: "row", class: "bot" }, linkBot(bot)),
      makeCell("num", `${rank} `, createElement("small", {}, of)),
      makeCell("num strong", `${elo} `, createElement("small", {}, ends)),
      ...seats.map(drawSeat),
      makeCell("num", formatMs(ms)),
      makeCell(failed ? "num bad" : "num", String(failed)),
    );
  }

  /** Draw both bots in a table: where they stand in the whole ranking, and what they did in these games. */
  function drawSides(bots, ranking, sides) {
    const heads = [["Bot", "bot"], ["Rank"], ["Elo, of all its games"], ...sides[0].seats.map((_, seat) => [`In seat ${seat}`]), ["ms/action"], ["Forfeits"]];
    const row = heads.map(([text, kind = "num"]) => createElement("th", { scope: "col", class: kind }, text));
    const rows = sides.map((side, place) => drawSide(bots[place], ranking.rows[bots[place].place], side));
    const table = createElement(
      "table",
      { class: "ranking" },
      createElement("caption", { class: "unseen" }, "Both bots"),
      createElement("thead", {}, createElement("tr", {}, ...row)),
      createElement("tbody", {}, ...rows),
    );
    return createElement("div", { class: "scroll", role: "region", "aria-label": "Both bots", tabindex: 0 }, table);
  }

  function drawBar(deals) {
    const all = deals.reduce((sum, count) => sum + count, 0);
    const create = (tag, attributes) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      return node;
    };
    const bar = create("svg", { class: "deals", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
    let left = 0;
    for (let points = 4; points >= 0; points--) {
      const width = (100 * deals[points]) / all;
      if (width) bar.append(create("rect", { class: `d${points}`, x: left, width, height: 8 }));
      left += width;
    }
    return bar;
  }

  function drawDeals(deals) {
    const counts = deals.map((count, points) => `${OUTCOMES[points]}: ${count.toLocaleString("en-US")}`).reverse();
    return [createElement("h2", {}, "Deals by outcome"), createElement("div", { class: "outcomes wide" }, drawBar(deals)), createElement("p", { class: "note" }, `${counts.join(" · ")}.`)];
  }

  function drawLuck({ luck, adjusted }) {
    const percent = (value) => formatDecimal(100 * value);
    const ends = formatEnds(luck, percent);
    const lines = [];
    if (luck[0] !== null) lines.push(`Deal and seat explain ${formatPercent(luck[0], 0)}${ends && ` (${ends})`} of the variance of a game; below 0, they help one bot twice.`);
    if (adjusted) {
      const span = formatEnds(adjusted.elo);
      lines.push(`Without the luck of the cards that can be measured, the difference is ${formatSigned(adjusted.elo[0])} Elo${span && ` (${span})`}: as sure as ${formatDecimal(adjusted.factor, 2)} times the games with it.`);
    }
    return lines.length ? [createElement("h2", {}, "Luck"), ...lines.map((line) => createElement("p", {}, line))] : [];
  }

  function drawGames(bots, { sides, longest }) {
    const joined = (links) => links.flatMap((link, place) => (place ? [", ", link] : [link]));
    const list = (tell) => sides.flatMap((side, place) => tell(side, linkBot(bots[place])));
    const facts = {
      "Both seats": list(({ swept = [] }, bot) => (swept.length ? [[bot, " won these deals from both seats, the latest of them: ", ...joined(swept.map(linkMirror))]] : [])),
      Widest: list(({ widest }, bot) => (widest ? [[linkGame(`${widest[0]}/turn`, `game ${widest[0]}`), ": ", bot, ` won by ${formatCount(widest[1], "point")}`]] : [])),
      Longest: longest ? [[linkGame(longest[0], `game ${longest[0]}`), `: ${formatCount(longest[1], "action")}`]] : [],
    };
    const told = Object.entries(facts).filter(([, each]) => each.length);
    const entries = told.flatMap(([name, each]) => [createElement("dt", {}, name), ...each.map((parts) => createElement("dd", {}, ...parts))]);
    return entries.length ? [createElement("h2", {}, "Decisive games"), createElement("dl", { class: "special" }, ...entries)] : [];
  }

  const quote = (fields) => Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");

  function drawLinks([bot, opponent], { ruleset, seats }) {
    const filter = { bot: bot.address, opponent: opponent.address, ruleset, seats };
    const link = (address, text) => createElement("a", { href: address }, text);
    return createElement(
      "p",
      {},
      link(`games.html#${quote(filter)}`, "All these games"),
      ", ",
      link(`games.html#${quote({ ...filter, view: "deals" })}`, "deal by deal"),
      " · ",
      link(`#${quote({ ...filter, bot: opponent.address, opponent: bot.address })}`, "the other way round"),
    );
  }

  function draw(bots, meeting) {
    const ranking = index.rankings[meeting.ranking];
    const { duel } = meeting;
    const inexact = ranking.exact ? "" : " A test chose when to stop, so intervals are not 95 % intervals.";
    $("told").replaceChildren("Under ", createElement("a", { href: `rules/${ranking.page}.html` }, createElement("bdi", {}, ranking.title)), `, from the point of view of the first bot; intervals hold with 95 %.${inexact}`);
    $("meeting").replaceChildren(
      drawFigures(meeting),
      drawSides(bots, ranking, meeting.sides),
      ...(duel?.deals.some(Boolean) ? [...drawDeals(duel.deals), ...drawLuck(duel)] : []),
      ...drawGames(bots, meeting),
      drawLinks(bots, ranking),
    );
  }

  /** Find a bot by its label, its version as lists of games have it, or the name of its page. */
  const findBot = (text) => ["label", "address", "slug"].map((name) => index.bots.find((bot) => bot[name] === text)).find(Boolean);

  /** Name the rankings in which two met, and choose the one that the address asks for, or else the first. */
  function chooseMeeting(met, { ruleset, seats }) {
    const asked = met.find(({ ranking }) => {
      const { ruleset: name, page, seats: count } = index.rankings[ranking];
      return (!ruleset || name === ruleset || page === ruleset) && (!seats || count === Number(seats));
    });
    const options = met.map(({ ranking }) => createElement("option", { value: ranking }, index.rankings[ranking].title));
    $("ranking").replaceChildren(...options);
    $("ranking").parentElement.hidden = met.length < 2;
    const chosen = asked ?? met[0];
    if (chosen) $("ranking").value = String(chosen.ranking);
    return chosen;
  }

  /** Choose the two that the address names; else the best bot, and the best that it met. */
  function chooseBots({ bot, opponent }) {
    const first = findBot(bot) ?? index.bots[index.first[0]?.[0] ?? 0];
    const best = index.first.find(([place]) => place === first.place)?.[1];
    return [first, findBot(opponent) ?? index.bots[best ?? (first.place ? 0 : 1)]];
  }

  async function show() {
    const { hash } = location;
    const { filter } = readFilter(hash);
    const strange = [filter.bot, filter.opponent].find((name) => name && !findBot(name));
    const bots = chooseBots(filter);
    const met = await loadMeetings(bots[0].place, bots[1].place);
    if (location.hash !== hash) return; // the reader asked for others meanwhile
    const meeting = chooseMeeting(met, filter);
    [$("bot").value, $("opponent").value] = bots.map(({ place }) => String(place));
    $("names").replaceChildren(linkBot(bots[0]), " against ", linkBot(bots[1]));
    document.title = `${bots[0].shown} against ${bots[1].shown}${TOURNAMENT}`;
    if (meeting && !strange) draw(bots, meeting);
    else {
      $("meeting").replaceChildren();
      $("told").textContent = strange ? `Nobody is called ${strange}.` : "These two have not met in games that count.";
    }
  }

  function choose() {
    const [bot, opponent] = ["bot", "opponent"].map((id) => index.bots[Number($(id).value)]);
    const ranking = index.rankings[Number($("ranking").value)];
    location.hash = `#${quote({ bot: bot.address, opponent: opponent.address, ruleset: ranking?.ruleset ?? "", seats: ranking?.seats ?? "" })}`;
  }

  function listen() {
    $("choice").addEventListener("change", choose);
    $("choice").addEventListener("submit", (event) => event.preventDefault()); // each choice is followed at once
    window.addEventListener("hashchange", () => show().catch(fail));
  }

  function fail(error) {
    $("told").textContent = error.message;
    $("meeting").replaceChildren();
  }

  async function start() {
    index = await load("meetings");
    index.bots = index.bots.map(([label, address, slug, shown, disc], place) => ({ label, address, slug, shown, disc, place }));
    if (index.bots.length < 2) {
      $("told").textContent = "It takes two bots.";
      return;
    }
    for (const id of ["bot", "opponent"]) $(id).append(...index.bots.map(({ shown, place }) => createElement("option", { value: place }, shown)));
    $("choice").hidden = false;
    listen();
    await show();
  }

  start().catch(fail);
})(window.malice);
