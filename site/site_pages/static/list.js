// Reads the list of all games into typed arrays, a row a game in the order of the schedule, and puts rows in order.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const COLUMNS = ["part", "table", "deal", "rotation", "lineup", "outcome", "ending", "actions", "minutes", "standing"];

  /** Fill the columns of the key; a run is one part, table and rotation, with consecutive deals. */
  function fillKeys(games, first, keys) {
    let row = first;
    keys.counts.forEach((count, run) => {
      for (let step = 0; step < count; step++, row++) {
        games.part[row] = keys.parts[run];
        games.table[row] = keys.tables[run];
        games.deal[row] = keys.deals[run] + step;
        games.rotation[row] = keys.rotations[run];
      }
    });
  }

  /** Add the entries of a table that are new; return the place of each. */
  function unite(known, places, entries, make) {
    return entries.map((entry) => {
      const id = JSON.stringify(entry);
      if (!places.has(id)) places.set(id, known.push(make(entry)) - 1);
      return places.get(id);
    });
  }

  const makeName = ([label, version, slug, shown, disc]) => ({ label, version, slug, shown, disc });
  const makeRuleset = ([name, page, shown]) => ({ name, page, shown });

  function addBlock(games, first, block, places) {
    const { columns } = block;
    const names = unite(games.names, places, block.names, makeName);
    const rulesets = unite(games.rulesets, places, block.rulesets, makeRuleset);
    const shifts = { lineup: games.lineups.length, outcome: games.outcomes.length, ending: games.endings.length, standing: games.standings.length };
    for (const [ruleset, teams, seats, once] of block.lineups) {
      games.lineups.push({ ruleset: rulesets[ruleset], teams, names: seats.map((seat) => names[seat]), once: Boolean(once) });
    }
    for (const [given, scores] of block.outcomes) {
      games.outcomes.push({ places: given, scores, firsts: given.filter((place) => place === 1).length });
    }
    for (const [reason, words, verdicts] of block.endings) {
      games.endings.push({ reason, words, verdicts, void: reason === "void" });
    }
    games.standings.push(...block.standings);
    fillKeys(games, first, block.keys);
    let minute = 0;
    for (let place = 0; place < block.keys.count; place++) {
      const row = first + place;
      for (const [name, shift] of Object.entries(shifts)) games[name][row] = shift + columns[name][place];
      games.actions[row] = columns.actions[place];
      games.minutes[row] = minute += columns.minutes[place];
    }
  }

  /** Join the blocks of the list, in their order. */
  malice.joinBlocks = function (blocks) {
    const count = blocks.reduce((sum, { keys }) => sum + keys.count, 0);
    const games = { count, names: [], rulesets: [], lineups: [], outcomes: [], endings: [], standings: [], orders: {}, deals: null };
    for (const name of COLUMNS) games[name] = new Uint32Array(count);
    const places = new Map();
    let first = 0;
    for (const block of blocks) {
      addBlock(games, first, block, places);
      first += block.keys.count;
    }
    return games;
  };

  /** Load the whole list. Reject with a sentence for the reader. */
  malice.loadList = async function (numbers) {
    return malice.joinBlocks(await Promise.all(numbers.map((number) => malice.load(`list-${number}`))));
  };

  malice.makeKey = (games, row) => `${games.part[row]}.${games.table[row]}.${games.deal[row]}.${games.rotation[row]}`;

  /** By order: the column, and the direction. */
  const SORTS = { "": [null, -1], first: [null, 1], longest: ["actions", -1], shortest: ["actions", 1], newest: ["minutes", -1], oldest: ["minutes", 1] };
  malice.SORTS = Object.keys(SORTS);

  /** Sort rows by two bytes of a column; rows with equal ones keep their order. */
  function sortByDigit(rows, column, shift) {
    const starts = new Uint32Array(65537);
    for (let place = 0; place < rows.length; place++) starts[((column[rows[place]] >>> shift) & 65535) + 1]++;
    for (let digit = 0; digit < 65536; digit++) starts[digit + 1] += starts[digit];
    const sorted = new Uint32Array(rows.length);
    for (let place = 0; place < rows.length; place++) sorted[starts[(column[rows[place]] >>> shift) & 65535]++] = rows[place];
    return sorted;
  }

  /** Return all rows in an order, the latest game first by default. Equal rows are in the order of the schedule, or in the opposite one. */
  malice.orderGames = function (games, sort) {
    if (!(sort in games.orders)) {
      const [column, direction] = SORTS[sort];
      let rows = Uint32Array.from({ length: games.count }, (_, row) => row);
      if (column) rows = sortByDigit(sortByDigit(rows, games[column], 0), games[column], 16);
      games.orders[sort] = direction < 0 ? rows.reverse() : rows;
    }
    return games.orders[sort];
  };
})(window.malice);
