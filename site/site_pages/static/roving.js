// Makes a group of many links or buttons one stop of the Tab key; arrow keys move within it.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  /**
   * Let arrow keys move through `box`, whose items are those in `items`. `next(item, key)` returns the item that a key
   * leads to, or nothing where there is none.
   */
  malice.rove = function (box, items, next) {
    items.forEach((item, place) => (item.tabIndex = place ? -1 : 0));
    let current = items[0];
    box.addEventListener("focusin", ({ target }) => {
      const item = target.closest("a, button");
      if (!item || item === current) return;
      current.tabIndex = -1;
      current = item;
      current.tabIndex = 0;
    });
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target !== current) return;
      const found = next(current, event.key);
      if (!found) return;
      event.preventDefault();
      found.focus();
    });
  };
})(window.malice);
