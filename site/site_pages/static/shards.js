// Loading: the index of keys and the shards of games, by scripts that also work from file://.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const started = new Map();
  const waiting = new Map();

  /** Called by a data file: hands over its content, packed. */
  malice.receive = function (name, packed) {
    const taker = waiting.get(name);
    if (taker) taker(packed);
  };

  function script(name) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      waiting.set(name, resolve);
      element.src = `data/${name}.js`;
      element.onerror = () => reject(new Error(`data/${name}.js cannot be loaded.`));
      document.head.append(element);
    });
  }

  async function unpack(packed) {
    if (!("DecompressionStream" in window)) {
      throw new Error("This browser cannot unpack the games; any browser from 2023 on can.");
    }
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function load(name) {
    if (!started.has(name)) {
      const loading = script(name).then(unpack);
      loading.catch(() => started.delete(name)); // the next click tries again
      started.set(name, loading);
    }
    return started.get(name);
  }

  /** The runs of games: one table and rotation, deal after deal, number after number. */
  function runs(index) {
    let end = 0;
    return index.gaps.map((gap, run) => {
      const first = end + gap;
      end = first + index.counts[run];
      return {
        first,
        end,
        table: index.tables[run],
        rotation: index.rotations[run],
        deal: index.deals[run],
      };
    });
  }

  function numberOf(all, key) {
    const [table, deal, rotation] = key.split(".").map(Number);
    const run = all.find(
      (one) =>
        one.table === table && one.rotation === rotation && one.deal <= deal && deal < one.deal + one.end - one.first,
    );
    return run ? run.first + deal - run.deal : null;
  }

  function keyOf(run, number) {
    return `${run.table}.${run.deal + number - run.first}.${run.rotation}`;
  }

  /** The keys before and after a game; null at the ends. */
  function neighbours(all, number) {
    const place = all.findIndex((run) => run.first <= number && number < run.end);
    const run = all[place];
    const [before, after] = [all[place - 1], all[place + 1]];
    return {
      previous: number > run.first ? keyOf(run, number - 1) : before ? keyOf(before, before.end - 1) : null,
      next: number + 1 < run.end ? keyOf(run, number + 1) : after ? keyOf(after, after.first) : null,
    };
  }

  /** The first key of all, for a page opened without one; null in an empty league. */
  malice.firstKey = async function () {
    const all = runs(await load("index"));
    return all.length ? keyOf(all[0], all[0].first) : null;
  };

  /** Find a game: its shard, its row in there, its neighbours. Rejects with a sentence for the reader. */
  malice.find = async function (key) {
    const index = await load("index");
    const all = runs(index);
    const number = numberOf(all, key);
    if (number === null) throw new Error(`There is no game ${key} here, or it has not been played yet.`);
    const shard = await load(`games-${Math.floor(number / index.size)}`);
    const row = shard.columns.number.indexOf(number);
    if (row < 0) throw new Error(`Game ${key} is newer than this page: reload it.`);
    return { shard, row, list: Math.floor(number / index.list) + 1, ...neighbours(all, number) };
  };
})(window.malice);
