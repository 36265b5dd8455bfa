// The table as data: reads a game from its shard, with the state after every step. Knows events, not rules.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const HIDDEN = "??";

  /** Decode a character; the inverse of `encode_symbol` in shards.py. */
  function decodeSymbol(char) {
    const code = char.codePointAt(0);
    if (code < 127) return code - (code < 92 ? 35 : 36);
    return code - 0xa1 + 91 - (code >= 0xe000 ? 0x800 : 0);
  }

  const NATURAL = "A23456789TJQK";

  /** Return a card's own value: 1 to 13, or null for a joker. */
  malice.cardValue = function (card) {
    const value = NATURAL.indexOf(card[0]) + 1;
    return value || null;
  };

  /** A new state: copies what it changes, since states are immutable. */
  class Draft {
    constructor(state) {
      this.state = { ...state, piles: { ...state.piles }, heights: { ...state.heights }, out: { ...state.out } };
    }

    pile(name) {
      return (this.state.piles[name] = (this.state.piles[name] || []).slice());
    }

    fill(name, count) {
      this.state.piles[name] = new Array(Math.max(0, count)).fill(HIDDEN);
    }

    size(name) {
      return (this.state.piles[name] || []).length;
    }
  }

  function countCards(state) {
    return Object.values(state.piles).reduce((sum, pile) => sum + pile.length, 0);
  }

  const apply = {
    deal(draft, event, next) {
      const before = countCards(draft.state);
      event.hands = event.sizes.map((size, seat) => (draft.state.piles[`${seat}h`] = next(size)));
      event.payoffs.forEach((count, seat) => {
        if (draft.size(`${seat}p`) !== count) draft.fill(`${seat}p`, count);
      });
      event.sides.forEach((piles, seat) =>
        piles.forEach((size, index) => (draft.state.piles[`${seat}s${index}`] = next(size))),
      );
      draft.fill("stock", event.stock);
      if (before === 0) return;
      // A redeal: cards set aside or in the centre may have gone into it.
      for (const name of ["aside", ...Object.keys(draft.state.piles).filter((pile) => pile[0] === "c")]) {
        if (countCards(draft.state) <= before) break;
        draft.fill(name, 0);
        draft.state.heights[name] = 0;
      }
    },
    turn(draft, event) {
      draft.state.turn += 1;
      draft.state.counted = null;
      draft.state.seat = event.seat;
    },
    move(draft, event, next) {
      if (/^\d+p$/.test(event.from) || /^\d+p$/.test(event.to)) draft.state.announced = false;
      const source = draft.pile(event.from);
      event.card = event.back < 0 ? next(1)[0] : source[source.length - 1 - event.back];
      source.splice(source.length - 1 - Math.max(0, event.back), 1);
      draft.pile(event.to).push(event.card);
      if (event.to[0] === "c") {
        event.value = draft.state.heights[event.to] = (draft.state.heights[event.to] || 0) + 1;
      }
    },
    flip(draft, event, next) {
      event.card = next(1)[0];
      const pile = draft.pile(`${event.seat}p`);
      pile.splice(Math.max(0, pile.length - 1), 1, event.card);
    },
    draw(draft, event, next) {
      event.cards = next(event.count);
      draft.pile(`${event.seat}h`).push(...event.cards);
      draft.fill("stock", draft.size("stock") - event.count);
    },
    shuffle(draft, event) {
      if (event.from === event.to) {
        draft.fill(event.to, draft.size(event.to));
        return;
      }
      const source = draft.pile(event.from);
      source.splice(0, event.count);
      event.emptied = source.length === 0;
      if (event.emptied) draft.state.heights[event.from] = 0;
      draft.fill(event.to, draft.size(event.to) + event.count);
    },
    count(draft, event) {
      draft.state.counted = event.seat;
      draft.state.announced = true;
    },
    pass() {},
    out(draft, event) {
      draft.state.out[event.seat] = event.code;
    },
  };

  const FIELDS = {
    deal: ["sizes", "payoffs", "sides", "stock"],
    turn: ["seat"],
    move: ["seat", "from", "to", "back"],
    flip: ["seat"],
    draw: ["seat", "count"],
    shuffle: ["from", "to", "count"],
    count: ["seat"],
    pass: ["seat"],
    out: ["seat", "code"],
  };

  function nameFields([type, ...values]) {
    const event = { type };
    FIELDS[type].forEach((field, index) => (event[field] = values[index]));
    return event;
  }

  /** Derive the action, as a bot writes it, from its first event. */
  function deriveAction(event) {
    if (!event) return "";
    if (event.type === "out") return `!${event.code}`;
    if (event.type !== "move") return event.type;
    const own = String(event.seat);
    const strip = (pile) => (pile.startsWith(own) && /^\d/.test(pile) ? pile.slice(own.length) : pile);
    const from = event.from === `${own}h` ? `h${event.card}` : strip(event.from);
    return `${from}-${strip(event.to)}`;
  }

  /** Read a game from a shard: `steps[0]` is the deal, `steps[i + 1]` is action i; `states` follow the steps. */
  malice.read = function (shard, row) {
    const read = (name) => shard.columns[name][row];
    const cards = shard.cards.match(/../g);
    const newCards = [...read("cards")].map((char) => cards[decodeSymbol(char)]);
    let used = 0;
    const next = (count) => newCards.slice(used, (used += count));
    const steps = [];
    const states = [];
    let state = { piles: {}, heights: {}, out: {}, turn: 0, seat: null, counted: null, announced: false };
    for (const char of read("steps")) {
      const [seat, ...shapes] = shard.shapes[decodeSymbol(char)];
      const draft = new Draft(state);
      const events = shapes.map(nameFields);
      const turn = state.turn;
      for (const event of events) apply[event.type](draft, event, next);
      state = draft.state;
      const index = steps.length - 1;
      steps.push({
        seat,
        events,
        turn,
        index,
        action: index < 0 ? "" : (read("odd")[index] ?? deriveAction(events[0])),
        micros: index < 0 ? null : (read("micros")[index] ?? null),
        note: index < 0 ? "" : (read("notes")[index] ?? ""),
      });
      states.push(state);
    }
    const fields = ["key", "ruleset", "teams", "places", "scores", "reason", "faults", "stray", "series", "broken"];
    return {
      ...Object.fromEntries(fields.map((name) => [name, read(name)])),
      rules: shard.rulesets[read("ruleset")],
      seats: read("labels").map((label) => ({ name: shard.labels[label][0], slug: shard.labels[label][1] })),
      steps,
      states,
    };
  };

  /** Group the seats into teams, in the order of their first seats; without partners each seat is a team. */
  malice.groupTeams = function (game) {
    const teams = new Map();
    game.teams.forEach((team, seat) => teams.set(team, [...(teams.get(team) || []), seat]));
    return [...teams].map(([team, seats]) => ({ team, seats }));
  };

  malice.hasPartners = (game) => new Set(game.teams).size < game.teams.length;

  /** Return whether `viewer` (null sees everything) sees how many pay-off cards are left. */
  malice.seesCounts = function (state, rules, viewer) {
    if (viewer === null || rules.counts === "public") return true;
    return rules.counts === "on_request" ? state.announced : state.counted === viewer;
  };

  /** Measure how deep the side stacks of a game get, and how many side and centre stacks it uses. */
  malice.measureExtent = function (game) {
    const extent = { side: 1, sides: 0, centre: 1 };
    for (const { piles } of game.states) {
      for (const name in piles) {
        if (name[0] === "c") extent.centre = Math.max(extent.centre, Number(name.slice(1)) + 1);
        const side = /^\d+s(\d+)$/.exec(name);
        if (side) {
          extent.side = Math.max(extent.side, piles[name].length);
          extent.sides = Math.max(extent.sides, Number(side[1]) + 1);
        }
      }
    }
    return extent;
  };
})(window.malice);
