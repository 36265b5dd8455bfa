"""The stage of a replay: nothing moves, everything is in sight on a phone, links and files carry what is shown."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from malice import site_pages
from tests.browser_window import SETTLE, at_a_desk, current, find, press, replay, visit, wait_until
from tests.samples import sample
from tests.site_league import League

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WATCH = """
const [last, every] = [malice.replay.state.game.steps.length - 1, arguments[0]];
const controls = [...document.querySelectorAll(".controls button, .controls input, .controls select, .stage, #race")]
  .filter((one) => one.checkVisibility());
const box = (one) => one.getBoundingClientRect();
const name = (one) => one.id || one.className + one.textContent;
const isSeen = (one) => {
  const {left, top, right, bottom} = box(one);
  if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return false;
  const point = one.matches(".card") ? [left + 4, top + 6] : [(left + right) / 2, (top + bottom) / 2];
  const found = document.elementFromPoint(...point);
  return one === found || one.contains(found) || found.contains(one) && one.matches(":disabled");
};
const positions = new Set();
const unseen = new Set();
let widest = 0;
for (let step = 0; step <= last; step += step + arguments[1] > last && step < last ? last - step : arguments[1]) {
  malice.replay.showStep(step);
  const piles = [...document.querySelectorAll('[data-place$="p"], .sides, .stage, .foundation .stack')];
  positions.add(JSON.stringify([...controls, ...piles].map((one) => {
    const {x, y, width, height} = box(one);
    return [x, y, width, height];
  })));
  widest = Math.max(widest, ...[...document.querySelectorAll("#table")].map((one) =>
    Math.max(one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight)));
  if (step % every && step !== last) continue;
  if (step === last) document.querySelector("#close-ending").click();
  for (const one of [...document.querySelectorAll(".hand .card"), ...controls.filter((one) => !one.matches("div"))]) {
    if (!isSeen(one)) unseen.add(`step ${step}: ${name(one)}`);
  }
}
return {positions: positions.size, unseen: [...unseen], widest, cards: document.querySelectorAll(".hand .card").length,
  small: controls.filter((one) => one.matches("button") && Math.min(box(one).width, box(one).height) < 44).map(name)};
"""
"""What moves, what is out of sight, and by how much the table overflows, at every so many steps and at the last."""


@pytest.fixture(scope="module")
def league() -> League:
    """Two bots; every third game ends by a verdict."""
    return League(("bot0", "bot1"), deals=2, faulty=3)


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def resize(browser: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize(("width", "height"), sample([(360, 640), (1400, 900), (390, 844)], 3))
def test_everything_stands_still_and_in_sight(browser: Chrome, out: Path, width: int, height: int) -> None:
    resize(browser, width, height)
    for key in ("0.0.0.0", "0.0.1.0"):
        replay(browser, out, key)

        seen = browser.execute_script(WATCH, 15, 5)

        assert seen["positions"] == 1
        assert seen["unseen"] == []
        assert seen["small"] == []
        assert seen["widest"] <= 0


SIZES = (
    *((360, 640), (390, 844), (844, 390), (640, 360), (768, 1024), (1024, 768)),
    *((1280, 720), (1366, 768), (1440, 780), (1440, 900), (1920, 950)),
)
"""Windows from a phone to a large screen: phones held across, and 1280x720 at twice its size, among them."""


def measure(browser: Chrome, sizes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the width of a card of the game that is shown, and what is out of sight, in each window."""
    for width, height in sizes:
        resize(browser, width, height)
        browser.execute_async_script(SETTLE)
        card = find(browser, '#table [data-place="0p"] .card')
        yield int(str(card.get_property("offsetWidth"))), browser.execute_script(WATCH, 400, 400)


COVERED = """
const measure = (node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return range.getBoundingClientRect();
};
const meet = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > .5
  && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > .5;
return [...document.querySelectorAll("#table .seat .caption")]
  .filter((caption) => caption.checkVisibility() && [...caption.closest(".seat").querySelectorAll(".card")]
    .some((card) => meet(measure(caption), card.getBoundingClientRect())))
  .map((caption) => caption.textContent);
"""
"""The captions of seats that a card covers."""
CUT = """
const lacks = (select) => {
  const copy = select.cloneNode(true);
  copy.style.cssText = "position: absolute; width: auto; max-width: none";
  copy.value = select.value;
  copy.replaceChildren(...copy.selectedOptions);
  select.after(copy);
  const missing = copy.offsetWidth - select.offsetWidth;
  copy.remove();
  return missing > 0 ? [`${select.id}: ${missing}`] : [];
};
const where = document.querySelector("#where");
const range = document.createRange();
range.selectNodeContents(where);
const tops = [...range.getClientRects()].filter(({width}) => width).map(({top}) => top);
const lines = tops.filter((top, place) => tops.every((other, before) => before >= place || top - other > 4)).length;
const fits = where.scrollHeight <= where.clientHeight && where.scrollWidth <= where.clientWidth;
const cut = [...document.querySelectorAll(".controls select")].filter((one) => one.checkVisibility()).flatMap(lacks);
const middles = [...document.querySelectorAll(".controls :is(button, select, input, output)")]
  .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect())
  .map(({top, bottom}) => Math.round((top + bottom) / 8));
return {cut, lines: fits ? lines : 0, rows: new Set(middles).size};
"""
"""Selects that lack pixels for what is chosen, how many lines tell the place of the action, and rows of controls."""


