"""Hostile bots, each against an honest one: they get the right verdict in time, and leave nothing behind."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.isolation import cgroups, probe
from malice.referee.records import Batch, Isolation, Key, Layer, Record
from malice.referee.replay import check_record
from malice.tournaments.bench import hostile_bot
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks
from tests.misbehaving import HOSTILE, MISBEHAVING, WITH_LANDLOCK, Misbehaving, title
from tests.processes import await_end
from tests.samples import sample
from tests.tables import BOTS, PATIENCE_MS, batch, player, records
from tests.warded import WardedReferee

SHORT_MS = 400
"""The deadline where the answer never comes."""
WRONG_MS = 1500
"""The same where something wrong must come before."""
SHORT_INIT_MS = 3000
"""The same where the honest bot must start within it."""
TOURNAMENT_MS = 2500
"""The deadline of an action while other games are played at the same time."""
GROWTH_KB = 50 * 1024

pytestmark = pytest.mark.slow

MARKS = {"bwrap": [pytest.mark.sandbox], "landlock": [pytest.mark.landlock]}
CASES = [
    pytest.param(layer, hostile, id=f"{layer}-{title(hostile)}", marks=MARKS.get(layer, ()))
    for layer in WITH_LANDLOCK
    for hostile in HOSTILE
    if layer in hostile.layers
] + [
    pytest.param("landlock", hostile, id=f"landlock-{title(hostile)}", marks=[pytest.mark.landlock, pytest.mark.whole])
    for hostile in HOSTILE
    if "landlock" not in hostile.layers
]


class Referees:
    """A referee process for each layer, which plays one batch after another."""

    def __init__(self) -> None:
        self._running: dict[Layer, WardedReferee] = {}

    def get(self, layer: Layer) -> WardedReferee:
        """Return the referee of a layer; a new one if a test has broken it."""
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
    running = Referees()
    try:
        yield running
        assert set(running.end()) <= {0}
    finally:
        running.close()


def find_limit(hostile: Misbehaving) -> int:
    """Return the deadline of the answer that never comes, in milliseconds."""
    if hostile.waits != "move":
        return SHORT_INIT_MS
    return SHORT_MS if hostile.code == "timeout" else WRONG_MS


def make_game(hostile: Misbehaving, layer: Layer, home: Path) -> Batch:
    """Return a game of a hostile bot, which starts, against an honest one."""
    limit = find_limit(hostile)
    clock = ClockRules(limit if hostile.waits == "move" else PATIENCE_MS, None, 0, 0)
    init_ms = PATIENCE_MS if hostile.waits in ("", "move") else limit
    players = (player(hostile.bot, *hostile.arguments), player("honest"))
    game = batch(*(replace(each, cwd=str(home)) for each in players), clock=clock, init_ms=init_ms)
    return replace(game, isolation=Isolation(layer, hostile.memory_mb, required=True))


def in_force(record: Record, layer: Layer) -> set[str]:
    """Return the words for what was around the bots."""
    words = set(record.isolation.split("+"))
    if layer != "none":
        words |= {"cgroup"} if cgroups.find_parents().folders() else set()
        words |= {"memory cgroup"} if cgroups.find_parents().memory else set()
    return words


@pytest.mark.parametrize(("layer", "hostile"), sample(CASES, 3))
def test_a_hostile_bot_gets_its_verdict_in_time_and_leaves_nothing(
    layer: Layer, hostile: Misbehaving, referees: Referees
) -> None:
    referee = referees.get(layer)

    played = referee.play(make_game(hostile, layer, referee.home))
    record, words = played.record, in_force(played.record, layer)
    left = "" if hostile.kept_by & words else hostile.leaves
    processes = referee.find_left() if left == "processes" else await_end(referee.find_left)
    files = os.listdir(referee.home)
    for pid in processes:
        os.kill(pid, signal.SIGKILL)
    for name in files:
        (referee.home / name).unlink()

    check_record(record)
    assert layer in words
    if hostile.code is None:
        assert record.faults == ()
    else:
        (fault,) = record.faults
        ends = next((end for word, end in hostile.instead.items() if word in words), hostile.ends)
        assert (fault.seat, fault.code) == (0, hostile.code), fault.sentence
        assert (fault.exit or "").endswith(ends)
        assert record.places == (2, 1)
    if hostile.waits:
        limit = find_limit(hostile)
        assert limit <= played.seconds * 1000 < limit + PATIENCE_MS
    assert referee.growth_kb() < GROWTH_KB
    assert (bool(processes), bool(files)) == (left == "processes", left == "files")


def test_the_table_names_every_bot() -> None:
    assert {path.stem for path in BOTS.glob("*.py")} == {each.bot for each in MISBEHAVING}
    assert len({hostile.bot for hostile in HOSTILE}) >= 30


@pytest.mark.parametrize(
    ("layer", "every"),
    [
        ("auto", 3),
        pytest.param("auto", 1, marks=pytest.mark.whole),
        pytest.param("none", 1, marks=pytest.mark.whole),
    ],
)
def test_an_honest_bot_loses_no_game_on_time_in_a_tournament_of_hostile_ones(
    layer: Layer, every: int, tmp_path: Path
) -> None:
    """Every so manieth of the hostile bots plays in it."""
    clock = ClockRules(move_ms=TOURNAMENT_MS, bank_ms=None, increment_ms=0, margin_ms=100)
    honest = player("honest")
    entries = [
        each for each in HOSTILE if each.waits in ("", "move") and each.bot != "daemon" and "none" in each.layers
    ][::every]
    batches = []
    isolation = Isolation(layer, 256)
    for number, each in enumerate(entries):
        seating = (0, 1) if number % 2 else (1, 0)
        game = batch(replace(player(each.bot, *each.arguments), cwd=str(tmp_path)), honest, clock=clock)
        order = replace(game.games[0], key=Key(0, number, 0, 0), seating=seating)
        batches.append(replace(game, games=(order,), isolation=isolation))
    played: list[Record] = []

    outcome = play_batches(iter(batches), 8, 1, Hooks(played.append))

    assert outcome.given_up == {}
    assert len(played) == len(entries) >= 30 // every
    for record in played:
        assert record.isolation.split("+")[0] == probe.find_strongest_layer(layer)
        seat = [label for label, _ in record.entries].index("honest")
        assert [fault for fault in record.faults if fault.seat == seat] == []
        code = entries[record.key.table].code
        if code is not None and (record.faults or seat == 1):
            (fault,) = record.faults
            assert fault.code in (code, "timeout"), "on a busy machine one of eight bots at a time may be late"
            assert record.places[seat] == 1


def test_names_and_notes_of_hostile_bots_are_stored_as_they_came_and_cut() -> None:
    (record,) = records(batch(player("disguise"), player("writes")))

    assert record.seats[0].name == "\x1b[31m\u202egreedy\u2066\0"
    assert "\x1b[2J\u202e\r\n</script>" in record.notes.values()
    assert max(map(len, record.notes.values())) == 500
    assert sum(len(note) for note in record.notes.values() if note[0] == "n") <= 16_384
    json.dumps(record.notes)


@pytest.mark.whole
@pytest.mark.parametrize("way", hostile_bot.WAYS)
def test_the_bots_of_the_benchmark_play_well_and_then_break_a_rule(way: str, referees: Referees) -> None:
    layer = probe.find_strongest_layer("auto")
    referee = referees.get(layer)
    clock = ClockRules(TOURNAMENT_MS, None, 0, 0)
    hostile = replace(player("honest"), label=way, command=(sys.executable, "-I", hostile_bot.__file__, way))
    game = batch(*(replace(each, cwd=str(referee.home)) for each in (hostile, player("honest"))), clock=clock)

    record, _ = referee.play(replace(game, isolation=Isolation(layer, 256)))

    assert [fault.seat for fault in record.faults] == [0]
    assert record.faults[0].action >= hostile_bot.MOVES / 2
    assert await_end(referee.find_left) == []
