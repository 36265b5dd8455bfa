"""A game as text: everything that happened, and nothing that a bot could do to a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.messages import Out
from malice.referee.families import make_rules
from malice.referee.games.nuts.messages import CardsMoved, Flip, Turned
from malice.referee.games.spite import FAMILY
from malice.referee.records import Record
from malice.referee.rulesets import load_ruleset
from malice.referee.seat import Played
from malice.tournaments.league.config import Config
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks
from malice.tournaments.running.plan import Plan
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.transcript import (
    STDERR_WIDTH,
    Narrator,
    describe_event,
    excerpt_stderr,
    format_transcript,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    config = Config(entries=("uniform", "first"), deals=1, seed="text")
    records: list[Record] = []
    play_batches(
        Plan.prepare(config, Path(tmp_path_factory.mktemp("bots"))).open_batches(set()), 1, 1, Hooks(records.append)
    )
    return records[0]


def test_every_action_has_a_line_with_its_time(record: Record) -> None:
    lines = [line for line in format_transcript(record) if line[:5].strip().isdigit()]

    assert [line.split()[2] for line in lines] == [action for _, action in record.actions]
    assert all(line.rstrip().endswith("ms") for line in lines)


def test_every_turn_begins_with_the_table_and_the_hand_of_the_seat(record: Record) -> None:
    lines = list(format_transcript(record))

    (first,) = [index for index, line in enumerate(lines) if line.startswith("-- turn 1,")]
    assert "stock 54" in lines[first]
    assert sum("hand 5 cards" in line for line in lines[first : first + 3]) == 1


def test_it_ends_with_the_result_and_the_digest(record: Record) -> None:
    *_, result, digest = format_transcript(record)

    assert result.startswith(f"{record.reason} after {len(record.actions)} actions: ")
    assert digest == f"digest {record.digest}"


def test_notes_and_names_cannot_move_the_cursor(record: Record) -> None:
    hostile = replace(
        record,
        notes={0: "\x1b[2J\x07 \u202egnp.exe"},
        entries=(("\x1b]0;owned\x07", ""), ("fine", "")),
    )

    text = "\n".join(format_transcript(hostile))

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"\x1b[2J\x07 \u202egnp.exe" in text


def test_characters_that_nobody_sees_are_spelled_out() -> None:
    assert sanitize("\x1b[2J\u202e\u200f\ufeff\u00ad\u2028\U000e0041") == (
        "\\x1b[2J\\u202e\\u200f\\ufeff\\xad\\u2028\\U000e0041"
    )


def test_harmless_text_is_left_as_it_is() -> None:
    assert sanitize("größe ♣ 漢字 ok") == "größe ♣ 漢字 ok"


def test_of_the_words_of_a_bot_the_first_and_the_last_lines_are_shown_harmless_and_none_of_them_long() -> None:
    said = excerpt_stderr("\n".join(["\x1b[2J" + "long " * 100, "\tat", *map(str, range(20))]) + "\n\n")

    assert said[0] == ("\\x1b[2J" + "long " * 100)[:STDERR_WIDTH]
    assert said[1:] == ["    at", "0", "1", "... 12 lines left out ...", *map(str, range(14, 20))]
    assert excerpt_stderr("one\ntwo") == ["one", "two"]


@pytest.mark.parametrize("viewer", [None, 0])
def test_every_game_tells_of_a_seat_that_is_out_in_the_same_words(viewer: int | None) -> None:
    assert describe_event(FAMILY, Out(1, "timeout"), ("you", "ann"), viewer) == "ann is out: timeout"


def test_what_seats_did_at_the_same_time_stands_before_anything_that_followed() -> None:
    rules = make_rules("nuts", load_ruleset("nuts-2").rules, 2)
    narrator = Narrator("nuts", rules, ["ann", "bob"])
    news = [Played(seat, action, 1000, 0, "") for seat, action in enumerate(("turn", "AS-f"))]
    # Bob was first, and what is turned up follows from what he did.
    events = (CardsMoved(1, "1n", "f6", ("AS",)), Flip("1n", "5C"), Turned(0, ("2D", "9H", "7D")))

    ann, bob, followed = narrator.describe_ask(4, news, events)

    assert (ann.split(), bob.split()) == (["4", "ann", "turn", "1.0", "ms"], ["5", "bob", "AS-f", "1.0", "ms"])
    assert re.match(r" +bob plays AS from the Nuts pile.*; 5C is turned up.*; ann turns 2D 9H 7D$", followed)
