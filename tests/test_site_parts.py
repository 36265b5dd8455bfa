"""What a site shows of a league that lives: several parts, other tournaments, entries that left."""

from __future__ import annotations

from pathlib import Path

import pytest

from malice import site_pages
from malice.site_pages import text
from malice.tournaments.league.journal import State
from tests.site_files import Page, contents, data
from tests.site_league import LABELS, League

THREE = LABELS[:3]


def test_every_part_shows_its_commit_and_a_closed_one_its_seed(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=1, parts=3, planned=2)
    league.keep(5)
    tournament = league.tournament()

    site_pages.render(league, tmp_path)

    words = Page(tmp_path / "index.html").words
    seeds = [tournament.seeds(part).seed.hex() for part in range(3)]
    assert all(part.commit in words for part in tournament.parts)
    assert [seed in words for seed in seeds] == [True, True, False]
    assert tournament.secret.hex() not in words
    assert "Part 1: 1 more deals" in " ".join(words.split())


def test_pages_do_not_depend_on_other_tournaments_of_the_league(tmp_path: Path) -> None:
    site_pages.render(League(THREE, deals=1, parts=2, faulty=5), tmp_path / "alone")
    site_pages.render(League(THREE, deals=1, parts=2, faulty=5, others=390), tmp_path / "among")

    assert contents(tmp_path / "among") == contents(tmp_path / "alone")
    assert [path.name for path in (tmp_path / "among/data").glob("list-*")] == ["list-0.js"]
    assert data(tmp_path / "among/data/games-0.js")["columns"]["number"] == list(range(12))


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("withdrawn", "withdrawn (it moved) and plays no more"),
        ("disqualified", "disqualified (it moved) and plays no more"),
    ],
)
def test_an_entry_that_left_is_marked_and_its_page_says_why(tmp_path: Path, state: State, sentence: str) -> None:
    league = League(THREE, deals=1)
    league.decide("careful", state, "it moved")

    site_pages.render(league, tmp_path)

    assert find_marked(tmp_path, state) == ["careful"]
    assert sentence in " ".join(Page(tmp_path / "index.html").words.split())
    assert sentence in " ".join(Page(tmp_path / "bots/careful.html").words.split())


def test_games_of_a_disqualified_entry_stay_on_the_site_and_count_for_nobody(tmp_path: Path) -> None:
    league = League(THREE, deals=1)
    league.decide("careful", "disqualified")

    rendered = site_pages.render(league, tmp_path)

    ranks = {row[1].split()[0]: row[0] for row in Page(tmp_path / "index.html").rows if len(row) > 8}
    assert rendered.games == 6
    assert ranks["careful"] == "–"
    assert "2 games count" in Page(tmp_path / "index.html").words


def test_a_suspended_and_an_absent_entry_are_marked(tmp_path: Path) -> None:
    league = League(THREE, deals=1)
    league.suspend("careful")
    league.miss("greedy#2")

    site_pages.render(league, tmp_path)

    slug = text.make_slug("greedy#2")
    assert find_marked(tmp_path, "suspended") == ["careful"]
    assert find_marked(tmp_path, "absent") == ["greedy#2"]
    words = Page(tmp_path / "bots/careful.html").words
    assert "its other games are not played until the organiser lets it play again" in words
    assert "malice entry" not in words
    assert "its open games wait until it is mended" in Page(tmp_path / f"bots/{slug}.html").words


def find_marked(folder: Path, state: str) -> list[str]:
    """Return the bots that the ranking marks with a word."""
    rows = [row for row in Page(folder / "index.html").rows if len(row) > 8]
    return [row[1].split()[0] for row in rows if row[1].split()[1:] == [state]]


def test_a_bot_in_a_later_version_says_so(tmp_path: Path) -> None:
    league = League(THREE, deals=1)
    league.renew("careful")

    site_pages.render(league, tmp_path)

    words = Page(tmp_path / "bots/careful.html").words
    assert "2 in this league; it calls itself 1.0; the games of earlier versions" in words
    assert "2 in this league" not in Page(tmp_path / "bots/greedy.html").words
    assert Page(tmp_path / "index.html").words.count("version 2") == 1
