// The mirror: another rotation of the same deal beside the game, in step by turn, and in words what came of both.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  malice.watchers = malice.watchers || [];
  malice.keys = malice.keys || {};
  const $ = (id) => document.getElementById(id);
  const { createElement } = malice;
  let drawn = null; // the step that the mirror's table shows

  const readRotation = (key) => Number(key.split(".")[3]);

  /** List the other rotations of a deal: first the one after this game's. */
  function listOthers(key, rotations) {
    const own = readRotation(key);
    return [...rotations.filter((one) => one > own), ...rotations.filter((one) => one < own)];
  }

  /**
   * Choose the rotation to show beside a game, of those that were played: the one that an address asks for, or else, if
   * a mirror is open, the same one or that after the game's; null for none. Throw a sentence for the reader.
   */
  malice.chooseRotation = function (key, rotations, wanted) {
    const { game, mirror } = malice.replay.state;
    const others = listOthers(key, rotations);
    if (Number(wanted) === readRotation(key)) return null; // the game itself
    if (wanted !== undefined && !others.includes(Number(wanted))) {
      throw new Error(`This deal has no other game in rotation ${wanted}, or it has not been played yet.`);
    }
    if (wanted !== undefined) return Number(wanted);
    if (!mirror) return null;
    return (game?.key === key ? mirror.rotation : others[0]) ?? null;
  };

  /** Load another rotation of a game's deal; null for none. */
  malice.loadMirror = async function (key, rotation) {
    if (rotation === null) return null;
    const found = await malice.find(key.replace(/\d+$/, String(rotation)));
    const game = malice.read(found.shard, found.row, found.bots);
    return { rotation, game, whole: malice.follow(game, null) };
  };

  /**
   * Return, by step of a game, the step of another one to show beside it: in the same turn the same action, and where
   * the turn ends here, its end there. Where no turns are counted, the steps themselves are counted.
   */
  malice.matchSteps = function (game, other) {
    const counted = [game, other].some(({ steps }) => steps.some(({ turn }) => turn > 0));
    const [own, twin] = [game, other].map(({ steps }) => steps.map(({ turn }, step) => (counted ? turn : step)));
    return own.map((turn, step) => {
      const last = twin.findLastIndex((one) => one <= turn);
      const first = twin.indexOf(turn);
      if (first < 0 || own[step + 1] !== turn) return last;
      return Math.min(first + step - own.indexOf(turn), last);
    });
  };

  /** Find the side of another game in which the same bots play. */
  function findSide(game, { seats }, other) {
    const name = (one, own) => JSON.stringify(own.map((seat) => one.seats[seat].slug).sort());
    return malice.groupTeams(other).findIndex((side) => name(other, side.seats) === name(game, seats));
  }

  /** Return the sides that came first. */
  const findWinners = (game) => malice.groupTeams(game).filter(({ seats }) => game.places[seats[0]] === 1);

  function describeWinners(game) {
    const winners = findWinners(game);
    const names = malice.joinNames(winners.map((side) => malice.nameSide(game, side)));
    return winners.length > 1 ? `${names} shared the first place` : `${names} won`;
  }

  /** Return what the first side made of both games, of 2 points. */
  function countPoints(game, other) {
    const [first] = malice.groupTeams(game);
    const count = (one, { seats: [seat] }) => (one.places[seat] > 1 ? 0 : 1 / findWinners(one).length);
    return count(game, first) + count(other, malice.groupTeams(other)[findSide(game, first, other)]);
  }

  const formatPoints = (points) => (points === 0.5 ? "½" : `${Math.floor(points)}${points % 1 ? "½" : ""}`);

  /** Describe in a few words what came of two games of one deal. */
  malice.describePair = function (game, other) {
    const empty = [game, other].find((one) => one.void);
    if (empty) return `No result of the pair: nobody played game ${empty.key}`;
    const [here, there] = [game, other].map(describeWinners);
    const [ours, theirs] = [game, other].map(findWinners);
    const same = ours.length + theirs.length === 2 && findSide(game, ours[0], other) === findSide(other, theirs[0], other);
    if (same) return `${here} both`;
    if (malice.groupTeams(game).length !== 2) return `${here} here; ${there} there`;
    const points = countPoints(game, other);
    const score = `${formatPoints(points)} : ${formatPoints(2 - points)}`;
    if (ours.length + theirs.length === 4) return `${score} – two draws`;
    if (ours.length + theirs.length === 3) return `${score} – ${ours.length === 1 ? `${here} here` : `${there} there`}, and the other was a draw`;
    const seats = [ours, theirs].map(([side]) => side.seats.join(" and "));
    if (seats[0] !== seats[1]) return `${score} – ${here} here, ${there} there`;
    return `${score} – each won from seat${ours[0].seats.length > 1 ? "s" : ""} ${seats[0]}`;
  };

  /** Return, by step and side of a game, what the same side has left in the mirror; null where lines would be too many. */
  function reflectRace(game, { game: other, whole, steps }) {
    const race = malice.measureRace(other, whole);
    const sides = malice.groupTeams(game).map((side) => findSide(game, side, other));
    if (!race || sides.length !== 2 || sides.includes(-1)) return null;
    return steps.map((at) => sides.map((side) => race.left[at][side]));
  }

  function fillRotations(key, rotations, chosen) {
    const others = listOthers(key, rotations);
    const options = others.map((one) => createElement("option", { value: one }, `rotation ${one}`));
    $("rotation").replaceChildren(...options);
    $("rotation").value = String(chosen);
    $("rotation").hidden = others.length < 2;
  }

  /** Open the mirror with a game that was loaded, or close it. */
  malice.openMirror = function (mirror) {
    const { state } = malice.replay;
    const { game } = state;
    drawn = null;
    state.mirror = mirror && { ...mirror, course: null, viewer: undefined, steps: malice.matchSteps(game, mirror.game) };
    $("play-area").classList.toggle("mirrored", Boolean(mirror));
    $("swap").setAttribute("aria-pressed", String(Boolean(mirror)));
    $("mirror").hidden = $("pair").hidden = !mirror;
    malice.reflect(mirror && reflectRace(game, state.mirror));
    malice.measureStage($("table"));
    if (!mirror) return;
    fillRotations(game.key, state.rotations, mirror.rotation);
    $("pair-result").textContent = $("pair-result").title = `${malice.describePair(game, mirror.game)}.`;
    $("other").textContent = `game ${mirror.game.key}`;
  };

  /** Load a rotation into the mirror, or close it with null. */
  async function change(rotation) {
    const { state, showStep, fail } = malice.replay;
    const { key } = state.game;
    try {
      const mirror = await malice.loadMirror(key, rotation);
      if (state.game?.key !== key) return; // the reader is elsewhere by now
      malice.openMirror(mirror);
      showStep(state.index);
    } catch (error) {
      fail(error.message);
    }
  }

  /** Go to the next rotation; after the last one, close the mirror. */
  function turn() {
    const { game, rotations, mirror } = malice.replay.state;
    const others = listOthers(game.key, rotations);
    const next = mirror ? others[others.indexOf(mirror.rotation) + 1] : others[0];
    if (mirror || next !== undefined) change(next ?? null);
  }

  /** Tell how far the mirror is, and who leads there. */
  function describeTurn({ game, whole }, at) {
    const [step, last] = [game.steps[at], game.steps.at(-1)];
    const counted = malice.nameTurn(game, last);
    const where = counted ? `${game.turnName} ${step.turn} of ${last.turn}` : `${malice.nameActions(step)} / ${game.actions - 1}`;
    const lead = malice.describeLead(game, malice.measureRace(game, whole), at);
    return ` · ${where}${lead && ` · ${lead}`}`;
  }

  function tell({ game, course }, at) {
    const over = at === game.steps.length - 1;
    const step = course.steps[at];
    const words = `${malice.describeStep(game, course, at)}${over ? ` ${malice.describeResult(game)}` : ""}`;
    $("other-live").setAttribute("aria-live", $("live").getAttribute("aria-live"));
    $("other-live").textContent = $("other-live").title = words;
    $("other-raw").textContent = step.moves.map(malice.formatMove).join(" · ");
    $("other-thought").textContent = malice.formatDuration(malice.longestTime(step));
    $("other-remark").textContent = malice.joinNotes(game, step);
  }

  function draw(mirror, at, viewer, moving) {
    const [box, fresh] = [$("other-table"), drawn === null];
    if (fresh) malice.measureStage(box);
    malice.drawTable(box, mirror.game, mirror.course, at, viewer, at - 1 === drawn ? moving : 0);
    if (fresh) malice.measureStage(box); // with the cards of this game
    drawn = at;
  }

  function show(index, moving) {
    const { mirror, viewer, game } = malice.replay.state;
    if (!mirror) return;
    if (mirror.viewer !== viewer) {
      mirror.course = viewer === null ? mirror.whole : malice.follow(mirror.game, viewer); // the same seat saw the same cards
      mirror.viewer = viewer;
      drawn = null;
    }
    const at = mirror.steps[index];
    $("other").href = malice.makeAddress(mirror.game.key, mirror.game.steps[at].number, { view: viewer ?? undefined, mirror: readRotation(game.key) });
    if (at === drawn) return;
    draw(mirror, at, viewer, moving);
    tell(mirror, at);
    $("other-turn").textContent = describeTurn(mirror, at);
  }

  function load(game) {
    const many = game.seats.length > 2;
    const words = many ? "Same deal, other seats" : "Same deal, swapped";
    $("swap").hidden = malice.replay.state.rotations.length < 2;
    $("swap").title = `${words} (m)`;
    $("swap").setAttribute("aria-label", words);
    $("mirror").setAttribute("aria-label", words);
    $("swapped").textContent = many ? "Same deal" : words;
  }

  malice.watchers.push({ load, show });
  malice.keys.m = turn;
  $("swap").addEventListener("click", turn);
  $("rotation").addEventListener("change", () => change(Number($("rotation").value)));
})(window.malice);
