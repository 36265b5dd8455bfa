// Draws the table of Nuts: the cards of both teams, and between them the foundations of all.
"use strict";
malice.nuts = malice.nuts || {};

(function (malice) {
  const { createElement, tableau, nuts } = malice;
  const SUITS = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
  const SHOWN = 3;
  /** How far a column may well fan out: a game that is still played leaves room for it. */
  const LIKELY_DEPTH = 8;
  const depths = new WeakMap();

  /** Return what a step moved: by the place that received cards, where they came from, how many, and what was turned up. */
  function findChanges({ events }) {
    const changes = { to: {}, left: new Set(), fresh: new Set() };
    const add = (to, from, count) => {
      changes.to[to] = { from, count };
      changes.left.add(from);
    };
    for (const event of events) {
      if (event.type === "move") add(event.to, event.from, event.cards.length);
      if (event.type === "flip") changes.fresh.add(event.pile);
      if (event.type === "turn") add(`${nuts.teamOf(event.seat)}w`, `${nuts.teamOf(event.seat)}s`, event.cards.length);
    }
    return changes;
  }

  /** Return how deep the deepest column of the whole game fans out. */
  function measureDepth(tables, game) {
    const names = [0, 1].flatMap((team) => nuts.listColumns(game.rules, team));
    const columns = tables.flatMap(({ piles, down }) => names.map((name) => ({ count: (piles[name] || []).length, down: down[name] || 0 })));
    return Math.max(game.live ? LIKELY_DEPTH : 0, tableau.measureDepth(columns));
  }

  const bold = (text) => createElement("b", {}, String(text));

  /** Count the cards of a pile; a narrow stage leaves out its name. */
  const makeCaption = (count, name) => [bold(count), createElement("span", { class: "what" }, ` ${name}`)];

  class Drawing {
    constructor(table, { game, step, over }) {
      Object.assign(this, { table, game, step, over, rules: game.rules });
      this.changes = findChanges(step);
    }

    pile(name) {
      return this.table.piles[name] || [];
    }

    mark(name) {
      return { from: this.changes.to[name]?.from ?? null, left: this.changes.left.has(name), fresh: this.changes.fresh.has(name) };
    }

    drawNuts(team) {
      const [name, pile] = [`${team}n`, this.pile(`${team}n`)];
      const label = `Nuts pile, ${malice.formatCount(pile.length, "card")}${pile.length ? `, ${malice.nameCard(pile.at(-1))} on top` : ""}`;
      return tableau.drawPile(name, "nuts", pile.at(-1) ?? null, { ...this.mark(name), label, caption: makeCaption(pile.length, "Nuts"), count: pile.length, empty: "✓" });
    }

    drawStock(team) {
      const [name, count] = [`${team}s`, this.pile(`${team}s`).length];
      const caption = makeCaption(count, "stock");
      return tableau.drawPile(name, "stock", count ? "??" : null, { ...this.mark(name), label: `stock, ${malice.formatCount(count, "card")}`, caption, count });
    }

    drawWaste(team) {
      const [name, pile] = [`${team}w`, this.pile(`${team}w`)];
      const label = `waste, ${pile.length ? `${malice.formatCount(pile.length, "card")}, ${malice.nameCard(pile.at(-1))} on top` : "empty"}`;
      const change = this.changes.to[name];
      return tableau.drawWaste(name, pile, { label, caption: makeCaption(pile.length, "waste"), shown: SHOWN, fresh: change ? change.count : 0, ...this.mark(name) });
    }

    drawColumn(name) {
      const change = this.changes.to[name];
      return tableau.drawColumn(name, this.pile(name), { ...this.mark(name), down: this.table.down[name] || 0, moved: change ? change.count : 0 });
    }

    /** Say what a seat did in this step, where the cards do not: that it waited, or came too late. */
    tellAction(seat) {
      const lapse = this.step.events.find((event) => event.type === "lapse" && event.seat === seat);
      if (lapse) return [`late: ${lapse.action === "turn" ? "turn" : lapse.action.slice(0, 2)}`, "bad late"];
      const move = this.step.moves.find((one) => one.seat === seat);
      return move?.action === "wait" && ["waits", "idle"];
    }

    drawSeat(seat) {
      const { game, table, over } = this;
      const part = malice.data.nuts.words.parts[nuts.partOf(seat, game)];
      const tied = new Set(game.places).size === 1;
      const place = game.places[seat] === 1 ? (tied ? "shared first" : "winner") : `place ${game.places[seat]}`;
      const end = over && [place, `place${game.places[seat]}`];
      const gone = seat in table.out && [`out: ${table.out[seat]}`, "bad"];
      return tableau.drawHeader(game, seat, [part, "part"], gone, end, !over && this.tellAction(seat));
    }

    drawSide(team) {
      const { game, table } = this;
      const seats = game.seats.map((_, seat) => seat).filter((seat) => nuts.teamOf(seat) === team);
      const points = createElement("p", { class: "count" }, bold(malice.formatFigure(table.points[team])), ` ${Math.abs(table.points[team]) === 1 ? "point" : "points"}`);
      const top = tableau.drawRow("packs", this.drawNuts(team), this.drawStock(team), this.drawWaste(team));
      const columns = tableau.drawRow("columns", ...nuts.listColumns(this.rules, team).map((name) => this.drawColumn(name)));
      const headers = createElement("div", { class: "players" }, ...seats.map((seat) => this.drawSeat(seat)));
      const label = `Cards of ${seats.map((seat) => game.seats[seat].name).join(" and ")}`;
      const gone = seats.some((seat) => seat in table.out);
      return tableau.drawBoard(label, { kind: `side${team} seat${team}`, gone }, headers, points, top, columns);
    }

    drawFoundation(place) {
      const [name, suit] = [`f${place}`, "CDHS"[Math.floor(place / 2)]];
      const pile = this.pile(name);
      const label = `foundation of ${SUITS[suit]}, ${pile.length ? `${malice.nameCard(pile.at(-1))} on top` : "empty"}`;
      const node = tableau.drawFoundation(name, pile, { suit, label, ...this.mark(name) });
      const owner = this.table.owners[name]?.at(-1);
      if (owner !== undefined) node.classList.add("owned", `seat${owner}`);
      return node;
    }

    drawCentre() {
      const foundations = Array.from({ length: 8 }, (_, place) => this.drawFoundation(place));
      return tableau.drawBoard("Foundations", { kind: "common" }, createElement("div", { class: "foundations" }, ...foundations));
    }
  }

  nuts.draw = function (table, context) {
    const { tables, game } = context;
    if (!depths.has(tables)) depths.set(tables, measureDepth(tables, game));
    const drawing = new Drawing(table, context);
    const boards = [drawing.drawSide(0), drawing.drawCentre(), drawing.drawSide(1)];
    // replay.css says what is wide and high: a narrow stage has the foundations above both teams.
    const sizes = { across: "var(--own-across)", gaps: 0, lines: "var(--own-lines)", fixed: "var(--own-fixed)", depth: depths.get(tables) };
    const node = tableau.drawBoards(boards, { ...sizes, rows: { wide: 1, narrow: 1 }, classes: `nuts seats${game.seats.length}` });
    node.style.setProperty("--piles", Math.max(4, game.rules.columns.length));
    return node;
  };
})(window.malice);
