"""The referee process with real bots: a batch in, records out, and nothing left behind on any way out."""

from __future__ import annotations

import fcntl
import gc
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.playing import play_batch
from referee.records import Batch, BatchDone, EndBatch, Key, Record, RefereeFault, Report, Started
from referee.replay import check_record
from tests.tables import RULES, Script, batch, play, player, seated

MARK = "MALICE_REFEREE_TEST"
GONE_MS = 1000
"""No process of ours lives longer after any exit."""

pytestmark = pytest.mark.slow


def reports(told: Batch) -> list[Report]:
    """Play a batch in this process."""
    found: list[Report] = []
    play_batch(told, None, found.append)
    return found


def records(told: Batch) -> list[Record]:
    return [report for report in reports(told) if isinstance(report, Record)]


# a batch


def test_a_batch_has_a_record_for_each_game_and_then_it_is_done() -> None:
    found = reports(batch(player("honest"), player("honest"), games=3))

    assert [type(report) for report in found] == [Started, Started, Record, Record, Record, BatchDone]
    for deal, record in enumerate(report for report in found if isinstance(report, Record)):
        check_record(record)
        assert record.key == Key(0, deal, 0)
        assert record.entries == (("honest", "00"), ("honest", "00"))
        assert record.faults == ()
        assert [seat.version for seat in record.seats] == ["7", "7"]
        assert record.elapsed_ms >= sum(record.micros) / 1000


def test_a_batch_played_twice_has_the_same_digests() -> None:
    told = batch(player("honest"), player("declines"), games=4)

    assert [record.digest for record in records(told)] == [record.digest for record in records(told)]


def test_players_sit_where_the_game_says() -> None:
    told = batch(player("honest"), player("declines"), games=2)
    first, second = told.games

    found = records(replace(told, games=(first, replace(second, seating=(1, 0)))))

    assert [record.entries[0][0] for record in found] == ["honest", "declines"]
    assert found[0].seats[0].name == found[1].seats[1].name


def test_a_crash_is_a_forfeit_with_all_its_evidence() -> None:
    found = records(batch(player("dies", "move", "SIGSEGV", "20000"), player("honest")))

    check_record(found[0])
    assert (found[0].places, found[0].reason, found[0].actions) == ((2, 1), "forfeit", ((0, "!crash"),))
    fault = found[0].faults[0]
    assert (fault.code, fault.exit, fault.action) == ("crash", "killed by signal 11 (SIGSEGV)", 0)
    assert fault.lines[0].startswith('> {"type":"hello","id":1')
    assert fault.lines[-1].startswith('> {"type":"move","id":3')
    assert fault.stderr == "a" * 8192 + "\n... 3616 bytes left out ...\n" + "z" * 8192


def test_after_a_verdict_the_next_game_has_a_fresh_process_and_the_honest_bot_keeps_its_own() -> None:
    found = reports(batch(player("dies", "move", "1", "0"), player("honest"), games=3))

    played = [report for report in found if isinstance(report, Record)]
    assert [len(record.faults) for record in played] == [1, 1, 1]
    assert len({record.seats[1].name for record in played}) == 1
    assert [isinstance(report, Started) for report in found].count(True) == 4


def test_a_death_off_turn_counts_at_the_next_request() -> None:
    found = records(batch(player("leaves"), player("honest")))

    check_record(found[0])
    played = [seat for seat, action in found[0].actions if action[0] != "!"]
    assert played.count(0) == 1
    assert played.count(1) >= 1
    assert found[0].actions[-1] == (0, "!crash")
    assert found[0].faults[0].exit == "exited with status 0"


def test_a_death_off_turn_is_nothing_if_the_game_ends_first() -> None:
    found = reports(batch(player("leaves"), player("says", "move", '{"id":ID,"move":"Go"}'), games=2))

    played = [report for report in found if isinstance(report, Record)]
    for record in played:
        assert record.places == (1, 2)
        assert [fault.code for fault in record.faults] == ["illegal"]
    assert [isinstance(report, Started) for report in found].count(True) == 4, "the dead bot was started anew"


def test_a_game_that_nobody_can_begin_is_void_and_the_next_one_is_tried() -> None:
    found = records(batch(player("vanishes"), player("dies", "game_start", "2", "0"), games=2))

    for record in found:
        check_record(record)
        assert record.reason == "void"
        assert [fault.exit for fault in record.faults] == ["exited with status 5", "exited with status 2"]


def test_a_bot_that_cannot_be_started_forfeits() -> None:
    lost = replace(player("honest"), command=("/nowhere/bot",))

    found = records(batch(player("honest"), lost))

    check_record(found[0])
    assert (found[0].places, found[0].actions) == ((1, 2), ((1, "!crash"),))


