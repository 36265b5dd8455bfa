// Tells who was ahead when, from what is left by seat, and how long each seat thought. Knows no game.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  /** A lead that holds for this part of a game counts, however small it is. */
  const LASTS = 0.05;

  const isRace = (left, game) => Array.isArray(left) && left.length === game.seats.length && left.every(Number.isFinite);

  /** Return the only side with the least left among those that still play; null if several share it. */
  function findLead(left, sides, out) {
    const playing = sides.map((_, side) => side).filter((side) => sides[side].seats.some((seat) => !out.has(seat)));
    const least = Math.min(...playing.map((side) => left[side]));
    const first = playing.filter((side) => left[side] === least);
    return first.length === 1 ? first[0] : null;
  }

  /** Return who led alone from which step on, until another side did: `{side, step, end, most}`, by how much at most. */
  function listSpells({ leads, left }) {
    const spells = [];
    leads.forEach((side, step) => {
      if (side === null) return;
      const ahead = Math.min(...left[step].filter((_, other) => other !== side)) - left[step][side];
      const last = spells.at(-1);
      if (last?.side === side) last.most = Math.max(last.most, ahead);
      else {
        if (last) last.end = step;
        spells.push({ side, step, end: leads.length, most: ahead });
      }
    });
    return spells;
  }

  /**
   * Return the steps where the lead went from one side to another, and in `taken` those where it was taken at all. A lead
   * counts if it reaches the margin, lasts, or stands at the end: one that comes and goes tells nothing of the game.
   */
  function findChanges(race, margin) {
    const count = race.leads.length;
    const stands = ({ side, end }) => end === count && race.leads[count - 1] === side;
    const counts = (spell) => spell.most >= margin || spell.end - spell.step >= count * LASTS || stands(spell);
    const spells = listSpells(race).filter(counts);
    const told = spells.filter(({ side }, place) => side !== spells[place - 1]?.side);
    const changes = told.slice(1).map(({ step, side }, place) => ({ step, side, from: told[place].side }));
    return { changes, taken: told.length ? told[0].step : null };
  }

  /** Compute something of a course once, however many parts of the page ask for it. */
  malice.computeOnce = function (compute) {
    const known = new WeakMap();
    return function (game, course) {
      if (!known.has(course)) known.set(course, compute(game, course));
      return known.get(course);
    };
  };

  /**
   * Measure a race from the tables of a spectator; null if the family does not tell who is ahead. `sides` are the teams,
   * `left` and `leads` go by step, `changes` are the steps at which a lead that counts went from one side to another, and
   * `value` tells what is left as readers know it.
   */
  malice.measureRace = malice.computeOnce((game, course) => {
    const sides = malice.groupTeams(game);
    const out = new Set();
    const value = (left) => malice.callFamily(game.family, "value", left);
    const race = { sides, left: [], leads: [], unit: malice.callFamily(game.family, "unit", game), value };
    for (const [index, step] of course.steps.entries()) {
      for (const { seat, action } of step.moves) if (action[0] === "!") out.add(seat);
      const context = { game, viewer: null, step, tables: course.tables };
      const left = malice.callFamily(game.family, "race", course.tables[index], context);
      if (!isRace(left, game)) return null;
      race.left.push(sides.map(({ seats }) => left[seats[0]]));
      race.leads.push(findLead(race.left[index], sides, out));
    }
    return { ...race, ...findChanges(race, malice.callFamily(game.family, "margin", game)) };
  });

  /**
   * Find the step at which a game turned: where whoever leads at the end took the lead for the last time, as the front page
   * counts it; the last step where nobody leads at the end.
   */
  malice.findTurn = function (game, course) {
    const leads = malice.measureRace(game, course)?.leads ?? [];
    const final = leads.at(-1) ?? null;
    if (final === null) return game.steps.length - 1;
    const others = leads.findLastIndex((side) => side !== null && side !== final);
    return Math.max(1, leads.indexOf(final, others + 1));
  };

  /** Name the seats of a side, each isolated. */
  malice.nameSide = (game, { seats }) => malice.joinNames(seats.map((seat) => malice.quote(game.seats[seat].name)));

  /** Tell in sentences who led when. */
  malice.describeRace = function (game, race) {
    if (!race) return "This game does not tell who is ahead.";
    if (race.taken === null) return "Nobody ever led alone.";
    const name = (side) => malice.nameSide(game, race.sides[side]);
    const spans = [{ step: race.taken, side: race.leads[race.taken] }, ...race.changes];
    const shown = spans.length > 7 ? [...spans.slice(0, 3), null, ...spans.slice(-3)] : spans;
    const told = shown.map((span) => (span ? `${name(span.side)} from ${malice.nameActions(game.steps[span.step])}` : "and so on"));
    return `In the lead: ${told.join("; ")}. ${malice.formatCount(race.changes.length, "lead change")}.`;
  };

  /**
   * Return how much of its bank each seat had left, by seat: shares of the whole, as `[step, share]` where they change;
   * null without a bank. The page knows times to two digits, so these are close, not exact.
   */
  malice.measureBanks = function (game) {
    if (!game.clock) return null;
    const [full, increment] = game.clock.map((ms) => ms * 1000);
    const seats = game.seats.map(() => ({ bank: full, turn: 0, points: [[0, 1]] }));
    game.steps.forEach((step, index) => {
      for (const move of step.moves) {
        const seat = seats[move.seat];
        if (step.turn !== seat.turn) seat.bank = Math.min(full, seat.bank + increment);
        seat.turn = step.turn;
        seat.bank = Math.max(0, seat.bank - (move.cpu ?? move.micros ?? 0));
        seat.points.push([index, full ? seat.bank / full : 0]);
      }
    });
    return seats.map(({ points }) => points);
  };
})(window.malice);
