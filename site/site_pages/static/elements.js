// Makes elements for all pages with scripts. Text becomes text, never markup.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  // Where the site lies, in a game that is a file of its own: an address, or nothing if nobody knows it.
  const { site } = document.documentElement.dataset;

  /** Whether this page is a game in a file of its own. */
  malice.alone = site !== undefined;

  /** Return the address of another page of the site, such as `bots/greedy.html`; null where there is no site. */
  malice.findPage = (path) => (site === "" ? null : `${site ?? ""}${path}`);

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

  /** Create a link to another page of the site; where there is no site, the same without a link. */
  malice.linkPage = function (path, attributes, ...children) {
    const href = malice.findPage(path);
    return malice.createElement(href === null ? "span" : "a", { href, ...attributes }, ...children);
  };
})(window.malice);
