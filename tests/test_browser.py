"""The site in a browser, opened from a folder: sorting, stepping, looking through a seat's eyes, links, phones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from malice import site_pages
from malice.referee.games.spite.messages import View
from malice.referee.records import Record
from malice.referee.replay import find_rules, replay_asks
from tests.browser_window import as_a_phone, at_a_desk, current, find, look_like, press, replay, visit, wait_until
from tests.site_league import LABELS, League

pytestmark = [pytest.mark.browser, pytest.mark.slow]

READ = """
const done = arguments[1];
malice.find(arguments[0]).then((found) => {
  const game = malice.read(found.shard, found.row);
  const course = malice.follow(game, null);
  const {tables} = course;
  const views = tables.map((_, index) => JSON.parse(malice.describePosition({game, course, index, viewer: null})));
  done({tables, views, moves: game.steps.map((step) => step.moves.map((move) => [move.seat, move.action]))});
}, (error) => done({error: error.message}));
"""


@pytest.fixture(scope="module")
def league() -> League:
    """Three bots; every fourth game ends by a verdict."""
    return League((LABELS[0], LABELS[1], LABELS[4]), deals=2, faulty=4)


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def column(browser: Chrome, number: int) -> list[str]:
    rows = browser.find_elements(By.CSS_SELECTOR, "table.ranking tbody tr")
    return [row.find_elements(By.CSS_SELECTOR, "th, td")[number].text for row in rows]


def test_a_theme_is_chosen_by_keyboard_and_remembered(browser: Chrome, out: Path) -> None:
    def look() -> tuple[str, str]:
        theme = find(browser, "#theme").get_attribute("title") or ""
        paper: str = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        return theme.partition(";")[0], paper

    look_like(browser, "light", phone=False)
    visit(browser, out, "index.html")
    light = look()[1]

    find(browser, "#theme").send_keys(Keys.ENTER, Keys.SPACE)
    wait_until(browser, lambda: look()[0] == "Theme: dark")
    dark = look()[1]
    browser.switch_to.frame(find(browser, ".board-frame"))
    wait_until(browser, lambda: browser.execute_script("return document.documentElement.dataset.theme") == "dark")
    browser.switch_to.default_content()
    visit(browser, out, "games.html")

    assert look() == ("Theme: dark", dark)
    assert dark != light
    head = (out / "index.html").read_text("utf-8").partition("</head>")[0]
    assert '<script src="static/theme.js"></script>' in head, "before anything is drawn"
    find(browser, "#theme").click()
    assert look() == ("Theme: system", light)


def test_the_points_of_the_game_to_open_have_one_sign(browser: Chrome, out: Path) -> None:
    visit(browser, out, "index.html")
    style = "return getComputedStyle(document.querySelector('.turned .points'), '::before').content"

    assert (find(browser, ".turned .points").text[0], browser.execute_script(style)) == ("+", "none")


def test_the_ranking_is_sorted_by_keyboard(browser: Chrome, out: Path) -> None:
    visit(browser, out, "index.html")
    ranks = [rank.split()[0] for rank in column(browser, 0)]
    button = find(browser, "table.ranking thead th:first-child button")

    button.send_keys(Keys.ENTER)
    downward = [rank.split()[0] for rank in column(browser, 0)]
    assert find(browser, "table.ranking thead th").get_attribute("aria-sort") == "descending"
    button.send_keys(Keys.SPACE)

    assert ranks == ["1", "2", "3"]
    assert downward == ["3", "2", "1"]
    assert [rank.split()[0] for rank in column(browser, 0)] == ranks
    assert find(browser, "table.ranking thead th").get_attribute("aria-sort") == "ascending"


def test_a_missing_figure_sorts_last_either_way(browser: Chrome, out: Path) -> None:
    visit(browser, out, "index.html")
    browser.execute_script(
        "const cell = document.querySelector('table.ranking tbody tr td.strong');"
        "cell.removeAttribute('data-value'); cell.textContent = 'n/a';"
    )
    button = find(browser, "table.ranking thead th:nth-child(3) button")

    button.click()
    downward = column(browser, 2)
    button.click()

    assert downward[-1] == column(browser, 2)[-1] == "n/a"


def test_a_game_is_stepped_through_by_keyboard(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0")
    last = int(find(browser, "#slider").get_attribute("max") or 0)

    press(browser, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    third = current(browser), find(browser, "#live").text
    press(browser, Keys.ARROW_LEFT)
    second = current(browser), find(browser, "#live").text
    press(browser, Keys.END)

    assert third[0] == 3
    assert second[0] == 2
    assert third[1] != second[1] != ""
    assert current(browser) == last
    assert find(browser, "#ending").is_displayed()
    press(browser, Keys.HOME)
    assert current(browser) == 0
    assert "cards are dealt" in find(browser, "#live").text


def test_turns_are_stepped_through_by_keyboard(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0")

    press(browser, Keys.ARROW_DOWN, Keys.ARROW_DOWN)

    assert "turn 2" in find(browser, "#where").text
    press(browser, Keys.ARROW_UP)
    assert "turn 1" in find(browser, "#where").text


def test_a_game_plays_by_itself_until_it_is_stopped(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0")
    Select(find(browser, "#speed")).select_by_value("15")

    find(browser, "#play").click()
    wait_until(browser, lambda: current(browser) >= 2)
    find(browser, "#play").click()

    assert find(browser, "#play").get_attribute("aria-pressed") == "false"
    assert find(browser, "#play").get_attribute("aria-label") == "Play"


def test_the_view_of_a_seat_hides_the_other_hand(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0/5")
    assert not browser.find_elements(By.CSS_SELECTOR, ".hand .back")

    Select(find(browser, "#view")).select_by_value("0")

    assert browser.find_elements(By.CSS_SELECTOR, '[data-place="1h"] .back')
    assert not browser.find_elements(By.CSS_SELECTOR, '[data-place="1h"] [data-card]')
    assert browser.find_elements(By.CSS_SELECTOR, '[data-place="0h"] [data-card]')
    assert not browser.find_elements(By.CSS_SELECTOR, '[data-place="0h"] .back')


def test_a_link_leads_to_an_action(league: League, browser: Chrome, out: Path) -> None:
    record = next(record for record in league.records() if record.faults)
    fault = record.faults[0]

    visit(browser, out, "index.html")
    browser.get(f"{out.as_uri()}/replay.html#{record.key}/!{fault.seat}")
    wait_until(browser, lambda: find(browser, "#replay").is_displayed())

    assert current(browser) == fault.action + 1
    assert find(browser, "#raw").text == f"!{fault.code}"
    assert fault.sentence in find(browser, "#result").text
    evidence = browser.switch_to.active_element
    assert evidence.get_attribute("id") == f"fault-{fault.seat}"
    children = [child.tag_name for child in evidence.find_elements(By.CSS_SELECTOR, ":scope > *")]
    assert children[:3] == ["h3", "figure", "p"], "the line that brought the verdict on comes first"
    assert not evidence.find_elements(By.CSS_SELECTOR, "details[open]")


def test_the_address_follows_and_every_action_has_a_link(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.1.0")

    find(browser, '#log [data-step="7"]').click()
    wait_until(browser, lambda: current(browser) == 7)
    press(browser, Keys.ARROW_RIGHT)

    wait_until(browser, lambda: browser.current_url.endswith("#0.0.1.0/7"))
    assert current(browser) == 8


def test_the_neighbours_of_a_game_are_one_key_away(league: League, browser: Chrome, out: Path) -> None:
    keys = [str(game.key) for game in league.games()]
    replay(browser, out, keys[0])

    press(browser, "n")
    wait_until(browser, lambda: keys[1] in find(browser, "#facts").text)
    press(browser, "n")
    wait_until(browser, lambda: keys[2] in find(browser, "#facts").text)

    assert f"replay.html#{keys[1]}" in (find(browser, "#previous").get_attribute("href") or "")


def test_a_key_pressed_while_a_game_loads_does_not_call_it_off(league: League, browser: Chrome, out: Path) -> None:
    keys = [str(game.key) for game in league.games()]
    replay(browser, out, keys[0])
    browser.execute_script(
        "const find = malice.find; const later = new Promise((resolve) => (window.finish = resolve));"
        "malice.find = async (key) => (await later, find(key));"
        "window.setTimeout = (act) => { queueMicrotask(act); return 0; };"  # the address is kept at once
    )

    press(browser, "n", Keys.ARROW_RIGHT)
    browser.execute_script("finish()")

    wait_until(browser, lambda: keys[1] in find(browser, "#facts").text)


def test_the_next_part_follows_the_last_game_of_a_part(browser: Chrome, tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:2], deals=1, parts=2, others=390), tmp_path)
    replay(browser, tmp_path, "0.0.0.1")

    press(browser, "n")
    wait_until(browser, lambda: "1.0.0.0" in find(browser, "#facts").text)

    assert "replay.html#0.0.0.1" in (find(browser, "#previous").get_attribute("href") or "")
    assert (find(browser, "#list").get_attribute("href") or "").endswith("games.html#game=1.0.0.0")


@pytest.mark.parametrize(
    ("address", "sentence"), [("9.9.9.9", "Game 9.9.9.9 does not exist"), ("hello", "Expected the key of a game")]
)
def test_an_unknown_game_is_said_to_be_unknown(browser: Chrome, out: Path, address: str, sentence: str) -> None:
    visit(browser, out, f"replay.html#{address}")

    wait_until(browser, lambda: find(browser, "#message").is_displayed())

    assert sentence in find(browser, "#message").text


def test_a_damaged_data_file_is_named(browser: Chrome, out: Path, tmp_path: Path) -> None:
    shutil.copytree(out, tmp_path, dirs_exist_ok=True)
    shard = tmp_path / "data/games-0.js"
    shard.write_bytes(shard.read_bytes()[:-1000])

    visit(browser, tmp_path, "replay.html#0.0.0.0")
    wait_until(browser, lambda: find(browser, "#message").is_displayed())

    assert find(browser, "#message").text == "data/games-0.js is damaged: write the site again."
    assert find(browser, "h1").text == "Replay"
    browser.get_log("browser")  # that the file breaks off


def test_help_opens_and_closes_by_key(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0")

    press(browser, "?")
    assert find(browser, "#help").is_displayed()
    find(browser, "#help").send_keys(Keys.ESCAPE)

    wait_until(browser, lambda: not find(browser, "#help").is_displayed())


@pytest.mark.parametrize(
    "page",
    [
        "index.html",
        "games.html",
        "bots/greedy.html",
        "rules/standard.html",
        "replay.html#0.0.0.0/20",
    ],
)
def test_no_page_is_wider_than_a_phone(browser: Chrome, out: Path, page: str) -> None:
    as_a_phone(browser)

    visit(browser, out, page)
    if page.startswith("replay"):
        wait_until(browser, lambda: find(browser, "#replay").is_displayed())

    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize(
    ("name", "seats"),
    [
        ("standard", 2),
        ("skipbo", 3),
        pytest.param("partners-4", 4, marks=pytest.mark.whole),
        *(pytest.param(name, 2, marks=pytest.mark.whole) for name in ("catsatcards", "book", "loading")),
    ],
)
def test_the_table_is_the_one_that_the_engine_shows(browser: Chrome, tmp_path: Path, name: str, seats: int) -> None:
    league = League(tuple(f"bot{seat}" for seat in range(seats)), deals=1, rulesets=(name,), seats=seats)
    site_pages.render(league, tmp_path)
    record = next(league.records())
    replay(browser, tmp_path, str(record.key))

    read = browser.execute_async_script(READ, str(record.key))

    assert read["moves"][1:] == [[list(move)] for move in record.actions]
    for table, view in zip(read["tables"], views(record), strict=True):
        assert seen(table, view) == told(view)
    for copied, view in zip(read["views"], views(record), strict=True):
        assert copied == json.loads(msgspec.json.encode(view))


def views(record: Record) -> list[View]:
    """What a spectator sees after each ask."""
    rules = find_rules(record)
    return [convert(rules.view(ask.after, None)) for ask in replay_asks(record)]


def convert(view: Any) -> View:
    assert isinstance(view, View)
    return view


def told(view: View) -> dict[str, Any]:
    """What the engine shows, in the words of the page."""
    shown: dict[str, Any] = {"turn": view.turn, "stock": view.stock, "aside": view.aside}
    shown["hand"] = sorted(view.hand)
    for index, stack in enumerate(view.centre):
        shown[f"c{index}"] = (list(stack.cards), stack.height)
    for number, seat in enumerate(view.seats):
        shown[f"{number}h"] = seat.hand
        shown[f"{number}p"] = seat.payoff.top
        if seat.payoff.left is not None:
            shown[f"{number} left"] = seat.payoff.left
        shown |= {f"{number}s{index}": list(pile) for index, pile in enumerate(seat.side)}
    return shown


def seen(table: dict[str, Any], view: View) -> dict[str, Any]:
    """The same of a table of the page."""
    piles, heights = table["piles"], table["heights"]
    shown: dict[str, Any] = {"turn": table["turn"]}
    shown |= {name: len(piles.get(name, ())) for name in ("stock", "aside")}
    shown["hand"] = sorted(piles[f"{view.seat}h"])
    for index in range(len(view.centre)):
        shown[f"c{index}"] = (piles.get(f"c{index}", []), heights.get(f"c{index}") or 0)
    for number, seat in enumerate(view.seats):
        payoff = piles[f"{number}p"]
        shown[f"{number}h"] = len(piles[f"{number}h"])
        shown[f"{number}p"] = payoff[-1] if payoff else None
        if seat.payoff.left is not None:
            shown[f"{number} left"] = len(payoff)
        shown |= {f"{number}s{index}": piles.get(f"{number}s{index}", []) for index in range(len(seat.side))}
    return shown
