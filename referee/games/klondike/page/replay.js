// Says what happens in Klondike, and registers its page. The sentences are in words.json.
"use strict";

(function (malice) {
  const { createElement, quote, fill, klondike } = malice;
  const { events: SENTENCES, piles: PILES } = malice.data.klondike.words;
  const MANY_UNDONE = 10;

  const namePile = (pile) => fill(PILES[pile[0]], { index: pile.slice(1) });
  const nameCards = (cards) => cards.map((card) => malice.nameCard(card)).join(", ");

  const describe = {
    deal: (event) => fill(SENTENCES.deal, { stock: event.stock.length }),
    move: (event, seat) => fill(SENTENCES.move, { seat, cards: nameCards(event.cards), from: namePile(event.from), to: namePile(event.to) }),
    flip: (event, seat) => fill(SENTENCES.flip, { seat, card: malice.nameCard(event.card), column: namePile(event.column) }),
    turn: (event, seat) => fill(SENTENCES.turn, { seat, cards: nameCards(event.cards) }),
    redeal: (_, seat) => fill(SENTENCES.redeal, { seat }),
    undo: (event, seat) => fill(SENTENCES.undo, { seat, action: event.action }),
    end: (event, seat) => fill(SENTENCES[`end_${event.how}`], { seat, count: malice.formatCount(event.cards, "card") }),
  };

  function words(event, { game }) {
    const seat = event.seat === undefined ? "" : quote(game.seats[event.seat].name);
    return describe[event.type]?.(event, seat);
  }

  /** Show a move in the log as cards and their way. */
  function brief(event) {
    if (event.type === "deal") return "";
    if (event.type === "turn") return [...event.cards.flatMap((card) => [malice.drawChip(card), " "]), createElement("span", { class: "way" }, "turned")];
    if (event.type === "flip") return [malice.drawChip(event.card), createElement("span", { class: "way" }, ` up in ${event.column}`)];
    if (event.type !== "move") return undefined;
    const cards = event.cards.length > 2 ? [malice.drawChip(event.cards[0]), ` +${event.cards.length - 1}`] : event.cards.map((card) => malice.drawChip(card));
    return [...cards, createElement("span", { class: "way" }, ` ${event.from} → ${event.to}`)];
  }

  /** A card that goes to a foundation and comes back makes no leader. */
  const MARGIN = 2;

  /** Count the cards that are not on the foundations, as race.py does. */
  const race = (table) => table.boards.map((board) => 52 - klondike.countCards(board));

  function moments(course, { game }) {
    const found = [];
    const rows = game.seats.map(() => 0);
    const hidden = game.seats.map(() => 1);
    course.tables.forEach((table, step) => {
      for (const event of course.steps[step].events) {
        if (event.seat === undefined || event.type === "out") continue;
        const name = quote(game.seats[event.seat].name);
        rows[event.seat] = event.type === "undo" ? rows[event.seat] + 1 : 0;
        if (rows[event.seat] === MANY_UNDONE) found.push({ step, kind: "undo", words: `${name} takes back ${MANY_UNDONE} actions and more`, weight: 1.5 });
        if (event.type === "end") found.push({ step, kind: event.how === "solved" ? "win" : "stop", words: words(event, { game }), weight: event.how === "solved" ? 6 : 3 });
      }
      table.boards.forEach((board, seat) => {
        const left = klondike.countHidden(board);
        if (!left && hidden[seat] && board.columns.length) found.push({ step, kind: "open", words: `${quote(game.seats[seat].name)} has turned up every column`, weight: 3.5 });
        hidden[seat] = left;
      });
    });
    return found;
  }

  /** Say between which piles an action moves cards; the stock is turned, and turned over, by a click on it. */
  function aim(action, { seat, table }) {
    const stock = `${seat}stock`;
    if (action === "turn") return { from: stock, to: `${seat}w`, click: stock };
    if (action === "redeal") return { from: `${seat}w`, to: stock, click: stock };
    const [from, to] = action.split("-");
    if (!to) return null;
    const board = table.boards[seat];
    const pile = from === "w" ? board.waste : from[0] === "f" ? board.foundations[from[1]] : board.columns[Number(from.slice(1))].cards;
    return { from: `${seat}${from}`, to: `${seat}${to === "f" ? `f${pile.at(-1)[1]}` : to}` };
  }

  const advances = (action) => action.endsWith("-f");

  const legend = (_, seat) => [
    { place: `${seat}fC`, words: "The foundations: each goes up from the ace to the king in its suit. All 52 cards here, and the deal is solved." },
    { place: `${seat}t6`, words: "The columns go down by one, red on black and black on red. Only a king goes to an empty one." },
    { place: `${seat}stock`, words: "The stock: click it to turn cards over; the last of them can be played." },
  ];

  function summary(course) {
    const { boards } = course.tables.at(-1);
    const rows = [
      ["on the foundations", klondike.countCards],
      ["moves", (board) => board.moves],
      ["taken back", (board) => board.undone],
      ["passes", (board) => board.passes],
      ["face down", klondike.countHidden],
    ];
    return rows.map(([text, count]) => ({ words: text, values: boards.map(count) }));
  }

  const { start, apply, draw, mask, position } = klondike;
  malice.families.klondike = { start, apply, draw, words, brief, mask, position, race, unit: () => "cards to go", turn: () => "", margin: () => MARGIN, moments, summary, aim, advances, legend };
})(window.malice);
