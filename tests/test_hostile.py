"""Bots that mean harm, each against an honest one: the right verdict in time, and nothing of them is left."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from protocol.messages import ClockRules
from referee.isolation import cgroups, probe
from referee.records import Batch, Isolation, Key, Layer, Record
from referee.replay import check
from tests.tables import BOTS, PATIENCE_MS, batch, player
from tests.test_referee import records
from tests.warded import Played, WardedReferee
from tournaments.bench import ruffian
from tournaments.coordinator import play as play_all

SHORT_MS = 400
"""For an answer that never comes."""
SHORT_INIT_MS = 1500
"""The same where the honest bot has to start within it."""
LATE_MS = 200
"""How much later than its deadline a verdict may come."""
LOADED_MS = 1000
"""What a machine that is busy with other things may add, and the start of the honest bot."""
TOURNAMENT_MS = 600
"""For an action, while other games go on beside it."""
GONE_S = 1.0
GROWTH_KB = 50 * 1024
LAYERS: tuple[Layer, ...] = ("none", "rlimit", "bwrap")

pytestmark = pytest.mark.slow


class Hostile(NamedTuple):
    """A bot of `tests/bots`, and what it must get.

    What differs between layers is said by what is in force: the words of a record's isolation, and
    `cgroup` and `memory cgroup` where a box has them.
    """

    bot: str
    arguments: tuple[str, ...]
    code: str | None
    """The verdict; None for a bot that only tries to."""
    says: str = ""
    """Part of the verdict's sentence."""
    instead: Mapping[str, str] = MappingProxyType({})
    """The same where something is in force, the first that is."""
    waits: str = ""
    """The request for whose answer the referee waits to the deadline."""
    leaves: str = ""
    """Processes or files, unless something of `kept_by` is in force."""
    kept_by: frozenset[str] = frozenset()
    layers: tuple[Layer, ...] = LAYERS
    """Those under which it can be let loose."""
    memory_mb: int = 1024


BOXED: tuple[Layer, ...] = ("rlimit", "bwrap")
DENIED = MappingProxyType({"seccomp": "exited with status 1"})
FEW = MappingProxyType({"pids": "exited with status 1"})
COUNTED = MappingProxyType({"memory cgroup": "SIGKILL): it used more memory than it may"})

