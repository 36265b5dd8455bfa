"""Who is to blame when the kernel kills a bot for lack of memory, and how often the game is played again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest
import trio
from msgspec.structs import replace

from malice.referee.batch import play_batch
from malice.referee.errors import MemoryFault
from malice.referee.isolation import cgroups
from malice.referee.records import Batch, BatchDone, Isolation, Key, Layer, Player, Record, RefereeFault, Report
from malice.referee.verdicts import Verdict
from malice.tournaments.running.coordinator import TRIES, Coordinator
from malice.tournaments.running.hooks import Hooks, Outcome
from malice.tournaments.running.in_process import InProcess
from tests.boxes import BOT, boxed, every_layer
from tests.tables import batch, move_request, player, seated

EAT = "x = [b'x' * (1 << 20) for _ in range({})]"
SUICIDE = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
LIMIT_MB = 64

pytestmark = pytest.mark.slow


@pytest.fixture
def more_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernel count one more kill at every look."""
    counts = iter(range(1000))
    monkeypatch.setattr(cgroups, "count_kills", lambda: next(counts))


def run_to_verdict(layer: Layer, code: str, **asked: Any) -> str:
    """Return the sentence of the verdict on a bot that runs `code` with its first move."""
    with boxed(layer, "", code, **asked) as seat, pytest.raises(Verdict) as caught:
        seat.ask_move(move_request(seat), None)
    return caught.value.sentence


# by the bot itself


def test_a_bot_that_kills_itself_while_memory_lasts_is_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "count_kills", lambda: 3)
    with seated("suicide") as seat:
        seat.begin()
        with pytest.raises(Verdict, match="SIGKILL"):
            seat.ask_move(move_request(seat), None)


@pytest.mark.memory_group
@every_layer
def test_kills_elsewhere_excuse_no_bot_in_a_group_of_its_own(layer: Layer, more_each_time: None) -> None:
    eater = f"import subprocess, sys; told = subprocess.run([sys.executable, '-c', {EAT.format(200)!r}]).returncode"
    with boxed(layer, eater, memory_mb=LIMIT_MB) as other:
        assert other.version == "-9"

        assert run_to_verdict(layer, SUICIDE).endswith("(SIGKILL)")


@pytest.mark.memory_group
@every_layer
def test_a_bot_whose_child_was_killed_by_its_own_limit_is_blamed(layer: Layer, more_each_time: None) -> None:
    code = f"import subprocess; subprocess.run([sys.executable, '-c', {EAT.format(200)!r}]); {SUICIDE}"

    assert run_to_verdict(layer, code, memory_mb=LIMIT_MB).endswith("(SIGKILL): it used more memory than it may")


