// The controls: which game, which step, whose view; by buttons, keys, slider and address.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const $ = (id) => document.getElementById(id);
  const shown = { game: null, index: 0, viewer: null, previous: null, next: null };
  let timer = null;
  let pending = null;

  const last = () => shown.game.steps.length - 1;
  const interval = () => 1000 / Number($("speed").value);

  function address(key, index) {
    return index > 0 ? `#${key}/${index - 1}` : `#${key}`;
  }

  /** Keep the address in step, but not at every frame: browsers forbid that. */
  function keepAddress() {
    clearTimeout(pending);
    pending = setTimeout(() => {
      const wanted = address(shown.game.key, shown.index);
      if (location.hash !== wanted) history.replaceState(null, "", wanted);
    }, 150);
  }

  function show(index, moving = 0) {
    const { game, viewer } = shown;
    shown.index = Math.max(0, Math.min(last(), index));
    const step = game.steps[shown.index];
    malice.draw($("table"), game, shown.index, viewer, moving);
    malice.markLog($("log"), shown.index);
    $("slider").value = shown.index;
    const at = step.index < 0 ? "the deal" : `action ${step.index}, turn ${step.turn}`;
    $("slider").setAttribute("aria-valuetext", at);
    $("where").textContent = step.index < 0 ? "deal" : `action ${step.index} / ${last() - 1} · turn ${step.turn}`;
    $("live").setAttribute("aria-live", timer && interval() < 700 ? "off" : "polite");
    $("raw").textContent = step.action;
    $("thought").textContent = step.micros === null ? "" : malice.duration(step.micros);
    $("remark").textContent = step.note;
    const over = shown.index === last();
    $("live").textContent = malice.sentence(game, shown.index, viewer) + (over ? ` ${malice.result(game)}` : "");
    $("ending").hidden = !over;
    $("ending").replaceChildren(...(over ? malice.ending(game) : []));
    for (const id of ["first", "back", "turn-back"]) $(id).disabled = shown.index === 0;
    for (const id of ["last", "forward", "turn-forward"]) $(id).disabled = over;
    if (over) stop();
    keepAddress();
  }

  function step(by) {
    stop();
    show(shown.index + by, by === 1 ? 240 : 0);
  }

  /** Go to the first action of the next turn, or of this turn, or of the one before. */
  function turn(by) {
    stop();
    const { steps } = shown.game;
    let index = shown.index + by;
    while (index > 0 && index < last() && (steps[index].turn === steps[index - 1].turn || index === 0)) index += by;
    show(index);
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    $("play").setAttribute("aria-pressed", "false");
    $("play").setAttribute("aria-label", "Play");
    $("play").dataset.icon = "play";
  }

  function tick() {
    timer = setTimeout(tick, interval());
    show(shown.index + 1, Math.min(240, interval() * 0.6));
  }

  function play() {
    if (timer) {
      stop();
      return;
    }
    if (shown.index === last()) show(0);
    $("play").setAttribute("aria-pressed", "true");
    $("play").setAttribute("aria-label", "Pause");
    $("play").dataset.icon = "pause";
    timer = setTimeout(tick, interval() / 2);
  }

  function look(viewer) {
    shown.viewer = viewer;
    $("view").value = viewer === null ? "all" : String(viewer);
    malice.fillLog($("log"), shown.game, viewer);
    show(shown.index);
  }

  function neighbour(id, key) {
    const link = $(id);
    if (key) link.href = `#${key}`;
    else link.removeAttribute("href");
    link.setAttribute("aria-disabled", String(!key));
  }

  function heading(game) {
    const apart = (parts, word) => parts.flatMap((part, place) => (place ? [malice.element("span", { class: "versus" }, ` ${word} `), ...part] : part));
    const sides = malice.sides(game).map(({ seats }) => seats.map((seat) => game.seats[seat].name));
    const names = sides.map((side) => apart(side.map((name) => [malice.element("bdi", {}, name)]), "+"));
    $("players").replaceChildren(...apart(names, "v"));
    const rules = malice.element("a", { href: `rules/${game.rules.page}.html` }, malice.element("bdi", {}, game.ruleset));
    const series = game.series ? ` · after it ${game.series}` : "";
    $("facts").replaceChildren(`Game ${game.key} · `, rules, ` · ${game.steps.length - 1} actions`, series);
    document.title = `${sides.map((side) => side.join(" + ")).join(" v ")} · game ${game.key}`;
  }

  function fill(game, found) {
    const same = shown.game?.seats.length === game.seats.length;
    Object.assign(shown, { game, previous: found.previous, next: found.next, viewer: same ? shown.viewer : null });
    heading(game);
    const options = game.seats.map((seat, place) => malice.element("option", { value: place }, `seat ${place}: ${seat.name}`));
    $("view").replaceChildren(malice.element("option", { value: "all" }, "all hands"), ...options);
    $("slider").max = last();
    neighbour("previous", found.previous);
    neighbour("next", found.next);
    $("list").href = `games/${found.list}.html#g${game.key}`;
    $("key").value = game.key;
    malice.fillResult($("result"), game);
    if (game.faults.length || game.broken) $("result").parentElement.open = true;
  }

  function complain(sentence) {
    $("replay").hidden = true;
    $("message").hidden = false;
    $("message").textContent = sentence;
  }

  /** Open what the address names: `#table.deal.rotation` or `#table.deal.rotation/action`. */
  async function open() {
    stop();
    clearTimeout(pending);
    const hash = location.hash.slice(1);
    try {
      const wanted = hash || (await malice.firstKey());
      if (wanted === null) throw new Error("No game has been played yet.");
      const parts = /^(\d+\.\d+\.\d+)(?:\/(\d+))?$/.exec(wanted);
      if (!parts) throw new Error("A game is named by its key, such as 0.12.1, or 0.12.1/57 for one of its actions.");
      const index = parts[2] === undefined ? 0 : Number(parts[2]) + 1;
      if (shown.game?.key !== parts[1]) {
        const found = await malice.find(parts[1]);
        if (hash !== location.hash.slice(1)) return; // somebody was faster than the disk
        fill(malice.read(found.shard, found.row), found);
        $("replay").hidden = false;
        $("message").hidden = true;
        shown.index = index;
        look(shown.viewer);
      } else {
        $("replay").hidden = false;
        $("message").hidden = true;
        show(index);
      }
    } catch (error) {
      complain(error.message);
    }
  }

  const keys = {
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    ArrowUp: () => turn(-1),
    ArrowDown: () => turn(1),
    PageUp: () => turn(-1),
    PageDown: () => turn(1),
    Home: () => step(-Infinity),
    End: () => step(Infinity),
    " ": play,
    v: () => look(shown.viewer === null ? 0 : shown.viewer + 1 < shown.game.seats.length ? shown.viewer + 1 : null),
    n: () => shown.next && (location.hash = shown.next),
    p: () => shown.previous && (location.hash = shown.previous),
    "?": () => $("help").showModal(),
  };

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !shown.game || $("help").open) return;
    const on = event.target;
    if (on.closest("input, select, textarea") && event.key !== "?") return;
    if (event.key === " " && on.closest("button, a, summary")) return;
    const scrolls = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key);
    if (scrolls && on.closest("#log, pre")) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  function listen() {
    const clicks = {
      first: keys.Home,
      back: keys.ArrowLeft,
      "turn-back": keys.ArrowUp,
      play,
      "turn-forward": keys.ArrowDown,
      forward: keys.ArrowRight,
      last: keys.End,
      keys: keys["?"],
      close: () => $("help").close(),
    };
    for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
    $("slider").addEventListener("input", () => {
      stop();
      show(Number($("slider").value));
    });
    $("view").addEventListener("change", () => look($("view").value === "all" ? null : Number($("view").value)));
    $("open").addEventListener("submit", (event) => {
      event.preventDefault();
      location.hash = $("key").value.trim();
    });
    document.addEventListener("keydown", pressed);
    window.addEventListener("hashchange", open);
  }

  listen();
  open();
})(window.malice);
