// Says what happens in Nuts, and registers its page. The sentences are in words.json.
"use strict";
malice.nuts = malice.nuts || {};

(function (malice) {
  const { createElement, quote, fill, nuts } = malice;
  const { events: SENTENCES, piles: PILES, actions: ACTIONS, counts: COUNTS } = malice.data.nuts.words;

  const nameCards = (cards) => cards.map((card) => malice.nameCard(card)).join(", ");
  const namePile = (pile) => fill(PILES[pile[1]] || "", { index: pile.slice(2) });
  const nameTeam = (game, team) => game.seats.filter((_, seat) => nuts.teamOf(seat) === team).map(({ name }) => quote(name)).join(" & ");

  function describeLapse(action) {
    const [card, target] = action.split("-");
    return fill(ACTIONS[target ? target[0] : action], { card: target && malice.nameCard(card), index: target?.slice(1) });
  }

  const describe = {
    deal: ({ sides: [side] }) => fill(SENTENCES.deal, { nuts: side.nuts.length, columns: side.columns.flat().length, stock: side.stock.length }),
    move: ({ from, to, cards }, { seat }) =>
      fill(to[0] === "f" ? SENTENCES.centre : SENTENCES.move, { seat, cards: nameCards(cards), from: namePile(from), to: namePile(to) }),
    flip: ({ pile, card }, { game }) =>
      fill(SENTENCES.flip, { card: malice.nameCard(card), pile: fill(PILES[`${pile[1]}_of`], { index: pile.slice(2), team: nameTeam(game, Number(pile[0])) }) }),
    turn: ({ cards }, { seat }) => fill(SENTENCES.turn, { seat, cards: nameCards(cards) }),
    redeal: ({ count }, { seat }) => fill(SENTENCES.redeal, { seat, count: fill(count === 1 ? COUNTS.one : COUNTS.many, { count }) }),
    lapse: ({ action }, { seat }) => fill(SENTENCES.lapse, { seat, action: describeLapse(action) }),
    burn: () => SENTENCES.burn,
  };

  nuts.words = function (event, context) {
    const seat = event.seat === undefined ? "" : quote(context.game.seats[event.seat].name);
    return describe[event.type]?.(event, { ...context, seat });
  };

  const shortenPile = (pile) => (pile[0] === "f" ? "centre" : { n: "Nuts", w: "waste" }[pile[1]] || pile.slice(1));

  /** Show a move in the log as its cards and their way; leave out what the log shows elsewhere. */
  nuts.brief = function (event) {
    const chips = (cards) => cards.map((card) => malice.drawChip(card));
    const way = (text) => createElement("span", { class: "way" }, text);
    if (event.type === "deal" || event.type === "flip") return "";
    if (event.type === "move") return [...chips(event.cards), way(` ${shortenPile(event.from)} → ${shortenPile(event.to)}`)];
    if (event.type === "turn") return [way("turns "), ...chips(event.cards)];
    if (event.type === "lapse" && event.action !== "turn") return [...chips([event.action.slice(0, 2)]), way(" too late")];
    return undefined;
  };

  const { start, apply, draw, words, brief, mask, position, race, unit, value, turn, moments, summary, aim, advances, legend } = nuts;
  malice.families.nuts = { start, apply, draw, words, brief, mask, position, race, unit, value, turn, moments, summary, aim, advances, legend };
})(window.malice);
