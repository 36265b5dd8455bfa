// Draws the tables of Klondike side by side; in the view of a seat its own alone.
"use strict";
malice.klondike = malice.klondike || {};

(function (malice) {
  const { klondike, tableau } = malice;
  const ENDS = { solved: "solved", done: "stopped", idle: "stuck", limit: "out of actions" };
  const depths = new WeakMap();

  /** How far a column may well fan out: a game that is still played leaves room for it. */
  const LIKELY_DEPTH = 11;

  function findDepth(tables, game) {
    if (!depths.has(tables)) {
      const columns = tables.flatMap(({ boards }) => boards.flatMap((board) => board.columns.map(({ cards, down }) => ({ count: cards.length, down }))));
      depths.set(tables, Math.max(game.live ? LIKELY_DEPTH : 0, tableau.measureDepth(columns)));
    }
    return depths.get(tables);
  }

  function drawTop(board, seat, game, change) {
    const place = (name) => `${seat}${name}`;
    const came = (name) => (change?.to === name ? place(change.from) : null);
    const left = (name) => change?.from === name;
    const stock = tableau.drawPile(place("stock"), "stock", board.stock.length ? "??" : null, {
      label: `stock, ${malice.formatCount(board.stock.length, "card")}`,
      caption: `${board.stock.length}`,
      count: board.stock.length,
      left: left("stock"),
    });
    const fresh = change?.to === "w" ? Math.max(1, change.count) : 0;
    const shown = game.rules.draw;
    const waste = tableau.drawWaste(place("w"), board.waste, { caption: `${board.waste.length}`, shown, fresh, from: came("w"), left: left("w") });
    const foundations = [..."CDHS"].map((suit) =>
      tableau.drawFoundation(place(`f${suit}`), board.foundations[suit], { suit, caption: `${board.foundations[suit].length}`, from: came(`f${suit}`), left: left(`f${suit}`) }),
    );
    foundations[0].classList.add("apart");
    return tableau.drawRow("top", stock, waste, ...foundations);
  }

  function drawColumns(board, seat, change) {
    const columns = board.columns.map(({ cards, down }, column) => {
      const name = `t${column}`;
      const arrived = change?.to === name;
      return tableau.drawColumn(`${seat}${name}`, cards, {
        down,
        moved: arrived ? change.count : 0,
        from: arrived ? `${seat}${change.from}` : null,
        fresh: change?.fresh === name,
        left: change?.from === name && change?.fresh !== name,
      });
    });
    return tableau.drawRow("columns", ...columns);
  }

  function drawBoard(table, seat, { game, over }) {
    const board = table.boards[seat];
    const out = table.out[seat];
    const tied = game.places.filter((place) => place === game.places[seat]).length > 1;
    const place = game.places[seat] === 1 ? (tied ? "shared first" : "winner") : `place ${game.places[seat]}`;
    const header = tableau.drawHeader(
      game,
      seat,
      out && [`out: ${out}`, "bad"],
      board.end && !out && [ENDS[board.end] || board.end, board.end === "solved" ? "turn" : ""],
      over && game.seats.length > 1 && [place, `place${game.places[seat]}`],
    );
    const label = `Table of seat ${seat}, ${game.seats[seat].name}: ${klondike.countCards(board)} cards on the foundations`;
    const change = table.changes[seat];
    return tableau.drawBoard(label, { on: !board.end && !out && !over, gone: Boolean(out) }, header, drawTop(board, seat, game, change), drawColumns(board, seat, change));
  }

  klondike.draw = function (table, context) {
    const seats = context.viewer === null ? context.game.seats.map((_, seat) => seat) : [context.viewer];
    const boards = seats.map((seat) => drawBoard(table, seat, context));
    return tableau.drawBoards(boards, { across: 7, gaps: 6, lines: 2, fixed: 3.4, depth: findDepth(context.tables, context.game), classes: "klondike" });
  };
})(window.malice);