@pytest.mark.sandbox
@pytest.mark.parametrize("groups", [True, False])
def test_a_status_that_looks_like_a_kill_excuses_nobody(
    groups: bool, more_each_time: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not groups:
        monkeypatch.setattr(cgroups, "find_parents", cgroups.Parents)

    sentence = run_to_verdict("bwrap", "import os; os._exit(137)")

    # Only a newer kernel can tell this status from that of a kill.
    assert sentence.endswith(("exited with status 137", "(SIGKILL)"))


def test_how_a_process_ended_is_known_after_its_parent_has_reaped_it_or_not_at_all() -> None:
    for code, status in (("os._exit(137)", 137 << 8), ("os.kill(os.getpid(), 9)", 9)):
        process = os.fork()
        if not process:
            exec(code)
        pidfd = os.pidfd_open(process)
        assert cgroups.read_wait_status(pidfd) is None
        os.waitpid(process, 0)
        assert cgroups.read_wait_status(pidfd) in (status, None)
        os.close(pidfd)


# by the machine


@pytest.fixture
def scarce(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the groups of bots into one with little memory, as on a machine that runs out of it."""
    where = cgroups.find_parents()
    assert where.memory
    folder = where.memory / cgroups._name("scarce")
    folder.mkdir()
    try:
        cgroups._limit_memory(folder, LIMIT_MB << 20)
        with suppress(FileNotFoundError):  # version 1 passes its controllers on by itself
            (folder / "cgroup.subtree_control").open("r+").write("+memory")
        parents = cgroups.Parents()
        parents.memory = folder
        monkeypatch.setattr(cgroups, "find_parents", lambda: parents)
        yield
    finally:
        folder.rmdir()


def make_hungry_game(layer: Layer, tmp_path: Path) -> Batch:
    """Return a game in which the first bot uses more than the machine has, and less than it may."""
    eater = Player("eater", "00", (sys.executable, "-I", str(BOT), "", EAT.format(200)), str(tmp_path))
    return replace(batch(eater, player("honest")), isolation=Isolation(layer, memory_mb=1024))


@pytest.mark.memory_group
@every_layer
def test_a_bot_that_the_machine_has_no_memory_for_is_excused_once(layer: Layer, tmp_path: Path, scarce: None) -> None:
    game = make_hungry_game(layer, tmp_path)
    reports: list[Report] = []

    play_batch(game, None, reports.append)

    (fault,) = (report for report in reports if isinstance(report, RefereeFault))
    assert fault.memory
    play_batch(replace(game, games=(replace(game.games[0], spared=True),)), None, reports.append)
    (record,) = (report for report in reports if isinstance(report, Record))
    assert [(fault.seat, fault.code) for fault in record.faults] == [(0, "crash")]


def test_without_a_group_of_its_own_a_real_kill_while_memory_lacked_is_excused(more_each_time: None) -> None:
    with seated("suicide") as seat:
        seat.begin()
        with pytest.raises(MemoryFault):
            seat.ask_move(move_request(seat), None)


def test_kills_are_counted_in_our_own_group_where_it_has_a_counter() -> None:
    path = cgroups.find_counter()

    assert path.name in ("memory.events.local", "memory.oom_control", "vmstat")
    assert cgroups.count_kills() == cgroups.read_field(path, "oom_kill")
    assert cgroups.read_field(path, "no such field") is None
    assert cgroups.read_field(Path("/nowhere"), "oom_kill") is None


# how often


class Scripted:
    """A referee process that sends scripted reports, batch after batch."""

    def __init__(self, *batches: tuple[Report, ...]) -> None:
        self.alive = True
        self.gave_up = False
        self.sent: list[Batch] = []
        self._batches = iter(batches)

    async def send_batch(self, batch: Batch) -> None:
        self.sent.append(batch)
        self._reports = iter(next(self._batches))

    async def read_reports(self) -> list[Report]:
        found = list(islice(self._reports, 1))
        self.alive = bool(found)
        return found

    async def explain_death(self) -> str:
        return "it is gone"


def lost(deal: int) -> RefereeFault:
    return RefereeFault(Key(0, 0, deal, 0), "a bot was killed", memory=True)


def play_once(process: Scripted, games: int) -> tuple[Batch | None, dict[Key, int], Outcome]:
    """Hand a batch to a process once; return what is left of it, the tries of its games, and the outcome."""
    whole = batch(player("honest"), player("honest"), games=games)
    coordinator = Coordinator(iter(()), Hooks(lambda record: None))
    left = trio.run(coordinator.play_batch, cast(Any, process), whole)
    return left, coordinator.tries, coordinator.outcome


def test_a_game_lost_to_a_kill_is_handed_out_again_and_marked_as_such() -> None:
    left, tries, outcome = play_once(Scripted((lost(1), BatchDone())), 2)

    assert left
    assert [order.spared for order in left.games] == [False, True]
    assert (tries, outcome.given_up) == ({}, {})


def test_a_process_that_dies_after_such_a_game_died_over_the_next() -> None:
    _, tries, _ = play_once(Scripted((lost(0),)), 2)

    assert tries == {Key(0, 0, 1, 0): 1}
    assert TRIES > 1


def test_at_the_terminal_such_a_game_is_played_again_to_its_verdict(more_each_time: None) -> None:
    game = batch(player("suicide"), player("honest"))
    records: list[Record] = []

    outcome = InProcess({}, None, lambda line: None)(iter([game]), 1, 1, Hooks(records.append))

    assert outcome.given_up == {}
    assert [[fault.code for fault in record.faults] for record in records] == [["crash"]]