@pytest.mark.parametrize(
    ("name", "seats", "least", "phone", "smallest", "race"),
    [
        ("standard", 2, 50, 43, 34, 76),
        pytest.param("partners-4", 4, 40, 33, 26, 76, marks=pytest.mark.whole),
        pytest.param("multi", 8, 30, 24, 19, 92, marks=pytest.mark.whole),
    ],
)
def test_cards_are_large_and_controls_in_sight_in_every_window(
    browser: Chrome, tmp_path: Path, name: str, seats: int, least: int, phone: int, smallest: int, race: int
) -> None:
    labels = tuple(f"bot{seat}" for seat in range(seats))
    site_pages.render(League(labels, deals=1, rulesets=(name,), seats=seats), tmp_path)
    replay(browser, tmp_path, "0.0.0.0")

    widths = {}
    for size, (width, seen) in zip(SIZES, measure(browser, SIZES), strict=True):
        widths[size] = width
        assert (seen["unseen"], seen["positions"]) == ([], 1), size
        assert seen["widest"] <= 1, size
        assert browser.execute_script(COVERED) == [], size
        controls = browser.execute_script(CUT)
        assert (controls["cut"], controls["lines"] in (1, 2)) == ([], True), size
        assert (controls["rows"] == 1) == (size[1] < 480), size
        if min(size) >= 720:
            assert int(str(find(browser, "#race .plot").get_property("offsetHeight"))) >= race, size

    assert widths[360, 640] >= smallest
    assert min(widths[size] for size in ((390, 844), (844, 390))) >= phone
    laptops = [widths[size] for size in ((1280, 720), (1366, 768), (1440, 780))]
    assert laptops[0] >= least
    assert laptops == sorted(laptops)
    Select(find(browser, "#view")).select_by_value("1")
    assert all(browser.execute_script(CUT)["cut"] == [] for _ in measure(browser, SIZES[:3]))
    visit(browser, tmp_path, "replay.html?embed#0.0.0.0")
    wait_until(browser, lambda: find(browser, "#replay").is_displayed())
    assert all(seen["unseen"] == [] for _, seen in measure(browser, SIZES[2:4])), "in a frame"


@pytest.mark.parametrize(("name", "seats"), [("nuts-2", 2), pytest.param("skipbo", 3, marks=pytest.mark.whole)])
def test_other_tables_stand_still(browser: Chrome, tmp_path: Path, name: str, seats: int) -> None:
    site_pages.render(
        League(tuple(f"bot{seat}" for seat in range(seats)), deals=1, rulesets=(name,), seats=seats), tmp_path
    )
    for width, height in ((1400, 900), (360, 640)):
        resize(browser, width, height)
        replay(browser, tmp_path, "0.0.0.0")

        seen = browser.execute_script(WATCH, 77, 11)

        assert (seen["positions"], seen["unseen"]) == (1, []), (width, height)
        assert seen["widest"] <= 1, "pixels: what overflows is rounded up"


def count_layouts(browser: Chrome) -> float:
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "LayoutCount"))


