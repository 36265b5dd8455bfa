// The filter of the list: what an address asks for, and which games it finds.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const FIELDS = ["bot", "opponent", "result", "ending", "ruleset", "seats", "min", "max", "from", "to", "sort", "view", "page", "game"];
  const NUMBER = /^\d{1,9}$/;
  const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  /** What a value must be; a field that is not listed takes any text. */
  const CHECKS = {
    result: (text) => ["won", "drawn", "lost"].includes(text),
    seats: (text) => NUMBER.test(text),
    min: (text) => NUMBER.test(text),
    max: (text) => NUMBER.test(text),
    from: isDay,
    to: isDay,
    sort: (text) => malice.SORTS.includes(text),
    view: (text) => ["games", "deals"].includes(text),
    page: (text) => NUMBER.test(text) && Number(text) > 0,
    game: (text) => /^\d+(\.\d+){3}$/.test(text),
  };

  function decode(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  /** Read an address: all fields as texts, empty if not given, and the parts that make no sense. */
  malice.readFilter = function (hash) {
    const filter = Object.fromEntries(FIELDS.map((name) => [name, ""]));
    const ignored = [];
    for (const part of hash.replace(/^#/, "").split("&").filter(Boolean)) {
      const cut = part.indexOf("=");
      const [name, value] = cut < 0 ? [part, ""] : [part.slice(0, cut), decode(part.slice(cut + 1))];
      if (FIELDS.includes(name) && (value === "" || (CHECKS[name]?.(value) ?? true))) filter[name] = value;
      else ignored.push(decode(part));
    }
    return { filter, ignored };
  };

  /** Return the address of a filter, with the changes; fields that say nothing are left out. */
  malice.makeAddress = function (filter, changes = {}) {
    const told = { ...filter, ...changes };
    const plain = { view: "games", page: "1" };
    const parts = FIELDS.filter((name) => told[name] && told[name] !== plain[name]).map((name) => `${name}=${encodeURIComponent(told[name])}`);
    return `#${parts.join("&")}`;
  };

  /** Find the versions that a text names: those of an entry, or one of them as `LABEL@3`. Null if there is no text. */
  function findNames(games, text) {
    if (!text) return null;
    const by = (read) => new Set(games.names.flatMap((name, place) => (read(name) === text ? [place] : [])));
    const entries = by((name) => name.label);
    return entries.size ? entries : by((name) => `${name.label}@${name.version}`);
  }

  /** Find the first seat of the bot, and that of its opponent in another team, -1 without one; null if they did not meet. */
  function findSeats({ names, teams }, bots, opponents) {
    for (let seat = 0; seat < names.length; seat++) {
      if (bots && !bots.has(names[seat])) continue;
      if (!opponents) return [seat, -1];
      const other = names.findIndex((name, place) => opponents.has(name) && teams[place] !== teams[seat]);
      if (other >= 0) return [seat, other];
    }
    return null;
  }

  /** Return the result for a seat, against the opponent if there is one: 1 won, 0.5 drawn, 0 lost, null if the game is void. */
  malice.judge = function (games, row, seat, other) {
    if (games.endings[games.ending[row]].void) return null;
    const { places, firsts } = games.outcomes[games.outcome[row]];
    if (other >= 0) return places[seat] === places[other] ? 0.5 : Number(places[seat] < places[other]);
    if (places[seat] !== 1) return 0;
    const { teams } = games.lineups[games.lineup[row]];
    return firsts > teams.filter((team) => team === teams[seat]).length ? 0.5 : 1;
  };

  /** Return the share of its opponents that a seat was ahead of, those level with it as halves; null if the game is void. */
  malice.countPoints = function (games, row, seat, other) {
    const { teams } = games.lineups[games.lineup[row]];
    const others = other >= 0 ? [other] : teams.flatMap((team, place) => (team === teams[seat] ? [] : [place]));
    const results = others.map((place) => malice.judge(games, row, seat, place));
    return results.includes(null) ? null : results.reduce((sum, result) => sum + result, 0) / results.length;
  };

  /** Return by lineup the seats of bot and opponent, null where they did not meet under the ruleset and the number of seats. */
  malice.findSeats = function (games, filter) {
    const [bots, opponents] = [findNames(games, filter.bot), findNames(games, filter.opponent)];
    return games.lineups.map((lineup) => {
      if (filter.ruleset && games.rulesets[lineup.ruleset].name !== filter.ruleset) return null;
      if (filter.seats && lineup.names.length !== Number(filter.seats)) return null;
      return findSeats(lineup, bots, opponents);
    });
  };

  const RESULTS = { won: 1, drawn: 0.5, lost: 0 };
  const readDay = (text) => Date.parse(text) / 60000;

  /** Return by ending whether it is the one that is looked for, as a function of the seat of the bot: a verdict is one on this bot, or on any. */
  function findEnds(games, { bot, ending }) {
    return games.endings.map(({ reason, verdicts }) => {
      if (!ending || reason === ending) return () => true;
      return bot ? (seat) => verdicts[seat] === ending : () => verdicts.includes(ending);
    });
  }

  /** Return the rows that the filter finds, in its order. A result is that of the bot, so that it needs one. */
  malice.selectGames = function (games, filter, seats) {
    const ends = findEnds(games, filter);
    const least = filter.min ? Number(filter.min) : 0;
    const most = filter.max ? Number(filter.max) : Infinity;
    const from = filter.from ? readDay(filter.from) : 0;
    const to = filter.to ? readDay(filter.to) + 1440 : Infinity;
    const result = filter.bot && filter.result ? RESULTS[filter.result] : null;
    const found = new Uint32Array(games.count);
    const order = malice.orderGames(games, filter.sort);
    let count = 0;
    for (let place = 0; place < order.length; place++) {
      const row = order[place];
      const own = seats[games.lineup[row]];
      if (own === null || !ends[games.ending[row]](own[0])) continue;
      if (games.actions[row] < least || games.actions[row] > most) continue;
      if (games.minutes[row] < from || games.minutes[row] >= to) continue;
      if (result !== null && malice.judge(games, row, own[0], own[1]) !== result) continue;
      found[count++] = row;
    }
    return found.subarray(0, count);
  };
})(window.malice);
