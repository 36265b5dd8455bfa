"""Hints: a bot looks over the shoulder of a person, hears what that person hears, and says what it would play."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from malice.referee.records import Isolation
from malice.referee.requests import replay_requests
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.running.hints import Hints, find_hints
from malice.tournaments.running.rerun import Surroundings
from malice.tournaments.terminal.person import Person
from tests.command_line import malice
from tests.processes import Mark
from tests.tables import PATIENCE_MS, Script, play, player


class Obedient(io.BytesIO):
    """Somebody who asks for a hint each time, and follows it."""

    def __init__(self, seen: io.StringIO) -> None:
        super().__init__()
        self._seen = seen

    def readline(self, size: int | None = -1, /) -> bytes:
        last = self._seen.getvalue().rpartition("? or q> ")[0].rpartition("? or q> ")[2]
        hint = re.match(r"  planner would choose (\d+), ", last)
        return f"{hint[1]}\n".encode() if hint else b"h\n"


@pytest.fixture
def hints() -> Iterator[Hints]:
    found = find_hints("planner", find_bot, "spite", Isolation(), PATIENCE_MS)
    yield found
    found.end()


def test_whoever_follows_all_hints_plays_as_the_bot_does(hints: Hints) -> None:
    out = io.StringIO()

    record = play(Person("you", Obedient(out), out, hints=hints), Script())

    rerun = hints.review(record, (0, 1), 0)
    assert 10 < rerun.moves == rerun.agreed


def test_a_hint_late_in_the_game_tells_the_bot_all_that_came_before(hints: Hints) -> None:
    record = play(Script(), Script())
    requests = [each.request for each in replay_requests(record, (0, 1), 0, itertools.count(2).__next__)][:20]
    for request in requests:
        hints.hear(request)

    late = hints.give()

    rerun = hints.review(record, (0, 1), 0)
    assert late.action == rerun.choices[len(requests) - 2].plays
    assert hints.give() is late


def test_a_bot_that_fails_spoils_the_hint_and_not_the_game(tmp_path: Path) -> None:
    scribe = player("scribe", str(tmp_path / "log"), "fails", "2")
    out = io.StringIO()
    person = Person(
        "you", io.BytesIO(b"h\n1\nh\nh\n1\nq\n"), out, hints=Hints(scribe, Surroundings(PATIENCE_MS, Isolation()))
    )

    record = play(person, Script())

    assert "scribe would choose " in out.getvalue()
    assert out.getvalue().count("no hint: scribe: ") == 2
    assert [action for seat, action in record.actions if seat == 0][-1] == "!resigned"


def test_a_bot_of_another_game_is_refused_and_none_is_left_running(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = Mark()
    for name, value in mark.variable().items():
        monkeypatch.setenv(name, value)
    refused = malice("play", "you", "first", "--hint", "dabbler", input="h\nq\n")

    given = malice("play", "you", "first", "--hint", "planner", "--seed", "x", input="h\nh\n1\nh\nq\n")

    assert refused.exit_code == 2
    assert given.output.count("planner would choose ") == 3
    assert "planner would have played " in given.output
    assert mark.await_end() == []
