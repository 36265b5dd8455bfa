// The controls: choose game, step and view by buttons, keys, slider and address.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const $ = (id) => document.getElementById(id);
  const state = { game: null, course: null, whole: null, index: 0, viewer: null, previous: null, next: null, rotations: [], mirror: null, address: "" };
  const SEEN = 100; // a flight of fewer milliseconds is over before anybody sees it
  let timer = null;
  let due = 0;
  let pending = null;

  const lastIndex = () => state.game.steps.length - 1;
  const readInterval = () => 1000 / Number($("speed").value);

  /** Return the address of what is shown; view, speed, colours and mirror only where they are not the usual ones. */
  function makeAddress() {
    const speed = $("speed").value;
    return malice.makeAddress(state.game.key, state.game.steps[state.index].number, {
      view: state.viewer ?? undefined,
      speed: speed === "1" ? undefined : speed,
      colours: malice.hasFourColours() ? "4" : undefined,
      mirror: state.mirror?.rotation,
    });
  }

  /** Update the address, but not at every frame, which browsers forbid, nor after a link to another game. */
  function keepAddress() {
    clearTimeout(pending);
    pending = setTimeout(() => {
      if (location.hash !== state.address) return; // the game that was asked for is still being loaded
      state.address = makeAddress();
      if (location.hash !== state.address) history.replaceState(null, "", state.address);
    }, 150);
  }

  /** Write a text where it is another one: what stays the same is not laid out again. */
  function write(id, text) {
    if ($(id).textContent !== text) $(id).textContent = text;
  }

  function showStep(index, moving = 0) {
    const { game, course, viewer } = state;
    state.index = Math.max(0, Math.min(lastIndex(), index));
    const step = course.steps[state.index];
    malice.drawTable($("table"), game, course, state.index, viewer, moving);
    $("slider").value = state.index;
    const [name, turn] = [malice.nameActions(step), malice.nameTurn(game, step)];
    $("slider").setAttribute("aria-valuetext", step.number < 0 ? name : [name, turn].filter(Boolean).join(", "));
    const [word, number] = name.split(" ");
    write("word", `${word} `);
    write("number", step.number < 0 ? number : `${number} / ${game.actions - 1}`);
    write("turn", turn);
    $("live").setAttribute("aria-live", timer && readInterval() < 700 ? "off" : "polite");
    write("raw", step.moves.map(malice.formatMove).join(" · "));
    write("thought", malice.formatDuration(malice.longestTime(step)));
    write("remark", malice.joinNotes(game, step));
    const over = state.index === lastIndex();
    const words = malice.describeStep(game, course, state.index);
    $("live").title = words;
    write("live", words + (over ? ` ${malice.describeResult(game)}` : ""));
    showFailure();
    $("over").hidden = !over;
    if (over || $("ending").firstChild) $("ending").replaceChildren(...(over ? malice.makeEnding(game) : []));
    for (const id of ["first", "back", "turn-back"]) $(id).disabled = state.index === 0;
    for (const id of ["last", "forward", "turn-forward"]) $(id).disabled = over;
    if (over) stop();
    for (const watcher of malice.watchers) watcher.show(state.index, moving);
    // What measures the page comes after all that changes it: each change in between would cost another layout.
    malice.markLog($("log"), state.index);
    for (const watcher of malice.watchers) watcher.settle?.(state.index);
    keepAddress();
  }

  /** Say that the page of this game has failed, while what it brings stands replaced. */
  function showFailure() {
    const failure = malice.failures[state.game.family];
    $("message").hidden = !failure;
    if (failure) $("message").textContent = `The page of this game, ${state.game.family}, has failed: ${failure}`;
  }

  function moveSteps(by) {
    stop();
    showStep(state.index + by, by === 1 ? 240 : 0);
  }

  /** Go to the first action of the next turn, or back to that of this turn or the one before. */
  function moveTurns(by) {
    stop();
    const { steps } = state.game;
    let index = state.index + by;
    while (index > 0 && index < lastIndex() && (steps[index].turn === steps[index - 1].turn || index === 0)) index += by;
    showStep(index);
  }

  /** Go to a step, for what is drawn beside the controls. */
  malice.seek = function (index) {
    stop();
    if (index !== state.index) showStep(index);
  };

  function stop() {
    clearTimeout(timer);
    timer = null;
    $("play").setAttribute("aria-pressed", "false");
    $("play").setAttribute("aria-label", "Play");
    $("play").dataset.icon = "play";
  }

  /** Show the next step, and wait until the one after it is due: what a step takes longer, the next one takes less. */
  function tick() {
    const now = performance.now();
    due = Math.max(due + readInterval(), now);
    timer = setTimeout(tick, due - now);
    const moving = Math.min(240, readInterval() * 0.6);
    showStep(state.index + 1, moving < SEEN ? 0 : moving);
  }

  function play() {
    if (timer) {
      stop();
      return;
    }
    if (state.index === lastIndex()) showStep(0);
    $("play").setAttribute("aria-pressed", "true");
    $("play").setAttribute("aria-label", "Pause");
    $("play").dataset.icon = "pause";
    due = performance.now() + readInterval() / 2;
    timer = setTimeout(tick, readInterval() / 2);
  }

  function changeView(viewer, index = state.index) {
    state.viewer = viewer;
    state.course = viewer === null ? state.whole : malice.follow(state.game, viewer);
    $("view").value = viewer === null ? "all" : String(viewer);
    for (const [seat, { name }] of state.game.seats.entries()) {
      $("view").options[seat + 1].textContent = seat === viewer ? `seat ${seat}` : `seat ${seat}: ${name}`; // a name would not fit
    }
    malice.fillLog($("log"), state.game, state.course);
    malice.measureStage($("table"));
    showStep(index);
    malice.measureStage($("table")); // with the cards of this game
  }

  function setLink(id, address) {
    const link = $(id);
    const attributes = address ? { href: address } : { role: "link", "aria-disabled": "true" };
    for (const name of ["href", "role", "aria-disabled"]) {
      if (name in attributes) link.setAttribute(name, attributes[name]);
      else link.removeAttribute(name);
    }
  }

  function showHeading(game) {
    const joinParts = (parts, word) => parts.flatMap((part, place) => (place ? [malice.createElement("span", { class: "versus" }, ` ${word} `), ...part] : part));
    const teams = malice.groupTeams(game).map(({ seats }) => seats.map((seat) => game.seats[seat]));
    const names = teams.map((team) => joinParts(team.map((seat) => [malice.createElement("bdi", { class: malice.markBot(seat) }, seat.name)]), "+"));
    $("players").replaceChildren(...joinParts(names, "v"));
    $("players").classList.toggle("many", game.seats.length > 4);
    const rules = malice.linkPage(`rules/${game.page}.html`, {}, malice.createElement("bdi", {}, game.ruleset));
    const series = game.series ? ` · after it ${game.series}` : "";
    const factor = game.factor ? ` · on a worker of factor ${game.factor}` : "";
    $("facts").replaceChildren(`Game ${game.key} · `, rules, ` · ${malice.formatCount(game.actions, "action")}, 0 to ${game.actions - 1}`, series, factor);
    $("facts").title = $("facts").textContent;
    document.title = `${teams.map((team) => team.map(({ name }) => name).join(" + ")).join(" v ")} · game ${game.key}`;
  }

  function loadGame(game, place) {
    const views = malice.hasViews(game.family);
    const same = views && state.game?.seats.length === game.seats.length;
    game.opinion = place.opinion;
    const { previous, next, rotations } = place;
    Object.assign(state, { game, previous, next, rotations, viewer: same ? state.viewer : null });
    malice.useStyles(game.family);
    showHeading(game);
    const options = game.seats.map((_, seat) => malice.createElement("option", { value: seat }));
    $("view").replaceChildren(malice.createElement("option", { value: "all" }, "all hands"), ...options);
    $("view").parentElement.hidden = !views;
    $("play-area").classList.toggle("noted", game.steps.some((step) => step.moves.some((move) => move.note)));
    $("slider").max = lastIndex();
    setLink("previous", previous && `#${previous}`);
    setLink("next", next && `#${next}`);
    setLink("list", malice.findPage(`games.html#game=${game.key}`));
    $("key").value = game.key;
    state.whole = malice.follow(game, null);
    for (const watcher of malice.watchers) watcher.load(game, state.whole);
    malice.fillResult($("result"), game);
    if (game.faults.length || game.broken) $("result").parentElement.open = true;
  }

  function showGame(shown) {
    $("replay").hidden = !shown;
    $("near").hidden = !shown || malice.alone;
    $("message").hidden = shown;
  }

  function showError(sentence) {
    showGame(false);
    $("players").textContent = "Replay";
    $("facts").replaceChildren();
    state.game = null;
    $("message").textContent = sentence;
  }

  /** Return the index of a step in an address: `57`, `!2` for the verdict on seat 2, or `turn`; the deal if there is none. */
  function findIndex(game, place) {
    if (place === "turn") return malice.findTurn(game, state.whole);
    const number = place?.[0] === "!" ? malice.findVerdict(game, Number(place.slice(1)))?.number : place;
    return number === undefined ? 0 : game.steps.findLastIndex((step) => step.number <= Number(number));
  }

  /** Focus the evidence of the verdict in an address, but leave the table in sight. */
  function focusEvidence(place) {
    if (place?.[0] === "!") document.getElementById(`fault-${place.slice(1)}`)?.focus({ preventScroll: true });
  }

  /** Set speed and colours as an address asks for, and return the seat whose view it asks for, or null. */
  function applyOptions({ view, speed, colours }) {
    const speeds = [...$("speed").options].map(({ value }) => value);
    if (speed !== undefined && !speeds.includes(speed)) throw new Error(`Expected ${speeds.join(", ")} for speed, got ${speed}.`);
    if (view !== undefined && ![...$("view").options].some(({ value }) => value === view)) throw new Error(`This game has no view of seat ${view}.`);
    if (speed !== undefined) $("speed").value = speed;
    if (colours !== undefined) malice.chooseColours(colours === "4", false);
    return view === undefined ? state.viewer : view === "all" ? null : Number(view);
  }

  /** Open the address: `#part.table.deal.rotation`, and after a slash the number of an action, the seat of a verdict, or `turn`. */
  async function openAddress() {
    if (state.game && document.getElementById(location.hash.slice(1))) {
      state.address = location.hash; // a link within the page, such as the one to its content
      return;
    }
    stop();
    clearTimeout(pending);
    const hash = location.hash.slice(1);
    try {
      const wanted = hash || (await malice.findFirstKey());
      if (wanted === null) throw new Error("No game has been played yet.");
      const { key, place, options } = malice.parseAddress(wanted);
      const fresh = state.game?.key !== key;
      const found = fresh ? await malice.find(key) : state;
      const rotation = malice.chooseRotation(key, found.rotations, options.mirror);
      const turns = fresh || rotation !== (state.mirror?.rotation ?? null);
      const mirror = turns ? await malice.loadMirror(key, rotation) : null;
      if (hash !== location.hash.slice(1)) return; // the address has changed meanwhile
      if (fresh) loadGame(malice.read(found.shard, found.row, found.bots), found);
      if (turns) malice.openMirror(mirror);
      const viewer = applyOptions(options);
      state.address = location.hash;
      showGame(true);
      if (fresh || viewer !== state.viewer) changeView(viewer, findIndex(state.game, place));
      else showStep(findIndex(state.game, place));
      focusEvidence(place);
    } catch (error) {
      showError(error.message);
    }
  }

  const actions = {
    ArrowRight: () => moveSteps(1),
    ArrowLeft: () => moveSteps(-1),
    ArrowUp: () => moveTurns(-1),
    ArrowDown: () => moveTurns(1),
    PageUp: () => moveTurns(-1),
    PageDown: () => moveTurns(1),
    Home: () => moveSteps(-Infinity),
    End: () => moveSteps(Infinity),
    " ": play,
    v: () => malice.hasViews(state.game.family) && changeView(state.viewer === null ? 0 : state.viewer + 1 < state.game.seats.length ? state.viewer + 1 : null),
    n: () => state.next && (location.hash = state.next),
    p: () => state.previous && (location.hash = state.previous),
    "?": () => {
      $("help").showModal();
      $("help").scrollTop = 0; // it focuses its button, at the end
    },
  };

  function handleKey(event) {
    const shifted = event.getModifierState("AltGraph"); // some keyboards need it for brackets
    if (((event.ctrlKey || event.metaKey || event.altKey) && !shifted) || !state.game || document.querySelector("dialog[open]")) return;
    const target = event.target;
    if (target.closest("input, select, textarea") && event.key !== "?") return;
    if (event.key === " " && target.closest("button, a, summary")) return;
    const scrolls = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key);
    if (scrolls && target.closest("#log, pre")) return;
    const act = actions[event.key] || malice.keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  function listen() {
    const clicks = {
      first: actions.Home,
      back: actions.ArrowLeft,
      "turn-back": actions.ArrowUp,
      play,
      "turn-forward": actions.ArrowDown,
      forward: actions.ArrowRight,
      last: actions.End,
      keys: actions["?"],
      close: () => $("help").close(),
    };
    for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
    $("slider").addEventListener("input", () => {
      stop();
      showStep(Number($("slider").value));
    });
    $("speed").addEventListener("change", keepAddress);
    $("view").addEventListener("change", () => changeView($("view").value === "all" ? null : Number($("view").value)));
    $("open").addEventListener("submit", (event) => {
      event.preventDefault();
      location.hash = $("key").value.trim();
    });
    $("log").addEventListener("keydown", malice.roveLog);
    malice.watchLog($("log"));
    document.addEventListener("keydown", handleKey);
    window.addEventListener("hashchange", openAddress);
  }

  $("open").hidden = malice.alone;
  malice.replay = { state, actions, showStep, address: makeAddress, keepAddress, fail: showError };
  malice.recallColours();
  listen();
  openAddress();
})(window.malice);