def test_a_step_measures_nothing_since_a_slow_processor_has_no_time_for_that(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0/5")
    browser.execute_cdp_cmd("Performance.enable", {})
    before = count_layouts(browser)

    browser.execute_script("for (let step = 6; step <= 45; step += 1) malice.replay.showStep(step);")

    assert count_layouts(browser) - before <= 10, "only where the log is scrolled"
    browser.execute_cdp_cmd("Performance.disable", {})


ANEW = """
const {game, course, viewer} = malice.replay.state;
const wrong = [];
for (let place = 0; place < 90; place += 1) {
  const step = (place < 60 ? place : place * 7) % course.steps.length;
  malice.replay.showStep(step);
  const box = document.createElement("div");
  malice.drawTable(box, game, course, step, viewer, 0);
  if (!box.firstChild.isEqualNode(document.querySelector("#table").firstChild)) wrong.push(step);
}
return wrong;
"""
"""The steps, in order and out of order, that look otherwise when they are drawn anew."""


def test_a_step_that_draws_only_what_changed_looks_as_one_drawn_anew(browser: Chrome, out: Path) -> None:
    for address in ("0.0.0.0", "0.0.1.0?view=1"):
        replay(browser, out, address)

        assert browser.execute_script(ANEW) == []


KEPT = """
const {game} = malice.replay.state;
const list = () => [...document.querySelectorAll('[data-place="0h"] .card')];
const plays = game.steps.findIndex(({moves, events}, step) =>
  step > 1 && moves[0].seat === 0 && events[0].type === "move" && events[0].from === "0h" && events.length === 1);
malice.replay.showStep(plays - 1);
const before = list();
malice.replay.showStep(plays);
const after = list();
return [before.length, after.length, after.filter((card) => before.includes(card)).length];
"""
"""How many cards a hand has before and after one was played, and how many of these are still the same elements."""
LARGER = """
const [done] = [...arguments].slice(-1);
const box = document.querySelector("#table");
const scrolls = [box.classList.contains("scrolls")];
const wait = (next) => requestAnimationFrame(() => requestAnimationFrame(next));
box.firstElementChild.style.minHeight = "300vh";
wait(() => {
  scrolls.push(box.classList.contains("scrolls"));
  box.firstElementChild.style.minHeight = "";
  wait(() => done([...scrolls, box.classList.contains("scrolls")]));
});
"""
"""Whether the table scrolls: as it is, with a drawing that is too large, and again as it was."""


def test_a_step_touches_what_moves_and_no_more(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0/5")

    before, after, kept = browser.execute_script(KEPT)
    assert (after, kept) == (before - 1, before - 1)
    assert browser.execute_async_script(LARGER) == [False, True, False], "what scrolls is painted whole at each step"


def test_a_link_opens_with_view_speed_and_colours(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0/5?view=1&speed=5&colours=4")

    assert current(browser) == 6
    assert find(browser, "#view").get_attribute("value") == "1"
    assert find(browser, "#speed").get_attribute("value") == "5"
    assert browser.execute_script("return malice.replay.address()") == "#0.0.0.0/5?view=1&speed=5&colours=4"
    assert browser.find_elements(By.CSS_SELECTOR, '[data-place="0h"] .back')

    for wrong, sentence in (("?view=7", "no view of seat 7"), ("?speed=3", "0.5, 1, 2, 5, 15"), ("?x=1", "got x")):
        visit(browser, out, f"replay.html#0.0.0.0/5{wrong}")
        wait_until(browser, lambda: find(browser, "#message").is_displayed())
        assert sentence in find(browser, "#message").text


def test_a_game_and_its_position_can_be_taken_along(league: League, browser: Chrome, out: Path) -> None:
    record = next(league.records())
    replay(browser, out, f"{record.key}/5?view=1")
    browser.execute_script("malice.copyText = async (text) => { window.copied = text; return true; };")

    find(browser, "#more").click()
    find(browser, "#copy-link").click()
    link: Any = browser.execute_script("return copied")
    find(browser, "#copy-position").click()
    position = json.loads(browser.execute_script("return copied"))
    find(browser, "#copy-play").click()
    command = str(browser.execute_script("return copied"))
    find(browser, "#close-share").click()
    head, *steps = map(
        json.loads, browser.execute_script("return malice.writeGame(malice.replay.state.game)").splitlines()
    )

    assert link == f"{out.as_uri()}/replay.html#{record.key}/5?view=1"
    assert position["seat"] == 1
    assert command.endswith(f" you --web --from LEAGUE.db#{record.key}/6"), "in the seat whose view is chosen"
    assert shlex.split(command)[2] == record.entries[0][0]
    assert head["scores"] == list(record.scores)
    moves = [[move["seat"], move["action"]] for step in steps for move in step["moves"]]
    assert moves == [list(move) for move in record.actions]


SWIPE = """
const stage = document.querySelector(".stage");
for (const [kind, x] of [["pointerdown", 300], ["pointerup", 300 + arguments[0]]])
  stage.dispatchEvent(new PointerEvent(kind, {clientX: x, clientY: 300, pointerType: "touch", isPrimary: true}));
"""


def test_fingers_and_tab_keys_reach_the_controls(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0/5")

    browser.execute_script(SWIPE, -80)
    assert current(browser) == 7
    browser.execute_script(SWIPE, 80)
    assert current(browser) == 6
    browser.execute_script(SWIPE, 0)
    browser.execute_script(SWIPE, 0)
    assert find(browser, "#play").get_attribute("aria-pressed") == "true"
    press(browser, " ")

    assert len(browser.find_elements(By.CSS_SELECTOR, '#log, #log [tabindex="0"]')) == 2
    assert not find(browser, "#log").get_attribute("tabindex")
    find(browser, "#log [aria-current]").send_keys("\ue015\ue015\ue007")  # down, down, Enter
    wait_until(browser, lambda: current(browser) == 8)


def test_the_ending_can_be_put_away_and_a_frame_shows_the_table_alone(browser: Chrome, out: Path) -> None:
    visit(browser, out, "replay.html?embed#0.0.0.0")
    wait_until(browser, lambda: find(browser, "#replay").is_displayed())
    shown = [find(browser, part).is_displayed() for part in ("#table", "#play", ".top", "#log", "#players")]
    press(browser, "\ue010")  # End

    assert shown == [True, True, False, False, False]
    assert find(browser, "#ending").is_displayed()
    find(browser, "#close-ending").click()
    assert not find(browser, "#ending").is_displayed()