@pytest.mark.parametrize("stops", ["hello", "game_start"])
def test_a_bot_that_does_not_begin_in_time_forfeits(stops: str) -> None:
    with seated("stops", stops, init_ms=1000) as seat:
        record = play(seat, Script())

    check_record(record)
    assert (record.actions, record.places) == (((0, "!timeout"),), (2, 1))
    assert record.faults[0].sentence.startswith(f"no answer to {stops} within 1000 ms (")
    assert 1000 <= record.micros[0] / 1000 == record.seats[0].used_ms < 5000


def test_an_end_that_is_not_answered_in_time_changes_nothing() -> None:
    with seated("stops", "game_end", init_ms=1000) as seat:
        record = play(seat, Script())

    assert record.faults == ()
    assert record.digest == play(Script(), Script()).digest


def test_a_bot_that_ignores_bye_is_ended_after_half_a_second_without_a_verdict() -> None:
    ends: list[tuple[Report, float]] = []

    play_batch(batch(player("stays"), player("stays")), None, lambda report: ends.append((report, time.monotonic())))

    (record, played), (done, left) = ends[-2:]
    assert isinstance(record, Record)
    assert isinstance(done, BatchDone)
    assert record.faults == ()
    assert 0.5 <= left - played < 1.5


def test_a_bot_is_told_to_go_at_the_end_of_its_batch(tmp_path: Path) -> None:
    records(batch(player("dies", "move", "1", "0"), player("lingers", str(tmp_path / "done"), "0")))

    assert (tmp_path / "done").exists()


def test_how_a_bot_exits_after_bye_is_no_verdict() -> None:
    found = reports(batch(player("dies", "bye", "SIGSEGV", "0"), player("dies", "bye", "1", "0")))

    assert [type(report) for report in found[2:]] == [Record, BatchDone]
    assert isinstance(found[2], Record)
    assert found[2].faults == ()


def test_rules_that_make_no_game_are_a_fault_of_the_referee() -> None:
    told = batch(player("honest"), player("honest"))

    found = reports(replace(told, rules=replace(RULES, payoff_size=99)))

    assert isinstance(found[0], RefereeFault)
    assert found[0].key == Key(0, 0, 0)
    assert "cards" in found[0].sentence


def test_a_batch_leaves_no_process_no_zombie_and_no_descriptor() -> None:
    lost = replace(player("honest"), command=("/nowhere/bot",))
    before = set(os.listdir("/proc/self/fd"))

    found = reports(batch(player("dies", "move", "1", "0"), player("stays"), games=2))
    found += reports(batch(player("closes", "hello", "1"), lost))
    gc.collect()

    assert set(os.listdir("/proc/self/fd")) == before
    pids = [report.pid for report in found if isinstance(report, Started)]
    assert len(pids) == 4
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


# the process


