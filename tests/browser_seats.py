"""A seat at a table in the browser, for tests: how somebody sits down, and what lies on the table then."""

from __future__ import annotations

from pathlib import Path
from random import Random

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from malice import Game
from malice.referee.rulesets import load_ruleset
from tests.browser_window import find, wait_until
from tests.web_tables import Server

QUICK = """
document.getElementById("pace").value = "0";
for (const name of arguments[0]) localStorage.setItem(`malice-play-seen-${name}`, "1");
"""
"""Let the others play at once, and leave out what a first visit explains."""
CLICK = """
const done = arguments[arguments.length - 1];
const lit = (kind) => [...document.querySelectorAll(`#table [data-lit="${kind}"]`)];
let clicks = 0;
let turn = 0;
const timer = setInterval(() => {
  if (document.getElementById("table").dataset.state === "over") {
    clearInterval(timer);
    done(clicks);
    return;
  }
  if (document.getElementById("sure").open) {
    document.getElementById("yes").click();
    return;
  }
  const targets = lit("target");
  const plain = [...document.querySelectorAll("#plain button")];
  const sources = lit("source");
  const nodes = targets.length ? targets : [...sources, ...plain];
  if (!nodes.length) return;
  clicks += 1;
  // The first place that takes a card; of the cards each in turn, so that no game stands still.
  nodes[targets.length ? 0 : turn++ % nodes.length].click();
}, 4);
"""
"""Clicks on what is lit until the game is over."""
CLICK_ONCE = """
const lit = (kind) => [...document.querySelectorAll(`#table [data-lit="${kind}"]`)];
const [node] = [...lit("target"), ...lit("source")];
node?.click();
"""
"""Chooses what is lit first, once."""
SHORT = {"spite": "payoff_size = 1"}
"""What makes a game of a family short."""


BEFORE_END = 20
"""How often seats are asked from there to the end, when all choose at random."""


def write_short(folder: Path, ruleset: str = "standard") -> str:
    """Name a ruleset whose games are soon over, and which is otherwise this one."""
    family = load_ruleset(ruleset).family
    if family not in SHORT:
        return ruleset
    path = folder / f"short-{ruleset}.toml"
    path.write_text(f'family = "{family}"\nextends = "{ruleset}"\n[rules]\n{SHORT[family]}\n')
    return str(path)


def write_near_end(folder: Path, ruleset: str) -> str:
    """Write the position of a game that is nearly over."""
    rng = Random(1)
    game = Game(ruleset, seed=1)
    positions = []
    while not game.over:
        positions.append(game.position())
        game.play({seat: rng.choice(game.legal(seat)) for seat in game.to_act})
    path = folder / "near-end.jsonl"
    path.write_bytes(positions[-BEFORE_END:][0])
    return str(path)


def sit_down(browser: Chrome, server: Server, number: int = 0) -> None:
    """Open the address of a seat, and wait until the cards lie."""
    browser.get(server.addresses[number])
    wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#table [data-place], #table .sketch"))
    browser.execute_script(QUICK, ["spite", "klondike", "nuts", "double-solitaire"])
    if find(browser, "#tip").is_displayed():
        find(browser, "#tip-skip").click()


def is_over(browser: Chrome) -> bool:
    return find(browser, "#table").get_attribute("data-state") == "over"


def is_my_turn(browser: Chrome) -> bool:
    return find(browser, "#table").get_attribute("data-state") == "yours"


def read_table(browser: Chrome) -> list[tuple[str, list[str]]]:
    """What lies where, as far as it lies face up."""
    script = """return [...document.querySelectorAll("#table [data-place]")].map((place) =>
      [place.dataset.place, [...place.querySelectorAll("[data-card]")].map((card) => card.dataset.card)]);"""
    return [(str(place), list(cards)) for place, cards in browser.execute_script(script)]


def click_through(browser: Chrome) -> int:
    """Click on what is lit until the game is over; return how often."""
    browser.set_script_timeout(120)
    return int(browser.execute_async_script(CLICK))
