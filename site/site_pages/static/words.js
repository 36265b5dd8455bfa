// The game in words: for the line that is read aloud, and for the log.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const SUITS = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
  const RANKS = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };
  const NUMBERS = { A: "1", T: "10", J: "11", Q: "12", K: "13" };

  /** What stands in the corner of a card. */
  malice.rank = function (card) {
    const rank = card[0];
    if (rank === "W") return "★";
    if (card[1] === "X") return NUMBERS[rank] || rank;
    return rank === "T" ? "10" : rank;
  };

  /** A value reached in the centre, as a rank. */
  malice.rankOfValue = function (value, skipbo) {
    if (skipbo) return String(value);
    return { 1: "A", 11: "J", 12: "Q", 13: "K" }[value] || String(value);
  };

  malice.cardName = function (card, rules) {
    if (card === "??") return "a card";
    if (card[0] === "W") return rules.skipbo ? "a wild card" : "a joker";
    if (card[1] === "X") return `the ${NUMBERS[card[0]] || card[0]}`;
    return `the ${RANKS[card[0]] || card[0]} of ${SUITS[card[1]]}`;
  };

  /** Keeps a name from turning the sentence around it. */
  const apart = (name) => `\u2068${name}\u2069`;

  malice.pileName = function (pile, seat, game) {
    if (pile === "stock") return "the stock";
    if (pile === "aside") return "the cards set aside";
    if (pile[0] === "c") return `centre stack ${pile.slice(1)}`;
    const [, owner, kind, index] = /^(\d+)([hps])(\d*)$/.exec(pile);
    const own = { h: "hand", p: "the pay-off pile", s: `side stack ${index}` }[kind];
    if (Number(owner) === seat) return own;
    return `${apart(game.seats[owner].name)}’s ${own.replace("the ", "")}`;
  };

  /** Does a card stand for another value than its own? */
  malice.standsFor = function (card, value, rules) {
    if (value == null || card === "??" || malice.valueOf(card) === value) return "";
    return malice.rankOfValue(value, rules.skipbo);
  };

  const inWords = (rank) => ({ A: "an ace", J: "a jack", Q: "a queen", K: "a king", 8: "an 8", 11: "an 11" })[rank] || `a ${rank}`;

  function move(event, game) {
    const card = malice.cardName(event.card, game.rules);
    const from = malice.pileName(event.from, event.seat, game);
    const to = malice.pileName(event.to, event.seat, game);
    if (event.to[0] === "c") {
      const as = malice.standsFor(event.card, event.value, game.rules);
      return `plays ${card}${as ? ` as ${inWords(as)}` : ""} from ${from} to ${to}`;
    }
    if (event.to.endsWith("p")) return `loads ${card} from ${from} onto ${to}`;
    return `discards ${card} from ${from} to ${to}`;
  }

  function deal(event) {
    const each = (sizes) => (new Set(sizes).size === 1 ? sizes[0] : sizes.join(", "));
    return `the cards are dealt: ${each(event.payoffs)} to each pay-off pile, ${each(event.sizes)} to each hand, ${event.stock} in the stock`;
  }

  const cards = (count) => `${count} ${count === 1 ? "card" : "cards"}`;

  const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);

  /** Cards put together; `event` may stand for several that went to one pile. */
  function shuffle(event, step, game) {
    const all = event.all || [event];
    const to = malice.pileName(event.to, null, game);
    if (all.some((one) => /^\d/.test(one.from) && one.from !== one.to && one.to === "stock")) {
      const left = game.faults.some((fault) => fault.action <= step.index);
      return `the redeal: all cards but the pay-off piles${left ? " and those of seats that are out" : ""} are shuffled into ${to}`;
    }
    const count = all.reduce((sum, one) => sum + one.count, 0);
    const from = listed(all.map((one) => malice.pileName(one.from, null, game)));
    if (event.from === event.to) return `${from} is shuffled`;
    if (event.to === "aside") return `${from} is set aside, ${cards(count)}`;
    return `${cards(count)} of ${from} ${count === 1 ? "is" : "are"} shuffled into ${to}`;
  }

  /** One event for each row of cards that were taken from several piles to one. */
  function together(events) {
    const found = [];
    for (const event of events) {
      const last = found[found.length - 1];
      const same = last?.type === "shuffle" && event.type === "shuffle" && last.to === event.to;
      if (!same || event.from === event.to || last.from === last.to) found.push(event);
      else found[found.length - 1] = { ...last, all: [...(last.all || [last]), event] };
    }
    return found;
  }

  /** What follows from an action, one phrase per event; `viewer` is a seat, or null for all. */
  function effect(event, step, game, viewer) {
    const who = apart(game.seats[event.seat]?.name ?? "");
    const own = event.seat === step.seat;
    const subject = own ? "" : `${who} `;
    switch (event.type) {
      case "deal":
        return deal(event);
      case "turn":
        return own ? "takes another turn" : `turn of ${who}`;
      case "flip":
        return `${subject}turns up ${malice.cardName(event.card, game.rules)}`;
      case "draw": {
        const seen = viewer === null || viewer === event.seat;
        const names = event.cards.map((card) => malice.cardName(card, game.rules)).join(", ");
        return `${subject}draws ${cards(event.count)}${seen ? `: ${names}` : ""}`;
      }
      case "shuffle":
        return shuffle(event, step, game);
      case "move":
        return `${subject}${move(event, game)}`;
      case "out":
        return `${subject}is out: ${event.code}`;
      default:
        return `${subject}${event.type === "pass" ? "passes" : "asks for the counts"}`;
    }
  }

  /** The action itself, without its subject. */
  function action(step, game) {
    const [first] = step.events;
    if (step.index < 0) return "the cards are dealt";
    switch (first?.type) {
      case "move":
        return move(first, game);
      case "pass":
        return "ends the turn without a discard";
      case "count":
        return "asks how many pay-off cards are left";
      case "out":
        return `is out of the game: ${first.code}`;
      default:
        return step.action;
    }
  }

  /** The events that follow from a step; of the deal, those that need words. */
  malice.effects = function (step) {
    if (step.index >= 0) return together(step.events.slice(1));
    return step.events.filter((event) => event.type === "deal" || event.type === "turn");
  };

  /** The action and its effects as phrases: `{who, what, effects}`. */
  malice.tell = function (game, index, viewer) {
    const step = game.steps[index];
    const rest = malice.effects(step);
    return {
      who: step.seat === null ? "" : apart(game.seats[step.seat].name),
      what: action(step, game),
      effects: rest.map((event) => effect(event, step, game, viewer)),
    };
  };

  /** One sentence for the line that is read aloud. */
  malice.sentence = function (game, index, viewer) {
    const { who, what, effects } = malice.tell(game, index, viewer);
    const text = who ? `${who} ${what}` : effects.join("; ");
    const more = who && effects.length ? `; ${effects.join("; ")}` : "";
    return `${text[0].toUpperCase() === text[0] || who ? text : text[0].toUpperCase() + text.slice(1)}${more}.`;
  };

  /** How the game ended, in a sentence. */
  malice.result = function (game) {
    const winners = game.seats.filter((_, seat) => game.places[seat] === 1).map((seat) => apart(seat.name));
    if (game.reason.startsWith("void")) return `No result. ${game.reason}.`;
    const series = game.series ? ` ${game.series[0].toUpperCase()}${game.series.slice(1)}.` : "";
    if (winners.length === game.seats.length) return `A draw: ${game.reason}.${series}`;
    const sides = malice.sides(game).filter(({ seats }) => game.places[seats[0]] === 1);
    const team = malice.hasPartners(game) && sides.length === 1 ? `Team ${sides[0].team}, ` : "";
    const verb = winners.length === 1 ? "wins" : "win";
    const how = game.reason === "forfeit" ? " by forfeit" : `: ${game.reason}`;
    return `${team}${listed(winners)}${team && ","} ${team ? "wins" : verb}${how}.${series}`;
  };

  /** A time in microseconds, with its unit. */
  malice.duration = function (micros) {
    if (micros === null) return "";
    if (micros < 1000) return `${micros} µs`;
    if (micros < 1e6) return `${Number((micros / 1000).toPrecision(2))} ms`;
    return `${Number((micros / 1e6).toPrecision(2))} s`;
  };
})(window.malice);
