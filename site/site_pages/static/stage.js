// What is done to the stage as a whole: swipes and taps, full screen, the ending above the table, the dialog to share.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const $ = (id) => document.getElementById(id);
  const SWIPE = 40;
  const TWICE = 350;
  const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);
  const { state, actions } = malice.replay;
  let start = null;
  let tapped = -Infinity;

  function beginTouch(event) {
    start = event.isPrimary && event.pointerType !== "mouse" ? { x: event.clientX, y: event.clientY } : null;
  }

  /** Take a stroke to the left as a step forward, one to the right as a step back, and two taps as play or pause. */
  function endTouch(event) {
    if (!start || !state.game) return;
    const [x, y] = [event.clientX - start.x, event.clientY - start.y];
    start = null;
    if (Math.abs(x) >= SWIPE && Math.abs(x) > 2 * Math.abs(y)) {
      (x < 0 ? actions.ArrowRight : actions.ArrowLeft)();
    } else if (Math.hypot(x, y) < 12 && !event.target.closest("a, button")) {
      const twice = event.timeStamp - tapped < TWICE;
      tapped = twice ? -Infinity : event.timeStamp;
      if (twice) actions[" "]();
    }
  }

  function toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else $("play-area").requestFullscreen();
  }

  async function copy(text, what) {
    const copied = await malice.copyText(text, $("share"));
    $("shared").textContent = copied ? `Copied: ${what}.` : text;
  }

  function openShare() {
    if (!state.game) return;
    $("shared").textContent = "";
    if (document.fullscreenElement) document.exitFullscreen(); // a dialog outside the stage cannot be seen there
    $("share").showModal();
  }

  /** Ask whoever serves this page for a table that goes on from here, and go there. */
  async function playOn() {
    const wish = { ...malice.findBeginning(state), anew: $("anew")?.checked ?? false };
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch("play", { method: "POST", headers, body: JSON.stringify(wish) }).catch(() => null);
    const words = answer?.status === 405 ? "" : ((await answer?.text()) ?? "");
    if (answer?.ok) location.assign(words);
    else $("shared").textContent = words || "Nobody opens tables here: `malice serve SITE --play LEAGUE.db` does.";
  }

  function listen() {
    const stage = $("table").parentElement;
    for (const id of ["table", "other-table"]) new ResizeObserver(() => malice.measureStage($(id))).observe($(id).parentElement);
    stage.addEventListener("pointerdown", beginTouch);
    stage.addEventListener("pointerup", endTouch);
    stage.addEventListener("pointercancel", () => (start = null));
    $("close-ending").addEventListener("click", () => {
      $("over").hidden = true;
      $("play").focus();
    });
    $("full").addEventListener("click", toggleFullScreen);
    $("full").hidden = !document.fullscreenEnabled;
    $("more").addEventListener("click", openShare);
    $("close-share").addEventListener("click", () => $("share").close());
    $("copy-link").addEventListener("click", () => copy(`${location.href.split("#")[0]}${malice.replay.address()}`, "the link"));
    $("copy-position").addEventListener("click", () => copy(malice.describePosition(state), "the position"));
    $("copy-play")?.addEventListener("click", () => {
      const command = malice.writePlayCommand(state);
      copy(command, command);
    });
    $("play-on")?.addEventListener("click", playOn);
    if ($("play-on")) $("on-from-here").hidden = !LOCAL.has(location.hostname);
    $("download").addEventListener("click", () => malice.saveFile(`game-${state.game.key}.jsonl`, malice.writeGame(state.game)));
    $("four").addEventListener("change", () => {
      malice.chooseColours($("four").checked, true);
      malice.replay.keepAddress();
    });
  }

  Object.assign(actions, { f: () => $("full").hidden || toggleFullScreen(), s: openShare });
  if (new URLSearchParams(location.search).has("embed")) document.documentElement.classList.add("embedded");
  listen();
})(window.malice);
