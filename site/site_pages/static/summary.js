// Shows at the end of a game a card for each seat: what the family counts, and how much the bot thought.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { createElement } = malice;
  let summary = null;

  function countGeneric(game) {
    const moves = game.seats.map((_, seat) => game.steps.flatMap((step) => step.moves.filter((move) => move.seat === seat)));
    const sum = (own) => own.reduce((micros, move) => micros + (move.micros || 0), 0);
    return [
      { words: "actions", values: moves.map((own) => own.filter(({ action }) => action[0] !== "!").length) },
      { words: "thinking time", values: moves.map((own) => malice.formatDuration(sum(own))) },
    ];
  }

  function makeCard(game, seat, rows) {
    const figures = rows.flatMap(({ words, values }) => [createElement("dt", {}, words), createElement("dd", {}, String(values[seat] ?? ""))]);
    return createElement(
      "article",
      { "aria-label": `Seat ${seat}: ${game.seats[seat].name}` },
      createElement("h3", {}, malice.drawDisc(game, seat), createElement("bdi", {}, game.seats[seat].name)),
      createElement("dl", {}, ...figures),
    );
  }

  function load(game, course) {
    const own = [].concat(malice.callFamily(game.family, "summary", course, { game })).filter((row) => Array.isArray(row?.values));
    const rows = [...own, ...countGeneric(game)];
    const cards = game.seats.map((_, seat) => makeCard(game, seat, rows));
    summary = { node: createElement("div", { class: "summary" }, ...cards), last: game.steps.length - 1 };
  }

  function show(index) {
    if (index !== summary.last) return;
    const whose = malice.replay.state.viewer !== null && createElement("p", { class: "spectators" }, "Counted by a spectator, who sees more than this seat.");
    document.getElementById("ending").append(...[summary.node, whose].filter(Boolean));
  }

  malice.watchers.push({ load, show });
})(window.malice);
