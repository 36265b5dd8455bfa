"""A reader that remembers, and a site that one writes again and again: both are those of who reads everything anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from malice import site_pages
from malice.tournaments.league.cache import CachingReader
from malice.tournaments.league.journal import StateChanged
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.store import Store
from tests.growing_leagues import GrowingLeague
from tests.leagues import change
from tests.site_files import contents

HIDE = """
    CREATE TABLE hidden_games AS SELECT * FROM games WHERE number IN (1, 4);
    CREATE TABLE hidden_records AS SELECT * FROM records WHERE number IN (1, 4);
    DELETE FROM records WHERE number IN (1, 4);
    DELETE FROM games WHERE number IN (1, 4);
"""
SHOW = """
    INSERT INTO games SELECT * FROM hidden_games;
    INSERT INTO records SELECT * FROM hidden_records;
    DROP TABLE hidden_games;
    DROP TABLE hidden_records;
"""


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GrowingLeague:
    """A league of three bots; games in the middle of the schedule are not finished yet."""
    league = GrowingLeague(tmp_path / "course.db", monkeypatch)
    league.play({"ann": 1, "bob": 1, "cem": 1})
    change(league.path, HIDE)
    return league


def tell(reader: LeagueReader) -> object:
    """Return what follows from the games."""
    contents, counted_games = reader.read(), reader.counted_games()
    return contents.games, counted_games.left_out, [game.key for game in counted_games.counted], contents.suspended


def test_it_tells_what_a_new_reader_tells_and_reads_no_game_twice(league: GrowingLeague) -> None:
    with Store(league.path) as store:
        remembering = CachingReader(store)
        assert tell(remembering) == tell(store)
        change(league.path, SHOW)
        assert tell(remembering) == tell(store)
        league.play({"ann": 2, "bob": 1, "cem": 1, "dan": 1}, deals=2)
        found = tell(remembering)
        assert found == tell(store)

        change(league.path, "UPDATE games SET summary = ''")

        assert tell(remembering) == found


def test_a_site_written_again_has_the_bytes_of_one_written_anew(league: GrowingLeague, tmp_path: Path) -> None:
    def disqualify() -> None:
        with Store(league.path, create=True) as store:
            store.append(league.name, [StateChanged("bob", "disqualified", "")])

    changes = (
        lambda: None,
        lambda: change(league.path, SHOW),
        lambda: league.play({"ann": 1, "bob": 1, "cem": 1, "dan": 1}),
        lambda: league.play({"ann": 2, "bob": 1, "cem": 1, "dan": 1}, deals=2),
        disqualify,
    )
    with Store(league.path) as store:
        writer = site_pages.SiteWriter(CachingReader(store), tmp_path / "again")
        for number, alter in enumerate(changes):
            alter()
            rendered = writer.render()
            assert rendered.written
            assert writer.render().written == 0

            site_pages.render(store, tmp_path / f"anew-{number}")
            assert contents(tmp_path / "again") == contents(tmp_path / f"anew-{number}")
