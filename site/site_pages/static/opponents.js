// Makes the records on a bot's page links to the two bots head to head; there are as many pages as bots, each with all of them.
"use strict";

(function () {
  function makeLink({ cells: [bot, , record] }, meetings) {
    const slug = bot.querySelector("a").getAttribute("href").replace(/^.*\/(.*)\.html$/, "$1");
    const link = document.createElement("a");
    link.href = `../head-to-head.html#${meetings}&opponent=${slug}`;
    link.append(...record.childNodes);
    record.append(link);
  }

  for (const table of document.querySelectorAll("table[data-meetings]")) {
    for (const row of table.tBodies[0].rows) makeLink(row, table.dataset.meetings);
  }
})();
