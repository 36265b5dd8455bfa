// The deals of a list of games: the rotations of a deal side by side, from one bot's point of view.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  /** Group the rows by deal, once: by row its deal, and by deal its rows, `rows[starts[deal]]` to `rows[starts[deal + 1]]`. */
  malice.groupDeals = function (games) {
    if (games.deals) return games.deals;
    const numbers = new Map();
    const by = new Uint32Array(games.count);
    const tables = games.table.reduce((most, table) => Math.max(most, table), 0) + 1;
    const deals = games.deal.reduce((most, deal) => Math.max(most, deal), 0) + 1;
    for (let row = 0; row < games.count; row++) {
      const id = (games.part[row] * tables + games.table[row]) * deals + games.deal[row];
      let number = numbers.get(id);
      if (number === undefined) numbers.set(id, (number = numbers.size));
      by[row] = number;
    }
    const starts = new Uint32Array(numbers.size + 1);
    for (const deal of by) starts[deal + 1]++;
    for (let deal = 0; deal < numbers.size; deal++) starts[deal + 1] += starts[deal];
    const free = starts.slice();
    const rows = new Uint32Array(games.count);
    by.forEach((deal, row) => (rows[free[deal]++] = row));
    return (games.deals = { by, starts, rows, count: numbers.size });
  };
  const { groupDeals } = malice;

  /** Return the deals of these rows, each at its first row. */
  malice.selectDeals = function (games, rows) {
    const { by, count } = groupDeals(games);
    const seen = new Uint8Array(count);
    return rows.filter((row) => !seen[by[row]] && (seen[by[row]] = 1)).map((row) => by[row]);
  };

  /** Find by label and version the seat of a bot in a game; -1 if it sits elsewhere. */
  const findSeat = (games, row, name) => (name === null ? -1 : games.lineups[games.lineup[row]].names.indexOf(name));

  /** Read a deal from the point of view of the bot that the filter names, or of its first entry.
   *
   * `cells` has for each rotation, or for the one game of the deal, null, or the row, the seat, its place and its points, which are null in a void game;
   * `sum` is that of the points, null until every rotation has some.
   */
  malice.readDeal = function (games, deal, seats) {
    const { starts, rows } = groupDeals(games);
    const own = [...rows.subarray(starts[deal], starts[deal + 1])];
    const first = own.find((row) => seats[games.lineup[row]] !== null);
    const { names, once } = games.lineups[games.lineup[first]];
    const [bot, opponent] = seats[games.lineup[first]].map((seat) => names[seat] ?? null);
    const cells = Array(once ? 1 : names.length).fill(null);
    for (const row of own) {
      const seat = findSeat(games, row, bot);
      if (seat < 0) continue;
      const points = malice.countPoints(games, row, seat, findSeat(games, row, opponent));
      cells[games.rotation[row]] = { row, seat, place: games.outcomes[games.outcome[row]].places[seat], points };
    }
    const whole = cells.every((cell) => cell !== null && cell.points !== null);
    return { row: first, bot, cells, sum: whole ? cells.reduce((sum, cell) => sum + cell.points, 0) : null };
  };
})(window.malice);
