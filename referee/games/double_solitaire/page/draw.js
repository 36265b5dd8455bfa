// Draws the table of Double Solitaire: the pack of each seat, and between them the foundations and the table piles.
"use strict";
malice.double = malice.double || {};

(function (malice) {
  const { createElement, tableau } = malice;
  const { double } = malice;
  /** How many cards of a discard pile lie side by side. */
  const SHOWN = 3;
  /** How far a table pile may well fan out: a game that is still played leaves room for it. */
  const LIKELY_DEPTH = 8;
  const NAMES = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };

  /** Return the place of a pile in the drawing; hands and foundations have one for each seat or suit. */
  const placePile = (pile, { seat, cards }) => (pile === "h" ? `${seat}h` : pile === "f" ? `f${cards[0][1]}` : pile);

  /** Return what the step moved: by the place that received cards, where they came from, and how many. */
  function findChanges(step) {
    const changes = {};
    for (const event of step.events) {
      if (event.type === "move") changes[placePile(event.to, event)] = { from: placePile(event.from, event), count: event.cards.length };
      if (event.type === "draw") changes[`${event.seat}h`] = { from: `${event.seat}s`, count: 1 };
      if (event.type === "turn_over") changes[`${event.seat}s`] = { from: `${event.seat}d`, count: 1 };
    }
    const left = new Set(Object.values(changes).map(({ from }) => from));
    return { to: changes, left };
  }

  const bold = (text) => createElement("b", {}, String(text));

  class Drawing {
    constructor(table, { game, step, over }) {
      Object.assign(this, { table, game, over });
      this.changes = findChanges(step);
    }

    mark(name) {
      const change = this.changes.to[name];
      return { from: change ? change.from : null, left: this.changes.left.has(name) };
    }

    drawStock(seat) {
      const [name, count] = [`${seat}s`, this.table.stocks[seat]];
      const caption = [bold(count), " stock"];
      return tableau.drawPile(name, "stock", count ? "??" : null, { ...this.mark(name), label: `stock, ${malice.formatCount(count, "card")}`, caption, count });
    }

    drawHand(seat) {
      const name = `${seat}h`;
      const card = this.table.seat === seat ? this.table.card : null;
      const label = card ? `in hand, ${malice.nameCard(card)}` : "hand, empty";
      return tableau.drawPile(name, "hand", card, { ...this.mark(name), label, caption: "in hand" });
    }

    drawDiscard(seat) {
      const [name, pile] = [`${seat}d`, this.table.discards[seat]];
      const { from, left } = this.mark(name);
      const label = `discard pile, ${pile.length ? `${malice.formatCount(pile.length, "card")}, ${malice.nameCard(pile.at(-1))} on top` : "empty"}`;
      const node = tableau.drawWaste(name, pile, { label, caption: [bold(pile.length), " discard"], shown: SHOWN, fresh: from === null ? 0 : 1, from, left });
      node.title = pile.map((card) => malice.nameCard(card).replace(/^(the|a) /, "")).join("\n");
      return node;
    }

    drawSeat(seat) {
      const { game, table, over } = this;
      const on = !over && table.seat === seat;
      const gone = seat in table.out;
      const left = double.race(table)[seat];
      const header = tableau.drawHeader(
        game,
        seat,
        on && ["turn", "turn"],
        gone && [`out: ${table.out[seat]}`, "bad"],
        over && [game.places[seat] === 1 ? (game.places[1 - seat] === 1 ? "shared first" : "winner") : `place ${game.places[seat]}`, `place${game.places[seat]}`],
      );
      const count = createElement("p", { class: "count" }, bold(left), ` ${left === 1 ? "card" : "cards"} left`);
      const piles = tableau.drawRow("pack", this.drawStock(seat), this.drawHand(seat), this.drawDiscard(seat));
      return tableau.drawBoard(`Seat ${seat}: ${game.seats[seat].name}`, { kind: `pack${seat}`, on, gone }, header, count, piles);
    }

    drawFoundation(suit) {
      const [name, pile] = [`f${suit}`, this.table.foundations[suit]];
      const label = `foundation of ${NAMES[suit]}, ${pile.length ? `${malice.nameCard(pile.at(-1))} on top` : "empty"}`;
      return tableau.drawFoundation(name, pile, { suit, label, ...this.mark(name) });
    }

    drawColumn(cards, place) {
      const name = `t${place}`;
      const change = this.changes.to[name];
      const label = `table pile ${place}, ${cards.length ? cards.map((card) => malice.nameCard(card)).join(", ") : "empty"}`;
      return tableau.drawColumn(name, cards, { ...this.mark(name), label, moved: change ? change.count : 0, caption: name });
    }

    drawMiddle() {
      const foundations = tableau.drawRow("foundations", ...[...double.SUITS].map((suit) => this.drawFoundation(suit)));
      const columns = tableau.drawRow("columns", ...this.table.table.map((cards, place) => this.drawColumn(cards, place)));
      return tableau.drawBoard("Foundations and table piles", { kind: "common" }, foundations, columns);
    }
  }

  double.draw = function (table, context) {
    const drawing = new Drawing(table, context);
    const boards = [drawing.drawSeat(0), drawing.drawMiddle(), drawing.drawSeat(1)];
    const columns = context.tables.flatMap(({ table: piles }) => piles.map(({ length }) => ({ count: length })));
    const depth = Math.max(context.game.live ? LIKELY_DEPTH : 0, tableau.measureDepth(columns));
    // replay.css says what is wide and high: a narrow stage has the packs side by side above the table.
    const sizes = { across: "var(--own-across)", gaps: 3, lines: "var(--own-lines)", fixed: "var(--own-fixed)", depth };
    const node = tableau.drawBoards(boards, { ...sizes, rows: { wide: 1, narrow: 1 }, classes: "double" });
    node.style.setProperty("--piles", Math.max(4, context.game.rules.table_piles));
    return node;
  };
})(window.malice);