class Referee:
    """A referee process whose bots wait in mid-game, each with a child, until somebody ends them."""

    def __init__(self, folder: Path) -> None:
        self.fifo = folder / "fifo"
        self.mark = f"{MARK}={os.getpid()} {folder}"
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=os.environ | {name: value},
            cwd=Path(__file__).parents[1],
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self._decoder: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)
        self.input, self.output, self.errors = self.process.stdin, self.process.stdout, self.process.stderr

    def give(self, told: Batch) -> None:
        self.input.write(msgspec.json.encode(told) + b"\n")

    def report(self) -> Report:
        return self._decoder.decode(self.output.readline())

    def to_mid_game(self) -> list[Started]:
        """Play until a bot thinks for ever, with a child beside it; return what was started."""
        os.mkfifo(self.fifo)
        pipe = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.give(batch(player("parent", str(self.fifo)), player("honest")))
        assert select.select([pipe], [], [], 60)[0]
        os.close(pipe)
        assert len(self.pids()) == 4
        found = [self.report(), self.report()]
        return [report for report in found if isinstance(report, Started)]

    def pids(self) -> list[int]:
        """Find the processes that carry the mark: the referee, its bots, and theirs."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if self.mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    def gone(self) -> bool:
        """Tell whether no process is left; wait for that as long as they may live."""
        deadline = time.monotonic_ns() // 1_000_000 + GONE_MS
        for pid in self.pids():
            try:
                pidfd = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            poll.poll(max(0, deadline - time.monotonic_ns() // 1_000_000))
            os.close(pidfd)
        return not self.pids()

    def close(self) -> None:
        for pid in self.pids():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.input, self.output, self.errors):
            pipe.close()


@pytest.fixture
def referee(tmp_path: Path) -> Iterator[Referee]:
    process = Referee(tmp_path)
    yield process
    process.close()


def test_a_batch_line_becomes_record_lines(referee: Referee) -> None:
    told = batch(player("honest"), player("declines"), games=2)

    referee.give(told)
    found = [referee.report() for _ in range(5)]
    referee.give(told)
    again = [referee.report() for _ in range(5)]

    assert [type(report) for report in found] == [Started, Started, Record, Record, BatchDone]
    for one, other in zip(found[2:4], again[2:4], strict=True):
        assert isinstance(one, Record)
        assert isinstance(other, Record)
        check_record(one)
        assert one.digest == other.digest


def test_an_idle_referee_ends_in_order_when_its_input_is_closed(referee: Referee) -> None:
    referee.give(batch(player("honest"), player("honest")))
    while not isinstance(referee.report(), BatchDone):
        pass

    referee.input.close()

    assert referee.process.wait(60) == 0
    assert referee.errors.read() == b""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"nonsense\n", "malformed"),
        (b"\xff\xfe\n", "malformed"),
        (b'{"type":"batch"}\n', "missing required field `family`"),
    ],
)
def test_a_bad_batch_line_is_refused_in_one_line(referee: Referee, line: bytes, said: str) -> None:
    referee.input.write(line)

    assert referee.process.wait(60) == 2
    sentence = referee.errors.read().decode()
    assert sentence.startswith("referee: expected a batch line: ")
    assert said in sentence
    assert sentence.count("\n") == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda order: replace(order, seating=(0, 2)),
        lambda order: replace(order, seating=(0, 0)),
        lambda order: replace(order, rngs=(1,)),
        lambda order: replace(order, deal_seed="cards"),
    ],
)
def test_a_batch_that_does_not_fit_together_is_a_bad_line(referee: Referee, spoil: Callable[..., object]) -> None:
    told = batch(player("honest"), player("honest"))
    line = msgspec.to_builtins(told) | {"games": [msgspec.to_builtins(spoil(told.games[0]))]}

    referee.input.write(msgspec.json.encode(line) + b"\n")

    assert referee.process.wait(60) == 2
    assert referee.errors.read().startswith(b"referee: expected a batch line: ")


def test_a_closed_input_ends_the_referee_its_bots_and_their_children_in_mid_game(referee: Referee) -> None:
    referee.to_mid_game()

    referee.input.close()

    assert referee.gone()
    assert referee.process.wait() == 0
    assert referee.errors.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_referee_its_bots_and_their_children_in_mid_game(
    referee: Referee, number: signal.Signals
) -> None:
    referee.to_mid_game()

    referee.process.send_signal(number)

    assert referee.gone()
    assert referee.process.wait() == 128 + number
    assert referee.errors.read() == b""


def test_bots_die_with_a_referee_that_is_killed_and_their_groups_are_known(referee: Referee) -> None:
    """Only a reader of `Started` can then end the children of the bots."""
    started = referee.to_mid_game()
    bots = [os.pidfd_open(bot.pid) for bot in started]

    referee.process.kill()

    for bot in bots:
        assert select.select([bot], [], [], GONE_MS / 1000)[0]
        os.close(bot)
    (child,) = referee.pids()
    assert os.getpgid(child) == started[0].pid
    os.killpg(started[0].pid, signal.SIGKILL)
    assert referee.gone()


def test_a_referee_whose_reports_nobody_reads_ends_when_its_input_is_closed(referee: Referee) -> None:
    fcntl.fcntl(referee.output, fcntl.F_SETPIPE_SZ, 4096)
    referee.give(batch(player("dies", "move", "1", "16000"), player("honest")))
    for _ in range(2):
        assert isinstance(referee.report(), Started)
    assert select.select([referee.output], [], [], 60)[0], "the start of a record that is longer than the pipe"

    referee.input.close()

    assert referee.gone()
    assert referee.process.wait() == 0


def test_an_end_line_ends_the_batch_that_is_played_and_no_later_one() -> None:
    line = msgspec.json.encode(batch(player("honest"), player("honest"), games=2)) + b"\n"
    end = msgspec.json.encode(EndBatch()) + b"\n"

    with subprocess.Popen(
        [sys.executable, "-P", "-m", "referee"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(end + line + end)
        process.stdin.flush()
        assert msgspec.json.decode(process.stdout.readline(), type=Report) == BatchDone()
        process.stdin.write(line)
        process.stdin.flush()
        found = [type(msgspec.json.decode(process.stdout.readline(), type=Report)) for _ in range(5)]
        process.stdin.close()

    assert found == [Started, Started, Record, Record, BatchDone]
