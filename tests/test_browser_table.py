"""A table in the browser: cards that are dragged, and whatever else somebody does there."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By

from tests.browser_seats import CLICK_ONCE, click_through, is_my_turn, read_table, sit_down, write_short
from tests.browser_window import at_a_desk, find, wait_until
from tests.command_line import malice
from tests.games.conftest import BIDDING
from tests.games.installed import installed, write_package
from tests.leagues import play_small_league
from tests.runs import MALICE
from tests.web_tables import find_free_port, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)
    chromium.get("about:blank")


@pytest.mark.whole
def test_a_game_of_a_package_without_a_page_is_played_by_its_words(browser: Chrome, tmp_path: Path) -> None:
    write_package(BIDDING, tmp_path / "installed")
    shutil.rmtree(tmp_path / "installed/malice_bidding/page")
    with (
        installed(tmp_path / "installed"),
        serving(tmp_path, "you", "uniform", "--ruleset", "bidding-duel") as server,
    ):
        sit_down(browser, server)
        assert "in the stock" in find(browser, "#table .sketch").text
        assert click_through(browser)
        assert browser.execute_script("return malice.failures") == {}
        browser.get("about:blank")


def test_cards_are_dragged_and_double_clicks_play_them_up(browser: Chrome, tmp_path: Path) -> None:
    with serving(tmp_path, "you", "first", "--ruleset", "standard", "--seed", "drag") as server:
        sit_down(browser, server)
        wait_until(browser, lambda: is_my_turn(browser))
        before = find(browser, "#table").get_attribute("data-steps")
        card = browser.find_elements(By.CSS_SELECTOR, '[data-place="0h"] [data-lit="source"]')[-1]
        name = card.get_attribute("data-card")
        ActionChains(browser).drag_and_drop(card, find(browser, '[data-place="c2"]')).perform()
        assert find(browser, "#table").get_attribute("data-steps") == before, "it fits nowhere there: it goes back"
        assert not browser.find_elements(By.CSS_SELECTOR, ".ghost-card")

        ActionChains(browser).drag_and_drop(card, find(browser, '[data-place="0s0"]')).perform()
        wait_until(browser, lambda: find(browser, "#table").get_attribute("data-steps") != before)
        wait_until(browser, lambda: is_my_turn(browser))
        side = browser.find_elements(By.CSS_SELECTOR, '[data-place="0s0"] [data-card]')
        assert [each.get_attribute("data-card") for each in side] == [name]
        browser.get("about:blank")


def test_a_replay_of_a_served_site_is_played_on_from(browser: Chrome, tmp_path: Path) -> None:
    league, site = play_small_league(tmp_path, rules="payoff_size = 8"), tmp_path / "site"
    malice("site", league, "--out", site, code=0)
    words = [*MALICE, "serve", str(site), "--port", "0", "--play", str(league)]
    with Popen(words, stdout=PIPE, text=True) as server:
        try:
            assert server.stdout
            browser.get(f"{server.stdout.readline().strip()}replay.html#0.0.0.0/9?view=1")
            wait_until(browser, lambda: find(browser, "#replay").is_displayed())
            find(browser, "#more").click()
            find(browser, "#anew").click()
            find(browser, "#play-on").click()
            wait_until(browser, lambda: "/seat" in browser.current_url and is_my_turn(browser))
            assert "greedy v you" in browser.title
            browser.get("about:blank")
        finally:
            server.terminate()


def test_one_screen_is_handed_over_with_the_table_covered(browser: Chrome, tmp_path: Path) -> None:
    with serving(tmp_path, "you", "you", "--ruleset", write_short(tmp_path)) as server:
        sit_down(browser, server)
        seen = set()
        for _ in range(4):
            wait_until(browser, lambda: is_my_turn(browser) or find(browser, "#cover").is_displayed())
            if find(browser, "#cover").is_displayed():
                corner = find(browser, "#cover").rect
                stage = find(browser, ".stage").rect
                assert corner["width"] >= stage["width"] - 2, "no card can be seen beside it"
                find(browser, "#uncover").click()
                wait_until(browser, lambda: is_my_turn(browser))
            seen.add(browser.current_url)
            browser.execute_script(CLICK_ONCE)
            wait_until(browser, lambda: not is_my_turn(browser) or browser.execute_script(CLICK_ONCE) is False)
        assert len(seen) == 2
        browser.get("about:blank")


def test_a_table_is_the_same_after_a_reload_in_a_second_tab_and_when_the_server_comes_back(
    browser: Chrome, tmp_path: Path
) -> None:
    port = find_free_port()
    words = "you", "first", "--ruleset", write_short(tmp_path)
    with serving(tmp_path, *words, port=port) as server:
        sit_down(browser, server)
        wait_until(browser, lambda: is_my_turn(browser))
        laid = read_table(browser)
        browser.refresh()
        wait_until(browser, lambda: is_my_turn(browser))
        assert read_table(browser) == laid

        first = browser.current_window_handle
        browser.switch_to.new_window("tab")
        browser.get(f"http://{server.host}/seat/0")
        wait_until(browser, lambda: is_my_turn(browser))
        assert read_table(browser) == laid
        steps = find(browser, "#table").get_attribute("data-steps")
        browser.execute_script(CLICK_ONCE)
        browser.execute_script(CLICK_ONCE)
        wait_until(browser, lambda: find(browser, "#table").get_attribute("data-steps") != steps)
        browser.close()
        browser.switch_to.window(first)
        wait_until(browser, lambda: find(browser, "#table").get_attribute("data-steps") != steps)
        wait_until(browser, lambda: is_my_turn(browser))
        laid = read_table(browser)
        server.end(signal.SIGKILL)
        wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "body.lost"))

    with serving(tmp_path, *words, port=port):
        wait_until(
            browser, lambda: is_my_turn(browser) and "lost" not in str(find(browser, "body").get_attribute("class"))
        )
        assert read_table(browser) == laid
        browser.get("about:blank")
        browser.get_log("browser")  # that the server was away
