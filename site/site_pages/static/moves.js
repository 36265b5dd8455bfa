// Marks the bots of a ranking that moved up or down since this tab showed it last.
"use strict";

(function (malice) {
  const name = `malice ranks ${location.pathname}`;
  const stamp = document.getElementById("moment").dataset.stamp;

  function* listRows() {
    for (const table of document.querySelectorAll("table.ranking")) {
      for (const row of table.tBodies[0].rows) {
        const cell = row.querySelector(".rank");
        const link = row.querySelector("th.bot a");
        if (!cell || !link || !cell.dataset.value) continue;
        yield { key: `${table.caption.textContent} ${link.getAttribute("href")}`, cell, rank: Number(cell.dataset.value) };
      }
    }
  }

  function mark(cell, move) {
    const arrow = document.createElement("span");
    const words = `${move > 0 ? "up" : "down"} ${Math.abs(move)} since you looked last`;
    arrow.className = `moved ${move > 0 ? "up" : "down"}`;
    arrow.title = words;
    const picture = document.createElement("span");
    picture.setAttribute("aria-hidden", "true");
    picture.textContent = `${move > 0 ? "▲" : "▼"}${Math.abs(move)}`;
    const unseen = document.createElement("span");
    unseen.className = "unseen";
    unseen.textContent = words;
    arrow.append(picture, unseen);
    cell.append(" ", arrow);
  }

  const before = malice.remember(name);
  const rows = [...listRows()];
  const ranks = Object.fromEntries(rows.map(({ key, rank }) => [key, rank]));
  let moves = before?.moves || {};
  if (before && before.stamp !== stamp) {
    const moved = rows.filter(({ key, rank }) => key in before.ranks && before.ranks[key] !== rank);
    moves = Object.fromEntries(moved.map(({ key, rank }) => [key, before.ranks[key] - rank]));
  }
  for (const { key, cell } of rows) if (moves[key]) mark(cell, moves[key]);
  malice.remember(name, { stamp, ranks, moves });
})(window.malice);
