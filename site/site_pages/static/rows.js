// Draws the list: a row a game, or a row a deal. The rows of games are those of the macro `games_table`.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { createElement } = malice;
  const cell = (kind, ...children) => createElement("td", { class: kind }, ...children);

  function linkBot({ slug, shown, disc }) {
    return createElement("a", { class: disc || null, href: `bots/${slug}.html`, title: shown }, createElement("bdi", {}, shown));
  }

  function linkVerdict(verdict, key) {
    return createElement("a", { class: "verdict", href: `replay.html#${key}`, title: `The evidence, in the replay of game ${key}` }, verdict);
  }

  /** Group the seats into teams, in the order of their first seats; without partners each seat is a team. */
  function groupSeats({ teams }) {
    const grouped = new Map();
    teams.forEach((team, seat) => grouped.set(team, [...(grouped.get(team) || []), seat]));
    return [...grouped];
  }

  const formatSigned = (score) => `${score < 0 ? "−" : score > 0 ? "+" : ""}${Math.abs(score)}`;

  function drawTeam(games, row, [team, seats], partners) {
    const { names, teams } = games.lineups[games.lineup[row]];
    const { places, scores } = games.outcomes[games.outcome[row]];
    const ending = games.endings[games.ending[row]];
    const place = places[seats[0]];
    const score = scores[seats[0]];
    const first = new Set(teams.filter((_, seat) => places[seat] === 1)).size;
    const shared = place === 1 && first > 1;
    const title = shared ? "shared first place" : `place ${place}`;
    const item = createElement("li", { class: place === 1 && !shared && !ending.void ? "won" : null }, createElement("span", { class: "place", title }, shared && first === 2 ? "½" : String(place)));
    if (partners) item.append(" ", createElement("span", { class: `team team${team}` }, `team ${team}`));
    seats.forEach((seat, index) => {
      item.append(...(index ? [" ", createElement("span", { class: "plus" }, "+"), " "] : [" "]), linkBot(games.names[names[seat]]));
      if (ending.verdicts[seat]) item.append(" ", linkVerdict(ending.verdicts[seat], malice.makeKey(games, row)));
    });
    // 0 is worth telling only where it is more than another has.
    if (score || scores.some((each) => each < 0)) item.append(" ", createElement("span", { class: "points", title: "points" }, formatSigned(score)));
    return item;
  }

  function drawSeats(games, row) {
    const lineup = games.lineups[games.lineup[row]];
    const teams = groupSeats(lineup);
    const partners = teams.length < lineup.names.length;
    const kind = partners ? "seats partners" : teams.length > 2 ? "seats many" : "seats";
    return createElement("ol", { class: kind }, ...teams.map((team) => drawTeam(games, row, team, partners)));
  }

  function drawRuleset({ page, shown }) {
    return createElement("a", { href: `rules/${page}.html`, title: "The rules, parameter by parameter" }, createElement("bdi", {}, shown));
  }

  function drawTime(minutes) {
    const iso = new Date(minutes * 60000).toISOString();
    return minutes ? createElement("time", { datetime: `${iso.slice(0, 16)}Z` }, `${iso.slice(0, 10)} ${iso.slice(11, 16)}`) : "";
  }

  const linkGame = (key, text, attributes) => createElement("a", { href: `replay.html#${key}`, ...attributes }, text);

  /** Draw a game as a row; `here` marks the one that the address names. */
  malice.drawGame = function (games, row, here) {
    const key = malice.makeKey(games, row);
    const standing = games.standings[games.standing[row]];
    return createElement(
      "tr",
      { id: `g${key.replaceAll(".", "-")}`, class: key === here ? "here" : null },
      createElement("th", { scope: "row" }, linkGame(key, key, { class: "watch", "aria-label": `Replay of game ${key}` })),
      cell("who", drawSeats(games, row)),
      cell("end", games.endings[games.ending[row]].words, standing && createElement("small", { class: "series" }, standing)),
      cell("ruleset", drawRuleset(games.rulesets[games.lineups[games.lineup[row]].ruleset])),
      cell("num actions", String(games.actions[row])),
      cell("when", drawTime(games.minutes[row])),
    );
  };

  const KINDS = { 0: "lost", 0.5: "drawn", 1: "won" };
  const formatPlace = (place) => `${place}${["th", "st", "nd", "rd"][place % 100 > 3 && place % 100 < 21 ? 0 : place % 10] ?? "th"}`;

  /** Write points as everywhere: halves as ½. */
  function formatPoints(points) {
    if (points % 1 !== 0.5) return String(Number(points.toFixed(2)));
    return `${Math.floor(points) || ""}½`;
  }

  function describeRotation({ seat, place, points }, many) {
    if (points === null) return "void";
    return many ? `place ${place}, ${formatPoints(points)} ${points === 1 ? "point" : "points"} from seat ${seat}` : `${KINDS[points]} from seat ${seat}`;
  }

  /** Draw a rotation: the points of two seats, or the place among more. */
  function drawRotation(games, found, rotation, many) {
    if (found === null) return createElement("td", { class: "outcome none", title: `rotation ${rotation} has no game yet` }, "–");
    const key = malice.makeKey(games, found.row);
    const told = found.points === null ? "void" : many ? formatPlace(found.place) : formatPoints(found.points);
    const title = `${told}: game ${key}, ${describeRotation(found, many)}`;
    const kind = found.points === null ? "void" : (KINDS[found.points] ?? "drawn");
    return createElement("td", { class: `outcome ${kind}` }, linkGame(key, told, { title, "aria-label": title }));
  }

  function drawMeeting(games, { row, bot }) {
    const { names } = games.lineups[games.lineup[row]];
    const others = names.filter((name) => name !== bot).flatMap((name, place) => (place ? [", ", linkBot(games.names[name])] : [linkBot(games.names[name])]));
    return cell("who", createElement("b", {}, linkBot(games.names[bot])), createElement("span", { class: "versus" }, " v "), ...others);
  }

  /** Draw a deal as a row with as many rotations as the table has columns for. */
  malice.drawDeal = function (games, deal, rotations) {
    const { cells, row, sum } = deal;
    const key = malice.makeKey(games, row).replace(/\.\d+$/, "");
    const many = games.lineups[games.lineup[row]].names.length > 2;
    return createElement(
      "tr",
      {},
      createElement("th", { scope: "row" }, key),
      drawMeeting(games, deal),
      ...Array.from({ length: rotations }, (_, place) => (place < cells.length ? drawRotation(games, cells[place], place, many) : createElement("td", { class: "outcome" }))),
      createElement("td", { class: "num sum", title: "points of the deal" }, sum === null ? "–" : formatPoints(sum)),
      cell("ruleset", drawRuleset(games.rulesets[games.lineups[games.lineup[row]].ruleset])),
    );
  };

  /** Draw a table. */
  malice.makeTable = function (kind, caption, heads, rows) {
    const cells = heads.map(([text, kind]) => createElement("th", { scope: "col", class: kind || null }, text));
    return createElement(
      "table",
      { class: kind },
      createElement("caption", { class: "unseen" }, caption),
      createElement("thead", {}, createElement("tr", {}, ...cells)),
      createElement("tbody", {}, ...rows),
    );
  };
})(window.malice);
