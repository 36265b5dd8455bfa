"""Crosstables and charts in a browser: links to games, marks of row and column, arrow keys, a legend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.browser_window import as_a_phone, at_a_desk, find, replay, visit, wait_until
from tests.site_league import HOSTILE, League

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def cell(browser: Chrome, row: int, column: int) -> WebElement:
    """A cell of the crosstable, counted from 0 like the bots; its link if it has one."""
    found = find(browser, f".cross tbody tr:nth-child({row + 1}) td:nth-child({column + 2})")
    return next(iter(found.find_elements(By.TAG_NAME, "a")), found)


def marked(browser: Chrome) -> tuple[list[int], list[int]]:
    """The rows and columns that are marked."""
    rows, columns = browser.execute_script(
        "const {rows} = document.querySelector('.cross').tBodies[0];"
        "const places = (list, name) => [...list].flatMap((one, place) => one.classList.contains(name) ? place : []);"
        "return [places(rows, 'row'), places(rows[0].cells, 'col').map((place) => place - 1)];"
    )
    return rows, columns


def lit(browser: Chrome) -> list[str | None]:
    """The names of the lines that stand out."""
    return [line.get_attribute("data-name") for line in browser.find_elements(By.CSS_SELECTOR, ".line.lit")]


def focused(browser: Chrome) -> WebElement:
    return browser.switch_to.active_element


def test_a_cell_leads_to_both_head_to_head_and_marks_its_row_and_column(browser: Chrome, out: Path) -> None:
    visit(browser, out, "index.html")
    bots = [str(head.get_attribute("data-bot")) for head in browser.find_elements(By.CSS_SELECTOR, ".cross tbody th")]

    ActionChains(browser).move_to_element(cell(browser, 1, 3)).perform()

    assert marked(browser) == ([1], [3])
    address = f"bot={bots[1]}&opponent={bots[3]}&ruleset=standard&seats=2"
    assert str(cell(browser, 1, 3).get_attribute("href")).endswith(f"head-to-head.html#{address}")
    assert str(find(browser, ".told a").get_attribute("href")).endswith(f"games.html#{address}")
    assert cell(browser, 1, 3).text in find(browser, ".told").text
    assert cell(browser, 2, 2).tag_name == "td"
    assert quote(HOSTILE, safe="") in bots

    ActionChains(browser).move_to_element(find(browser, ".cross tbody tr:nth-child(3) th a")).perform()
    assert marked(browser) == ([2], [2])
    ActionChains(browser).move_to_element(find(browser, ".cross thead th:nth-child(2)")).perform()
    assert marked(browser) == ([0], [0])


def read_meeting(browser: Chrome, out: Path, query: str) -> tuple[str, list[str], list[list[str]]]:
    """What the head-to-head page says: its heading, the first lines of its figures, and the cells of its table."""
    visit(browser, out, f"head-to-head.html#{query}")
    wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#meeting .ranking"))
    figures = [figure.text for figure in browser.find_elements(By.CSS_SELECTOR, "#meeting .figures b")]
    rows = browser.find_elements(By.CSS_SELECTOR, "#meeting tbody tr")
    cells = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")] for row in rows]
    return find(browser, "h1").text, figures, cells


def test_two_bots_head_to_head_agree_with_their_pages_from_either_side(browser: Chrome, out: Path) -> None:
    visit(browser, out, "bots/greedy.html")
    cells = find(browser, "table.narrow tbody tr").find_elements(By.CSS_SELECTOR, "th, td")
    other, _, record, score, elo, los = [each.text for each in cells[:6]]
    (query,) = [cells[2].find_element(By.TAG_NAME, "a").get_attribute("href")]

    title, figures, sides = read_meeting(browser, out, str(query).partition("#")[2])
    _, turned, turned_sides = read_meeting(browser, out, f"bot={quote(other)}&opponent=greedy")

    assert title == f"greedy against {other}"
    assert figures[:3] == [score, elo.split()[0], los]
    assert record.split("–")[::-1] == find(browser, "#meeting .figures span").text.split()[3].split("–")
    assert turned[0] == f"{100 - float(score.split()[0]):.1f} %"
    assert sides == turned_sides[::-1]
    visit(browser, out, f"head-to-head.html#bot={quote(HOSTILE, safe='')}")
    wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#meeting .ranking"))
    visit(browser, out, "head-to-head.html#bot=nobody&opponent=greedy")
    wait_until(browser, lambda: find(browser, "#told").text == "Nobody is called nobody.")


def test_the_crosstable_is_one_stop_of_the_tab_key_and_arrows_move_within(browser: Chrome, out: Path) -> None:
    visit(browser, out, "index.html")
    assert len(browser.find_elements(By.CSS_SELECTOR, ".cross a[tabindex='0']")) == 1
    browser.execute_script("document.querySelector(\".cross a[tabindex='0']\").focus()")

    focused(browser).send_keys(Keys.ARROW_RIGHT)  # over the cell where the first bot crosses itself
    assert focused(browser) == cell(browser, 0, 1)
    focused(browser).send_keys(Keys.ARROW_DOWN)
    assert focused(browser) == cell(browser, 2, 1)
    assert marked(browser) == ([2], [1])
    focused(browser).send_keys(Keys.END)
    assert focused(browser) == cell(browser, 2, 4)
    focused(browser).send_keys(Keys.ARROW_RIGHT)
    assert focused(browser) == cell(browser, 2, 4)
    assert len(browser.find_elements(By.CSS_SELECTOR, ".cross a[tabindex='0']")) == 1


def test_a_first_touch_marks_and_the_second_follows(browser: Chrome, out: Path) -> None:
    as_a_phone(browser)
    visit(browser, out, "index.html")
    browser.execute_script(
        "window.kept = []; document.addEventListener('click', (event) => {"
        " window.kept.push(event.defaultPrevented); event.preventDefault(); });"
    )
    target = cell(browser, 0, 1)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", target)
    box = browser.execute_script(
        "const {x, y, width, height} = arguments[0].getBoundingClientRect();"
        "return {x: x + width / 2, y: y + height / 2};",
        target,
    )

    for _ in range(2):
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [box]})
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    assert marked(browser) == ([0], [1])
    assert browser.execute_script("return window.kept") == [True, False]
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_the_legend_lights_a_line_by_mouse_keys_and_press(browser: Chrome, out: Path) -> None:
    visit(browser, out, "index.html")
    buttons = browser.find_elements(By.CSS_SELECTOR, ".legend button")

    assert [button.get_attribute("title") for button in buttons[:2]] == [
        name.text.partition(" ")[2] for name in browser.find_elements(By.CSS_SELECTOR, ".chart .name")[:2]
    ]
    buttons[2].click()
    ActionChains(browser).move_to_element(find(browser, "h1")).perform()
    browser.execute_script("document.activeElement.blur()")
    assert lit(browser) == [buttons[2].get_attribute("title")]
    assert buttons[2].get_attribute("aria-pressed") == "true"
    browser.execute_script("arguments[0].focus()", buttons[2])
    focused(browser).send_keys(Keys.ARROW_RIGHT)
    assert lit(browser) == [buttons[3].get_attribute("title")]
    focused(browser).send_keys(Keys.SPACE)
    focused(browser).send_keys(Keys.SPACE)
    focused(browser).send_keys(Keys.ARROW_LEFT)
    browser.execute_script("document.activeElement.blur()")
    assert lit(browser) == []


def test_seats_have_the_colours_of_their_bots(browser: Chrome, league: League, out: Path) -> None:
    visit(browser, out, "index.html")
    colour = "return getComputedStyle(arguments[0], arguments[1]).backgroundColor"
    links = browser.find_elements(By.CSS_SELECTOR, ".ranking tbody th a")
    colours = {link.text: browser.execute_script(colour, link, "::before") for link in links}
    assert len(set(colours.values())) == 5

    replay(browser, out, "0.0.0.0")

    seats = browser.find_elements(By.CSS_SELECTOR, ".table .seat")
    found = {
        seat.find_element(By.CSS_SELECTOR, ".name").text: browser.execute_script(
            colour, seat.find_element(By.CSS_SELECTOR, ".disc"), None
        )
        for seat in seats
    }
    assert len(found) == 2
    assert found.items() <= colours.items()
