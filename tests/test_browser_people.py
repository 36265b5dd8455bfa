"""People at a table in the browser: games of every family by keys, touch and clicks, against a bot and each other, and
what happens when somebody goes back, or the connection is lost.

In `make soak` each device plays each game alone, from its deal to its end. In `make test` a game begins shortly before
its end, and the devices take turns.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys

from tests.browser_seats import click_through, is_my_turn, is_over, read_table, sit_down, write_near_end, write_short
from tests.browser_window import at_a_desk, find, fits_the_window, wait_until
from tests.web_tables import Client, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

GAMES = [
    ("standard", "first"),
    pytest.param("skipbo", "first", marks=pytest.mark.whole),  # of the family of `standard`
    ("klondike-1", "patience"),
    pytest.param("nuts-2", "uniform", marks=pytest.mark.whole),
    pytest.param("double-solitaire", "uniform", marks=pytest.mark.whole),
]
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)
    chromium.get("about:blank")


def choose_by_keys(browser: Chrome, number: int) -> None:
    """Choose a card and a place for it; each time others, so that no game stands still."""
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT * (1 + number % 7) + Keys.ENTER * 2).perform()


Device = Callable[[Chrome, int], None]
"""What somebody chooses with: once, or clicks to the end."""


def play_by(browser: Chrome, device: Device, *, once: bool = False) -> None:
    """Play to the end, or until somebody has moved once."""
    before = read_steps(browser)
    if device is tap_next:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for number in count():
        if is_over(browser) or (once and read_steps(browser) != before):
            break
        device(browser, number)
    assert fits_the_window(browser)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def click_next(browser: Chrome, number: int) -> None:
    click_through(browser)


NEXT = """
if (document.getElementById("sure").open) {
  const box = document.getElementById("yes").getBoundingClientRect();
  return [box.left + 4, box.top + 4].map(Math.round);
}
const lit = (kind) => [...document.querySelectorAll(`#table [data-lit="${kind}"]`)];
const targets = lit("target");
const nodes = targets.length ? targets : [...lit("source"), ...document.querySelectorAll("#plain button")];
if (!nodes.length) return null;
const node = nodes[targets.length ? 0 : arguments[0] % nodes.length];
node.scrollIntoView({ block: "nearest" });
const { left, right, top, bottom } = node.getBoundingClientRect();
const points = [[left + 4, bottom - 4], [right - 4, bottom - 4], [left + 4, top + 4], [right - 4, top + 4]];
const free = points.find(([x, y]) => node.contains(document.elementFromPoint(x, y)));
return (free || points[0]).map(Math.round);
"""
"""Where to tap next: on a corner of what is lit that nothing else covers."""


def tap_next(browser: Chrome, number: int) -> None:
    if point := browser.execute_script(NEXT, number):
        touch = [{"x": point[0], "y": point[1]}]
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": touch})
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


DEVICES = (choose_by_keys, tap_next, click_next)


def name_devices(devices: tuple[Device, ...]) -> str:
    return "-".join(device.__name__ for device in devices)


def begin_game(folder: Path, ruleset: str, *, near_end: bool) -> tuple[str, str]:
    return ("--from", write_near_end(folder, ruleset)) if near_end else ("--ruleset", write_short(folder, ruleset))


@pytest.mark.parametrize(
    "devices", [DEVICES, *(pytest.param((each,), marks=pytest.mark.whole) for each in DEVICES)], ids=name_devices
)
@pytest.mark.parametrize(("ruleset", "opponent"), GAMES)
def test_every_family_is_played_to_its_end_by_keys_touch_and_clicks(
    browser: Chrome, tmp_path: Path, ruleset: str, opponent: str, devices: tuple[Device, ...]
) -> None:
    *others, last = devices
    with serving(tmp_path, "you", opponent, *begin_game(tmp_path, ruleset, near_end=bool(others))) as server:
        sit_down(browser, server)
        for device in others:
            wait_until(browser, lambda: is_my_turn(browser))
            play_by(browser, device, once=True)
            assert not is_over(browser), "each device has its turn"
        play_by(browser, last)
        assert find(browser, "#ending").text
        assert browser.execute_script("return malice.failures") == {}
        assert not find(browser, "#message").is_displayed()
        browser.get("about:blank")  # the stream ends, and with it what its console could say


def test_a_lost_connection_costs_nothing(browser: Chrome, tmp_path: Path) -> None:
    with serving(tmp_path, "you", "first", "--ruleset", write_short(tmp_path)) as server:
        sit_down(browser, server)
        wait_until(browser, lambda: is_my_turn(browser))
        before = read_steps(browser)
        browser.execute_cdp_cmd("Network.enable", {})
        be_online(browser, online=False)
        choose_by_keys(browser, 0)
        assert read_steps(browser) == before
        be_online(browser, online=True)
        wait_until(browser, lambda: read_steps(browser) != before)
        wait_until(browser, lambda: is_my_turn(browser))

        server.process.send_signal(signal.SIGSTOP)
        before = read_steps(browser)
        choose_by_keys(browser, 0)
        assert read_steps(browser) == before
        server.process.send_signal(signal.SIGCONT)
        wait_until(browser, lambda: read_steps(browser) != before)
        browser.get("about:blank")
        browser.get_log("browser")  # that there was no connection


def read_steps(browser: Chrome) -> str:
    return str(find(browser, "#table").get_attribute("data-steps"))


def be_online(browser: Chrome, *, online: bool) -> None:
    conditions = {"offline": not online, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


def test_back_and_forward_lead_to_the_table_as_it_is(browser: Chrome, tmp_path: Path) -> None:
    with serving(tmp_path, "you", "first", "--ruleset", write_short(tmp_path)) as server:
        browser.get("about:blank")
        sit_down(browser, server)
        wait_until(browser, lambda: is_my_turn(browser))
        laid, address = read_table(browser), browser.current_url
        browser.get("data:text/html,elsewhere")
        browser.back()
        wait_until(browser, lambda: browser.current_url == address and is_my_turn(browser))
        assert read_table(browser) == laid

        browser.back()
        wait_until(browser, lambda: browser.current_url == "about:blank")
        browser.forward()
        wait_until(browser, lambda: browser.current_url == address and is_my_turn(browser))
        assert read_table(browser) == laid
        play_by(browser, choose_by_keys, once=True)
        browser.get("about:blank")


def test_two_browsers_play_each_other_and_a_third_watches(
    browser: Chrome, other_chromium: Chrome, tmp_path: Path
) -> None:
    with serving(tmp_path, "you", "you", "--invite", "--from", write_near_end(tmp_path, "standard")) as server:
        sit_down(browser, server, 0)
        sit_down(other_chromium, server, 1)
        watcher = Client(server, server.addresses[1])
        assert watcher.base == "/watch"
        assert "player 2" in find(browser, "#people").text
        with ThreadPoolExecutor() as pool:
            clicks = [*pool.map(click_through, (browser, other_chromium))]
        assert all(clicks)
        assert read_table(browser)
        assert find(browser, "#ending").text
        assert find(other_chromium, "#ending").text
        browser.get("about:blank")
        other_chromium.get("about:blank")
