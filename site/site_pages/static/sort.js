// Tables that sort by a click or a key on their headings; without this script they stand in their given order.
"use strict";

(function () {
  function value(row, column, kind) {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent.trim();
    return "value" in cell.dataset ? Number(cell.dataset.value) : null;
  }

  function compare(one, other, kind) {
    return kind === "text" ? one.localeCompare(other, "en", { numeric: true }) : one - other;
  }

  /** Figures that are missing stay at the end in both directions. */
  function sort(table, column, kind, direction) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, value: value(row, column, kind) }));
    rows.sort((one, other) => {
      if (one.value === null || other.value === null) return (one.value === null) - (other.value === null);
      return direction * compare(one.value, other.value, kind);
    });
    body.append(...rows.map(({ row }) => row));
  }

  function heading(table, cell, column) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const kind = cell.dataset.sort;
      // Names and ranks begin at the front, everything else with the best.
      const upward = kind === "text" || column === 0;
      const now = cell.getAttribute("aria-sort");
      const ascending = now ? now === "descending" : upward;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sort(table, column, kind, ascending ? 1 : -1);
    });
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      if ("sort" in cell.dataset) heading(table, cell, column);
    });
  }
})();
