// The address of what the replay shows: game, action, view, speed, colours, mirror.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const SHAPE = /^(\d+(?:\.\d+){3})(?:\/(!?\d+|turn))?(?:\?(.*))?$/;
  const OPTIONS = { view: /^(all|\d+)$/, speed: /^\d+(\.\d+)?$/, colours: /^[24]$/, mirror: /^\d+$/ };

  /** Throw an error that says what is wrong with an option of an address. */
  function checkOption(name, value) {
    if (!OPTIONS[name]) throw new Error(`Expected view, speed, colours or mirror after the question mark, got ${name}.`);
    if (!OPTIONS[name].test(value)) throw new Error(`Expected a number for ${name}, got ${value || "nothing"}.`);
  }

  /**
   * Read an address such as `0.3.12.1/57?view=1&speed=2`: `key`, `place` (the number of an action, `!` and the seat
   * of a verdict, or `turn`) and `options`, which are texts. Throw a sentence for the reader.
   */
  malice.parseAddress = function (text) {
    const parts = SHAPE.exec(text);
    if (!parts) throw new Error("Expected the key of a game, such as 0.3.12.1, or of an action, such as 0.3.12.1/57.");
    const options = Object.fromEntries(new URLSearchParams(parts[3] ?? ""));
    Object.entries(options).forEach(([name, value]) => checkOption(name, value));
    return { key: parts[1], place: parts[2], options };
  };

  /** Write the address of an action by its number, or of the deal, -1; options that are undefined are left out. */
  malice.makeAddress = function (key, number, options = {}) {
    const told = Object.entries(options).filter(([, value]) => value !== undefined);
    const query = told.length ? `?${new URLSearchParams(told)}` : "";
    return `#${key}${number < 0 ? "" : `/${number}`}${query}`;
  };
})(window.malice);
