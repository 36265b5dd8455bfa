// Says what happens in Double Solitaire, and registers its page. The sentences are in words.json.
"use strict";
malice.double = malice.double || {};

(function (malice) {
  const { createElement, quote, fill, double } = malice;
  const { events: SENTENCES, piles: PILES, counts: COUNTS } = malice.data["double-solitaire"].words;

  const nameCount = (count) => fill(count === 1 ? COUNTS.one : COUNTS.many, { count });

  /** Name a pile; without its owner where `seat` owns it. */
  function namePile(pile, seat, game) {
    if (pile[0] === "t") return fill(PILES.table, { index: pile.slice(1) });
    if (!pile.endsWith("d")) return PILES.hand;
    const owner = Number(pile[0]);
    return owner === seat ? PILES.discard : fill(PILES.discard_of, { seat: quote(game.seats[owner].name) });
  }

  /** Return which sentence tells of a move. */
  function findKind(event) {
    if (event.to === "f") return "build";
    if (event.to[0] !== "t") return double.isDiscard(event) ? "discard" : "load";
    if (event.from[0] !== "t") return "play";
    return event.cards.length > 1 ? "shift_many" : "shift";
  }

  function describeMove(event, { game }, seat) {
    const [from, to] = [event.from, event.to].map((pile) => namePile(pile, event.seat, game));
    return fill(SENTENCES[findKind(event)], { seat, from, to, card: malice.nameCard(event.cards.at(-1)), count: nameCount(event.cards.length) });
  }

  const describe = {
    deal: ({ table, stocks }) => fill(SENTENCES.deal, { table: nameCount(table.length), stocks: stocks[0] }),
    exchange: (_, __, seat) => fill(SENTENCES.exchange, { seat }),
    turn_over: ({ count }, _, seat) => fill(SENTENCES.turn_over, { seat, count: nameCount(count) }),
    draw: ({ card }, _, seat) => fill(SENTENCES.draw, { seat, card: malice.nameCard(card) }),
    move: describeMove,
    end: (_, __, seat) => fill(SENTENCES.end, { seat }),
  };

  double.words = (event, context) => describe[event.type]?.(event, context, event.seat === undefined ? "" : quote(context.game.seats[event.seat].name));

  function shortenPile(pile, seat, game) {
    if (pile === "h") return "hand";
    if (pile === "f") return "foundation";
    if (pile[0] === "t") return pile;
    return Number(pile[0]) === seat ? "discard" : `${game.seats[Number(pile[0])].name}’s discard`;
  }

  /** Show a move in the log as its cards and their way; leave out what the log shows elsewhere. */
  double.brief = function (event, { game }) {
    if (["deal", "draw", "end"].includes(event.type)) return "";
    if (event.type !== "move") return undefined;
    const [from, to] = [event.from, event.to].map((pile) => shortenPile(pile, event.seat, game));
    const way = createElement("span", { class: "way" }, ` ${from} → `, createElement("bdi", {}, to));
    return [...event.cards.map((card) => malice.drawChip(card)), way];
  };

  const { start, apply, draw, words, brief, position, race, unit, moments, summary, aim, advances, legend } = double;
  malice.families["double-solitaire"] = { start, apply, draw, words, brief, position, race, unit, moments, summary, aim, advances, legend };
})(window.malice);
