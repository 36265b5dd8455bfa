// A position of Spite & Malice as the protocol writes it: the `view` of a request, for who copies it from the page.
"use strict";
malice.spite = malice.spite || {};

(function (malice) {
  const { spite } = malice;
  const RANKS = "A23456789TJQKW";

  function makeStack(piles, heights, index) {
    const height = heights[`c${index}`] || 0;
    return { cards: piles[`c${index}`] || [], height, needs: RANKS[height] };
  }

  function makeSeat(table, { game, viewer }, seat) {
    const { piles, out } = table;
    const payoff = piles[`${seat}p`];
    const counted = spite.seesCounts(table, game.rules, viewer);
    const squared = game.rules.side_visible === "top" && viewer !== null;
    const square = (pile) => pile.map((card, place) => (squared && place < pile.length - 1 ? "??" : card));
    const side = [];
    for (let index = 0; piles[`${seat}s${index}`]; index += 1) side.push(square(piles[`${seat}s${index}`]));
    return {
      payoff: { top: payoff[payoff.length - 1] ?? null, left: counted ? payoff.length : null },
      hand: piles[`${seat}h`].length,
      side,
      team: game.teams[seat],
      out: seat in out,
    };
  }

  /** Return the view of the seat that looks; to a spectator, that of the seat to act with the counts. */
  spite.position = function (table, context) {
    const { piles, heights } = table;
    const seat = context.viewer ?? table.seat;
    const used = Object.keys(piles).filter((name) => name[0] === "c").map((name) => Number(name.slice(1)) + 1);
    const slots = spite.countSlots(context.game, Math.max(0, ...used));
    return {
      turn: table.turn,
      seat,
      hand: spite.sortHand(piles[`${seat}h`]),
      stock: (piles.stock || []).length,
      aside: (piles.aside || []).length,
      centre: Array.from({ length: slots }, (_, index) => makeStack(piles, heights, index)),
      seats: context.game.seats.map((_, number) => makeSeat(table, context, number)),
    };
  };
})(window.malice);
