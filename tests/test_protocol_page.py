"""protocol/PROTOCOL.md: its bot plays, its lines were spoken, its sentences are said, its numbers are right."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from malice.protocol import messages
from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules
from malice.referee.batch import play_batch
from malice.referee.clock import MS, Clock
from malice.referee.families import list_shipped
from malice.referee.games.spite import messages as spite
from malice.referee.records import Batch, GameOrder, Key, Player, Record
from malice.referee.rulesets import list_rulesets, load_ruleset
from tests.documents import ROOT, protocol_rows, protocol_section
from tests.samples import sample

RULESETS = (*(list_rulesets(family)[0] for family in list_shipped()), "partners-4", "skipbo", "massachusetts")
"""One of every game, and of Spite & Malice also partners, other cards, and discards that are forced."""


def block(title: str, language: str) -> str:
    """Return the first block of code of a section."""
    found = re.search(rf"```{language}\n(.*?)```", protocol_section(title), re.DOTALL)
    assert found
    return found[1]


def pattern(text: str) -> str:
    """Return the expression that the page's text stands for: each … is anything."""
    return ".*".join(map(re.escape, text.split("…")))


def played(bot: Path, ruleset: str) -> Record:
    """Return a game of the bot against itself."""
    bots = tuple(Player(f"bot {seat}", "", (sys.executable, "-I", str(bot))) for seat in range(8))
    found = load_ruleset(ruleset)
    seats = tuple(range(found.match.players[0]))
    order = GameOrder(Key(0, 0, 0, 0), "00" * 32, seats, seats)
    players = tuple(bots[seat] for seat in seats)
    clock = ClockRules(None, None)
    batch = Batch(found.family, found.name, found.rules, players, clock, 10_000, "", (order,))
    told: list[Any] = []

    play_batch(batch, None, told.append)

    (record,) = [message for message in told if isinstance(message, Record)]
    return record


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """The bot of the page."""
    path = tmp_path / "bot.py"
    path.write_text(block("A bot in ten lines", "python"), "utf-8")
    return path


def test_the_bot_in_ten_lines_has_ten_lines(bot: Path) -> None:
    assert len(bot.read_text("utf-8").splitlines()) == 10


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", sample(RULESETS, 3))
def test_the_bot_in_ten_lines_plays_every_game_to_its_end(bot: Path, ruleset: str) -> None:
    record = played(bot, ruleset)

    assert record.faults == ()
    assert [seat.stray_lines for seat in record.seats] == [0] * len(record.entries)
    assert len(record.actions) > 10


def spoken() -> Iterator[str]:
    """The lines of the game that the page tells, with their marks."""
    for line in (ROOT / "protocol/transcripts/two-player.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        _, _, said = line.partition('"line":')
        yield f"{entry['dir']} {said[:-1]}"


def test_the_game_of_the_page_was_played_so() -> None:
    told = [line for line in protocol_section("A game, line by line").splitlines() if line.startswith(("> ", "< "))]
    said = list(spoken())

    assert len(told) == len(said)
    for shown, line in zip(told, said, strict=True):
        assert re.fullmatch(pattern(shown), line), shown


STRUCTS = {
    "Requests": (
        messages.Hello,
        messages.Limits,
        messages.GameStart,
        messages.ClockRules,
        messages.SeatName,
        messages.Move,
        messages.SeatClock,
        messages.GameEnd,
        messages.Bye,
    ),
    "Answers": (messages.HelloAnswer, messages.MoveAnswer, messages.BareAnswer),
    "The view": (spite.View, spite.CentreStack, spite.SeatView, spite.Payoff),
}


@pytest.mark.parametrize("title", STRUCTS)
def test_every_field_has_its_place_in_a_table(title: str) -> None:
    told = " ".join(protocol_section(title).split("`")[1::2])

    for struct in STRUCTS[title]:
        for field in struct.__struct_encode_fields__:
            assert re.search(rf"\b{field}\b", told), f"{struct.__name__}.{field}"


def test_every_event_is_in_the_table_with_its_fields() -> None:
    told = {row[0].strip("`"): set(row[1].split("`")[1::2]) for row in protocol_rows("Events")}
    events = spite.Event.__args__

    assert told == {event.__struct_config__.tag: set(event.__struct_encode_fields__) for event in events}


SAID_ELSEWHERE = {
    "the bot cannot be started: …": "cannot be started",
    "…killed by signal …": "killed by signal",
    "the bot closed its input, and its process lives on": "closed its input",
    "no answer to … within … ms (did you flush your output? do you read all of the input first?)": "did you flush",
    "expected UTF-8, got the byte … as number … of the line: …": "expected UTF-8",
    "no answer to … within … ms (it came later)": "it came later",
    "no answer to … within … ms of CPU time (it still thinks)": "it still thinks",
    "no answer to … within … ms of CPU time (it came later)": "ms of CPU time",
    "no answer to … within … ms (it has run out of memory)": "it has run out of memory",
    "no answer to … within … ms (it does not read its input)": "it does not read its input",
    "expected one line for each request, got … bytes at once: …": "expected one line for each request",
}
"""Sentences that need more than a dialogue, and what stands of them in the source."""


def verdicts() -> Iterator[tuple[str, str]]:
    """The verdicts at the ends of the transcripts."""
    for path in sorted((ROOT / "protocol/transcripts").glob("*.jsonl")):
        last = json.loads(path.read_text("utf-8").splitlines()[-1])
        if last["dir"] == "!":
            yield last["code"], last["sentence"]


def test_every_sentence_of_the_referee_is_explained() -> None:
    told = [(code, pattern(sentence)) for code, sentence, _ in protocol_rows("What the referee may say")]

    for code, sentence in verdicts():
        assert any(code == known and re.fullmatch(words, sentence) for known, words in told), sentence


@pytest.mark.parametrize(("code", "sentence"), [row[:2] for row in protocol_rows("What the referee may say")])
def test_every_sentence_that_is_explained_is_said(code: str, sentence: str) -> None:
    if sentence in SAID_ELSEWHERE:
        modules = [*(ROOT / "protocol").glob("*.py"), *(ROOT / "referee").glob("*.py")]
        assert any(SAID_ELSEWHERE[sentence] in module.read_text("utf-8") for module in modules)
    else:
        assert any(code == said and re.fullmatch(pattern(sentence), words) for said, words in verdicts())


def test_the_example_of_the_clock_is_right() -> None:
    clock = Clock(ClockRules(move_ms=1000, bank_ms=3000, increment_ms=50, margin_ms=100))

    for event, before, deadline, used, after in protocol_rows("The clock"):
        if event == "a turn begins":
            clock.begin_turn()
        limit = clock.time_limit_ns()
        assert (clock.to_message().bank_ms, limit) == (int(before), int(deadline) * MS)
        if after == "timeout":
            assert limit is not None
            assert int(used) * MS > limit
        else:
            clock.spend(int(used) * MS, 0)
            assert clock.to_message().bank_ms == int(after)


def test_the_type_of_a_request_is_its_tag() -> None:
    assert encode(messages.Bye()) == b'{"type":"bye"}\n'
    for request in messages.Request.__args__:
        assert f"`{request.__struct_config__.tag}`" in protocol_section("Requests")
