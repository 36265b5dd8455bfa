"""Every kind of page, as axe-core and the console judge it: from the disk and served, light, dark, wide, phone.

axe-core is a program for tests alone; nothing of it is on the site.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice, product
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest
from selenium.webdriver import Chrome

from malice import site_pages
from malice.referee.records import Key
from malice.referee.rulesets import load_ruleset
from malice.site_pages.server import SiteServer
from malice.site_pages.text import make_slug
from malice.tournaments.league.publication import Publication
from tests.browser_window import at_a_desk, find, judge, look_like, wait_until
from tests.opinions import LastAction
from tests.site_files import write_lone
from tests.site_league import HOSTILE, LABELS, League, play

pytestmark = [pytest.mark.browser, pytest.mark.npm, pytest.mark.slow]

RULESETS = ("standard", "skipbo-short")
CRASHED, ENDED = "0.0.0.0", "0.10.0.1"
"""A game that ended by a verdict, and one that was played out."""
PAGES = (
    "index.html",
    f"bots/{make_slug(HOSTILE)}.html",
    "games.html",
    f"head-to-head.html#bot={quote(LABELS[2], safe='')}&ruleset={RULESETS[1]}",
    "games.html#view=deals",
    "rules/skipbo-short.html",
    "docs/protocol.html",
    f"replay.html#{CRASHED}",
    f"replay.html#{ENDED}/12?mirror=0",
    f"replay.html#{CRASHED}/!0",
    "replay.html#9.9.9.9",
)
LOOKS = (("light", False), ("dark", True), ("dark", False), ("light", True))
"""Schemes, and whether a page is on a phone."""
# Logs and tables have many like rows: some of them are enough.
TRIM = """
for (const details of document.querySelectorAll("details")) details.open = true;
for (const row of document.querySelectorAll("#log ol:nth-of-type(n + 4), tbody tr:nth-child(n + 6)")) row.remove();
"""
LONE = f"game.html#{ENDED}/12"
"""A game as one file: for the disk alone, since the server lets no script run that lies in a page."""
ASKED = "return [...performance.getEntriesByType('resource')].map(({ name }) => name)"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two groups that never met under two rulesets, one of them suspended, one withdrawn, and verdicts."""
    labels = ("W" * 100, HOSTILE, *LABELS[1:4])
    league = League(labels, deals=0, planned=2, rulesets=RULESETS)
    tables = {(0, 1): 0, (2, 3): 7}
    for number, (name, (pair, table), rotation) in enumerate(product(RULESETS, tables.items(), (0, 1))):
        own = [labels[pair[(seat + rotation) % 2]] for seat in (0, 1)]
        key = Key(0, table + 10 * RULESETS.index(name), 0, rotation)
        fault = (12, "protocol") if name == "standard" else None
        league.add(number, name, play(load_ruleset(name).rules, (own[0], own[1]), key, fault))
    league.suspend(labels[1])
    league.decide(labels[4], "withdrawn", "too slow")
    folder = tmp_path_factory.mktemp("site")
    writer = site_pages.SiteWriter(league, folder)
    writer.render(site_pages.SiteOptions(publication=Publication(evidence=None), opinions=LastAction(league, fault=1)))
    write_lone(league, Key.parse(ENDED), folder / "game.html", Publication(evidence=None))
    return folder


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


@pytest.fixture
def served(out: Path) -> Iterator[str]:
    """The address of the site on a server that allows nothing but the site."""
    with SiteServer(out, "127.0.0.1", 0) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.url.rstrip("/")
        server.shutdown()
        thread.join()


def open_page(browser: Chrome, base: str, page: str) -> None:
    browser.get("about:blank")
    browser.get(f"{base}/{page}")
    if page.startswith(("replay", "game.html")):
        shown = "#message" if "9.9.9.9" in page else "#mirror .stage" if "mirror" in page else "#replay"
        wait_until(browser, lambda: find(browser, shown).is_displayed())
    if "mirror" in page:
        browser.execute_script("malice.keys['.']()")
        assert find(browser, "#advice").get_property("textContent"), "a second opinion beside the mirror"
    if page.startswith("head"):
        wait_until(browser, lambda: find(browser, "#meeting .ranking").is_displayed())
    if "view=deals" in page:
        wait_until(browser, lambda: find(browser, "#lead-deals").is_displayed())


def list_strange_requests(browser: Chrome, base: str) -> list[str]:
    """Return every address beyond the folder that the page asked for."""
    asked: list[str] = browser.execute_script(ASKED)
    return [address for address in asked if not address.startswith(f"{base}/")]


@pytest.mark.parametrize("looks", [1, pytest.param(len(LOOKS), marks=pytest.mark.whole)])
def test_no_kind_of_page_shuts_anybody_out(browser: Chrome, axe: str, out: Path, served: str, looks: int) -> None:
    """Each page is judged in so many looks, and each look is that of some pages."""
    addresses = [*((served, page) for page in PAGES), (out.as_uri(), LONE)]
    complaints = {}
    every = cycle(LOOKS)
    for base, page in addresses:
        open_page(browser, base, page)
        assert list_strange_requests(browser, base) == []
        browser.execute_script(TRIM + axe)
        for scheme, phone in islice(every, looks):
            look_like(browser, scheme, phone=phone)
            complaints[page, scheme, phone] = list(judge(browser))

    assert {look: told for look, told in complaints.items() if told} == {}


@pytest.mark.whole
def test_every_kind_of_page_opens_from_the_disk(browser: Chrome, out: Path) -> None:
    for page in PAGES:
        open_page(browser, out.as_uri(), page)

        assert find(browser, "h1").is_displayed()
        assert list_strange_requests(browser, out.as_uri()) == []
