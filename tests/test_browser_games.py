"""Replays of games that bring little or no page, and of games in which several seats act at once."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from malice import site_pages
from malice.referee.records import Record
from malice.referee.replay import RecordedAsk, find_rules, replay_asks
from tests.browser_window import as_a_phone, at_a_desk, current, find, press, replay, wait_until
from tests.games.conftest import BIDDING, STRANGE
from tests.games.installed import installed, write_package
from tests.site_league import HOSTILE, League

pytestmark = [pytest.mark.browser, pytest.mark.slow]

END = "\ue010"
LABELS = ("ann", "bob", HOSTILE)


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


Render = Callable[..., League]


@pytest.fixture
def render(tmp_path: Path) -> Iterator[Render]:
    """Render a league of three bots that bid at the same time; their game has these page files and no others."""
    write_package(BIDDING, tmp_path / "installed")

    def make(faulty: int = 0, **page: str) -> League:
        folder = tmp_path / "installed" / "malice_bidding" / "page"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, content in page.items():
            (folder / name.replace("_", ".")).write_text(content, "utf-8")
        league = League(LABELS, deals=1, rulesets=("bidding",), seats=3, faulty=faulty)
        site_pages.render(league, tmp_path)
        return league

    with installed(tmp_path / "installed"):
        yield make


def list_asks(record: Record) -> list[RecordedAsk]:
    return list(replay_asks(record))[1:]


def plain(text: str) -> str:
    """Return a text without the marks that isolate names."""
    return text.replace("\u2068", "").replace("\u2069", "")


def test_slider_log_and_address_go_by_asks(browser: Chrome, tmp_path: Path, render: Render) -> None:
    record = next(render().records())
    asks = list_asks(record)
    assert len(asks) < len(record.actions)

    place = next(place for place, ask in enumerate(asks) if len(ask.moves) > 1)
    first = asks[place].first
    last = first + len(asks[place].moves) - 1
    replay(browser, tmp_path, f"{record.key}/{last}")

    assert find(browser, "#slider").get_attribute("max") == str(len(asks))
    assert len(browser.find_elements(By.CSS_SELECTOR, "#log a[data-step]")) == 1 + len(asks)
    assert current(browser) == place + 1
    assert find(browser, "#raw").text == " · ".join(action for _, action in asks[place].moves)
    assert f"{first}–{last} / {len(record.actions) - 1}" in find(browser, "#where").text
    press(browser, END)
    assert current(browser) == len(asks)
    assert find(browser, "#ending").is_displayed()


def test_a_game_without_a_page_shows_its_events_and_says_them(browser: Chrome, tmp_path: Path, render: Render) -> None:
    record = next(render().records())
    replay(browser, tmp_path, f"{record.key}/0")

    events = [line.text for line in browser.find_elements(By.CSS_SELECTOR, "#table .plain li")]

    assert len(events) == len(list_asks(record)[0].events)
    assert '"type":"bids"' in events[0]
    said = plain(find(browser, "#live").text)
    assert all(f"{LABELS[seat]}: {action}" in said for seat, action in list_asks(record)[0].moves if seat < 2)
    assert "bids: bids [" in said
    assert not find(browser, "#view").is_displayed(), "nobody says what a seat may see"
    assert not (tmp_path / "static/games").exists(), "a site has the pages of its own games only"
    assert not browser.find_elements(By.CSS_SELECTOR, "#replay img")


def test_a_game_without_a_page_fits_a_phone(browser: Chrome, tmp_path: Path, render: Render) -> None:
    as_a_phone(browser)

    replay(browser, tmp_path, f"{next(render().records()).key}/2")

    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360


def test_a_verdict_is_found_in_the_ask_that_it_ended(browser: Chrome, tmp_path: Path, render: Render) -> None:
    record = next(record for record in render(faulty=2).records() if record.faults)
    [fault] = record.faults
    asks = list_asks(record)
    number = next(place for place, ask in enumerate(asks) if (fault.seat, f"!{fault.code}") in ask.moves)

    replay(browser, tmp_path, f"{record.key}/!{fault.seat}")

    assert current(browser) == number + 1
    assert f"!{fault.code}" in find(browser, "#raw").text
    assert f"is out of the game: {fault.code}" in find(browser, "#live").text
    assert browser.find_elements(By.CSS_SELECTOR, "#log a[aria-current] .move.bad") or len(asks[number].moves) == 1


MASK = """
malice.families.bidding = {
  mask(event, seat) {
    if (event.type === "drew" && event.seat !== seat) return null;
    if (event.type !== "deal") return event;
    return { ...event, hands: event.hands.map((hand, owner) => (owner === seat ? hand : null)) };
  },
};
"""


def test_the_view_of_a_seat_holds_what_its_family_lets_it_see(browser: Chrome, tmp_path: Path, render: Render) -> None:
    record = next(render(replay_js=MASK).records())
    rules, first = find_rules(record), list_asks(record)[0]
    replay(browser, tmp_path, str(record.key))

    Select(find(browser, "#view")).select_by_value("1")

    assert '"hands":[null,[' in find(browser, "#table").text
    press(browser, "\ue014")  # right: the first ask
    shown = find(browser, "#raw").text.split(" · ")
    assert shown == [action if seat == 1 else "?" for seat, action in first.moves], "their answers came unseen"
    hidden = [event for event in first.events if rules.mask(event, 1) is None]
    assert hidden
    assert len(browser.find_elements(By.CSS_SELECTOR, ".plain li")) == len(first.events) - len(hidden)


def test_what_a_page_says_is_text_and_its_data_and_styles_are_there(
    browser: Chrome, tmp_path: Path, render: Render
) -> None:
    words = '{"title": "Rounds \\u2028 </script>"}'
    record = next(render(replay_js=STRANGE, words_json=words, replay_css="#drawn { opacity: .5 }").records())
    asks = list_asks(record)
    rounds = sum(type(event).__name__ == "Bids" for ask in asks for event in ask.events)

    replay(browser, tmp_path, f"{record.key}/{asks[-1].first}")

    assert rounds
    assert find(browser, "#drawn").get_attribute("textContent") == f"Rounds \u2028 </script> {rounds}"
    assert find(browser, "#drawn").value_of_css_property("opacity") == "0.5"
    assert '<b id="markup">says</b> bids' in find(browser, "#live").text
    assert not browser.find_elements(By.CSS_SELECTOR, "#markup, #replay img")


def test_a_page_that_fails_gives_way_and_says_so(browser: Chrome, tmp_path: Path, render: Render) -> None:
    failing = 'malice.families.bidding = { draw() { throw new Error("no table today"); } };'
    record = next(render(replay_js=failing).records())

    replay(browser, tmp_path, str(record.key))

    assert "no table today" in find(browser, "#message").text
    assert browser.find_elements(By.CSS_SELECTOR, "#table .plain li")
    assert ["no table today" in entry["message"] for entry in browser.get_log("browser")] == [True]


POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:"


class Guarded(SimpleHTTPRequestHandler):
    """Serves a site under a policy that lets no page run or load what is not a file of the site."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder under the policy; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Guarded, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_replays_work_where_only_files_of_the_site_may_run(browser: Chrome, tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=1)
    site_pages.render(league, tmp_path)

    with serve(tmp_path) as address:
        browser.get(f"{address}/replay.html#0.0.0.0/20")
        wait_until(browser, lambda: find(browser, "#replay").is_displayed())
        press(browser, "\ue014")  # right: a card flies

        assert browser.find_elements(By.CSS_SELECTOR, "#table .seat .card")
        assert not find(browser, "#message").is_displayed()
        browser.get("about:blank")
