"""A game as one file: what lies in it, what may run in it, and that it works alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from malice.referee.records import Key
from malice.tournaments.league.publication import Publication
from tests.browser_window import at_a_desk, current, find, press, visit, wait_until
from tests.games.conftest import BIDDING, STRANGE
from tests.games.installed import installed, write_package
from tests.indiscretions import SECRETS, Indiscreet, find_words, read_site
from tests.site_files import write_lone
from tests.site_league import HOSTILE, LABELS, League

MARKUP = "</script><script>alert(1)</script><!--<script></style>"
"""What a file of a family may hold and must not end or begin an element."""


class Elements(HTMLParser):
    """The contents of scripts and styles, the policy, and what a page links to or loads."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.contents: list[str] = []
        self.policy = ""
        self.addresses: set[str] = set()
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self._inside = tag in ("script", "style")
        if told.get("http-equiv") == "Content-Security-Policy":
            self.policy = told["content"]
        self.addresses |= {told[name] for name in ("href", "src", "action", "data-site") if told.get(name)}

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.contents.append(data)


def test_only_the_scripts_and_styles_that_it_was_made_with_may_run(tmp_path: Path) -> None:
    page = Elements(write_lone(League(LABELS[3:], deals=1), Key(0, 0, 0, 1), tmp_path / "game.html", Publication()))

    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in page.contents]
    directives = dict(directive.split(" ", 1) for directive in page.policy.split("; "))
    allowed = f"{directives['style-src']} {directives['script-src']}".split(" ")
    assert allowed == [f"'sha256-{each}'" for each in hashes]
    assert (directives["default-src"], directives["img-src"]) == ("'none'", "data:")
    assert {address for address in page.addresses if not address.startswith(("#", "data:"))} == set()


def test_it_tells_of_no_other_bot_nothing_of_the_machine_and_links_where_it_is_told(tmp_path: Path) -> None:
    out = tmp_path / "alone"
    out.mkdir()
    write_lone(League(("ann", "bob", "cassandra"), deals=1), Key(0, 0, 0, 0), out / "game.html", Publication())
    whole = read_site(out)
    page = write_lone(Indiscreet(), Key(0, 0, 1, 0), out / "game.html", Publication(user="mallory"), "https://a.org/x/")

    assert find_words(whole, ("ann", "bob", "cassandra")) == ["ann", "bob"]
    assert find_words(read_site(out), SECRETS) == []
    assert "https://a.org/x/replay.html#0.0.1.0" in Elements(page).addresses


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


@pytest.mark.slow
def test_it_works_alone_and_asks_nobody(browser: Chrome, tmp_path: Path) -> None:
    league = League((LABELS[0], HOSTILE), deals=1, faulty=2)
    write_lone(league, Key(0, 0, 0, 0), tmp_path / "game.html", Publication())
    record = next(league.records())

    visit(browser, tmp_path, "game.html#0.0.0.0/20?view=1")
    wait_until(browser, lambda: find(browser, "#replay").is_displayed())
    opened = current(browser)
    press(browser, "m", "]", "\ue010")  # no mirror, a key moment, End

    assert opened == 21
    assert current(browser) == len(record.actions)
    assert browser.find_elements(By.CSS_SELECTOR, "#table .seat .card")
    assert find(browser, "#table .seat").value_of_css_property("border-radius") != "0px", "the styles of its family"
    assert find(browser, "#players .marked").text == LABELS[0]
    assert find(browser, "#race svg .line").is_displayed()
    assert not find(browser, "#swap").is_displayed()
    assert browser.execute_script("return performance.getEntriesByType('resource').map(({name}) => name)") == []
    links = browser.execute_script(
        "return [...document.querySelectorAll('[href]')].map((one) => one.getAttribute('href'))"
    )
    assert [link for link in links if not link.startswith(("#", "data:image/svg"))] == []


@pytest.mark.slow
def test_what_a_family_brings_stays_text(browser: Chrome, tmp_path: Path) -> None:
    write_package(BIDDING, tmp_path / "installed")
    page = tmp_path / "installed" / "malice_bidding" / "page"
    (page / "replay.js").write_text(f"{STRANGE}\n// {MARKUP}\nconst own = '{MARKUP}';\r\n", "utf-8")
    (page / "words.json").write_text(f'{{"title": "Rounds {MARKUP}"}}', "utf-8")
    (page / "replay.css").write_text(f"#drawn {{ opacity: .5 }}\n/* {MARKUP} */", "utf-8")
    with installed(tmp_path / "installed"):
        league = League(("ann", "bob", "cid"), deals=1, rulesets=("bidding",), seats=3)
        write_lone(league, Key(0, 0, 0, 0), tmp_path / "game.html", Publication())

    visit(browser, tmp_path, "game.html")
    wait_until(browser, lambda: find(browser, "#replay").is_displayed())

    assert find(browser, "#drawn").get_attribute("textContent") == f"Rounds {MARKUP} 0"
    assert find(browser, "#drawn").value_of_css_property("opacity") == "0.5"
