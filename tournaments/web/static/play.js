// The page of a seat: it shows the table as it goes, sends what is chosen, and says what the others do.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { createElement } = malice;
  const $ = (id) => document.getElementById(id);
  const { person, people: count, alone } = document.body.dataset;
  const base = person === "" ? "/watch" : `/seat/${person}`;
  const files = JSON.parse($("files").textContent);
  const shared = "shared" in document.body.dataset;
  let game = null;
  let course = null;
  let state = null;
  let sure = null;

  function write(id, text) {
    if ($(id).textContent !== text) $(id).textContent = text;
  }

  // What is kept between games: how fast the others play, and whether somebody has seen a table before.
  function recall(name) {
    try {
      return localStorage.getItem(`malice-play-${name}`);
    } catch {
      return null; // a browser that keeps nothing
    }
  }

  function remember(name, value) {
    try {
      localStorage.setItem(`malice-play-${name}`, value);
    } catch {
      // as above
    }
  }

  /** Send what somebody wants; what was sent twice counts once. */
  async function send(what, content) {
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) };
    for (let pause = 200; ; pause = Math.min(2 * pause, 4000)) {
      try {
        const answer = await fetch(`${base}/${what}`, options);
        if (answer.ok) return;
        if (answer.status !== 429) {
          complain((await answer.text()).trim());
          return;
        }
      } catch {
        // The server is away: the stream says so, and what was chosen is sent again when it is back.
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  function complain(sentence) {
    write("message", sentence);
    $("message").hidden = !sentence;
  }

  /** Play a long game of events with no drawing of its own: its table in lines of text. */
  function drawSketch() {
    const lines = state?.choice?.sketch;
    if (lines?.length) $("table").replaceChildren(createElement("pre", { class: "sketch", tabindex: "0" }, lines.join("\n")));
  }

  const page = {
    pace: () => Number($("pace").value),
    async load(next) {
      const family = files[next.family];
      if (family) await malice.loadFamily(next.family, files);
      malice.useStyles(next.family);
    },
    fail: (error) => complain(error.message),
    begin(next, steps) {
      [game, course] = [next, steps];
      $("over").hidden = true;
      $("story-log").replaceChildren();
      const names = game.seats.map(({ name }, seat) => (seat === game.viewer ? "you" : name));
      write("players", alone || names.join(" v "));
      write("facts", game.ruleset);
      document.title = `${alone || names.join(" v ")} · ${game.ruleset}`;
      course.steps.forEach((_, index) => log(index));
      malice.measureStage($("table"));
    },
    show(index, moving) {
      malice.offer(null);
      // A fresh array: the drawing measures anew how much room the game needs.
      malice.drawTable($("table"), game, { ...course, tables: course.tables.slice() }, index, game.viewer, moving);
      if (index === 0 || !$("table").dataset.measured) {
        malice.measureStage($("table"));
        $("table").dataset.measured = "";
      }
      write("live", describe(course.steps[index]));
      if (index >= $("story-log").children.length) log(index);
    },
    rest(next) {
      state = next;
      drawSketch();
      complain(state.trouble);
      $("over").hidden = !state.over || closed === state.game;
      if (state.over) {
        endTips();
        showEnd();
      }
      const mine = state.choice !== null;
      if (shared && handOver()) return;
      malice.offer(state.choice, game && { game, seat: game.viewer, table: course.tables.at(-1) }, play);
      if (!mine && !state.over && !state.trouble) write("prompt", tellWaiting());
      showHint();
      $("swap").hidden = !state.swaps;
      $("table").dataset.state = state.over ? "over" : mine ? "yours" : "theirs";
      $("table").dataset.steps = `${state.game}.${state.steps}`;
    },
    attend(next) {
      $("people").replaceChildren(...next.people.map(describePerson));
    },
    lost(whether, gone) {
      document.body.classList.toggle("lost", whether);
      if (gone) complain("This seat is not yours any more. Open the address again that malice printed.");
      else if (whether) write("prompt", "The server is away. This page goes on when it is back.");
      else if (game) page.rest(state || {});
    },
  };

  function describePerson({ name, taken, here }, number) {
    const own = String(number) === person;
    const word = here ? "here" : taken ? "away" : "not here yet";
    return createElement("li", { class: here ? "here" : "away-now" }, createElement("bdi", {}, own && Number(count) > 1 ? `${name} (you)` : name), " ", createElement("small", {}, word));
  }

  function tellWaiting() {
    if (!game) return "";
    const names = state.acting.filter((seat) => seat !== game.viewer).map((seat) => game.seats[seat].name);
    return names.length ? `${malice.joinNames(names)} to play…` : "";
  }

  function log(index) {
    const words = describe(course.steps[index]);
    const own = course.steps[index].moves.some(({ seat }) => seat === game.viewer);
    const notes = malice.joinNotes(game, course.steps[index]);
    $("story-log").prepend(createElement("li", { class: own ? "own" : null, hidden: !words }, words, notes && createElement("q", {}, notes)));
  }

  /** Say what happened in a step, in a sentence. */
  function describe({ words }) {
    const text = words.join("; ");
    const named = game.seats.some(({ name }) => text.startsWith(`${name} `));
    return text && `${named ? text[0] : text[0].toUpperCase()}${text.slice(1)}.`;
  }

  // Hints.

  function wantHint() {
    if (state?.choice && $("hint-bot").value) send("hint", { game: state.game, ask: state.choice.ask, bot: $("hint-bot").value });
  }

  /** Mark on the table what a bot would play, and say it. */
  function showHint() {
    const { hint, choice } = state;
    $("hint").disabled = !choice || Boolean(hint?.thinks);
    if (!choice || !hint) {
      write("hint-words", "");
      malice.suggest("");
      return;
    }
    const [, words] = choice.actions.find(([action]) => action === hint.action) || [];
    const note = hint.note && `: ${hint.note}`;
    write("hint-words", hint.thinks ? `${hint.bot} thinks…` : words ? `${hint.bot} would choose ${words}${note}` : `No hint${note}`);
    malice.suggest(hint.action);
  }

  function play(action) {
    const act = () => {
      write("hint-words", "");
      malice.suggest("");
      malice.offer(null);
      send("act", { game: state.game, ask: state.choice.ask, action });
    };
    if (state.choice.final.includes(action)) ask("Are you sure?", "You play no more in this game.", act);
    else act();
  }

  // The end.

  let closed = 0;

  function showEnd() {
    const { places, reason, verdicts } = state.over;
    Object.assign(game, { places, reason });
    const won = game.viewer !== null && places[game.viewer] === 1;
    const all = places.every((place) => place === 1);
    const title = alone ? `${reason[0].toUpperCase()}${reason.slice(1)}.` : game.viewer === null || all ? malice.describeResult(game) : won ? `You win: ${reason}.` : `${malice.describeResult(game)}`;
    const sentences = Object.entries(verdicts).map(([seat, sentence]) => createElement("p", { class: "bad" }, `${game.seats[seat].name}: ${sentence}`));
    $("ending").replaceChildren(createElement("p", {}, title), ...sentences);
    $("story").replaceChildren(...state.remarks.map(({ words }) => createElement("li", {}, words)));
    $("after").hidden = person === "" || Boolean(alone);
  }

  // One screen for several people.

  /** Cover the table while another person of this screen is to play; return whether it is covered. */
  function handOver() {
    const waits = game && !state.over && !state.choice;
    const next = waits ? state.acting.find((seat) => game.seats[seat].person && seat !== game.viewer) : undefined;
    const covered = next !== undefined;
    // Not the table alone: what happened, in words, tells the cards that somebody drew.
    document.body.classList.toggle("covered", covered);
    $("cover").hidden = !covered;
    if (!covered) return false;
    write("cover-title", `${game.seats[next].name} is to play`);
    write("uncover", `I am ${game.seats[next].name}`);
    $("uncover").onclick = () => location.assign(`/seat/${game.people.indexOf(next)}`);
    $("uncover").focus();
    return true;
  }

  // Buttons.

  function ask(title, words, then) {
    sure = then;
    write("sure-title", title);
    write("sure-words", words);
    $("sure").showModal();
  }

  const next = (what, ruleset = "") => send("next", { game: state.game, what, ruleset });
  const toggleList = () => {
    const shown = $("options").hidden;
    $("options").hidden = !shown;
    $("list").setAttribute("aria-pressed", String(shown));
    if (shown) $("options").scrollIntoView({ block: "nearest" });
  };

  async function begin() {
    $("newgame").close();
    const ruleset = $("ruleset")?.value ?? "";
    if (!state.over && !state.trouble) await send("resign", { game: state.game });
    wanted = { game: state.game, ruleset };
    goOn();
  }

  let wanted = null;

  /** Begin the game that is wanted, once the one that goes on is over. */
  function goOn() {
    if (wanted && state && (state.over || state.trouble) && wanted.game === state.game) {
      const { ruleset } = wanted;
      wanted = null;
      next("again", ruleset);
    }
  }

  // The first visit: what lies where, on the table itself.

  let tips = [];

  function explain() {
    tips = malice.callFamily(game.family, "legend", game, game.viewer ?? 0);
    showTip();
  }

  function showTip() {
    for (const node of $("table").querySelectorAll(".told")) node.classList.remove("told");
    let place = null;
    while (tips.length && !place) {
      place = $("table").querySelector(`[data-place="${CSS.escape(tips[0].place)}"]`);
      if (!place) tips.shift();
    }
    $("tip").hidden = !place;
    if (!place) return;
    const [{ words }] = tips;
    tips = tips.slice(1);
    place.classList.add("told");
    write("tip-words", words);
    write("tip-next", tips.length ? "Next" : "Play");
    const [box, stage] = [place.getBoundingClientRect(), $("tip").parentElement.getBoundingClientRect()];
    const { offsetWidth: width, offsetHeight: height } = $("tip");
    const below = box.bottom + height + 12 < stage.bottom;
    $("tip").style.left = `${Math.max(8, Math.min(box.left - stage.left, stage.width - width - 8))}px`;
    $("tip").style.top = `${below ? box.bottom - stage.top + 8 : Math.max(8, box.top - stage.top - height - 8)}px`;
    $("tip-next").focus({ preventScroll: true });
  }

  function endTips() {
    tips = [];
    if (!$("tip").hidden) showTip();
  }

  function explainOnce() {
    if (!game || recall(`seen-${game.family}`) || person === "") return;
    remember(`seen-${game.family}`, "1");
    explain();
  }

  const listen = () =>
    malice.listen(`${base}/stream${$("notes")?.checked ? "?notes=1" : ""}`, {
      ...page,
      rest(next) {
        page.rest(next);
        goOn();
        if (next.choice) explainOnce();
      },
    });
  let stream = listen();

  $("pace").value = [...$("pace").options].some(({ value }) => value === recall("pace")) ? recall("pace") : "700";
  $("pace").addEventListener("change", () => remember("pace", $("pace").value));
  const adviser = recall("hint-bot");
  if ([...$("hint-bot").options].some(({ value }) => value === adviser)) $("hint-bot").value = adviser;
  $("hint-bot").addEventListener("change", () => remember("hint-bot", $("hint-bot").value));
  $("hint").addEventListener("click", wantHint);
  $("list").addEventListener("click", toggleList);
  $("help-button").addEventListener("click", () => $("help").showModal());
  $("again").addEventListener("click", () => next("again"));
  $("swap").addEventListener("click", () => next("swapped"));
  $("resign")?.addEventListener("click", () => {
    $("newgame").close();
    if (state && !state.over) ask("Resign?", game.seats.length > 2 ? "The others play on without you." : "The other wins.", () => send("resign", { game: state.game }));
  });
  $("new")?.addEventListener("click", () => {
    const idle = Boolean(state?.over || state?.trouble);
    $("newgame-note").hidden = idle;
    $("resign").hidden = idle;
    $("newgame").showModal();
  });
  $("begin")?.addEventListener("click", begin);
  $("keep")?.addEventListener("click", () => $("newgame").close());
  $("notes")?.addEventListener("change", () => {
    stream.close();
    stream = listen();
  });
  $("tip-next").addEventListener("click", () => (tips.length ? showTip() : endTips()));
  $("tip-skip").addEventListener("click", endTips);
  $("explain").addEventListener("click", () => {
    $("help").close();
    if (game) explain();
  });
  $("close-help").addEventListener("click", () => $("help").close());
  $("yes").addEventListener("click", () => {
    $("sure").close();
    sure?.();
  });
  $("no").addEventListener("click", () => $("sure").close());
  $("sure").addEventListener("close", () => state && page.rest(state)); // what was put aside can be chosen again
  $("close-ending").addEventListener("click", () => {
    closed = state.game;
    $("over").hidden = true;
  });
  $("table").addEventListener("pointerdown", () => stream.waits && stream.hurry());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("select, input, button")) return;
    if (event.key === "l") toggleList();
    else if (event.key === "h") wantHint();
    else if (event.key === "?") $("help").showModal();
    else if (event.key === " " && stream.waits) {
      event.preventDefault();
      stream.hurry();
    }
  });
  new ResizeObserver(() => malice.measureStage($("table"))).observe($("table").parentElement);
})(window.malice);
