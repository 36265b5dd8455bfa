"""Bots that mean harm, each against an honest one: the right verdict in time, and nothing of them is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from protocol.messages import ClockRules
from referee.records import Batch, BatchDone, Key, Record, Report, Started
from referee.replay import check
from tests.processes import Mark
from tests.tables import BOTS, PATIENCE_MS, batch, player
from tests.test_referee import records
from tournaments.coordinator import play as play_all

SHORT_MS = 400
"""For an answer that never comes."""
SHORT_INIT_MS = 1500
"""The same where the honest bot has to start within it."""
LATE_MS = 200
"""How much later than its deadline a verdict may come."""
LOADED_MS = 1000
"""What a machine that is busy with other things may add."""
TOURNAMENT_MS = 600
"""For an action, while other games go on beside it."""
GONE_S = 1.0
GROWTH_KB = 50 * 1024

pytestmark = pytest.mark.slow


class Hostile(NamedTuple):
    """A bot of `tests/bots`, and what it must get."""

    bot: str
    arguments: tuple[str, ...]
    code: str | None
    """The verdict; None for a bot that only tries to."""
    says: str = ""
    """Part of the verdict's sentence."""
    waits: str = ""
    """The request for whose answer the referee waits to the deadline."""


HOSTILE = (
    Hostile("babbles", ("200", "10"), "protocol", "that are no JSON"),
    Hostile("blank", (), "protocol", "that are no JSON"),
    Hostile("brackets", (), "protocol", "a line that is no JSON, and no answer to move", "move"),
    Hostile("buffers", (), "timeout", "did you flush", "hello"),
    Hostile("chatters", ("101", "3"), "protocol", "101 lines (303 bytes)"),
    Hostile("closes", ("game_start", "0"), "crash", "closed its input, and its process lives on"),
    Hostile("closes", ("move", "1"), "crash", "closed its output, and its process lives on"),
    Hostile("daemon", (), "crash", "exited with status 0"),
    Hostile("deaf", (), "timeout", "no answer to hello", "hello"),
    Hostile("dies", ("move", "SIGSEGV", "30000"), "crash", "SIGSEGV"),
    Hostile("digits", (), "protocol", "a line that is no JSON", "move"),
    Hostile("disguise", (), None),
    Hostile("doubles", (), "illegal", "got: 'all'"),
    Hostile("drips", (), "timeout", "the last line has no newline", "move"),
    Hostile("early", (), "protocol", "expected one answer to each request"),
    Hostile("eats", (), "crash", "exited with status 1"),
    Hostile("endless", (), "protocol", "at most 65536 bytes"),
    Hostile("floods", (), "protocol", "at most 65536 bytes"),
    Hostile("forks", (), "crash", "exited with status 0"),
    Hostile("freezes", (), "timeout", "no answer to move", "move"),
    Hostile("guesses", (), "protocol", "expected one answer to each request"),
    Hostile("hoards", (), "timeout", "no answer to move", "move"),
    Hostile("latin", (), "protocol", "a line that is no JSON", "move"),
    Hostile("leaves", (), "crash", "exited with status 0"),
    Hostile("nan", (), "protocol", "a line that is no JSON", "move"),
    Hostile("nests", (), "protocol", "a line that is no JSON", "move"),
    Hostile("pours", (), "protocol", "that are no JSON"),
    Hostile("says", ("move", '{"id":ID,"move":["p-c0"]}'), "protocol", "expected `str`, got `array`"),
    Hostile("says", ("move", "LONG"), "protocol", "at most 65536 bytes"),
    Hostile("says", ("hello", '{"id":ID,"protocol":2}'), "protocol", "expected protocol 1"),
    Hostile("shouts", (), "timeout", "no answer to move", "move"),
    Hostile("sleeps", (), "timeout", "no answer to game_start", "game_start"),
    Hostile("spins", (), "timeout", "no answer to move", "move"),
    Hostile("stale", (), "protocol", "which was answered or ran out before"),
    Hostile("stays", (), None),
    Hostile("stops", ("game_end",), None, waits="game_end"),
    Hostile("dies", ("game_end", "7", "0"), None),
    Hostile("stubborn", (), "timeout", "no answer to move", "move"),
    Hostile("suicide", (), "crash", "SIGKILL"),
    Hostile("surrogate", (), "protocol", "a line that is no JSON", "move"),
    Hostile("twice", (), "protocol", "expected one answer to each request"),
    Hostile("vanishes", (), "crash", "exited with status 5"),
    Hostile("writes", (), None),
    Hostile("zeros", (), "illegal", "expected one of"),
)


class Layer(NamedTuple):
    """A way to shut bots in, and what gets through it."""

    name: str
    shut: Callable[[Batch], Batch]
    """Asks for it in a batch."""
    daemons: bool
    """Whether a process in a session of its own lives on."""
    files: bool
    """Whether files that a bot writes are left."""


LAYERS = (Layer("none", lambda told: told, daemons=True, files=True),)


