// What lies on the tables of Klondike, event by event.
"use strict";
malice.klondike = malice.klondike || {};

(function (klondike) {
  const SUITS = "CDHS";

  const makeBoard = () => ({ columns: [], foundations: { C: [], D: [], H: [], S: [] }, stock: [], waste: [], seen: {}, moves: 0, undone: 0, passes: 0, end: "" });

  /** Return the tables before the deal; `changes` says by seat what the last step changed, for the highlights. */
  klondike.start = (game) => ({ boards: game.seats.map(makeBoard), out: {}, changes: {}, free: game.rules.undo === "free" });

  /** Find a pile by its name: `w`, `t3`, `fH`. */
  function findPile(board, name) {
    if (name === "w") return board.waste;
    return name[0] === "f" ? board.foundations[name[1]] : board.columns[Number(name.slice(1))].cards;
  }

  function see(board, cards) {
    for (const card of cards) if (card !== "??") board.seen[card] = true;
  }

  /** Take an action back: `cards` return to where they came from. */
  function takeBack(board, { action, cards, hidden }) {
    const [from, to] = action.split("-");
    if (action === "turn") {
      board.waste.splice(-cards.length);
      board.stock.push(...cards.slice().reverse());
    } else if (action === "redeal") {
      board.waste = cards.slice();
      board.stock = [];
    } else {
      findPile(board, to === "f" ? `f${cards[0][1]}` : to).splice(-cards.length);
      if (hidden) board.columns[Number(from.slice(1))].down += 1;
      findPile(board, from).push(...cards);
    }
    board.undone += 1;
  }

  const change = {
    move(board, { from, to, cards }) {
      findPile(board, from).splice(-cards.length);
      findPile(board, to).push(...cards);
      board.moves += 1;
      return { from, to, count: cards.length };
    },
    flip(board, { column, card }, before) {
      const own = board.columns[Number(column.slice(1))];
      own.down -= 1;
      own.cards.splice(-1, 1, card);
      see(board, [card]);
      return { ...before, fresh: column };
    },
    turn(board, { cards }) {
      board.stock.splice(-cards.length);
      board.waste.push(...cards);
      see(board, cards);
      board.moves += 1;
      board.passes += board.stock.length ? 0 : 1;
      return { from: "stock", to: "w", count: cards.length };
    },
    redeal(board) {
      board.stock = board.waste.reverse();
      board.waste = [];
      board.moves += 1;
      return { from: "w", to: "stock", count: 0 };
    },
    undo(board, event, _, free) {
      if (free) {
        board.moves -= 1;
        board.passes -= event.action === "turn" && !board.stock.length ? 1 : 0;
      }
      takeBack(board, event);
      const [from, to] = event.action.split("-");
      return to ? { from: to === "f" ? `f${event.cards[0][1]}` : to, to: from, count: event.cards.length, back: true } : { from: "w", to: "stock", count: 0, back: true };
    },
    end(board, { how }, before) {
      board.end = how;
      return before;
    },
  };

  klondike.apply = function (table, event, { place }) {
    if (place === 0) table.changes = {};
    if (event.type === "deal") {
      for (const board of table.boards) {
        board.columns = event.columns.map((cards) => ({ down: cards.length - 1, cards: cards.slice() }));
        board.stock = event.stock.slice();
        see(board, event.columns.map((cards) => cards.at(-1)));
      }
    } else if (event.type === "out") {
      table.out[event.seat] = event.code;
    } else {
      table.changes[event.seat] = change[event.type](table.boards[event.seat], event, table.changes[event.seat], table.free);
    }
  };

  /** Hide what lies face down, and all that others do, as the referee does. */
  klondike.mask = function (event, seat) {
    if (event.type !== "deal") return event.seat === seat ? event : null;
    const hide = (cards) => cards.map((card, place) => (place < cards.length - 1 ? "??" : card));
    return { ...event, columns: event.columns.map(hide), stock: event.stock.map(() => "??") };
  };

  klondike.countCards = (board) => [...SUITS].reduce((sum, suit) => sum + board.foundations[suit].length, 0);
  klondike.countHidden = (board) => board.columns.reduce((sum, { down }) => sum + down, 0);

  /** Return a board as the view of a request has it. */
  function describeBoard(board) {
    const hide = (cards) => cards.map((card) => (board.seen[card] ? card : "??"));
    return {
      columns: board.columns.map(({ down, cards }) => ({ down: hide(cards.slice(0, down)), up: cards.slice(down) })),
      foundations: [...SUITS].map((suit) => board.foundations[suit].at(-1) ?? null),
      stock: hide(board.stock),
      waste: board.waste,
      moves: board.moves,
      passes: board.passes,
      done: Boolean(board.end),
    };
  }

  klondike.position = (table, { viewer, step }) => ({
    turn: step.turn + 1,
    seat: viewer,
    tables: table.boards.map((board, seat) => (viewer === null || viewer === seat ? describeBoard(board) : null)),
  });
})(malice.klondike);
