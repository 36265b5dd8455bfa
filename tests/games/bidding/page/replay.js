// Bidding on the replay page: hands, scores, and what everybody bid last.
"use strict";

(function (malice) {
  const { createElement, quote } = malice;

  malice.families.bidding = {
    start: (game) => ({ hands: game.seats.map(() => []), scores: game.seats.map(() => 0), bids: [] }),

    apply(table, event) {
      const hand = table.hands[event.seat];
      if (event.type === "deal") table.hands = event.hands;
      if (event.type === "won") table.scores[event.seat] += event.prize;
      if (event.type === "drew" && hand) hand.push(event.card);
      if (event.type === "bids") {
        table.bids = event.bids;
        event.bids.forEach((bid, seat) => {
          const place = table.hands[seat]?.indexOf(Number(bid));
          if (bid && place >= 0) table.hands[seat].splice(place, 1);
        });
      }
    },

    draw(table, { game }) {
      const rows = game.seats.map(({ name }, seat) =>
        createElement(
          "tr",
          { "data-place": `seat-${seat}` },
          createElement("th", {}, name),
          createElement("td", { class: "bid" }, table.bids[seat] ?? ""),
          createElement("td", { class: "score" }, `${table.scores[seat]}`),
          createElement("td", { class: "hand" }, table.hands[seat]?.join(" ") ?? "?"),
        ),
      );
      const head = ["seat", "bid", "points", "hand"].map((text) => createElement("th", {}, text));
      return createElement("table", {}, createElement("tr", {}, ...head), ...rows);
    },

    words(event, { game }) {
      const name = quote(game.seats[event.seat]?.name);
      if (event.type === "deal" || event.type === "bids") return "";
      if (event.type === "won") return `${name} wins ${event.prize}`;
      if (event.type === "lost") return `${name} bid as much`;
      if (event.type === "drew") return `${name} draws ${event.card}`;
    },

    mask(event, seat) {
      if (event.type === "drew") return event.seat === seat ? event : null;
      if (event.type !== "deal") return event;
      return { ...event, hands: event.hands.map((hand, owner) => (owner === seat ? hand : null)) };
    },

    race: ({ scores }) => scores.map((own) => Math.max(...scores) - own),
    unit: () => "points behind",
  };
})(window.malice);