HOSTILE = (
    Hostile("babbles", ("200", "10"), "protocol", "that are no JSON"),
    Hostile("blank", (), "protocol", "that are no JSON"),
    Hostile("brackets", (), "protocol", "a line that is no JSON, and no answer to move", waits="move"),
    Hostile("buffers", (), "timeout", "did you flush", waits="hello"),
    Hostile("chatters", ("101", "3"), "protocol", "101 lines (303 bytes)"),
    Hostile("closes", ("game_start", "0"), "crash", "closed its input, and its process lives on"),
    Hostile("closes", ("move", "1"), "crash", "closed its output, and its process lives on"),
    Hostile(
        "daemon",
        (),
        "crash",
        "exited with status 0",
        instead=DENIED,
        leaves="processes",
        kept_by=frozenset({"bwrap", "seccomp", "cgroup"}),
    ),
    Hostile("deaf", (), "timeout", "no answer to hello", waits="hello"),
    Hostile("dies", ("move", "SIGSEGV", "30000"), "crash", "SIGSEGV"),
    Hostile("digits", (), "protocol", "a line that is no JSON", waits="move"),
    Hostile("disguise", (), None),
    Hostile("doubles", (), "illegal", "got: 'all'"),
    Hostile("drips", (), "timeout", "the last line has no newline", waits="move"),
    Hostile("early", (), "protocol", "expected one answer to each request"),
    Hostile("eats", ("256",), "crash", "exited with status 1"),
    Hostile("eats", (), "crash", "exited with status 1", instead=COUNTED, layers=BOXED, memory_mb=256),
    Hostile("endless", (), "protocol", "at most 65536 bytes"),
    Hostile("floods", (), "protocol", "at most 65536 bytes"),
    Hostile("forks", ("10",), "crash", "exited with status 0"),
    Hostile("forks", ("600",), "crash", "exited with status 0", instead=FEW),
    Hostile("freezes", (), "timeout", "no answer to move", waits="move"),
    Hostile("guesses", (), "protocol", "expected one answer to each request"),
    Hostile(
        "hoards",
        (),
        "timeout",
        "no answer to move",
        waits="move",
        leaves="files",
        kept_by=frozenset({"bwrap"}),
    ),
    Hostile("latin", (), "protocol", "expected UTF-8"),
    Hostile("leaves", (), "crash", "exited with status 0"),
    Hostile("nan", (), "protocol", "a line that is no JSON", waits="move"),
    Hostile("nests", (), "protocol", "a line that is no JSON", waits="move"),
    Hostile("pours", (), "protocol", "that are no JSON"),
    Hostile("says", ("move", '{"id":ID,"move":["p-c0"]}'), "protocol", "expected `str`, got `array`"),
    Hostile("says", ("move", "LONG"), "protocol", "at most 65536 bytes"),
    Hostile("says", ("hello", '{"id":ID,"protocol":2}'), "protocol", "expected protocol 1"),
    Hostile("shouts", (), "timeout", "no answer to move", waits="move"),
    Hostile("sleeps", (), "timeout", "no answer to game_start", waits="game_start"),
    Hostile("spins", (), "timeout", "no answer to move", waits="move"),
    Hostile("stale", (), "protocol", "which was answered or ran out before"),
    Hostile("stays", (), None),
    Hostile("stops", ("game_end",), None, waits="game_end"),
    Hostile("dies", ("game_end", "7", "0"), None),
    Hostile("strikes", ("/nowhere",), None, layers=("bwrap",)),
    Hostile("stubborn", (), "timeout", "no answer to move", waits="move"),
    Hostile("suicide", (), "crash", "SIGKILL"),
    Hostile("surrogate", (), "protocol", "a line that is no JSON", waits="move"),
    Hostile("twice", (), "protocol", "expected one answer to each request"),
    Hostile("vanishes", (), "crash", "exited with status 5"),
    Hostile("writes", (), None),
    Hostile("zeros", (), "illegal", "expected one of"),
)


def title(hostile: Hostile) -> str:
    return "-".join((hostile.bot, *hostile.arguments[:1])).replace("/", "")


CASES = [
    pytest.param(layer, hostile, id=f"{layer}-{title(hostile)}", marks=[pytest.mark.sandbox] * (layer == "bwrap"))
    for layer in LAYERS
    for hostile in HOSTILE
    if layer in hostile.layers
]


class Referees:
    """A referee process for each layer, which plays one batch after the other."""

    def __init__(self) -> None:
        self._running: dict[Layer, WardedReferee] = {}

    def get(self, layer: Layer) -> WardedReferee:
        """Return the one of a layer; a new one if a test has broken it."""
        if layer in self._running and not self._running[layer].alive:
            self._running.pop(layer).close()
        if layer not in self._running:
            self._running[layer] = WardedReferee()
        return self._running[layer]

    def end(self) -> list[int]:
        """End them in order; return their exit statuses."""
        return [referee.end() for referee in self._running.values()]

    def close(self) -> None:
        for referee in self._running.values():
            referee.close()


@pytest.fixture(scope="module")
def referees() -> Iterator[Referees]:
    found = Referees()
    try:
        yield found
        assert set(found.end()) <= {0}
    finally:
        found.close()


def told(hostile: Hostile, layer: Layer, home: Path) -> Batch:
    """Return a game of a hostile bot, which is asked first, against an honest one."""
    clock = ClockRules(SHORT_MS if hostile.waits == "move" else PATIENCE_MS, None, 0, 0)
    init_ms = PATIENCE_MS if hostile.waits in ("", "move") else SHORT_INIT_MS
    players = (player(hostile.bot, *hostile.arguments), player("honest"))
    game = batch(*(replace(each, cwd=str(home)) for each in players), clock=clock, init_ms=init_ms)
    return replace(game, isolation=Isolation(layer, hostile.memory_mb, required=True))


def in_force(record: Record, layer: Layer) -> set[str]:
    """Return the words for what was around the bots."""
    found = set(record.isolation.split("+"))
    if layer != "none":
        found |= {"cgroup"} if cgroups.parents().folders() else set()
        found |= {"memory cgroup"} if cgroups.parents().memory else set()
    return found


