// Tricks on the replay page: hands, the trick on the table, and points.
"use strict";

(function (malice) {
  const { createElement, quote } = malice;

  malice.families.tricks = {
    start: (game) => ({ hands: game.seats.map(() => []), laid: game.seats.map(() => null), points: game.seats.map(() => 0) }),

    apply(table, event) {
      if (event.type === "deal") table.hands = event.hands;
      if (event.type === "played") {
        if (table.done) table.laid.fill(null);
        table.done = false;
        const place = Math.max(0, table.hands[event.seat].findIndex((card) => card === event.card || card === "??"));
        table.hands[event.seat].splice(place, 1);
        table.laid[event.seat] = event.card;
      }
      if (event.type === "taken") {
        table.points[event.seat] += event.points;
        table.done = true;
      }
    },

    draw(table, { game }) {
      const seats = game.seats.map(({ name }, seat) => {
        const laid = table.laid[seat] ? malice.drawCard(table.laid[seat]) : malice.drawEmptyPlace();
        return createElement(
          "section",
          {},
          createElement("h3", {}, `${name}: ${table.points[seat]}`),
          malice.drawPlace(`trick-${seat}`, "side", `trick of ${name}`, "", laid),
          malice.drawPlace(`hand-${seat}`, "hand", `hand of ${name}`, "", ...table.hands[seat].map((card) => malice.drawCard(card))),
        );
      });
      return createElement("div", {}, ...seats);
    },

    words(event, { game }) {
      const name = quote(game.seats[event.seat]?.name);
      if (event.type === "deal") return "";
      if (event.type === "played") return `${name} plays ${malice.nameCard(event.card)}`;
      if (event.type === "taken") return `${name} takes the trick for ${event.points}`;
    },

    mask(event, seat) {
      if (event.type !== "deal") return event;
      return { ...event, hands: event.hands.map((hand, owner) => (owner === seat ? hand : hand.map(() => "??"))) };
    },

    race: ({ points }) => points,
    unit: () => "points",
  };
})(window.malice);
