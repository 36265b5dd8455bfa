"""The list of games in a browser: a hundred thousand games, filtered, sorted and turned over by form and by address."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from msgspec.structs import replace
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from malice.site_pages import text
from malice.tournaments.league.contents import GameSummary
from tests.browser_window import as_a_phone, at_a_desk, find, visit, wait_until
from tests.listed_games import CODES, make_games, write_list
from tests.site_league import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LONG = "x" * 63
TWINS = (f"{LONG}one", f"{LONG}two")
"""Labels that look alike on pages, which cut them at 64 characters."""
ARABIC = "لعبة الورق مع كلب وقط"
LABELS = (*(f"bot {number:02d}" for number in range(56)), HOSTILE, ARABIC, *TWINS)
COUNT = 100_000


@pytest.fixture(scope="module")
def games() -> list[GameSummary]:
    """A round-robin of sixty, and three seats under another ruleset at the end."""
    trio = make_games((ARABIC, HOSTILE, TWINS[0]), 5, 3, "multi-3")
    duels = list(make_games(LABELS, 29))[: COUNT - 15]
    table = duels[-1].key.table + 1
    return [
        *duels,
        *(replace(game, key=replace(game.key, table=table), number=len(duels) + game.number) for game in trio),
    ]


@pytest.fixture(scope="module")
def folder(games: list[GameSummary], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of these games."""
    folder = tmp_path_factory.mktemp("list")
    write_list(folder, games)
    return folder


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def open_list(browser: Chrome, folder: Path, address: str = "") -> None:
    visit(browser, folder, f"games.html{address}")
    wait_until(browser, lambda: find(browser, "#browse").is_displayed())


def told(browser: Chrome) -> str:
    return find(browser, "#count").text


def keys(browser: Chrome) -> list[str]:
    script = "return [...document.querySelectorAll('#list tbody th')].map((cell) => cell.textContent)"
    found = browser.execute_script(script)
    return [str(key) for key in found]


def choose(browser: Chrome, selector: str, value: str) -> None:
    """Choose an option by its value, which no selector could hold."""
    script = "return [...document.querySelector(arguments[0]).options].findIndex((one) => one.value === arguments[1])"
    Select(find(browser, selector)).select_by_index(browser.execute_script(script, selector, value))


def wait_for(browser: Chrome, words: str) -> None:
    wait_until(browser, lambda: told(browser).startswith(words))


def lost(game: GameSummary, label: str, other: str = "") -> bool:
    if label not in game.labels or (other and other not in game.labels):
        return False
    own = game.places[game.labels.index(label)]
    return own > (game.places[game.labels.index(other)] if other else 1)


@pytest.fixture
def fresh_tab(browser: Chrome) -> Iterator[Chrome]:
    """A tab with a history of its own: that of the other tests may be full."""
    before = browser.current_window_handle
    browser.switch_to.new_window("tab")
    yield browser
    browser.close()
    browser.switch_to.window(before)


def test_form_and_address_filter_a_hundred_thousand_games(
    games: list[GameSummary], fresh_tab: Chrome, folder: Path
) -> None:
    browser = fresh_tab
    open_list(browser, folder)
    assert told(browser) == "100,000 of 100,000 games"
    assert keys(browser) == [str(game.key) for game in games[:-101:-1]]

    choose(browser, "#bot", HOSTILE)
    own = [game for game in games if HOSTILE in game.labels]
    assert told(browser) == f"{len(own):,} of 100,000 games"
    choose(browser, "#opponent", TWINS[1])
    choose(browser, "#result", "lost")
    defeats = [game for game in games if lost(game, HOSTILE, TWINS[1])]
    assert told(browser) == f"{len(defeats)} of 100,000 games"
    assert keys(browser) == [str(game.key) for game in reversed(defeats)]
    address = text.make_games_address(bot=HOSTILE, opponent=TWINS[1], result="lost").removeprefix("games.html")
    assert unquote(browser.execute_script("return location.hash")) == unquote(address)

    browser.execute_script("history.back()")
    wait_for(browser, f"{sum(TWINS[1] in game.labels for game in own)} of")
    browser.execute_script("history.back()")
    wait_for(browser, f"{len(own):,} of")
    assert Select(find(browser, "#opponent")).first_selected_option.text == "any"
    open_list(browser, folder, address)
    assert keys(browser) == [str(game.key) for game in reversed(defeats)]
    assert find(browser, "#opponent").get_property("value") == TWINS[1]


def test_every_field_finds_the_games_that_python_finds(games: list[GameSummary], browser: Chrome, folder: Path) -> None:
    day = "2026-01-02"
    fields = {
        "ending=crash": lambda game: "crash" in game.verdicts,
        "bot=bot 30&ending=crash": lambda game: ("bot 30", "crash") in zip(game.labels, game.verdicts, strict=True),
        f"ending={CODES[0]}&ruleset=standard": lambda game: game.reason == CODES[0] and game.ruleset == "standard",
        "seats=3": lambda game: len(game.labels) == 3,
        "min=390&max=392": lambda game: 390 <= game.actions <= 392,
        f"from={day}&to={day}": lambda game: 1440 <= game.number < 2880,
        f"bot={TWINS[0]}&result=won": lambda game: (
            TWINS[0] in game.labels and sum(game.places) > len(game.places) and lost_by_all(game, TWINS[0])
        ),
        f"bot={ARABIC}&result=drawn&ruleset=multi-3": lambda game: (
            game.ruleset == "multi-3" and set(game.places) == {1}
        ),
        "bot=nobody": lambda _: False,
        "bot=bot 30@1": lambda game: "bot 30" in game.labels,
        "bot=bot 30@2": lambda _: False,
    }
    open_list(browser, folder)
    for address, finds in fields.items():
        browser.execute_script("location.hash = arguments[0]", address)
        wait_for(browser, f"{sum(map(finds, games)):,} of 100,000 games")


