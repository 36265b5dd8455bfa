"""Every kind of page, as axe-core and the console judge it: from the disk and served, light, dark, wide, phone.

axe-core is a program for tests alone; nothing of it is on the site.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import WebDriverWait

import site_pages
from referee.records import Key
from referee.rulesets import load_ruleset
from site_pages.server import SiteServer
from site_pages.text import make_slug
from tests.advice import LastAction
from tests.test_browser_window import as_a_phone, at_a_desk, find
from tests.test_site_league import HOSTILE, LABELS, League, play
from tournaments.league.publication import Publication

pytestmark = [pytest.mark.browser, pytest.mark.npm, pytest.mark.slow]

AXE = "axe-core@4.14.1"
RULESETS = ("standard", "skipbo-short")
CRASHED, ENDED = "0.0.0.0", "0.10.0.1"
"""A game that ended by a verdict, and one that was played out."""
PAGES = (
    "index.html",
    f"bots/{make_slug(HOSTILE)}.html",
    "games.html",
    "games.html#view=deals",
    "rules/skipbo-short.html",
    "docs/protocol.html",
    f"replay.html#{CRASHED}",
    f"replay.html#{ENDED}/12",
    f"replay.html#{CRASHED}/!0",
    "replay.html#9.9.9.9",
)
# The log of a game is a list of many like rows: some of them are enough.
JUDGE = """
const [done] = [...arguments].slice(-1);
for (const details of document.querySelectorAll("details")) details.open = true;
axe.run({ exclude: [["#log ol:nth-of-type(n + 4)"]] }, { preload: false, resultTypes: ["violations"] }).then(
  ({ violations }) => done(violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => [impact, id, target.join(" "), failureSummary]))),
  (error) => done([["critical", "axe", "", String(error)]]),
);
"""
ASKED = "return [...performance.getEntriesByType('resource')].map(({ name }) => name)"


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core."""
    folder = tmp_path_factory.mktemp("axe")
    command = ["npm", "pack", "--silent", "--prefer-offline", AXE]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=120)
    with tarfile.open(next(folder.glob("*.tgz"))) as package:
        script = package.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two groups that never met under two rulesets, one of them suspended, one withdrawn, and verdicts."""
    labels = (LABELS[0], HOSTILE, *LABELS[1:4])
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
    writer.render(publication=Publication(evidence=None), advice=LastAction(league, fault=1))
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
    if page.startswith("replay"):
        shown = "#message" if "9.9.9.9" in page else "#replay"
        WebDriverWait(browser, 10, 0.05).until(lambda _: find(browser, shown).is_displayed())
    if "view=deals" in page:
        WebDriverWait(browser, 10, 0.05).until(lambda _: find(browser, "#lead-deals").is_displayed())


def judge(browser: Chrome, axe: str, base: str) -> Iterator[str]:
    """Yield the complaints of axe-core, and every request beyond the folder."""
    browser.execute_script(axe)
    for impact, *told in browser.execute_async_script(JUDGE):
        if impact in ("moderate", "serious", "critical"):
            yield " ".join(told)
    if not find(browser, "h1").is_displayed():
        yield "no heading"
    asked: list[str] = browser.execute_script(ASKED)
    yield from (f"asks for {address}" for address in asked if not address.startswith(f"{base}/"))


def test_no_kind_of_page_shuts_anybody_out(browser: Chrome, axe: str, out: Path, served: str) -> None:
    def look(base: str, scheme: str) -> dict[str, Any]:
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        complaints = {}
        for page in PAGES:
            open_page(browser, base, page)
            complaints[page] = list(judge(browser, axe, base))
        return {page: told for page, told in complaints.items() if told}

    assert look(served, "light") == {}
    as_a_phone(browser)
    assert look(out.as_uri(), "dark") == {}
