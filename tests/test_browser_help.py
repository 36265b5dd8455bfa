"""What a page gives a person beside the table: hints, names, where the game turned; and it shuts nobody out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, Keys

from tests.browser_window import at_a_desk, find, judge, look_like, press, wait_until
from tests.command_line import malice
from tests.web_tables import SHORT, Server, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAME = "Zebulon"
LOOKS = (("light", False), ("dark", True)), (("dark", False), ("light", True))
CHOICE = "#table [data-lit=source], #cover:not([hidden])"
CLICK_DONE = """
document.querySelector("#plain [data-action=done]").click();
return document.getElementById("sure").open;
"""
"""Clicks on what ends the deal; a click before the page offers its choice does nothing."""
CALM = "localStorage['malice-play-pace'] = '0'; localStorage[`malice-play-seen-${arguments[0]}`] = '1';"


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    yield from at_a_desk(chromium)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a ruleset of short games."""
    (tmp_path / "short.toml").write_text(SHORT)
    return tmp_path


def sit_down(browser: Chrome, server: Server, family: str = "spite") -> None:
    """Open the first seat, and wait until somebody is to choose there; there is no first visit to explain."""
    browser.get(f"http://{server.host}/")
    browser.execute_script(CALM, family)
    browser.get(server.addresses[0])
    wait_until(browser, lambda: browser.find_elements("css selector", CHOICE))


def resign(browser: Chrome) -> None:
    find(browser, "#new").click()
    find(browser, "#resign").click()
    find(browser, "#yes").click()
    wait_until(browser, lambda: find(browser, "#story").text)


def test_a_bot_says_on_the_table_what_it_would_play_and_the_game_counts_for_a_name(
    browser: Chrome, folder: Path
) -> None:
    words = ("you", "first", "--hint", "planner", "--ruleset", "./short.toml", "--db", "people.db", "--as", NAME)
    with serving(folder, *words) as server:
        sit_down(browser, server)
        assert NAME in find(browser, "#people").text
        press(browser, "h")
        wait_until(browser, lambda: "planner would choose " in find(browser, "#hint-words").text)
        said = find(browser, "#hint-words").text.removeprefix("planner would choose ")
        assert browser.find_elements("css selector", "#table .hinted")
        press(browser, "l")
        (action,) = browser.find_elements("css selector", "#actions .hinted")
        assert action.text == said

        action.click()
        wait_until(browser, lambda: find(browser, "#hint-words").text == "")
        resign(browser)
        assert "planner would have played " in find(browser, "#story").text
        assert "short against first: 0 of 1 game won." in find(browser, "#story").text
        browser.get("about:blank")

    (row,) = json.loads(malice("standings", folder / "people.db", "--json", code=0).stdout)
    assert (row["who"], row["played"], row["against"]) == (NAME, 1, ["first"])
    named = [each.name for each in folder.rglob("*") if each.is_file() and NAME.encode() in each.read_bytes()]
    assert named == ["people.names.json"]
    malice("verify", folder / "people.db", code=0)


@pytest.mark.whole
def test_who_hands_the_screen_over_leaves_nothing_to_be_read_on_it(browser: Chrome, folder: Path) -> None:
    with serving(folder, "you", "you", "--ruleset", "./short.toml", "--seed", "q") as server:
        sit_down(browser, server)
        while not find(browser, "#cover").is_displayed():
            browser.execute_script("document.querySelector('#actions button')?.click()")

        assert not find(browser, "#table").is_displayed()
        assert not find(browser, "#live").is_displayed()
        assert not find(browser, "#story-log").is_displayed()
        address = browser.current_url
        find(browser, "#uncover").click()
        wait_until(browser, lambda: browser.current_url != address and find(browser, "#table").is_displayed())
        browser.back()
        wait_until(browser, lambda: find(browser, "#cover").is_displayed())
        assert not find(browser, "#table").is_displayed()
        browser.get("about:blank")


@pytest.mark.npm
def test_a_table_shuts_nobody_out(browser: Chrome, axe: str, folder: Path) -> None:
    complaints = {}
    with serving(folder, "you", "first", "--seed", "q", "--ruleset", "./short.toml") as server:
        sit_down(browser, server)
        press(browser, "h")
        press(browser, "l")
        wait_until(browser, lambda: "would choose " in find(browser, "#hint-words").text)
        browser.execute_script(axe)
        for scene, scheme, phone in (
            ("choice", "light", False),
            ("help", "dark", True),
            ("game", "dark", False),
            ("end", "light", True),
        ):
            if scene == "help":
                press(browser, "?")
            elif scene == "game":
                press(browser, Keys.ESCAPE)
                find(browser, "#new").click()
            elif scene == "end":
                press(browser, Keys.ESCAPE)
                resign(browser)
            look_like(browser, scheme, phone=phone)
            complaints[scene] = list(judge(browser))
        browser.get("about:blank")

    assert {scene: told for scene, told in complaints.items() if told} == {}


@pytest.mark.whole
def test_the_deal_of_the_day_goes_on_where_it_was_left_and_tells_its_statistics(browser: Chrome, folder: Path) -> None:
    words = ("you", "--daily", "--day", "2026-01-01", "--db", "people.db", "--as", NAME)
    for left in (False, True):
        with serving(folder, *words) as server:
            sit_down(browser, server, "klondike")
            assert find(browser, "#players").text == "The deal of 2026-01-01"
            played = browser.find_elements("css selector", "#plain [data-action=undo]")
            assert bool(played) is left
            if not left:
                browser.execute_script("document.querySelector('#actions [data-action]').click()")
                wait_until(browser, lambda: browser.find_elements("css selector", "#plain [data-action=undo]"))
            else:
                for answer in ("no", "yes"):
                    wait_until(browser, lambda: browser.execute_script(CLICK_DONE))
                    assert not find(browser, "#over").is_displayed()
                    find(browser, f"#{answer}").click()
                wait_until(browser, lambda: find(browser, "#story").text)
                assert "deals solved: 0 of 1 daily deal" in find(browser, "#story").text
                assert not find(browser, "#again").is_displayed()
            browser.get("about:blank")

    (row,) = json.loads(malice("standings", folder / "people.db", "--json", code=0).stdout)
    assert (row["who"], row["ruleset"], row["played"], row["against"]) == (NAME, "klondike-1", 1, [])
