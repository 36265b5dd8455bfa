// The cards of Spite & Malice, followed from its events. Piles have the names of the events: 0h 0p 0s2 c1 stock aside.
"use strict";
malice.spite = malice.spite || {};

(function (spite) {
  const HIDDEN = "??";
  const RANK_ORDER = "A23456789TJQKW?";
  const SUIT_ORDER = "CDHSX?";

  /**
   * Return an empty table. `heights` are the values of the centre stacks, `out` the verdicts by seat; `counted` is the
   * seat that has asked for the counts in this turn, `announced` whether everybody knows them. `changes` says what the
   * last step changed, for the highlights.
   */
  spite.start = () => ({ piles: {}, heights: {}, out: {}, turn: 0, seat: null, counted: null, announced: false, changes: {} });

  const makeChanges = () => ({ to: {}, from: {}, fresh: {}, flipped: {}, gone: {} });

  /** Return the pile of this name, from bottom to top. */
  function findPile(table, name) {
    return (table.piles[name] ||= []);
  }

  function fillPile(table, name, count) {
    table.piles[name] = new Array(Math.max(0, count)).fill(HIDDEN);
  }

  function countCards(table) {
    return Object.values(table.piles).reduce((sum, pile) => sum + pile.length, 0);
  }

  /** Take a card out of a pile; where nobody knew that it lay there, the top one. */
  function takeCard(pile, card) {
    const place = pile.lastIndexOf(card);
    pile.splice(place < 0 ? pile.length - 1 : place, 1);
  }

  const change = {
    deal(table, event) {
      const before = countCards(table);
      event.hands.forEach((hand, seat) => (table.piles[`${seat}h`] = hand.slice()));
      event.payoffs.forEach((count, seat) => {
        if (findPile(table, `${seat}p`).length !== count) fillPile(table, `${seat}p`, count);
      });
      event.sides.forEach((sides, seat) => sides.forEach((side, index) => (table.piles[`${seat}s${index}`] = side.slice())));
      fillPile(table, "stock", event.stock);
      if (before === 0) return;
      // A redeal: cards set aside or in the centre may have gone into it.
      for (const name of ["aside", ...Object.keys(table.piles).filter((pile) => pile[0] === "c")]) {
        if (countCards(table) <= before) break;
        fillPile(table, name, 0);
        table.heights[name] = 0;
      }
    },
    turn(table, event) {
      table.turn += 1;
      table.counted = null;
      table.seat = event.seat;
    },
    move(table, event) {
      const { from, to, card } = event;
      if (/^\d+p$/.test(from) || /^\d+p$/.test(to)) table.announced = false;
      takeCard(findPile(table, from), card);
      findPile(table, to).push(card);
      if (to[0] === "c") table.heights[to] = (table.heights[to] || 0) + 1;
      table.changes.to[to] = { from, card, value: table.heights[to] };
      table.changes.from[from] = true;
    },
    flip(table, event) {
      const pile = findPile(table, `${event.seat}p`);
      pile.splice(Math.max(0, pile.length - 1), 1, event.card);
      table.changes.flipped[event.seat] = true;
    },
    draw(table, event) {
      findPile(table, `${event.seat}h`).push(...event.cards);
      fillPile(table, "stock", findPile(table, "stock").length - event.cards.length);
      const fresh = table.changes.fresh;
      fresh[event.seat] = [...(fresh[event.seat] || []), ...event.cards];
    },
    shuffle(table, { from, to, count }) {
      if (from === to) {
        fillPile(table, to, findPile(table, to).length);
        return;
      }
      const source = findPile(table, from);
      source.splice(0, count);
      if (source.length === 0) {
        table.heights[from] = 0;
        if (table.changes.to[from]) {
          table.changes.gone[from] = true;
          table.changes.from[to] = true;
        }
      }
      fillPile(table, to, findPile(table, to).length + count);
    },
    count(table, event) {
      table.counted = event.seat;
      table.announced = true;
    },
    pass() {},
    out(table, event) {
      table.out[event.seat] = event.code;
    },
  };

  spite.apply = function (table, event, { place }) {
    if (place === 0) table.changes = makeChanges();
    change[event.type](table, event);
  };

  /** Hide the cards in other hands, as the referee does. */
  spite.mask = function (event, seat) {
    const hide = (cards) => cards.map(() => HIDDEN);
    if (event.type === "draw" && event.seat !== seat) return { ...event, cards: hide(event.cards) };
    if (event.type === "deal") return { ...event, hands: event.hands.map((hand, owner) => (owner === seat ? hand : hide(hand))) };
    return event;
  };

  /** Return the piles between which an action moves a card: `h7C-c1`, `p-c0`, `s2-1p`. A pile without an owner is the seat's. */
  spite.aim = function (action, { seat }) {
    const [source, target] = action.split("-");
    if (!target) return null;
    const findName = (pile) => (/^[ps]/.test(pile) ? `${seat}${pile}` : pile);
    return source[0] === "h" ? { from: `${seat}h`, to: findName(target), card: source.slice(1) } : { from: findName(source), to: findName(target) };
  };

  spite.advances = (action) => /-c\d+$/.test(action);

  /** Return what a beginner must know, at the places it is about. */
  spite.legend = ({ rules }, seat) => [
    { place: `${seat}p`, words: "Your pay-off pile. Whoever empties theirs first wins: only its top card can be played." },
    { place: "c0", words: `The centre, for all: each stack begins with ${spite.rankOfValue(1, rules)} and goes up by one, whatever the suit.` },
    { place: `${seat}h`, words: "Your hand. Play to the centre as long as you like." },
    { place: `${seat}s0`, words: "Your side stacks. A card put here ends your turn; later you may play the top ones from here." },
  ];

  /** Return whether `viewer` (null sees everything) sees how many pay-off cards are left. */
  spite.seesCounts = function (table, rules, viewer) {
    if (viewer === null || rules.payoff_count === "public") return true;
    return rules.payoff_count === "on_request" ? table.announced : table.counted === viewer;
  };

  /** Return the cards of a hand by rank and suit, as the referee sends them. */
  spite.sortHand = function (hand) {
    const order = (card) => RANK_ORDER.indexOf(card[0]) * 8 + SUIT_ORDER.indexOf(card[1]);
    return hand.slice().sort((one, other) => order(one) - order(other));
  };

  /** How deep a side stack may well get: a game that is still played leaves room for it. */
  const LIKELY_DEPTH = 6;

  /** Count the centre stacks that there may be; where any number may, those that there have been. */
  spite.countSlots = function ({ rules, seats }, used) {
    const limit = rules.centre_limit === "players+1" ? seats.length + 1 : rules.centre_limit;
    return limit === "unlimited" ? used : limit;
  };

  /** Measure how deep the side stacks of a game get, and how many side and centre stacks it uses. */
  spite.measure = function (tables, game) {
    const extent = { side: game.live ? LIKELY_DEPTH : 1, sides: 0, centre: 1 };
    for (const { piles } of tables) {
      for (const name in piles) {
        if (name[0] === "c") extent.centre = Math.max(extent.centre, Number(name.slice(1)) + 1);
        const side = /^\d+s(\d+)$/.exec(name);
        if (side) {
          extent.side = Math.max(extent.side, piles[name].length);
          extent.sides = Math.max(extent.sides, Number(side[1]) + 1);
        }
      }
    }
    if (game.live) extent.centre = spite.countSlots(game, extent.centre + 1);
    return extent;
  };
})(malice.spite);