class Referee:
    """A referee process with a home and a temporary folder of its own."""

    def __init__(self, home: Path) -> None:
        self.mark = Mark()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.mark.environ() | {"TMPDIR": str(home), "HOME": str(home)},
            cwd=Path(__file__).parents[1],
        )
        self._decoder: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)

    def play(self, told: Batch) -> Iterator[Report]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(msgspec.json.encode(told) + b"\n")
        self._process.stdin.flush()
        while not isinstance(report := self._decoder.decode(self._process.stdout.readline()), BatchDone):
            yield report

    def peak_kb(self) -> int:
        """Return the most memory that it has held so far."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0])

    def left(self) -> list[int]:
        """End the referee in order; return what lives on a second later."""
        assert self._process.stdin
        self._process.stdin.close()
        assert self._process.wait(60) == 0
        return self.mark.left_after(GONE_S)

    def close(self) -> None:
        self.mark.end()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def referee(home: Path) -> Iterator[Referee]:
    process = Referee(home)
    yield process
    process.close()


def told(hostile: Hostile, home: Path, time_file: Path) -> Batch:
    """Return a game of a hostile bot, which is asked first, against an honest one."""
    clock = ClockRules(SHORT_MS if hostile.waits == "move" else PATIENCE_MS, None, 0, 0)
    init_ms = PATIENCE_MS if hostile.waits in ("", "move") else SHORT_INIT_MS
    players = (player(hostile.bot, *hostile.arguments), player("witness", str(time_file)))
    return batch(*(replace(each, cwd=str(home)) for each in players), clock=clock, init_ms=init_ms)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: "-".join((hostile.bot, *hostile.arguments[:1])))
def test_a_hostile_bot_gets_its_verdict_in_time_and_leaves_nothing(
    hostile: Hostile, layer: Layer, referee: Referee, home: Path, tmp_path: Path
) -> None:
    time_file = tmp_path / "time"
    played: list[Record] = []
    peak = None
    for report in referee.play(layer.shut(told(hostile, home, time_file))):
        if isinstance(report, Started):
            peak = peak or referee.peak_kb()
        else:
            assert isinstance(report, Record)
            played.append(report)

    (record,) = played
    check(record)
    if hostile.code is None:
        assert record.faults == ()
    else:
        (fault,) = record.faults
        assert (fault.seat, fault.code) == (0, hostile.code), fault.sentence
        assert hostile.says in fault.sentence
        assert record.places == (2, 1)
    if hostile.waits == "move":
        took_ms = int(time_file.read_text()) / 1e6
        assert SHORT_MS <= took_ms < SHORT_MS + LATE_MS + LOADED_MS
    assert peak
    assert referee.peak_kb() - peak < GROWTH_KB
    assert bool(referee.left()) == (layer.daemons and hostile.bot == "daemon")
    assert bool(os.listdir(home)) == (layer.files and hostile.bot == "hoards")


def test_the_table_names_every_hostile_bot() -> None:
    harmless = {"declines", "grumbles", "honest", "lingers", "logs", "parent", "ponders", "teller", "witness"}
    apart = {"strikes"}

    assert {path.stem for path in BOTS.glob("*.py")} - harmless - apart == {hostile.bot for hostile in HOSTILE}
    assert len({hostile.bot for hostile in HOSTILE}) >= 30


def test_an_honest_bot_loses_no_game_on_time_in_a_tournament_of_hostile_ones(tmp_path: Path) -> None:
    clock = ClockRules(move_ms=TOURNAMENT_MS, bank_ms=None, increment_ms=0, margin_ms=100)
    honest = player("honest")
    entries = [each for each in HOSTILE if each.waits in ("", "move") and each.bot != "daemon"]
    batches = []
    for number, each in enumerate(entries):
        seating = (0, 1) if number % 2 else (1, 0)
        game = batch(replace(player(each.bot, *each.arguments), cwd=str(tmp_path)), honest, clock=clock)
        order = replace(game.games[0], key=Key(number, 0, 0), seating=seating)
        batches.append(replace(game, games=(order,)))
    played: list[Record] = []

    outcome = play_all(iter(batches), 4, 1, played.append)

    assert outcome.given_up == {}
    assert len(played) == len(entries) >= 30
    for record in played:
        seat = [label for label, _ in record.entries].index("honest")
        assert [fault for fault in record.faults if fault.seat == seat] == []
        if entries[record.key.table].code is not None and (record.faults or seat == 1):
            assert len(record.faults) == 1
            assert record.places[seat] == 1


def test_names_and_notes_of_hostile_bots_are_stored_as_they_came_and_cut() -> None:
    (record,) = records(batch(player("disguise"), player("writes")))

    assert record.seats[0].name == "\x1b[31m\u202egreedy\u2066\0"
    assert "\x1b[2J\u202e\r\n</script>" in record.notes.values()
    assert max(map(len, record.notes.values())) == 500
    assert sum(len(note) for note in record.notes.values() if note[0] == "n") <= 16_384
    json.dumps(record.notes)
