// What a reader may take along: a link, the position as JSON, the game as a file. And the choice of four colours.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const COLOURS = "malice colours";

  function remember(value) {
    try {
      localStorage.setItem(COLOURS, value);
    } catch {
      // A browser may keep nothing for a page from disk: the choice then lasts as long as the page.
    }
  }

  function recall() {
    try {
      return localStorage.getItem(COLOURS);
    } catch {
      return null;
    }
  }

  malice.hasFourColours = () => document.documentElement.classList.contains("four-colours");

  /** Show suits in four colours, or in two; keep the choice for the next visit if it was the reader's. */
  malice.chooseColours = function (four, keeps) {
    document.documentElement.classList.toggle("four-colours", four);
    document.getElementById("four").checked = four;
    if (keeps) remember(four ? "4" : "2");
  };

  malice.recallColours = () => malice.chooseColours(recall() === "4", false);

  /** Describe a position: as the family writes it in its protocol, or else the table that the page follows. */
  malice.describePosition = function ({ game, course, index, viewer }) {
    const { steps, tables } = course;
    const context = { game, viewer, step: steps[index], over: index === steps.length - 1, tables };
    const position = malice.families[game.family]?.position?.(tables[index], context) ?? tables[index];
    return JSON.stringify(position);
  };

  /** Write words as a shell reads them. */
  const quoteWord = (word) => (/^[\w@%+=:,./#-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

  /**
   * Find where to play on from a step, and as whom: in the seat whose view is chosen, or else in that of the last place.
   * Nobody plays on from the end.
   */
  malice.findBeginning = function ({ game, index, viewer }) {
    const before = game.steps.slice(0, Math.min(index, game.steps.length - 2) + 1);
    const actions = before.reduce((sum, { moves }) => sum + moves.length, 0);
    return { key: game.key, actions, seat: viewer ?? game.places.indexOf(Math.max(...game.places)) };
  };

  /** Write the command that plays on from a step against those who played the other seats. */
  malice.writePlayCommand = function (state) {
    const { key, actions, seat } = malice.findBeginning(state);
    const names = state.game.seats.map(({ name }, other) => (other === seat ? "you" : quoteWord(name)));
    return `malice play ${names.join(" ")} --web --from LEAGUE.db#${key}/${actions}`;
  };

  /** Write a game as lines of JSON: what it is and how it ended, then each step. */
  malice.writeGame = function (game) {
    const { steps, seats, ...rest } = game;
    const head = { ...rest, seats: seats.map(({ name }) => name) };
    return [head, ...steps].map((line) => `${JSON.stringify(line)}\n`).join("");
  };

  /** Copy a text, also where the clipboard is closed to pages from disk; return whether that worked. */
  malice.copyText = async function (text, box) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = malice.createElement("textarea", { class: "unseen", "aria-hidden": "true" });
      field.value = text;
      box.append(field);
      field.select();
      const copied = document.execCommand("copy");
      field.remove();
      return copied;
    }
  };

  /** Hand a text to the reader as a file. */
  malice.saveFile = function (name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
    malice.createElement("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
})(window.malice);
