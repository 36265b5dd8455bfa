// Loads the index of keys, the shards and the list of games and the page of a family as scripts, which also work from file://.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const loads = new Map();
  const receivers = new Map();
  const kept = new Map();

  /** Receive the packed content of a data file, which calls this; keep what nobody has asked for yet, as in a game that is one file. */
  malice.receive = function (name, packed) {
    const receiver = receivers.get(name);
    if (receiver) receiver(packed);
    else kept.set(name, packed);
  };

  const describeDamage = (name) => `data/${name}.js is damaged: write the site again.`;

  function loadScript(name) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      receivers.set(name, resolve);
      element.src = `data/${name}.js`;
      element.onerror = () => reject(new Error(`data/${name}.js cannot be loaded.`));
      element.onload = () => reject(new Error(describeDamage(name))); // unless it has been received
      document.head.append(element);
    });
  }

  async function unpack(name, packed) {
    if (!("DecompressionStream" in window)) {
      throw new Error("This browser cannot unpack the games; use one from 2023 or later.");
    }
    try {
      const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      return JSON.parse(await new Response(stream).text());
    } catch {
      throw new Error(describeDamage(name));
    }
  }

  /** Load a data file, once. */
  malice.load = function (name) {
    if (!loads.has(name)) {
      const loading = Promise.resolve(kept.get(name) ?? loadScript(name)).then((packed) => unpack(name, packed));
      loading.catch(() => loads.delete(name)); // so that the next click tries again
      loads.set(name, loading);
    }
    return loads.get(name);
  };
  const { load } = malice;

  /** List the runs of games: one part, table and rotation, with consecutive deals and numbers. */
  function listRuns(index) {
    let end = 0;
    return index.gaps.map((gap, run) => {
      const first = end + gap;
      end = first + index.counts[run];
      return {
        first,
        end,
        part: index.parts[run],
        table: index.tables[run],
        rotation: index.rotations[run],
        deal: index.deals[run],
      };
    });
  }

  function findNumber(runs, key) {
    const [part, table, deal, rotation] = key.split(".").map(Number);
    const run = runs.find(
      (one) =>
        one.part === part && one.table === table && one.rotation === rotation && one.deal <= deal && deal < one.deal + one.end - one.first,
    );
    return run ? run.first + deal - run.deal : null;
  }

  function makeKey(run, number) {
    return `${run.part}.${run.table}.${run.deal + number - run.first}.${run.rotation}`;
  }

  /** Find the keys before and after a game; null at the ends. */
  function findNeighbours(runs, number) {
    const place = runs.findIndex((run) => run.first <= number && number < run.end);
    const run = runs[place];
    const [before, after] = [runs[place - 1], runs[place + 1]];
    return {
      previous: number > run.first ? makeKey(run, number - 1) : before ? makeKey(before, before.end - 1) : null,
      next: number + 1 < run.end ? makeKey(run, number + 1) : after ? makeKey(after, after.first) : null,
    };
  }

  /** Find the game of the front page at its turn, the most dramatic of late, or else the first one, for a page opened without a key; null in an empty league. */
  malice.findFirstKey = async function () {
    const index = await load("index");
    const runs = listRuns(index);
    if (index.watch) return index.watch;
    return runs.length ? makeKey(runs[0], runs[0].first) : null;
  };

  /** Load what a bot would have played in a game; null if none was asked about it. */
  async function findOpinion({ opinions }, block, key) {
    if (!opinions?.blocks.includes(block)) return null;
    const seats = (await load(`opinions-${block}`))[key];
    return seats ? { ...opinions, seats } : null;
  }

  /** List the rotations in which the deal of a game was played. */
  function findRotations(runs, key) {
    const [part, table, deal] = key.split(".").map(Number);
    const holds = (run) => run.part === part && run.table === table && run.deal <= deal && deal < run.deal + run.end - run.first;
    return runs.filter(holds).map(({ rotation }) => rotation).sort((one, other) => one - other);
  }

  /**
   * Find a game: its shard, its row in the shard, its neighbours, a second opinion on it, the rotations of its deal, and the
   * bots in the order
   * of entry. Reject with a sentence for the reader.
   */
  malice.find = async function (key) {
    const index = await load("index");
    const runs = listRuns(index);
    const number = findNumber(runs, key);
    if (number === null) throw new Error(malice.alone ? `This file holds game ${index.watch} alone.` : `Game ${key} does not exist, or has not been played yet.`);
    const block = Math.floor(number / index.size);
    const split = (index.splits[block] || []).filter((first) => first <= number).length;
    const shard = await load(split ? `games-${block}-${split}` : `games-${block}`);
    const row = shard.columns.number.indexOf(number);
    if (row < 0) throw new Error(`Game ${key} is newer than this page: reload it.`);
    const { family } = shard.rulesets[shard.columns.ruleset[row]];
    await malice.loadFamily(family, index.families);
    const opinion = await findOpinion(index, block, key);
    return { shard, row, opinion, bots: index.bots, rotations: findRotations(runs, key), ...findNeighbours(runs, number) };
  };
})(window.malice);
