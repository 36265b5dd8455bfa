// Describes the game in words, for screen readers and for the log.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const SUITS = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
  const RANKS = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };
  const NUMBERS = { A: "1", T: "10", J: "11", Q: "12", K: "13" };

  /** Return the rank in the corner of a card. */
  malice.cardRank = function (card) {
    const rank = card[0];
    if (rank === "W") return "★";
    if (card[1] === "X") return NUMBERS[rank] || rank;
    return rank === "T" ? "10" : rank;
  };

  /** Return the rank for a value of a centre stack. */
  malice.rankOfValue = function (value, skipbo) {
    if (skipbo) return String(value);
    return { 1: "A", 11: "J", 12: "Q", 13: "K" }[value] || String(value);
  };

  malice.nameCard = function (card, rules) {
    if (card === "??") return "a card";
    if (card[0] === "W") return rules.skipbo ? "a wild card" : "a joker";
    if (card[1] === "X") return `the ${NUMBERS[card[0]] || card[0]}`;
    return `the ${RANKS[card[0]] || card[0]} of ${SUITS[card[1]]}`;
  };

  /** Isolate a name, so that it cannot change the direction of the sentence around it. */
  const isolate = (name) => `\u2068${name}\u2069`;

  malice.namePile = function (pile, seat, game) {
    if (pile === "stock") return "the stock";
    if (pile === "aside") return "the cards set aside";
    if (pile[0] === "c") return `centre stack ${pile.slice(1)}`;
    const [, owner, kind, index] = /^(\d+)([hps])(\d*)$/.exec(pile);
    const own = { h: "hand", p: "the pay-off pile", s: `side stack ${index}` }[kind];
    if (Number(owner) === seat) return own;
    return `${isolate(game.seats[owner].name)}’s ${own.replace("the ", "")}`;
  };

  /** Return the rank that a card stands for if it is not its own, otherwise an empty text. */
  malice.findSubstitute = function (card, value, rules) {
    if (value == null || card === "??" || malice.cardValue(card) === value) return "";
    return malice.rankOfValue(value, rules.skipbo);
  };

  const nameRank = (rank) => ({ A: "an ace", J: "a jack", Q: "a queen", K: "a king", 8: "an 8", 11: "an 11" })[rank] || `a ${rank}`;

  function describeMove(event, game) {
    const card = malice.nameCard(event.card, game.rules);
    const from = malice.namePile(event.from, event.seat, game);
    const to = malice.namePile(event.to, event.seat, game);
    if (event.to[0] === "c") {
      const as = malice.findSubstitute(event.card, event.value, game.rules);
      return `plays ${card}${as ? ` as ${nameRank(as)}` : ""} from ${from} to ${to}`;
    }
    if (event.to.endsWith("p")) return `loads ${card} from ${from} onto ${to}`;
    return `discards ${card} from ${from} to ${to}`;
  }

  function describeDeal(event) {
    const joinSizes = (sizes) => (new Set(sizes).size === 1 ? sizes[0] : sizes.join(", "));
    return `the cards are dealt: ${joinSizes(event.payoffs)} to each pay-off pile, ${joinSizes(event.sizes)} to each hand, ${event.stock} in the stock`;
  }

  /** Return a number with its noun: 1 card, 2 cards. */
  malice.formatCount = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

  const joinNames = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);

  /** Describe a shuffle; `event` may be several merged ones into one pile. */
  function describeShuffle(event, step, game) {
    const all = event.all || [event];
    const to = malice.namePile(event.to, null, game);
    if (all.some((one) => /^\d/.test(one.from) && one.from !== one.to && one.to === "stock")) {
      const left = game.faults.some((fault) => fault.action <= step.index);
      return `the redeal: all cards but the pay-off piles${left ? " and those of seats that are out" : ""} are shuffled into ${to}`;
    }
    const count = all.reduce((sum, one) => sum + one.count, 0);
    const from = joinNames(all.map((one) => malice.namePile(one.from, null, game)));
    if (event.from === event.to) return `${from} is shuffled`;
    if (event.to === "aside") return `${from} is set aside, ${malice.formatCount(count, "card")}`;
    return `${malice.formatCount(count, "card")} of ${from} ${count === 1 ? "is" : "are"} shuffled into ${to}`;
  }

  /** Merge consecutive shuffles into one pile to one event. */
  function mergeShuffles(events) {
    const merged = [];
    for (const event of events) {
      const last = merged[merged.length - 1];
      const same = last?.type === "shuffle" && event.type === "shuffle" && last.to === event.to;
      if (!same || event.from === event.to || last.from === last.to) merged.push(event);
      else merged[merged.length - 1] = { ...last, all: [...(last.all || [last]), event] };
    }
    return merged;
  }

  /** Describe an effect of an action in a phrase; `viewer` is a seat, or null to see all hands. */
  function describeEffect(event, step, game, viewer) {
    const who = isolate(game.seats[event.seat]?.name ?? "");
    const own = event.seat === step.seat;
    const subject = own ? "" : `${who} `;
    switch (event.type) {
      case "deal":
        return describeDeal(event);
      case "turn":
        return own ? "takes another turn" : `turn of ${who}`;
      case "flip":
        return `${subject}turns up ${malice.nameCard(event.card, game.rules)}`;
      case "draw": {
        const seen = viewer === null || viewer === event.seat;
        const names = event.cards.map((card) => malice.nameCard(card, game.rules)).join(", ");
        return `${subject}draws ${malice.formatCount(event.count, "card")}${seen ? `: ${names}` : ""}`;
      }
      case "shuffle":
        return describeShuffle(event, step, game);
      case "move":
        return `${subject}${describeMove(event, game)}`;
      case "out":
        return `${subject}is out: ${event.code}`;
      default:
        return `${subject}${event.type === "pass" ? "passes" : "asks for the counts"}`;
    }
  }

  /** Describe the action itself, without its subject. */
  function describeAction(step, game) {
    const [first] = step.events;
    if (step.index < 0) return "the cards are dealt";
    switch (first?.type) {
      case "move":
        return describeMove(first, game);
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

  /** List the effects of a step; for the deal, only events that need words. */
  malice.listEffects = function (step) {
    if (step.index >= 0) return mergeShuffles(step.events.slice(1));
    return step.events.filter((event) => event.type === "deal" || event.type === "turn");
  };

  /** Describe a step in phrases, `{who, what, effects}`: the action and its effects. */
  malice.describeStep = function (game, index, viewer) {
    const step = game.steps[index];
    const effects = malice.listEffects(step);
    return {
      who: step.seat === null ? "" : isolate(game.seats[step.seat].name),
      what: describeAction(step, game),
      effects: effects.map((event) => describeEffect(event, step, game, viewer)),
    };
  };

  /** Describe a step in a sentence, for screen readers. */
  malice.describeAloud = function (game, index, viewer) {
    const { who, what, effects } = malice.describeStep(game, index, viewer);
    const text = who ? `${who} ${what}` : effects.join("; ");
    const more = who && effects.length ? `; ${effects.join("; ")}` : "";
    return `${text[0].toUpperCase() === text[0] || who ? text : text[0].toUpperCase() + text.slice(1)}${more}.`;
  };

  /** Describe in a sentence how the game ended. */
  malice.describeResult = function (game) {
    const winners = game.seats.filter((_, seat) => game.places[seat] === 1).map((seat) => isolate(seat.name));
    if (game.reason.startsWith("void")) return `No result. ${game.reason}.`;
    const series = game.series ? ` ${game.series[0].toUpperCase()}${game.series.slice(1)}.` : "";
    if (winners.length === game.seats.length) return `A draw: ${game.reason}.${series}`;
    const winningTeams = malice.groupTeams(game).filter(({ seats }) => game.places[seats[0]] === 1);
    const team = malice.hasPartners(game) && winningTeams.length === 1 ? `Team ${winningTeams[0].team}, ` : "";
    const verb = winners.length === 1 ? "wins" : "win";
    const how = game.reason === "forfeit" ? " by forfeit" : `: ${game.reason}`;
    return `${team}${joinNames(winners)}${team && ","} ${team ? "wins" : verb}${how}.${series}`;
  };

  /** Format a time in microseconds, with its unit. */
  malice.formatDuration = function (micros) {
    if (micros === null) return "";
    if (micros < 1000) return `${micros} µs`;
    if (micros < 1e6) return `${Number((micros / 1000).toPrecision(2))} ms`;
    return `${Number((micros / 1e6).toPrecision(2))} s`;
  };
})(window.malice);
