// Says what happens in Spite & Malice, and registers its page. The sentences are in words.json.
"use strict";

(function (malice) {
  const { createElement, quote, fill, spite } = malice;
  const { events: SENTENCES, piles: PILES, counts: COUNTS } = malice.data.spite.words;

  const isSkipbo = (rules) => rules.deck_kind === "skipbo";

  spite.nameWild = (rules) => (isSkipbo(rules) ? "wild card" : "joker");

  /** Return the rank for a value of a centre stack. */
  spite.rankOfValue = function (value, rules) {
    if (isSkipbo(rules)) return String(value);
    return { 1: "A", 11: "J", 12: "Q", 13: "K" }[value] || String(value);
  };

  /** Return the rank that a card stands for if it is not its own, otherwise an empty text. */
  spite.findSubstitute = function (card, value, rules) {
    if (value == null || card === "??" || malice.cardValue(card) === value) return "";
    return spite.rankOfValue(value, rules);
  };

  const nameRank = (rank) => ({ A: "an ace", J: "a jack", Q: "a queen", K: "a king", 8: "an 8", 11: "an 11" })[rank] || `a ${rank}`;
  const nameCount = (count) => fill(count === 1 ? COUNTS.one : COUNTS.many, { count });
  const joinNames = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);
  const joinSizes = (sizes) => (new Set(sizes).size === 1 ? sizes[0] : sizes.join(", "));

  /** Split the name of a pile: `2s1` is side stack 1 of seat 2. */
  function splitPile(pile) {
    const [, owner, kind, index] = /^(\d*)([a-z]+)(\d*)$/.exec(pile);
    const kinds = { h: "hand", p: "payoff", s: "side", c: "centre" };
    return { owner: owner === "" ? null : Number(owner), kind: kinds[kind] || kind, index };
  }

  /** Name a pile; without its owner where `seat` owns it. */
  function namePile(pile, seat, game) {
    const { owner, kind, index } = splitPile(pile);
    if (owner === null || owner === seat) return fill(PILES[kind], { index });
    return fill(PILES[`${kind}_of`], { seat: quote(game.seats[owner].name), index });
  }

  /** Return the kind of a move: its sentence. */
  function findMoveKind(event) {
    if (event.to[0] === "c") return "play";
    return event.to.endsWith("p") ? "load" : "discard";
  }

  function findRank(event, { game, table }) {
    return event.to[0] === "c" ? spite.findSubstitute(event.card, table.heights[event.to], game.rules) : "";
  }

  /** Return the shuffles into one pile that end with this event; none if the next event goes on with them. */
  function gatherShuffles({ events, place }) {
    const goesOn = (one, other) => one?.type === "shuffle" && other?.type === "shuffle" && one.to === other.to && one.from !== one.to && other.from !== other.to;
    if (goesOn(events[place], events[place + 1])) return [];
    let first = place;
    while (goesOn(events[first - 1], events[first])) first -= 1;
    return events.slice(first, place + 1);
  }

  function describeShuffle(event, context) {
    const { game, table } = context;
    const all = gatherShuffles(context);
    if (!all.length) return "";
    const to = namePile(event.to, null, game);
    if (all.some((one) => /^\d/.test(one.from) && one.from !== one.to && one.to === "stock")) {
      return fill(Object.keys(table.out).length ? SENTENCES.redeal_out : SENTENCES.redeal, { to });
    }
    const from = joinNames(all.map((one) => namePile(one.from, null, game)));
    if (event.from === event.to) return fill(SENTENCES.shuffle_pile, { from });
    const count = all.reduce((sum, one) => sum + one.count, 0);
    const sentence = event.to === "aside" ? SENTENCES.set_aside : count === 1 ? SENTENCES.shuffle_one : SENTENCES.shuffle;
    return fill(sentence, { from, to, count: nameCount(count) });
  }

  const describe = {
    deal: (event) =>
      fill(SENTENCES.deal, { payoffs: joinSizes(event.payoffs), hands: joinSizes(event.hands.map((hand) => hand.length)), stock: event.stock }),
    turn: (event, { seat, step }) => fill(step.moves.some((move) => move.seat === event.seat) ? SENTENCES.turn_again : SENTENCES.turn, { seat }),
    move(event, context) {
      const { game, seat, card } = context;
      const rank = findRank(event, context);
      const sentence = SENTENCES[`${findMoveKind(event)}${rank && "_as"}`];
      const [from, to] = [event.from, event.to].map((pile) => namePile(pile, event.seat, game));
      return fill(sentence, { seat, card, from, to, rank: nameRank(rank) });
    },
    flip: (event, { seat, card, step }) => (step.moves.length ? fill(SENTENCES.flip, { seat, card }) : ""),
    draw(event, { game, seat }) {
      const cards = event.cards.map((card) => malice.nameCard(card, spite.nameWild(game.rules))).join(", ");
      const hidden = event.cards.includes("??");
      return fill(hidden ? SENTENCES.draw_hidden : SENTENCES.draw, { seat, cards, count: nameCount(event.cards.length) });
    },
    shuffle: describeShuffle,
    count: (event, { seat }) => fill(SENTENCES.count, { seat }),
    pass: (event, { seat }) => fill(SENTENCES.pass, { seat }),
  };

  spite.words = function (event, context) {
    const { game, step } = context;
    if (!step.moves.length && event.type === "shuffle") return "";
    const seat = event.seat === undefined ? "" : quote(game.seats[event.seat].name);
    const card = event.card && malice.nameCard(event.card, spite.nameWild(game.rules));
    return describe[event.type]?.(event, { ...context, seat, card });
  };

  function shortenPile(pile, seat, game) {
    const { owner } = splitPile(pile);
    if (owner === null) return pile;
    const kind = pile.replace(/^\d+/, "");
    const own = { h: "hand", p: "pay-off" }[kind] || kind;
    return owner === seat ? own : `${game.seats[owner].name}’s ${own}`;
  }

  /** Show a move in the log as a card and its way; leave out what the log shows elsewhere. */
  spite.brief = function (event, context) {
    const { game } = context;
    if (["deal", "turn", "draw"].includes(event.type)) return "";
    if (event.type !== "move") return undefined;
    const as = findRank(event, context);
    const way = ` ${shortenPile(event.from, event.seat, game)} → `;
    const to = createElement("bdi", {}, shortenPile(event.to, event.seat, game));
    return [malice.drawChip(event.card), as && ` as ${as}`, createElement("span", { class: "way" }, way, to)].filter(Boolean);
  };

  const { start, apply, draw, words, brief, mask, position, race, unit, moments, summary, aim, advances, legend } = spite;
  malice.families.spite = { start, apply, draw, words, brief, mask, position, race, unit, moments, summary, aim, advances, legend };
})(window.malice);
