"""The page of each ruleset: what it says, and who links to it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from malice import site_pages
from malice.referee import rules_text
from malice.referee import rulesets as ruleset
from malice.referee.games.spite.parameters import Parameters
from malice.referee.rulesets import Ruleset
from malice.site_pages import text
from malice.tournaments.sanitizer import sanitize
from tests.site_files import Page, data, pages
from tests.site_league import HOSTILE, LABELS, League


def own(name: str = "mine") -> Ruleset:
    """A ruleset out of a user's file."""
    rules = msgspec.structs.replace(Parameters(), side_visible="top", payoff_size=7)
    return Ruleset(name, "spite", f"Squared side stacks {HOSTILE}", "my own <idea>", rules)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a league with a ruleset that ships and one of the user's."""
    folder = tmp_path_factory.mktemp("site")
    site_pages.render(League(LABELS[:2], deals=1, rulesets=("skipbo-short", own())), folder)
    return folder


def test_every_ruleset_has_a_page_and_no_other_has(out: Path) -> None:
    assert sorted(path.name for path in (out / "rules").iterdir()) == ["mine.html", "skipbo-short.html"]


@pytest.mark.parametrize("name", ["skipbo-short", "mine"])
def test_standings_games_bots_and_replays_lead_to_the_rules(out: Path, name: str) -> None:
    assert f"rules/{name}.html" in Page(out / "index.html").links
    assert f"rules/{name}.html" in Page(out / "games.html").links
    assert f"../rules/{name}.html" in Page(out / "bots/greedy.html").links
    assert data(out / "data/games-0.js")["rulesets"][name]["page"] == name


def test_a_ruleset_page_says_what_rules_show_says(out: Path) -> None:
    told = rules_text.make_ruleset_text(ruleset.load_ruleset("skipbo-short"))
    page = Page(out / "rules/skipbo-short.html")
    words = " ".join(page.words.split())

    assert told.about in words
    assert told.source in words
    for line in told.seats:
        assert [str(line.seats), *line.figures.values()] in page.rows
    for each in told.parameters:
        assert f"{each.name} = {each.value}" in words
        assert each.prose in words
        assert each.name in page.ids


def test_what_differs_from_standard_is_marked(out: Path) -> None:
    told = rules_text.make_ruleset_text(ruleset.load_ruleset("skipbo-short"))
    differing = [each for each in told.parameters if each.differs]

    html = (out / "rules/skipbo-short.html").read_text()
    words = Page(out / "rules/skipbo-short.html").words

    assert html.count('class="differs"') == len(differing) > 0
    assert html.count('class="same"') == len(told.parameters) - len(differing)
    assert f"{len(differing)} of {len(told.parameters)} parameters differ" in words
    assert all(f"standard: {each.standard}" in words for each in differing)


def test_standard_differs_in_nothing_from_itself(tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:2], deals=1), tmp_path)

    page = Page(tmp_path / "rules/standard.html")
    assert "All have the values of standard" in page.words
    assert "input" not in page.tags


def test_another_game_is_compared_with_its_own_defaults(tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:2], deals=1, rulesets=("double-solitaire",), seats=2), tmp_path)

    assert "All have the values of the defaults" in Page(tmp_path / "rules/double-solitaire.html").words


def test_the_text_of_a_users_ruleset_is_harmless(out: Path) -> None:
    page = Page(out / "rules/mine.html")

    assert "img" not in page.tags
    assert sanitize(HOSTILE) in page.words
    assert "my own <idea>" in page.words


def test_a_strange_name_makes_a_safe_file(tmp_path: Path) -> None:
    name = "Große <Runde>/.."
    site_pages.render(League(LABELS[:2], deals=1, rulesets=(own(name),)), tmp_path)

    [path] = (tmp_path / "rules").iterdir()
    assert path.name == f"{text.make_slug(name)}.html"
    assert name in Page(path).words


@pytest.mark.slow
def test_the_page_of_a_ruleset_that_is_gone_is_taken_away(tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:2], deals=0, rulesets=("standard", "skipbo")), tmp_path)

    site_pages.render(League(LABELS[:2], deals=0), tmp_path)

    assert [path.name for path in (tmp_path / "rules").iterdir()] == ["standard.html"]


@pytest.mark.slow
def test_every_ruleset_that_ships_has_a_page(tmp_path: Path) -> None:
    players = tuple(f"bot{number}" for number in range(6))
    site_pages.render(League(players, deals=0, rulesets=ruleset.list_rulesets()), tmp_path)

    found = pages(tmp_path / "rules")
    assert sorted(found) == sorted(f"{name}.html" for name in ruleset.list_rulesets())
    assert all(ruleset.load_ruleset(name).about in found[f"{name}.html"].words for name in ruleset.list_rulesets())
