// Draws the table of Spite & Malice: seats around the centre.
"use strict";
malice.spite = malice.spite || {};

(function (malice) {
  const { createElement, spite } = malice;
  const extents = new WeakMap();

  class Table {
    constructor(table, { game, viewer, over, tables }) {
      Object.assign(this, { game, viewer, over, table, rules: game.rules, changes: table.changes });
      if (!extents.has(tables)) extents.set(tables, spite.measure(tables, game));
      this.extent = extents.get(tables);
    }

    drawCard(card, options = {}) {
      const crown = card[0] === "K" && this.rules.wild_kings;
      return malice.drawCard(card, { wild: spite.nameWild(this.rules), crown, ...options });
    }

    pile(name) {
      return this.table.piles[name] || [];
    }

    /** Return the class of a pile that a card has left or reached. */
    markPile(name) {
      if (this.changes.to[name]) return " arrived";
      return this.changes.from[name] ? " left" : "";
    }

    /** Return the class of a part of the table in which a card arrives: it flies above the other parts. */
    markPart(names) {
      return names.some((name) => this.changes.to[name]) ? " arriving" : "";
    }

    drawHand(seat) {
      const cards = this.pile(`${seat}h`);
      const hidden = this.viewer !== null && this.viewer !== seat;
      const fresh = (this.changes.fresh[seat] || []).slice();
      const nodes = (hidden ? cards : spite.sortHand(cards)).map((card, place) => {
        const at = hidden ? (place >= cards.length - fresh.length ? 0 : -1) : fresh.indexOf(card);
        if (at >= 0 && !hidden) fresh.splice(at, 1);
        return this.drawCard(card, { classes: at >= 0 ? "fresh" : "" });
      });
      const missing = Math.max(0, this.rules.hand_size - cards.length);
      const empty = Array.from({ length: cards.length ? 0 : Math.min(1, missing) }, () => malice.drawEmptyPlace());
      const label = `hand, ${malice.formatCount(cards.length, "card")}`;
      return malice.drawPlace(`${seat}h`, `hand${this.markPile(`${seat}h`)}`, label, "hand", ...nodes, ...empty);
    }

    drawPayoff(seat) {
      const name = `${seat}p`;
      const pile = this.pile(name);
      const top = pile[pile.length - 1];
      const counted = spite.seesCounts(this.table, this.rules, this.viewer);
      const caption = [createElement("b", {}, counted ? String(pile.length) : pile.length ? "?" : "0"), " left"];
      const classes = this.changes.to[name] ? "moved" : this.changes.flipped[seat] ? "fresh" : "";
      const from = this.changes.to[name]?.from;
      const card = top ? this.drawCard(top, { classes, from }) : malice.drawEmptyPlace("✓");
      const depth = counted ? Math.min(3, Math.ceil(pile.length / 7)) : Math.min(2, pile.length);
      const kind = `payoff deep${depth}${this.markPile(name)}`;
      return malice.drawPlace(name, kind, `pay-off pile, ${caption[0].textContent} left`, caption, card);
    }

    drawSide(seat, index) {
      const name = `${seat}s${index}`;
      const pile = this.pile(name);
      const buried = this.rules.side_visible === "all" || this.viewer === null;
      const cards = pile.map((card, place) => {
        const last = place === pile.length - 1;
        const move = last && this.changes.to[name];
        const node = this.drawCard(last || buried ? card : "??", { classes: move ? "moved" : "", from: move?.from });
        node.style.setProperty("--at", place);
        return node;
      });
      const label = `side stack ${index}, ${malice.formatCount(pile.length, "card")}`;
      const node = malice.drawPlace(name, `side${this.markPile(name)}`, label, `s${index}`, ...cards);
      if (!pile.length) node.firstChild.append(malice.drawEmptyPlace());
      node.style.setProperty("--own", Math.max(0, pile.length - 1));
      return node;
    }

    /** Draw the team of a seat, and its partners. */
    drawTeam(seat) {
      const { seats, team } = malice.groupTeams(this.game).find((team) => team.seats.includes(seat));
      const others = seats.filter((other) => other !== seat);
      const title = `with ${others.map((other) => this.game.seats[other].name).join(" and ")}`;
      return createElement("span", { class: `tag team seat${team}`, title }, `team ${team}`, createElement("span", { class: "with" }, `, with seat ${others.join(" and ")}`));
    }

    drawSeat(seat, looks) {
      const { game, table } = this;
      const out = table.out[seat];
      const turn = table.seat === seat && !this.over;
      const partners = malice.hasPartners(game);
      const draw = (name, drawPile) => malice.drawIfChanged(name, looks[name], drawPile);
      const sides = this.listSides(seat).map((name, index) => draw(name, () => this.drawSide(seat, index)));
      const header = createElement(
        "header",
        {},
        malice.drawDisc(game, seat),
        malice.linkPage(`bots/${game.seats[seat].slug}.html`, { class: "name", title: game.seats[seat].name }, createElement("bdi", {}, game.seats[seat].name)),
        partners && this.drawTeam(seat),
        out && createElement("span", { class: "tag bad" }, `out: ${out}`),
        turn && createElement("span", { class: "tag turn" }, "to play"),
        this.over && createElement("span", { class: `tag place${game.places[seat]}` }, this.describePlacing(seat)),
      );
      const arriving = this.markPart([`${seat}p`, ...this.listSides(seat)]);
      const classes = `seat${arriving}${turn ? " on" : ""}${out ? " gone" : ""}${partners ? ` partner seat${game.teams[seat]}` : ""}`;
      return createElement(
        "section",
        { class: classes, "aria-label": `Seat ${seat}: ${game.seats[seat].name}`, "data-seat": seat },
        header,
        createElement(
          "div",
          { class: "piles" },
          draw(`${seat}p`, () => this.drawPayoff(seat)),
          createElement("div", { class: "sides" }, ...sides),
          draw(`${seat}h`, () => this.drawHand(seat)),
        ),
      );
    }

    describePlacing(seat) {
      const { places, scores } = this.game;
      const tied = malice.groupTeams(this.game).filter(({ seats }) => places[seats[0]] === places[seat]).length > 1;
      const place = places[seat] === 1 ? (tied ? "shared first" : "winner") : `place ${places[seat]}`;
      return scores[seat] ? `${place}, ${malice.formatCount(scores[seat], "point")}` : place;
    }

    drawCentre(index) {
      const name = `c${index}`;
      const pile = this.pile(name);
      const height = this.table.heights[name] || 0;
      const rank = (value) => spite.rankOfValue(value, this.rules);
      const move = this.changes.to[name];
      const gone = this.changes.gone[name];
      if (gone && !pile.length) {
        const as = spite.findSubstitute(move.card, move.value, this.rules);
        const ghost = this.drawCard(move.card, { classes: "moved ghost", as, from: move.from });
        const caption = [createElement("b", {}, "complete")];
        return malice.drawPlace(name, "slot arrived", `centre stack ${index}, complete`, caption, ghost);
      }
      const caption = height ? [createElement("b", {}, rank(height)), ` → ${rank(height + 1)}`] : [createElement("span", { class: "needs" }, "needs "), rank(1)];
      const label = height ? `centre stack ${index}, at ${rank(height)}, needs ${rank(height + 1)}` : `centre stack ${index}, empty`;
      const shown = pile.slice(-3);
      const cards = shown.map((card, place) => {
        const value = height - (shown.length - 1 - place);
        const last = place === shown.length - 1;
        const as = spite.findSubstitute(card, value, this.rules);
        const node = this.drawCard(card, { as, classes: last && move ? "moved" : "", from: last && move ? move.from : null });
        node.style.setProperty("--at", place + (3 - shown.length) / 2);
        return node;
      });
      const node = malice.drawPlace(name, `slot${this.markPile(name)}`, label, caption, ...(cards.length ? cards : [malice.drawEmptyPlace(`c${index}`)]));
      const stands = (card, place) => spite.findSubstitute(card, height - (pile.length - 1 - place), this.rules);
      node.title = pile
        .map((card, place) => malice.nameCard(card, spite.nameWild(this.rules)).replace(/^(the|a) /, "") + (stands(card, place) ? ` as ${stands(card, place)}` : ""))
        .join("\n");
      return node;
    }

    drawClosed(name, label) {
      const count = this.pile(name).length;
      const content = count ? malice.drawCard("??") : malice.drawEmptyPlace();
      const depth = Math.min(3, Math.ceil(count / 16));
      const kind = `closed deep${depth}${this.markPile(name)}`;
      return malice.drawPlace(name, kind, `${label}, ${malice.formatCount(count, "card")}`, [createElement("b", {}, String(count)), ` ${label}`], content);
    }

    drawMiddle() {
      const stacks = Array.from({ length: this.extent.centre }, (_, index) => this.drawCentreIfChanged(index));
      return createElement(
        "div",
        { class: `centre${this.markPart(Array.from(stacks, (_, index) => `c${index}`))}`, role: "group", "aria-label": "Centre" },
        this.drawClosed("stock", "stock"),
        createElement("div", { class: "stacks" }, ...stacks),
        this.drawClosed("aside", "aside"),
      );
    }

    listSides(seat) {
      return Array.from({ length: this.extent.sides }, (_, index) => `${seat}s${index}`);
    }

    /** Return, by pile of a seat, a text that changes whenever the pile looks otherwise. */
    describePiles(seat) {
      const { table, changes } = this;
      const more = { [`${seat}p`]: [changes.flipped[seat], spite.seesCounts(table, this.rules, this.viewer)], [`${seat}h`]: changes.fresh[seat] };
      const names = [`${seat}h`, `${seat}p`, ...this.listSides(seat)];
      return Object.fromEntries(names.map((name) => [name, JSON.stringify([table.piles[name], changes.to[name], changes.from[name], more[name]])]));
    }

    drawSeatIfChanged(seat) {
      const { table, over } = this;
      const looks = this.describePiles(seat);
      const key = JSON.stringify([looks, table.out[seat], table.seat === seat, over]);
      return malice.drawIfChanged(`seat ${seat}`, key, () => this.drawSeat(seat, looks));
    }

    drawCentreIfChanged(index) {
      const name = `c${index}`;
      const { piles, heights } = this.table;
      const { to, from, gone } = this.changes;
      const key = JSON.stringify([piles[name], heights[name], to[name], from[name], gone[name]]);
      return malice.drawIfChanged(name, key, () => this.drawCentre(index));
    }

    /** Draw the seats clockwise from the viewer's: the first half below, from left to right, the others above. */
    draw() {
      const count = this.game.seats.length;
      const first = this.viewer ?? 0;
      const order = Array.from({ length: count }, (_, place) => (first + place) % count);
      const below = order.slice(0, Math.floor(count / 2) || 1);
      const above = order.slice(below.length).reverse();
      return [
        createElement("div", { class: "row above" }, ...above.map((seat) => this.drawSeatIfChanged(seat))),
        this.drawMiddle(),
        createElement("div", { class: "row below" }, ...below.map((seat) => this.drawSeatIfChanged(seat))),
      ];
    }
  }

  spite.draw = function (table, context) {
    const drawing = new Table(table, context);
    const { game } = context;
    const { centre, side, sides } = drawing.extent;
    const seats = game.seats.length;
    const crowd = (seats > 2 ? " several" : "") + (seats > 4 ? " many" : "");
    const node = createElement("div", { class: `spite seats${seats}${crowd}` }, ...drawing.draw());
    // The sizes follow from the whole game, so that no step changes them.
    const sizes = { hand: game.rules.hand_size, sides, stacks: centre, depth: side - 1 };
    for (const [name, value] of Object.entries(sizes)) node.style.setProperty(`--${name}`, value);
    return node;
  };
})(window.malice);
