"""The section of the front page that shows scores without luck."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from malice import site_pages
from malice.referee.games.spite import luck
from malice.referee.replay import find_luck
from malice.tournaments.league import comparison
from malice.tournaments.league.comparison import Comparison, compare_entries
from malice.tournaments.league.store import Store
from malice.tournaments.ratings.comparison import Adjustment
from tests.command_line import malice
from tests.leagues import play_small_league
from tests.site_files import Page
from tests.site_league import HOSTILE

SHARPER = Adjustment(0.75, 0.6, 1.02, 191.0, 70.0, None, 1.3, 1.2, 1.4)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return play_small_league(tmp_path, deals=2)


def render(db: Path, out: Path, sharper: tuple[Comparison, ...] | None) -> Page:
    with Store(db) as store:
        site_pages.render(store, out, site_pages.SiteOptions(sharper=sharper))
    return Page(out / "index.html")


def compare(db: Path, new: str, base: str) -> Comparison:
    with Store(db) as store:
        (found,) = compare_entries(store, new, base)
    return replace(found, adjusted=SHARPER)


@pytest.mark.usefixtures("measured")
def test_the_command_line_shows_pairs_with_luck_and_without(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "FEWEST", 1)
    monkeypatch.setattr(comparison, "adjust_scores", lambda *_: SHARPER)
    out = tmp_path / "out"
    advantage = compare(db, "greedy", "uniform").advantage

    for _ in range(2):
        assert malice("site", db, "--out", out, "--luck").exit_code == 0
        page, files = Page(out / "index.html"), {path: path.stat().st_mtime_ns for path in out.rglob("*.html")}
    assert malice("site", db, "--out", out, "--luck").exit_code == 0

    (row,) = [row for row in page.rows if row[:2] == ["greedy", "uniform"]]
    assert row[2] == "2"
    assert row[6].startswith(f"{100 * (advantage.score or 0):.1f} %")
    assert [row[5], row[7], row[8]] == ["+191≥ +70", "75.0 %60.0 … 102.0", "1.301.20 … 1.40"]
    assert "docs/comparing.html#without-luck" in page.links
    assert "without-luck" in Page(out / "docs/comparing.html").ids
    with Store(db) as store:
        (ruleset,) = store.rulesets()
    assert (found := find_luck(ruleset))
    assert f"what luck is: {found.hash[:8]}" in " ".join(page.words.split())
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.html")} == files, "the same bytes are not written"


@pytest.mark.usefixtures("measured")
def test_a_pair_that_it_does_not_help_is_left_out(db: Path, tmp_path: Path) -> None:
    page = render(db, tmp_path / "out", ())

    assert "No pair of bots surely gains by this so far." in page.words
    assert not [row for row in page.rows if row[:2] == ["Bot", "Against"]]


@pytest.mark.usefixtures("measured")
def test_a_label_makes_no_markup_and_a_stopped_test_is_told(db: Path, tmp_path: Path) -> None:
    found = compare(db, "greedy", "uniform")
    hostile = replace(
        found, new=replace(found.new, label=HOSTILE), base=replace(found.base, label=HOSTILE), exact=False
    )

    page = render(db, tmp_path / "out", (hostile,))

    assert "<img" in page.words
    assert "img" not in page.tags
    assert "so they are not 95 % intervals" in " ".join(page.words.split())


def test_nothing_is_said_unless_somebody_asks_and_luck_can_be_measured(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharper = (compare(db, "greedy", "uniform"),)

    assert "Without luck" not in render(db, tmp_path / "out", sharper).words, "nothing was fitted for these rules"
    monkeypatch.setattr(luck, "find_luck", lambda *_: pytest.fail("nobody asked"))
    assert "Without luck" not in render(db, tmp_path / "out", None).words
