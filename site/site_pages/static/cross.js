// Makes the cells of crosstables links to the two bots head to head, and marks the row and the column of what one looks at.
"use strict";

(function (malice) {
  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

  function makeAddress(page, table, one, other) {
    return `${page}.html#bot=${one.bot}&opponent=${other.bot}&${table.dataset.games}`;
  }

  /** Return what a cell says in words: `a against b: 63 %, 12–3–5`. */
  function describeCell(table, heads, row, column) {
    const cell = table.tBodies[0].rows[row].cells[column + 1];
    return `${heads[row].name} against ${heads[column].name}: ${cell.textContent} %, ${cell.title}`;
  }

  function makeName(head) {
    const name = document.createElement("bdi");
    name.textContent = head.name;
    return name;
  }

  function makeLinks(table, heads) {
    for (const [place, row] of [...table.tBodies[0].rows].entries()) {
      for (const [column, cell] of [...row.cells].slice(1).entries()) {
        if (!cell.title) continue;
        const link = document.createElement("a");
        link.href = makeAddress("head-to-head", table, heads[place], heads[column]);
        link.setAttribute("aria-label", describeCell(table, heads, place, column));
        link.append(...cell.childNodes);
        cell.append(link);
      }
    }
  }

  /** Find the link that a key leads to, over cells without one. */
  function findNext(table, link, key) {
    const cell = link.closest("td, th");
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    const linkAt = (row, column) => rows[row]?.cells[column]?.querySelector("a");
    if (key === "Home") return rows[rows.indexOf(cell.parentElement)].querySelector("a");
    if (key === "End") return [...cell.parentElement.querySelectorAll("a")].at(-1);
    if (!STEPS[key]) return null;
    const [down, right] = STEPS[key];
    let [row, column] = [rows.indexOf(cell.parentElement) + down, cell.cellIndex + right];
    while (rows[row]?.cells[column] && !linkAt(row, column)) [row, column] = [row + down, column + right];
    return linkAt(row, column);
  }

  class Crosstable {
    constructor(table) {
      this.table = table;
      this.rows = [...table.tBodies[0].rows];
      this.heads = this.rows.map(({ cells }) => ({ bot: cells[0].dataset.bot, name: cells[0].querySelector("bdi").textContent }));
      this.cell = null;
      makeLinks(table, this.heads);
      table.setAttribute("role", "grid");
      malice.rove(table, [...table.tBodies[0].querySelectorAll("a")], (link, key) => findNext(table, link, key));
      this.told = document.createElement("p");
      this.told.className = "told";
      table.parentElement.after(this.told);
      this.listen();
    }

    /** Mark the row and the column of a cell; of a heading, both of its bot. */
    mark(cell) {
      if (cell === this.cell) return;
      for (const old of this.table.querySelectorAll(".row, .col")) old.classList.remove("row", "col");
      this.cell = cell;
      this.told.replaceChildren();
      const inHead = cell?.closest("thead");
      if (!cell || (inHead && !cell.cellIndex)) return;
      const row = inHead ? cell.cellIndex - 1 : this.rows.indexOf(cell.parentElement);
      const column = inHead || !cell.cellIndex ? row : cell.cellIndex - 1;
      this.rows[row].classList.add("row");
      for (const { cells } of this.table.rows) cells[column + 1].classList.add("col");
      this.tell(cell, row, column);
    }

    tell(cell, row, column) {
      const link = cell.closest("td")?.querySelector("a");
      this.told.append(makeName(this.heads[row]));
      if (!link) return;
      const games = document.createElement("a");
      games.href = makeAddress("games", this.table, this.heads[row], this.heads[column]);
      games.textContent = "the games";
      this.told.append(" against ", makeName(this.heads[column]), `: ${link.textContent} %, ${link.parentElement.title} · `, games);
    }

    listen() {
      const { table } = this;
      const find = (target) => target.closest("td, th");
      let first = false;
      table.addEventListener("pointerover", (event) => event.pointerType !== "touch" && this.mark(find(event.target)));
      table.addEventListener("focusin", (event) => this.mark(find(event.target)));
      table.addEventListener("pointerdown", (event) => (first = event.pointerType === "touch" && find(event.target) !== this.cell));
      // A first touch marks what a mouse marks by pointing at it; the second follows the link.
      table.addEventListener("click", (event) => {
        this.mark(find(event.target));
        if (first && event.target.closest("td")) event.preventDefault();
        first = false;
      });
    }
  }

  for (const table of document.querySelectorAll("table.cross")) new Crosstable(table);
})(window.malice);
