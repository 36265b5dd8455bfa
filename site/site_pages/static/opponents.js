// Links each record on a bot's page to the two bots head to head. The page itself holds no such links: every bot's page
// would have one for every other bot.
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
