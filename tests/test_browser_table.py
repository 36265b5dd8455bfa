"""People at a table in the browser: whole games by clicks, by keys and by touch, alone against bots and with others."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen
from threading import Thread

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By

from malice import Game
from tests.browser_window import at_a_desk, find, fits_the_window, wait_until
from tests.command_line import malice
from tests.games.conftest import BIDDING
from tests.games.installed import installed, write_package
from tests.leagues import play_small_league
from tests.runs import MALICE
from tests.web_tables import SHORT, Client, Server, find_free_port, play, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

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


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)
    chromium.get("about:blank")


def write_short(folder: Path) -> str:
    (folder / "short.toml").write_text(SHORT)
    return str(folder / "short.toml")


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


def click_through(browser: Chrome) -> int:
    browser.set_script_timeout(120)
    return int(browser.execute_async_script(CLICK))


def write_near_end(folder: Path, ruleset: str) -> str:
    """Write the position of a game that is nearly over."""
    rng = Random(1)
    game = Game(ruleset, seed=1)
    positions = []
    while not game.over:
        positions.append(game.position())
        game.play({seat: rng.choice(game.legal(seat)) for seat in game.to_act})
    path = folder / "near-end.jsonl"
    path.write_bytes(positions[-20:][0])
    return str(path)


@pytest.mark.parametrize(
    ("opponent", "ruleset"),
    [("planner", ""), ("patience", "klondike-1"), ("uniform", "nuts-2"), ("uniform", "double-solitaire")],
)
def test_somebody_plays_every_family_to_its_end_by_clicks_alone(
    browser: Chrome, tmp_path: Path, opponent: str, ruleset: str
) -> None:
    words = ("--from", write_near_end(tmp_path, ruleset)) if ruleset else ("--ruleset", write_short(tmp_path))
    with serving(tmp_path, "you", opponent, *words) as server:
        sit_down(browser, server)
        assert click_through(browser)
        assert find(browser, "#ending").text
        assert browser.execute_script("return malice.failures") == {}
        assert not find(browser, "#message").is_displayed()
        assert fits_the_window(browser)
        browser.get("about:blank")  # the stream ends, and with it what its console could say


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


def test_a_game_by_keys_alone_and_the_same_cards_from_the_other_seat_by_touch(browser: Chrome, tmp_path: Path) -> None:
    with serving(tmp_path, "you", "first", "--ruleset", write_short(tmp_path)) as server:
        sit_down(browser, server)
        wait_until(browser, lambda: is_my_turn(browser))
        ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
        while not is_over(browser):
            ActionChains(browser).send_keys(Keys.ENTER * 12).perform()
        wait_until(browser, lambda: find(browser, "#swap").is_displayed())
        find(browser, "#swap").send_keys(Keys.ENTER)
        wait_until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, '[data-place="1h"] [data-card]'))

        size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        while not is_over(browser):
            tap_next(browser)
        assert fits_the_window(browser)
        assert not find(browser, "#swap").is_displayed(), "both seats have played these cards"
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        browser.get("about:blank")


NEXT = """
const lit = (kind) => [...document.querySelectorAll(`#table [data-lit="${kind}"]`)];
const [node] = [...lit("target"), ...lit("source"), ...document.querySelectorAll("#plain button")];
if (!node) return null;
const box = node.getBoundingClientRect();
return [box.left + 4, box.bottom - 4].map(Math.round);
"""


def tap_next(browser: Chrome) -> None:
    if point := browser.execute_script(NEXT):
        touch = [{"x": point[0], "y": point[1]}]
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": touch})
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


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


def test_two_browsers_play_each_other_and_a_third_watches(browser: Chrome, tmp_path: Path) -> None:
    with serving(tmp_path, "you", "you", "--invite", "--ruleset", write_short(tmp_path)) as server:
        other = Client(server, server.addresses[1])
        other.listen()
        watcher = Client(server, server.addresses[1])
        assert watcher.base == "/watch"
        thread = Thread(target=play, args=(other,))
        thread.start()
        sit_down(browser, server)
        assert "player 2" in find(browser, "#people").text
        click_through(browser)
        thread.join()
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


CLICK_ONCE = """
const lit = (kind) => [...document.querySelectorAll(`#table [data-lit="${kind}"]`)];
const [node] = [...lit("target"), ...lit("source")];
node?.click();
"""


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
        click_through(browser)
        browser.get("about:blank")
        browser.get_log("browser")  # that the server was away


def read_table(browser: Chrome) -> list[tuple[str, list[str]]]:
    """What lies where, as far as it lies face up."""
    script = """return [...document.querySelectorAll("#table [data-place]")].map((place) =>
      [place.dataset.place, [...place.querySelectorAll("[data-card]")].map((card) => card.dataset.card)]);"""
    return [(str(place), list(cards)) for place, cards in browser.execute_script(script)]
