"""A page that is open while the games go on: it tells how they go, follows them, and marks who moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from malice.site_pages.following import Follower
from malice.site_pages.server import SiteServer
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.store import Store
from tests.browser_window import at_a_desk, find
from tests.growing_leagues import GrowingLeague
from tests.processes import PATIENCE_S, POLL_S
from tests.samples import sample

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RANKING = ".newest table.ranking"
ENTRIES = {"ana": 1, "ben": 1, "cleo": 1}


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


class Live:
    """A league that is played between two looks at it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.out = folder / "out"
        self._league = GrowingLeague(folder / "course.db", monkeypatch)
        self._deals = 0
        self._follower: Follower | None = None

    def play(self, deals: int, *, best: str) -> None:
        """Play deals in which all others play at random, leave one more deal open, and write the pages."""
        self._league.slips = {label: float(label != best) for label in ENTRIES}
        self._deals += deals
        self._league.play(ENTRIES, deals=self._deals)
        self._league.play(ENTRIES, deals=self._deals + 1, finish=False)
        if self._follower is None:
            self._follower = Follower(Store(self._league.path), self.out)
        self._follower.look(running=True)

    def rank(self) -> dict[str, int]:
        """Return the rank of each entry."""
        with Store(self._league.path) as store:
            (standings,) = compute_league_standings(store.read())
            return {row.label: row.rank for row in standings.rows if row.rank}


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    live = Live(tmp_path, monkeypatch)
    live.play(2, best="ana")
    return live


@pytest.fixture(params=sample(["server", "folder"], 2))
def address(live: Live, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of the site: in the folder, and from a server that allows nothing but the site."""
    if request.param == "folder":
        yield live.out.as_uri()
        return
    with SiteServer(live.out, "127.0.0.1", 0) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.url.rstrip("/")
        server.shutdown()
        thread.join()


def read_moment(browser: Chrome) -> str:
    return find(browser, "#moment").text


def wait(browser: Chrome) -> WebDriverWait[Chrome]:
    """Wait even while the page is loaded again and its elements are gone."""
    return WebDriverWait(browser, PATIENCE_S, POLL_S, (NoSuchElementException, StaleElementReferenceException))


def wait_for(browser: Chrome, words: str) -> None:
    wait(browser).until(lambda _: words in read_moment(browser))


def read_stamp(browser: Chrome) -> str:
    return find(browser, "#moment").get_attribute("data-stamp") or ""


def read_moves(browser: Chrome) -> dict[str, tuple[str, str]]:
    """Return by label what the arrow of a bot shows, and what it says to those who do not see it."""
    found = {}
    for row in browser.find_elements(By.CSS_SELECTOR, f"{RANKING} tbody tr"):
        for arrow in row.find_elements(By.CSS_SELECTOR, ".moved"):
            picture = arrow.find_element(By.CSS_SELECTOR, "[aria-hidden]").text
            words = arrow.find_element(By.CSS_SELECTOR, ".unseen").text
            found[row.find_element(By.CSS_SELECTOR, "th a").text] = (
                picture,
                words.removesuffix(" since you looked last"),
            )
    return found


def ask_again(browser: Chrome) -> None:
    """Let the page look for news at once, as it does every ten seconds."""
    find(browser, "#follow").click()


def test_an_open_page_follows_the_games_if_asked_to(browser: Chrome, live: Live, address: str) -> None:
    browser.get(f"{address}/index.html#standings")
    wait_for(browser, "updated ")
    before = read_stamp(browser)
    assert "12 of 18 games" in read_moment(browser)
    assert not find(browser, "#follow").is_selected()
    assert browser.find_elements(By.CSS_SELECTOR, ".moved") == []
    find(browser, f"{RANKING} thead th.bot button").click()

    ranks = live.rank()

    live.play(8, best="cleo")
    ask_again(browser)
    wait(browser).until(lambda _: read_stamp(browser) != before)
    wait_for(browser, "60 of 66 games")

    assert "games/s" in read_moment(browser)
    assert find(browser, "#follow").is_selected()
    assert browser.current_url.endswith("#standings")
    assert find(browser, f"{RANKING} thead th.bot").get_attribute("aria-sort") == "ascending"
    moves = {label: ranks[label] - rank for label, rank in live.rank().items() if rank != ranks[label]}
    assert moves
    assert read_moves(browser) == {
        label: (f"{'▲' if move > 0 else '▼'}{abs(move)}", f"{'up' if move > 0 else 'down'} {abs(move)}")
        for label, move in moves.items()
    }

    ask_again(browser)  # not following any more
    now = read_stamp(browser)
    live.play(1, best="ana")
    browser.execute_script(
        "const asked = document.createElement('script');"
        "asked.src = `data/live.js?${Math.random()}`; document.head.append(asked);"
    )
    wait_for(browser, "Show newer games")
    assert read_stamp(browser) == now
    find(browser, "#moment button").click()
    wait_for(browser, "66 of 72 games")
    assert "Show newer games" not in read_moment(browser)


def test_every_kind_of_page_tells_when_it_was_updated(browser: Chrome, live: Live, address: str) -> None:
    for page in ("games.html", "bots/ana.html", "rules/short.html", "docs/index.html", "replay.html#0.0.0.0"):
        browser.get(f"{address}/{page}")
        wait_for(browser, "updated ")

        follows = page.startswith(("games", "bots"))
        assert bool(browser.find_elements(By.CSS_SELECTOR, "#follow")) == follows, page
        assert find(browser, "#moment time").get_attribute("datetime")
