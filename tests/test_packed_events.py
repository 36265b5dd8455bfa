"""Packed events: what they hold, what is refused, and who compares them with the game."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice import site_pages
from malice.protocol.cards import CARDS, HIDDEN
from malice.referee.errors import DataError
from malice.referee.packed_events import (
    HOLE,
    TAKEN,
    PackedEvents,
    decode_events,
    decode_symbol,
    encode_events,
    encode_symbol,
    pack_asks,
)
from malice.site_pages import shards
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from tests.command_line import malice
from tests.leagues import change, play_small_league
from tests.site_files import contents, put_back

WORDS = st.lists(st.sampled_from([*CARDS[:3], HIDDEN, "4S4S", "\t", "\n", "\r", "W?", "x", '"', "é"]), max_size=6)
ASKS = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(0, 3), WORDS.map("".join)), max_size=2),
        st.lists(st.dictionaries(WORDS.map("".join), WORDS, max_size=2), max_size=2),
    ),
    max_size=9,
)
SHAPES = (f"[[],[{HOLE}]]", "[[],[]]")


def unpack(packed: PackedEvents) -> list[Any]:
    """Fill the holes in a straightforward way."""
    cards: Iterator[str] = iter([TAKEN[decode_symbol(symbol)] for symbol in packed.cards])
    return [json.loads(put_back(packed.shapes[decode_symbol(symbol)], cards)) for symbol in packed.asks]


@given(ASKS)
def test_what_is_packed_comes_out_again(asks: list[Any]) -> None:
    packed = decode_events(encode_events(pack_asks(asks)))

    assert unpack(packed) == json.loads(json.dumps(asks))
    assert len(set(packed.shapes)) == len(packed.shapes)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no zlib",
        zlib.compress(b"no msgpack"),
        encode_events(PackedEvents(SHAPES, "#", encode_symbol(0)))[:-1],
        encode_events(PackedEvents(SHAPES, "#", encode_symbol(0))) + b"more",
        encode_events(PackedEvents(SHAPES, "#%", encode_symbol(0))),
        encode_events(PackedEvents(SHAPES, "#", "")),
        encode_events(PackedEvents(SHAPES, "$", encode_symbol(0))),
        encode_events(PackedEvents(SHAPES, "#", encode_symbol(len(TAKEN)))),
    ],
)
def test_what_is_no_pack_is_refused(content: bytes) -> None:
    with pytest.raises(DataError, match=r"^packed events: "):
        decode_events(content)


# In a league

OLDER = """
    ALTER TABLE records DROP COLUMN events; DROP TABLE decisions; DROP TABLE runs;
    DELETE FROM _sqlite_migrations WHERE name IN ('m007_events', 'm008_desk')
"""
"""Makes a league one that was written before events were packed."""


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """A small league whose referee packed what happened."""
    path = play_small_league(tmp_path)
    with Store(path) as store:
        assert all(record.events for record in store.records())
        verify_league(store)
    return path


@pytest.fixture
def site(league: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """What is on its site when nothing is replayed."""
    with monkeypatch.context() as patch:
        patch.setattr(shards, "replay_contents", None)
        return render(league)


def render(league: Path) -> dict[str, bytes]:
    out = league.with_name("site")
    shutil.rmtree(out, ignore_errors=True)
    with Store(league) as store:
        site_pages.render(store, out)
    return contents(out)


@pytest.mark.parametrize("statements", [OLDER, "UPDATE records SET events = x'00'", "UPDATE records SET events = NULL"])
def test_a_game_without_packed_events_is_replayed_to_the_same_site(
    league: Path, site: dict[str, bytes], statements: str
) -> None:
    change(league, statements)

    assert render(league) == site


def test_a_league_written_before_events_were_packed_verifies_and_goes_on(league: Path) -> None:
    change(league, OLDER)
    with Store(league) as store:
        games = verify_league(store).games

    with Store(league, create=True) as store:
        assert [record.events for record in store.records()] == [b""] * games


def test_verify_names_the_game_whose_events_are_those_of_another(league: Path) -> None:
    change(league, "UPDATE records SET events = (SELECT events FROM records WHERE number = 1) WHERE number = 0")

    result = malice("verify", league)

    assert (result.exit_code, "game 0.0.0.0: the packed events are not" in result.stderr) == (5, True)


def test_verify_names_the_game_whose_events_are_damaged(league: Path) -> None:
    change(league, "UPDATE records SET events = x'00' WHERE number = 1")

    with Store(league) as store, pytest.raises(UnverifiedError, match=r"game 0\.0\.0\.1: packed events: "):
        verify_league(store)
