// Reads a game from its shard, ask by ask, and follows it through a seat's eyes. Knows no game.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const HOLES = /[\t\n]/g;

  /** Decode a character; the inverse of `encode_symbol` in packed_events.py. */
  function decodeSymbol(char) {
    const code = char.codePointAt(0);
    if (code < 127) return code - (code < 92 ? 35 : 36);
    return code - 0xa1 + 91 - (code >= 0xe000 ? 0x800 : 0);
  }

  /** Put the cards back into the shapes of a game: a tab is its next card, a line break the card of the hole before. */
  function readAsks(shard, read) {
    const taken = shard.taken.match(/../g);
    const cards = [...read("cards")];
    let used = 0;
    const decodeAsk = (char) => {
      let card = "";
      const fill = (hole) => (hole === "\t" ? (card = taken[decodeSymbol(cards[used++])]) : card);
      return JSON.parse(shard.shapes[decodeSymbol(char)].replace(HOLES, fill));
    };
    return [...read("asks")].map(decodeAsk);
  }

  function readSteps(shard, read) {
    let first = 0;
    let turn = 0;
    return readAsks(shard, read).map(([moves, events, turns = 0]) => {
      const told = moves.map(([seat, action], index) => ({
        seat,
        action,
        micros: read("micros")[first + index] ?? null,
        cpu: read("cpu")[first + index] ?? null,
        note: read("notes")[first + index] ?? "",
      }));
      const step = { number: moves.length ? first : -1, turn, moves: told, events };
      first += moves.length;
      turn += turns;
      return step;
    });
  }

  /** Return the classes of a bot's colour, as `name_disc` in colours.py; none for one that never entered. */
  function nameClasses(bots, [name, slug]) {
    const newest = bots.indexOf(slug);
    const number = newest < 0 ? bots.indexOf(name.replace(/@\d+$/, "")) : newest;
    return number < 0 ? "" : `bot${number % 12} shape${number % 5}`;
  }

  /**
   * Read a game from a shard: `steps[0]` is the deal, `steps[i + 1]` is ask i, and the `number` of a step that of its
   * first action. `bots` are the file names of all bots in
   * the order of entry, which gives them their colours.
   */
  malice.read = function (shard, row, bots = []) {
    const read = (name) => shard.columns[name]?.[row];
    const fields = ["key", "ruleset", "teams", "places", "scores", "void", "reason", "faults", "stray", "series", "broken", "clock", "factor"];
    const game = {
      ...Object.fromEntries(fields.map((name) => [name, read(name)])),
      ...shard.rulesets[read("ruleset")],
      seats: read("labels").map((label) => ({ name: shard.labels[label][0], slug: shard.labels[label][1], colour: nameClasses(bots, shard.labels[label]) })),
      steps: readSteps(shard, read),
    };
    game.actions = game.steps.reduce((sum, { moves }) => sum + moves.length, 0);
    game.turnName = malice.callFamily(game.family, "turn", game);
    return game;
  };

  /** Mask a step for a seat: its events, and what others did in the same ask, since that was no answer to it. */
  function maskStep(step, game, viewer) {
    if (viewer === null) return step;
    const events = step.events.map((event) => malice.callFamily(game.family, "mask", event, viewer, game));
    const shows = (move) => step.moves.length === 1 || move.seat === viewer;
    const moves = step.moves.map((move) => (shows(move) ? move : { ...move, action: "", note: "" }));
    return { ...step, moves, events: events.filter((event) => event !== null) };
  }

  /** Add a step to a course; `step` holds what its viewer may see. */
  malice.extendCourse = function (course, game, viewer, step) {
    const call = (hook, ...values) => malice.callFamily(game.family, hook, ...values);
    const { events } = step;
    let table = course.tables.at(-1) ?? call("start", game);
    const told = events.map((event, place) => {
      const copy = structuredClone(table);
      const context = { game, viewer, step, events, place, table: copy };
      table = context.table = call("apply", copy, event, context) ?? copy;
      return [call("words", event, context) ?? "", call("brief", event, context) ?? ""];
    });
    course.steps.push(step);
    course.tables.push(table);
    course.words.push(told.map(([words]) => words));
    course.briefs.push(told.map(([, brief]) => brief));
  };

  /** Return a course without a step. */
  malice.beginCourse = () => ({ steps: [], tables: [], words: [], briefs: [] });

  /** Follow a game through the eyes of a seat, or of a spectator (null): masked steps, tables and words by step. */
  malice.follow = function (game, viewer) {
    const course = malice.beginCourse();
    for (const whole of game.steps) malice.extendCourse(course, game, viewer, maskStep(whole, game, viewer));
    course.others = malice.listOthers(game, viewer);
    return course;
  };

  /** Find the step with the verdict on a seat; null if there is none. */
  malice.findVerdict = function (game, seat) {
    return game.steps.find(({ moves }) => moves.some((move) => move.seat === seat && move.action[0] === "!")) ?? null;
  };

  /** Group the seats into teams, in the order of their first seats; without partners each seat is a team. */
  malice.groupTeams = function (game) {
    const teams = new Map();
    game.teams.forEach((team, seat) => teams.set(team, [...(teams.get(team) || []), seat]));
    return [...teams].map(([team, seats]) => ({ team, seats }));
  };

  malice.hasPartners = (game) => new Set(game.teams).size < game.teams.length;
})(window.malice);
