// Makes elements for all pages with scripts. Text becomes text, never markup.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  /** Create an element from attributes and children (texts or elements). */
  malice.createElement = function (tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child != null && child !== false));
    return node;
  };
})(window.malice);