@pytest.mark.whole
def test_a_draw_of_two_is_a_half_for_each_and_won_by_nobody(browser: Chrome, folder: Path) -> None:
    open_list(browser, folder, f"#bot={quote(HOSTILE)}&result=drawn&seats=2")
    assert {each.text for each in browser.find_elements(By.CSS_SELECTOR, "#list .place")} == {"½"}
    assert not browser.find_elements(By.CSS_SELECTOR, "#list .won")
    written = (folder / "games.html").read_text("utf-8")
    assert written.count(">½</span>") == written.count('title="shared first place">½') > 0
    assert 'class="won"><span class="place" title="shared' not in written


def lost_by_all(game: GameSummary, winner: str) -> bool:
    return all(place > 1 for label, place in zip(game.labels, game.places, strict=True) if label != winner)


@pytest.mark.whole
def test_pages_and_orders_have_addresses(games: list[GameSummary], browser: Chrome, folder: Path) -> None:
    open_list(browser, folder, "#sort=longest")
    by_length = [str(game.key) for game in sorted(games, key=lambda game: (game.actions, game.number), reverse=True)]
    assert keys(browser) == by_length[:100]

    find(browser, "#pager [rel=next]").click()
    wait_until(browser, lambda: keys(browser) == by_length[100:200])
    assert browser.current_url.endswith("#sort=longest&page=2")
    find(browser, "[name=min]").send_keys("399", Keys.ENTER)
    assert browser.current_url.endswith("#min=399&sort=longest")
    open_list(browser, folder, f"#game={games[150].key}")
    assert find(browser, ".here th").text == str(games[150].key)
    assert find(browser, "#pager [aria-current]").text == "999"
    open_list(browser, folder, "#from=2031-01-01")
    assert not find(browser, "#pager").is_displayed()
    open_list(browser, folder, "#bot=%zz&max=many&page=2000")
    assert told(browser) == "0 of 100,000 games. Not understood: max=many"


def test_a_deal_has_a_row_with_the_points_of_every_rotation(
    games: list[GameSummary], browser: Chrome, folder: Path
) -> None:
    open_list(browser, folder, f"#bot={quote(HOSTILE)}&ruleset=standard&view=deals&sort=first")
    own = sorted((game for game in games if HOSTILE in game.labels and len(game.labels) == 2), key=deal_of)
    deals = {key: [point(game, HOSTILE) for game in each] for key, each in groupby(own, deal_of)}

    assert told(browser).startswith(f"{len(deals):,} of ")
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#list tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    names = {0: "0", 0.5: "½", 1: "1", 1.5: "1½", 2: "2"}
    for row, (key, points) in zip(rows, deals.items(), strict=False):
        total = sum(points)
        assert row[0] == ".".join(map(str, key))
        assert row[2:5] == [*(names[each] for each in points), names[total]]
    find(browser, "#as-games").click()
    wait_for(browser, f"{len(own):,} of 100,000 games")
    open_list(browser, folder, f"#bot={ARABIC}&seats=3&view=deals")
    assert len(browser.find_elements(By.CSS_SELECTOR, "#list tbody tr:first-child .outcome a")) == 3


def deal_of(game: GameSummary) -> tuple[int, int, int]:
    return game.key.part, game.key.table, game.key.deal


def point(game: GameSummary, label: str) -> float:
    own = game.places[game.labels.index(label)]
    return 0.5 if len(set(game.places)) == 1 else float(own == 1)


CUT = """
const clipped = (node) => getComputedStyle(node).overflowX === "hidden" && node.scrollWidth > node.clientWidth;
const outside = (node) => node.getBoundingClientRect().right > innerWidth;
const nodes = [...document.querySelectorAll("#list tbody *")];
return nodes.filter((node) => clipped(node) || outside(node)).map((node) => node.outerHTML);
"""


def test_no_card_is_cut_on_a_phone(browser: Chrome, folder: Path) -> None:
    as_a_phone(browser)
    open_list(browser, folder)
    for address in ("min=30", f"bot={TWINS[0]}", f"bot={ARABIC}&view=deals", "seats=3", "seats=3&view=deals"):
        browser.execute_script("location.hash = arguments[0]", address)
        wait_until_shown(browser, address)

        assert browser.execute_script(CUT) == [], address
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360, address


def wait_until_shown(browser: Chrome, address: str) -> None:
    """Wait until the list follows the address, which the link to its own view has, too."""

    def shows() -> bool:
        return unquote(find(browser, ".views [aria-current]").get_attribute("href") or "").endswith(f"#{address}")

    wait_until(browser, shows)