def waited_ms(hostile: Hostile, played: Played) -> float:
    """Return how long the answer was waited for; longer by the honest bot's start unless hello was asked."""
    first, second = played.started_at[:2]
    (end,) = played.ended_at
    return (second - first if hostile.waits == "hello" else end - second) / 1e6


@pytest.mark.parametrize(("layer", "hostile"), CASES)
def test_a_hostile_bot_gets_its_verdict_in_time_and_leaves_nothing(
    layer: Layer, hostile: Hostile, referees: Referees
) -> None:
    referee = referees.get(layer)

    played = referee.play(told(hostile, layer, referee.home))
    processes, files = referee.left_after(GONE_S), os.listdir(referee.home)
    for pid in processes:
        os.kill(pid, signal.SIGKILL)
    for name in files:
        (referee.home / name).unlink()

    (record,) = played.records
    check(record)
    words = in_force(record, layer)
    assert layer in words
    if hostile.code is None:
        assert record.faults == ()
    else:
        (fault,) = record.faults
        says = next((said for word, said in hostile.instead.items() if word in words), hostile.says)
        assert (fault.seat, fault.code) == (0, hostile.code), fault.sentence
        assert says in fault.sentence
        assert record.places == (2, 1)
    if hostile.waits:
        limit = SHORT_MS if hostile.waits == "move" else SHORT_INIT_MS
        assert limit <= waited_ms(hostile, played) < limit + LATE_MS + LOADED_MS
    assert referee.growth_kb() < GROWTH_KB
    left = "" if hostile.kept_by & words else hostile.leaves
    assert (bool(processes), bool(files)) == (left == "processes", left == "files")


def test_the_table_names_every_hostile_bot() -> None:
    harmless = {"declines", "grumbles", "honest", "lingers", "logs", "parent", "ponders", "scribe", "teller"}

    assert {path.stem for path in BOTS.glob("*.py")} - harmless == {hostile.bot for hostile in HOSTILE}
    assert len({hostile.bot for hostile in HOSTILE}) >= 30


@pytest.mark.parametrize("layer", ["none", "auto"])
def test_an_honest_bot_loses_no_game_on_time_in_a_tournament_of_hostile_ones(layer: Layer, tmp_path: Path) -> None:
    clock = ClockRules(move_ms=TOURNAMENT_MS, bank_ms=None, increment_ms=0, margin_ms=100)
    honest = player("honest")
    entries = [
        each for each in HOSTILE if each.waits in ("", "move") and each.bot != "daemon" and each.layers == LAYERS
    ]
    batches = []
    isolation = Isolation(layer, 256)
    for number, each in enumerate(entries):
        seating = (0, 1) if number % 2 else (1, 0)
        game = batch(replace(player(each.bot, *each.arguments), cwd=str(tmp_path)), honest, clock=clock)
        order = replace(game.games[0], key=Key(number, 0, 0), seating=seating)
        batches.append(replace(game, games=(order,), isolation=isolation))
    played: list[Record] = []

    outcome = play_all(iter(batches), 4, 1, played.append)

    assert outcome.given_up == {}
    assert len(played) == len(entries) >= 30
    for record in played:
        assert record.isolation.split("+")[0] == probe.strongest(layer)
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


@pytest.mark.parametrize("way", ruffian.WAYS)
def test_the_bots_of_the_benchmark_play_well_and_then_break_a_rule(way: str, referees: Referees) -> None:
    layer = probe.strongest("auto")
    referee = referees.get(layer)
    clock = ClockRules(TOURNAMENT_MS, None, 0, 0)
    ruffian_bot = replace(player("honest"), label=way, command=(sys.executable, "-I", ruffian.__file__, way))
    game = batch(*(replace(each, cwd=str(referee.home)) for each in (ruffian_bot, player("honest"))), clock=clock)

    played = referee.play(replace(game, isolation=Isolation(layer, 256)))

    (record,) = played.records
    assert [fault.seat for fault in record.faults] == [0]
    assert record.faults[0].action >= ruffian.MOVES / 2
    assert referee.left_after(GONE_S) == []
