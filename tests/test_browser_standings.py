"""Tabs, search and older versions of the front page in a browser, and that the address keeps all of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

from malice import site_pages
from malice.tournaments.league.store import Store
from tests.browser_window import as_a_phone, at_a_desk, find, visit
from tests.growing_leagues import DAY, MONDAY, GrowingLeague
from tests.site_league import HOSTILE, LABELS, League

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    league = League(LABELS, deals=1, rulesets=("standard", "skipbo-short"))
    league.suspend("careful")
    out = tmp_path_factory.mktemp("site")
    site_pages.render(league, out)
    return out


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    yield from at_a_desk(chromium)


def list_shown(browser: Chrome) -> list[str]:
    """List the bots of the rankings that one sees."""
    rows = browser.find_elements(By.CSS_SELECTOR, "[data-tab] table.ranking tbody th.bot a")
    return [row.text for row in rows if row.is_displayed()]


def fragment(browser: Chrome) -> str:
    return str(browser.execute_script("return location.hash"))


def selected(browser: Chrome) -> str:
    return find(browser, "[role=tab][aria-selected=true]").text


@pytest.mark.whole
def test_rows_are_whole_pixels_high_so_that_no_line_under_a_sticky_name_is_beside_its_row(
    browser: Chrome, folder: Path
) -> None:
    for page in ("index.html#standard-2", "bots/greedy.html"):
        for fit in (lambda _: None, as_a_phone):
            fit(browser)
            visit(browser, folder, page)
            heights = browser.execute_script(
                "return [...document.querySelectorAll('.ranking tr')].map((row) => row.getBoundingClientRect().height)"
            )
            assert any(heights)
            assert [height for height in heights if height % 1] == []


SHEET = """
const isLeftOut = (row) => !row.checkVisibility();
return [...document.querySelectorAll("table:is(.ranking, .cross)")].map((table) =>
  [table.offsetWidth - table.parentElement.clientWidth, [...table.rows].filter(isLeftOut).length]);
"""
"""Of each table, by how much it is wider than the sheet, and how many rows are left out."""


def test_a_sheet_of_paper_holds_all_columns_and_rows(browser: Chrome, folder: Path) -> None:
    visit(browser, folder, "index.html")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    sheet = {"width": 718, "height": 1047, "deviceScaleFactor": 1, "mobile": False}  # A4 without Chromium's margins
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sheet)

    assert set(map(tuple, browser.execute_script(SHEET))) == {(0, 0)}


FADE = """
const [end, tell] = arguments, box = document.querySelector(".scroll:has(.ranking)");
box.scrollLeft = end ? box.scrollWidth : 0;
const fades = () => Number(getComputedStyle(box).getPropertyValue("--more")) > 0;
const look = () => tell([box.scrollWidth > box.clientWidth, fades()]);
requestAnimationFrame(() => requestAnimationFrame(look));
"""
"""Whether the ranking is wider than its room, and whether its right edge fades out; scrolled to its start or end."""


def test_a_ranking_fades_out_to_the_right_as_long_as_it_goes_on_there(browser: Chrome, folder: Path) -> None:
    visit(browser, folder, "index.html")
    assert browser.execute_async_script(FADE, False) == [False, False]

    as_a_phone(browser)
    visit(browser, folder, "index.html")
    assert browser.execute_async_script(FADE, False) == [True, True]
    assert browser.execute_async_script(FADE, True) == [True, False]


def test_a_tab_for_each_ruleset_is_chosen_by_keys_and_has_an_address(browser: Chrome, folder: Path) -> None:
    visit(browser, folder, "index.html")
    assert selected(browser) == "All rulesets"
    assert len(list_shown(browser)) == len(LABELS)

    find(browser, "[role=tab][aria-selected=true]").send_keys(Keys.ARROW_RIGHT)

    assert (selected(browser), fragment(browser)) == ("standard", "#standard-2")
    assert browser.switch_to.active_element.text == "standard"
    panels = browser.find_elements(By.CSS_SELECTOR, "[role=tabpanel]")
    assert [panel.is_displayed() for panel in panels] == [False, True, False]
    browser.switch_to.active_element.send_keys(Keys.END)
    assert fragment(browser) == "#skipbo-short-2"
    browser.back()
    assert (selected(browser), fragment(browser)) == ("standard", "#standard-2")
    assert {tab.get_attribute("tabindex") for tab in browser.find_elements(By.CSS_SELECTOR, "[role=tab]")} == {
        "0",
        "-1",
    }


def test_a_search_and_a_least_number_of_games_hide_rows_and_stay_in_the_address(browser: Chrome, folder: Path) -> None:
    visit(browser, folder, "index.html")
    assert not browser.find_elements(By.CSS_SELECTOR, "[type=search]"), "nobody searches among five"
    start = '<ul class="bots">'
    page = (folder / "index.html").read_text().replace(start, start + "<li>one of many</li>" * 7)
    (folder / "many.html").write_text(page)
    visit(browser, folder, "many.html#standard-2")
    search, games = find(browser, "[type=search]"), find(browser, "[type=number]")

    search.send_keys("GREEDY")
    assert list_shown(browser) == ["greedy", "greedy#2"]
    assert find(browser, "[role=status]").text == "2 of 5 rows"
    assert not find(browser, "tr.part").is_displayed(), "the heading of a part without rows"
    games.send_keys("99")
    assert list_shown(browser) == []
    assert fragment(browser) == "#standard-2&search=GREEDY&games=99"

    visit(browser, folder, "many.html#skipbo-short-2&search=%3Cimg&games=1")
    assert selected(browser) == "skipbo-short"
    assert len(list_shown(browser)) == 1
    assert find(browser, "[type=search]").get_attribute("value") == HOSTILE[:4]
    browser.execute_script("location.hash = '#bots'")
    assert len(list_shown(browser)) == 1, "another place of the page changes no table"


def test_older_versions_are_shown_on_demand(browser: Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    league = GrowingLeague(tmp_path / "course.db", monkeypatch)
    league.play({"ann": 1, "bob": 1}, 2)
    league.play({"ann": 1, "bob": 2}, 2, MONDAY + DAY)
    with Store(league.path) as store:
        site_pages.render(store, tmp_path / "out")

    visit(browser, tmp_path / "out", "index.html")
    assert sorted(list_shown(browser)) == ["ann", "bob"]
    find(browser, "[type=checkbox]").click()

    assert sorted(list_shown(browser)) == ["ann", "bob", "bob@1"]
    assert fragment(browser) == "#short-2&versions=all"
    assert not browser.find_elements(By.CSS_SELECTOR, "[role=tab]"), "one ruleset needs no tab"
    links = browser.find_elements(By.CSS_SELECTOR, ".versions th.bot a")
    assert all((tmp_path / "out" / str(link.get_dom_attribute("href"))).is_file() for link in links)
