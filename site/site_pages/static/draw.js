// Drawing the table: seats around, the centre between them.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { element } = malice;
  const RANK_ORDER = "A23456789TJQKW?";
  const SUIT_ORDER = "CDHSX?";
  const ROOM = 6;

  /** What the last step touched, for the highlights. */
  function touched(step) {
    const found = { to: {}, from: new Set(), fresh: {}, flipped: new Set(), gone: {} };
    for (const event of step.events) {
      if (event.type === "move") {
        found.to[event.to] = event;
        found.from.add(event.from);
      } else if (event.type === "draw") {
        found.fresh[event.seat] = (found.fresh[event.seat] || []).concat(event.cards);
      } else if (event.type === "flip") {
        found.flipped.add(event.seat);
      } else if (event.type === "shuffle" && event.emptied && found.to[event.from]) {
        found.gone[event.from] = event;
        found.from.add(event.to);
      }
    }
    return found;
  }

  function sorted(hand) {
    const order = (card) => RANK_ORDER.indexOf(card[0]) * 8 + SUIT_ORDER.indexOf(card[1]);
    return hand.slice().sort((one, other) => order(one) - order(other));
  }

  class Table {
    constructor(game, index, viewer) {
      Object.assign(this, { game, viewer, rules: game.rules, step: game.steps[index], state: game.states[index] });
      this.extent = game.extent || (game.extent = malice.extent(game));
      this.over = index === game.steps.length - 1;
      this.touched = touched(this.step);
    }

    pile(name) {
      return this.state.piles[name] || [];
    }

    /** A class for a pile: it was left, or a card arrived there. */
    mark(name) {
      if (this.touched.to[name]) return " arrived";
      return this.touched.from.has(name) ? " left" : "";
    }

    hand(seat) {
      const cards = this.pile(`${seat}h`);
      const hidden = this.viewer !== null && this.viewer !== seat;
      const fresh = (this.touched.fresh[seat] || []).slice();
      const drawn = (hidden ? cards.map(() => "??") : sorted(cards)).map((card, place) => {
        const at = hidden ? (place >= cards.length - fresh.length ? 0 : -1) : fresh.indexOf(card);
        if (at >= 0 && !hidden) fresh.splice(at, 1);
        return malice.card(card, this.rules, { classes: at >= 0 ? "fresh" : "" });
      });
      const missing = Math.max(0, this.rules.hand - cards.length);
      const empty = Array.from({ length: cards.length ? 0 : Math.min(1, missing) }, () => malice.emptyPlace());
      const label = `hand, ${cards.length} cards`;
      return malice.place(`${seat}h`, `hand${this.mark(`${seat}h`)}`, label, "hand", ...drawn, ...empty);
    }

    payoff(seat) {
      const name = `${seat}p`;
      const pile = this.pile(name);
      const top = pile[pile.length - 1];
      const counted = malice.seesCounts(this.state, this.rules, this.viewer);
      const caption = [element("b", {}, counted ? String(pile.length) : pile.length ? "?" : "0"), " left"];
      const moved = this.touched.to[name] ? "moved" : this.touched.flipped.has(seat) ? "fresh" : "";
      const card = top ? malice.card(top, this.rules, { classes: moved }) : malice.emptyPlace("✓");
      const depth = counted ? Math.min(3, Math.ceil(pile.length / 7)) : Math.min(2, pile.length);
      const kind = `payoff deep${depth}${this.mark(name)}`;
      return malice.place(name, kind, `pay-off pile, ${caption[0].textContent} left`, caption, card);
    }

    side(seat, index) {
      const name = `${seat}s${index}`;
      const pile = this.pile(name);
      const buried = this.rules.buried || this.viewer === null;
      const cards = pile.map((card, place) => {
        const last = place === pile.length - 1;
        const moved = last && this.touched.to[name] ? "moved" : "";
        const drawn = malice.card(last || buried ? card : "??", this.rules, { classes: moved });
        drawn.style.setProperty("--at", place);
        return drawn;
      });
      const label = `side stack ${index}, ${pile.length} cards`;
      const made = malice.place(name, `side${this.mark(name)}`, label, `s${index}`, ...cards);
      if (!pile.length) made.firstChild.append(malice.emptyPlace());
      made.style.setProperty("--own", Math.max(0, pile.length - 1));
      return made;
    }

    /** Which side a seat is on, and with whom. */
    team(seat) {
      const { seats, team } = malice.sides(this.game).find((side) => side.seats.includes(seat));
      const others = seats.filter((other) => other !== seat);
      const title = `with ${others.map((other) => this.game.seats[other].name).join(" and ")}`;
      return element("span", { class: `tag team seat${team}`, title }, `team ${team}`, element("span", { class: "with" }, `, with seat ${others.join(" and ")}`));
    }

    seat(seat) {
      const { game, state } = this;
      const out = state.out[seat];
      const turn = state.seat === seat && !this.over;
      const partners = malice.hasPartners(game);
      const sides = Array.from({ length: this.extent.sides }, (_, index) => this.side(seat, index));
      const header = element(
        "header",
        {},
        malice.disc(game, seat),
        element("a", { href: `bots/${game.seats[seat].slug}.html`, class: "name", title: game.seats[seat].name }, element("bdi", {}, game.seats[seat].name)),
        partners && this.team(seat),
        out && element("span", { class: "tag bad" }, `out: ${out}`),
        turn && element("span", { class: "tag turn" }, "to play"),
        this.over && element("span", { class: `tag place${game.places[seat]}` }, this.placing(seat)),
      );
      const depths = sides.map((side) => side.querySelectorAll(".card").length - 1);
      const classes = `seat${turn ? " on" : ""}${out ? " gone" : ""}${partners ? ` partner seat${game.teams[seat]}` : ""}`;
      const made = element(
        "section",
        { class: classes, "aria-label": `Seat ${seat}: ${game.seats[seat].name}`, "data-seat": seat },
        header,
        element(
          "div",
          { class: "piles" },
          this.payoff(seat),
          element("div", { class: "sides" }, ...sides),
          this.hand(seat),
        ),
      );
      // Room is kept for what this game will need, up to a point: the table should not jump at every card.
      made.style.setProperty("--depth", Math.max(Math.min(ROOM, this.extent.side - 1), ...depths));
      return made;
    }

    placing(seat) {
      const { places, scores } = this.game;
      const tied = malice.sides(this.game).filter(({ seats }) => places[seats[0]] === places[seat]).length > 1;
      const place = places[seat] === 1 ? (tied ? "shared first" : "winner") : `place ${places[seat]}`;
      return scores[seat] ? `${place}, ${scores[seat]} points` : place;
    }

    centre(index) {
      const name = `c${index}`;
      const pile = this.pile(name);
      const height = this.state.heights[name] || 0;
      const rank = (value) => malice.rankOfValue(value, this.rules.skipbo);
      const move = this.touched.to[name];
      const gone = this.touched.gone[name];
      if (gone && !pile.length) {
        const value = move?.value;
        const ghost = move && malice.card(move.card, this.rules, { classes: "moved ghost", as: malice.standsFor(move.card, value, this.rules) });
        const caption = [element("b", {}, "complete")];
        return malice.place(name, "slot arrived", `centre stack ${index}, complete`, caption, ghost || malice.emptyPlace());
      }
      const caption = height ? [element("b", {}, rank(height)), ` → ${rank(height + 1)}`] : [`needs ${rank(1)}`];
      const label = height ? `centre stack ${index}, at ${rank(height)}, needs ${rank(height + 1)}` : `centre stack ${index}, empty`;
      const shown = pile.slice(-3);
      const cards = shown.map((card, place) => {
        const value = height - (shown.length - 1 - place);
        const last = place === shown.length - 1;
        const as = malice.standsFor(card, value, this.rules);
        const drawn = malice.card(card, this.rules, { as, classes: last && move ? "moved" : "" });
        drawn.style.setProperty("--at", place + (3 - shown.length) / 2);
        return drawn;
      });
      const made = malice.place(name, `slot${this.mark(name)}`, label, caption, ...(cards.length ? cards : [malice.emptyPlace(`c${index}`)]));
      const stands = (card, place) => malice.standsFor(card, height - (pile.length - 1 - place), this.rules);
      made.title = pile
        .map((card, place) => malice.cardName(card, this.rules).replace(/^(the|a) /, "") + (stands(card, place) ? ` as ${stands(card, place)}` : ""))
        .join("\n");
      return made;
    }

    closed(name, label) {
      const count = this.pile(name).length;
      const content = count ? malice.card("??", this.rules) : malice.emptyPlace();
      const depth = Math.min(3, Math.ceil(count / 16));
      const kind = `closed deep${depth}${this.mark(name)}`;
      return malice.place(name, kind, `${label}, ${count} cards`, [element("b", {}, String(count)), ` ${label}`], content);
    }

    middle() {
      const stacks = Array.from({ length: this.extent.centre }, (_, index) => this.centre(index));
      return element(
        "section",
        { class: "centre", "aria-label": "Centre" },
        this.closed("stock", "stock"),
        element("div", { class: "stacks" }, ...stacks),
        this.closed("aside", "aside"),
      );
    }

    /** The seats clockwise, the viewer's at the bottom: the first half below from left to right, the others above. */
    draw() {
      const count = this.game.seats.length;
      const first = this.viewer ?? 0;
      const order = Array.from({ length: count }, (_, place) => (first + place) % count);
      const below = order.slice(0, Math.floor(count / 2) || 1);
      const above = order.slice(below.length).reverse();
      return [
        element("div", { class: "row above" }, ...above.map((seat) => this.seat(seat))),
        this.middle(),
        element("div", { class: "row below" }, ...below.map((seat) => this.seat(seat))),
      ];
    }
  }

  /** Draw the table after a step into `box`; with `moving`, the card flies from where it lay. */
  malice.draw = function (box, game, index, viewer, moving) {
    const table = new Table(game, index, viewer);
    const seats = game.seats.length;
    const stacks = table.extent.centre;
    const crowd = (seats > 2 ? " several" : "") + (seats > 4 ? " many" : "") + (stacks > 3 ? " crowded" : "") + (stacks > 5 ? " packed" : "");
    const move = moving && table.step.events.find((event) => event.type === "move");
    const start = move && box.querySelector(`[data-pile="${move.from}"]`);
    const origin = start && (start.querySelector(`[data-card="${move.card}"]`) || start).getBoundingClientRect();
    box.className = `table seats${seats}${crowd}`;
    box.style.setProperty("--hand", game.rules.hand);
    box.replaceChildren(...table.draw());
    const card = origin && box.querySelector(`[data-pile="${move.to}"] .moved`);
    if (!card || !card.animate || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const target = card.getBoundingClientRect();
    const from = `translate(${origin.left - target.left}px, ${origin.top - target.top}px)`;
    card.animate([{ transform: from, zIndex: 9 }, { transform: "none", zIndex: 9 }], { duration: moving, easing: "ease-out" });
  };
})(window.malice);
