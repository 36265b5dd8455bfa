// Adds a legend to every chart: what one points at, focuses or presses there stands out from the other lines.
"use strict";

(function (malice) {
  class Legend {
    constructor(figure) {
      const lines = [...figure.querySelectorAll(".line")];
      this.order = [...lines.filter(isNamed), ...lines.filter((line) => !isNamed(line))];
      this.told = document.createElement("p");
      this.told.className = "told";
      this.pressed = null;
      this.buttons = this.order.map((line) => this.makeButton(line));
      const box = document.createElement("div");
      box.className = "legend";
      box.setAttribute("role", "toolbar");
      box.setAttribute("aria-label", `Lines of the chart: ${figure.querySelector("svg > title").textContent}`);
      box.append(...this.buttons);
      malice.rove(box, this.buttons, (button, key) => this.findNext(button, key));
      figure.querySelector(".scroll").after(box, this.told);
    }

    makeButton(line) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = line.dataset.name;
      button.className = `marked ${[...line.classList].filter((one) => /^(bot|shape)\d+$/.test(one)).join(" ")}`;
      button.setAttribute("aria-pressed", "false");
      button.append(makeName(line));
      button.addEventListener("click", () => this.press(button, line));
      for (const type of ["pointerenter", "focus"]) button.addEventListener(type, () => this.light(line));
      for (const type of ["pointerleave", "blur"]) button.addEventListener(type, () => this.light(this.pressed));
      return button;
    }

    press(button, line) {
      this.pressed = this.pressed === line ? null : line;
      for (const each of this.buttons) each.setAttribute("aria-pressed", String(each === button && this.pressed !== null));
      this.light(this.pressed);
    }

    /** Draw one line above all others and say its figure; null for none. */
    light(line) {
      for (const each of this.order) each.classList.toggle("lit", each === line);
      this.told.replaceChildren(...(line ? tell(line) : []));
      if (line) line.parentElement.append(line);
    }

    findNext(button, key) {
      const place = this.buttons.indexOf(button);
      if (key === "Home") return this.buttons[0];
      if (key === "End") return this.buttons.at(-1);
      if (key === "ArrowRight" || key === "ArrowDown") return this.buttons[place + 1];
      return key === "ArrowLeft" || key === "ArrowUp" ? this.buttons[place - 1] : null;
    }
  }

  function makeName(line) {
    const name = document.createElement("bdi");
    name.textContent = line.dataset.name;
    return name;
  }

  /** Return the name of a line and its last figure. */
  const tell = (line) => [makeName(line), line.querySelector("title").textContent.slice(line.dataset.name.length)];
  const isNamed = (line) => !line.classList.contains("faint");

  for (const figure of document.querySelectorAll("figure.chart")) {
    if (figure.querySelector(".line")) new Legend(figure);
  }
})(window.malice);
