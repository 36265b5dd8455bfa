// Sorts tables when a heading is clicked or pressed; without this script they keep their order.
"use strict";

(function () {
  /** What a cell is sorted by: its figure is its text where nothing else is said. */
  function readValue(row, column, kind) {
    const cell = row.cells[column];
    const text = cell.textContent.trim();
    if (kind === "text") return text;
    const figure = cell.dataset.value ?? text;
    return figure === "" || isNaN(figure) ? null : Number(figure);
  }

  function compare(one, other, kind) {
    return kind === "text" ? one.localeCompare(other, "en", { numeric: true }) : one - other;
  }

  /** Sort the rows of a table; missing figures stay at the end in both directions. */
  function sortRows(table, column, kind, direction) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, value: readValue(row, column, kind) }));
    rows.sort((one, other) => {
      if (one.value === null || other.value === null) return (one.value === null) - (other.value === null);
      return direction * compare(one.value, other.value, kind);
    });
    body.append(...rows.map(({ row }) => row));
  }

  function makeSortable(table, cell, column) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const kind = cell.dataset.sort;
      // The first click sorts names and ranks upwards, all other figures downwards.
      const upward = kind === "text" || column === 0;
      const current = cell.getAttribute("aria-sort");
      const ascending = current ? current === "descending" : upward;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sortRows(table, column, kind, ascending ? 1 : -1);
    });
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      if ("sort" in cell.dataset) makeSortable(table, cell, column);
    });
  }
})();
