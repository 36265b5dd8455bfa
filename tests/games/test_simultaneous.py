"""Several seats are asked at the same time: each has its own deadline, and what came in is played together."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules, Move
from malice.referee.batch import play_batch
from malice.referee.errors import MachineFault
from malice.referee.game_runner import GameRunner
from malice.referee.records import (
    Batch,
    BatchDone,
    GameBegun,
    GameOrder,
    Key,
    Player,
    Record,
    RefereeFault,
    Report,
    Started,
)
from malice.referee.replay import check_record, replay_asks
from malice.referee.requests import replay_decisions, replay_requests
from malice.referee.rulesets import load_ruleset
from malice.referee.seat import BotSeat, Played
from malice.referee.verdicts import Verdict
from tests.games.conftest import BIDDER
from tests.tables import Script

PATIENT = ClockRules(move_ms=60_000, bank_ms=60_000, increment_ms=5, margin_ms=0)
HASTY = ClockRules(move_ms=2000, bank_ms=None, increment_ms=0, margin_ms=0)
"""For a bot that never answers; the others need a small part of it."""
HASTY_MICROS = 2_000_000
RNGS = (11, 7, 5, 3)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bidding")]


def make_batch(*how: Sequence[str], clock: ClockRules = PATIENT, ruleset: str = "bidding", games: int = 1) -> Batch:
    """Return games between bidders with these arguments."""
    found = load_ruleset(ruleset)
    seats = tuple(range(len(how)))
    players = tuple(
        Player(f"bidder{seat}", "00", (sys.executable, "-I", str(BIDDER), *arguments))
        for seat, arguments in enumerate(how)
    )
    orders = tuple(
        GameOrder(Key(0, 0, deal, 0), (deal + 1).to_bytes(32, "big").hex(), seats, RNGS[: len(seats)])
        for deal in range(games)
    )
    return Batch(found.family, found.name, found.rules, players, clock, 60_000, "sha256:00", orders)


def play(batch: Batch) -> list[Record]:
    """Play a batch; every record replays."""
    records: list[Record] = []
    play_batch(batch, None, lambda report: records.append(report) if isinstance(report, Record) else None)
    for record in records:
        check_record(record)
    return records


def play_one(*how: Sequence[str], clock: ClockRules = PATIENT) -> Record:
    (record,) = play(make_batch(*how, clock=clock))
    return record


def list_asks(record: Record) -> list[list[tuple[int, str]]]:
    return [list(ask.moves) for ask in replay_asks(record)][1:]


# What comes in


def test_all_seats_are_asked_in_one_round_and_a_seat_that_is_done_waits() -> None:
    record = play_one((), (), ())

    asks = [[seat for seat, _ in ask] for ask in list_asks(record)]
    assert asks[0] == [0, 1, 2]
    assert asks == [sorted(ask) for ask in asks]
    assert [0, 1, 2] not in asks[-1:]
    assert any(len(ask) == 2 for ask in asks)
    assert record.reason == "all_done"
    assert record.faults == ()


def test_bids_that_collide_are_decided_by_chance_and_the_loser_hears_of_it(tmp_path: Path) -> None:
    records = play(make_batch(("log=" + str(tmp_path / "0"),), (), ruleset="bidding-duel", games=5))

    events = [event for record in records for ask in replay_asks(record) for event in msgspec.to_builtins(ask.events)]
    assert [event for event in events if event["type"] == "lost"]
    assert [event for event in events if event["type"] == "drew" and event["seat"] == 1]
    heard = (tmp_path / "0").read_text()
    assert '{"type":"lost","seat":0}' in heard
    assert '"type":"drew","seat":0' in heard
    assert '"type":"drew","seat":1' not in heard


def test_the_order_in_which_answers_come_in_decides_nothing(tmp_path: Path) -> None:
    for seat in range(3):
        os.mkfifo(tmp_path / str(seat))
    found = set()
    for order in itertools.permutations("012"):
        turns = f"turns={tmp_path}:{','.join(order)}"
        found.add(tuple(record.digest for record in play(make_batch(*[(turns,)] * 3, games=2))))

    assert len(found) == 1


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_request_is_made_again_from_the_record(seats: int, tmp_path: Path) -> None:
    records = play(make_batch(*((f"log={tmp_path / str(seat)}",) for seat in range(seats)), games=3))

    assert_rebuilt(records, tmp_path)


@pytest.mark.parametrize("how", ["exit", "garbage", "illegal"])
@pytest.mark.parametrize("seats", [2, 3])
def test_the_requests_to_seats_whose_answer_was_not_played_are_made_again_too(
    seats: int, how: str, tmp_path: Path
) -> None:
    fails = {1: (f"fails=2:{how}",)}
    records = play(
        make_batch(*((f"log={tmp_path / str(seat)}", *fails.get(seat, ())) for seat in range(seats)), games=2)
    )

    assert [fault.seat for record in records for fault in record.faults] == [1, 1]
    assert_rebuilt(records, tmp_path)


def assert_rebuilt(records: Sequence[Record], folder: Path) -> None:
    """Compare the requests made from records with those that the bidders wrote down, and the decisions with both."""
    for seat in range(len(records[0].entries)):
        # A bot that failed is started anew for the next game, so that its numbers begin again.
        heard = [without_numbers(line) for line in (folder / str(seat)).read_bytes().splitlines()]
        heard = [line for line in heard if line[b"type"] not in (b"hello", b"bye")]
        rebuilt = [
            without_numbers(encode(each.request))
            for record in records
            for each in replay_requests(record, RNGS[: len(record.entries)], seat, itertools.count(2).__next__)
        ]
        assert rebuilt == heard
    for record in records:
        decisions = [(each.seat, each.played) for each in replay_decisions(record)]
        assert decisions == list(record.actions)


def without_numbers(line: bytes) -> dict[bytes, bytes]:
    """Return a request without what counts over the life of a process."""
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    return {name.encode(): bytes(value).strip(b'"') for name, value in fields.items() if name not in ("id", "game")}


# What fails


def test_a_late_seat_times_out_while_the_answers_of_the_others_are_played() -> None:
    record = play_one((), ("fails=2:pause",), (), clock=HASTY)

    assert [(fault.seat, fault.code) for fault in record.faults] == [(1, "timeout")]
    assert [[seat for seat, _ in ask] for ask in list_asks(record)[:2]] == [[0, 1, 2], [1, 0, 2]]
    assert record.places[1] == 3
    late = record.actions.index((1, "!timeout"))
    assert record.micros[late] >= HASTY_MICROS
    assert max(record.micros[late + 1 : late + 3]) < HASTY_MICROS


def test_cpu_time_is_counted_for_each_seat_alone() -> None:
    clock = ClockRules(move_ms=500, bank_ms=None, increment_ms=0, margin_ms=0, kind="cpu", cap_ms=60_000)

    record = play_one((), ("fails=2:spin",), (), clock=clock)

    assert [(fault.seat, fault.code) for fault in record.faults] == [(1, "timeout")]
    late = record.actions.index((1, "!timeout"))
    assert record.cpu_micros[late] >= 500_000
    assert max(record.cpu_micros[:late] + record.cpu_micros[late + 1 :]) < 500_000


def test_half_a_line_is_no_answer() -> None:
    record = play_one((), ("fails=1:half",), (), clock=HASTY)

    assert [(fault.seat, fault.code) for fault in record.faults] == [(1, "timeout")]
    assert "no newline" in record.faults[0].sentence
    assert [seat for seat, _ in list_asks(record)[0]] == [1, 0, 2]


@pytest.mark.parametrize(("how", "code"), [("exit", "crash"), ("garbage", "protocol"), ("illegal", "illegal")])
def test_a_seat_fails_in_mid_ask_and_the_others_go_on(how: str, code: str) -> None:
    record = play_one((f"fails=2:{how}",), (), ())

    assert list_asks(record)[1][0] == (0, f"!{code}")
    assert [seat for seat, _ in list_asks(record)[1]] == [0, 1, 2]
    assert record.places[0] == 3


def test_a_bot_dies_while_another_one_thinks() -> None:
    record = play_one(("fails=2:pause",), ("fails=2:exit",), (), clock=HASTY)

    assert list_asks(record)[1][:2] == [(0, "!timeout"), (1, "!crash")]
    assert record.faults[1].exit == "exited with status 3"
    assert record.places == (2, 2, 1)


def test_two_seats_that_fail_in_one_ask_tie_and_come_after_one_that_failed_later() -> None:
    record = play_one(("fails=2:exit",), ("fails=3:illegal",), ("fails=2:garbage",), ())

    assert list_asks(record)[1][:2] == [(0, "!crash"), (2, "!protocol")]
    assert record.places == (3, 2, 3, 1)
    assert record.reason == "forfeit"


def test_all_fail_at_once_and_tie() -> None:
    record = play_one(("fails=2:exit",), ("fails=2:garbage",), ("fails=2:illegal",))

    assert list_asks(record)[1:] == [[(0, "!crash"), (1, "!protocol"), (2, "!illegal")]]
    assert record.places == (1, 1, 1)
    assert record.reason == "forfeit"
    assert [fault.action for fault in record.faults] == [3, 3, 3]


def test_all_fail_in_the_very_first_ask_and_the_game_is_void(tmp_path: Path) -> None:
    fails = ("exit", "garbage", "illegal")
    record = play_one(*((f"fails=1:{how}", f"log={tmp_path / str(seat)}") for seat, how in enumerate(fails)))

    assert list_asks(record) == [[(0, "!crash"), (1, "!protocol"), (2, "!illegal")]]
    assert (record.reason, record.places, record.scores) == ("void", (1, 1, 1), (0, 0, 0))
    assert list(replay_decisions(record)) == []
    for seat in range(3):
        requests = list(replay_requests(record, RNGS[:3], seat, itertools.count(2).__next__))
        heard = (tmp_path / str(seat)).read_bytes().splitlines()[1:]
        assert [without_numbers(encode(each.request)) for each in requests] == list(map(without_numbers, heard))


def test_a_seat_that_could_not_start_ties_with_one_that_fails_in_the_first_ask() -> None:
    record = play_one(("fails=hello:exit",), ("fails=1:exit",), (), ())

    assert [seat for seat, _ in list_asks(record)[0]] == [0, 1, 2, 3]
    assert record.places[:2] == (3, 3)
    assert [fault.seat for fault in record.faults] == [0, 1]


def test_no_seat_can_start_or_answer_once_and_the_game_is_void() -> None:
    record = play_one(("fails=hello:exit",), ("fails=1:exit",), ("fails=game_start:garbage",))

    assert list_asks(record) == [[(0, "!crash"), (1, "!crash"), (2, "!protocol")]]
    assert record.reason == "void"


@pytest.mark.parametrize(
    ("sudden", "fails", "asks", "places"),
    [
        (False, {0, 2}, [[(2, "!crash")], [(0, "!crash")]], (2, 1, 3)),
        (True, {0, 2}, [[(2, "!crash")], [(0, "!crash")]], (1, 1, 3)),
        (True, {0, 1}, [[(0, "!crash"), (1, "!crash")]], (2, 2, 1)),
    ],
)
def test_seats_that_could_not_start_leave_when_they_are_asked_or_alone(
    sudden: bool, fails: set[int], asks: list[list[tuple[int, str]]], places: tuple[int, ...]
) -> None:
    batch = make_batch((), (), ())
    batch = replace(batch, rules=replace(batch.rules, hand=3, ranks=1, late=1, sudden=sudden))
    crash = Verdict("crash", "it is gone")
    seats = [Script(lambda request: "1", fails={"begin": crash} if seat in fails else {}) for seat in range(3)]

    record = GameRunner(batch, batch.games[0], seats).play()

    check_record(record)
    assert list_asks(record) == asks
    assert record.places == places
    assert [fault.seat for fault in record.faults] == [seat for ask in asks for seat, _ in ask]


class Guest(Script):
    """A player in this process, whose machine fails when it is first asked."""

    isolation: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__(self._answer)
        self._failed = False

    def _answer(self, request: Move) -> str:
        if not self._failed:
            self._failed = True
            raise MachineFault("the machine stood still")
        return "stop"

    def leave(self) -> None: ...

    def end(self, deadline: int) -> None: ...


def test_a_fault_of_the_machine_in_mid_ask_ends_the_game_and_the_next_one_has_fresh_bots(tmp_path: Path) -> None:
    logs = [(f"log={tmp_path / str(seat)}",) for seat in range(3)]
    batch = make_batch(*logs, games=2)
    reports: list[Report] = []

    play_batch(batch, None, reports.append, guests={"bidder1": Guest()})

    kinds = [type(report) for report in reports]
    assert kinds == [GameBegun, Started, Started, RefereeFault, GameBegun, Started, Started, Record, BatchDone]
    for seat in (0, 2):
        heard = [without_numbers(line)[b"type"] for line in (tmp_path / str(seat)).read_bytes().splitlines()]
        assert heard[:4] == [b"hello", b"game_start", b"move", b"hello"]


def test_a_watcher_hears_of_each_ask_once_verdicts_first() -> None:
    batch = make_batch(("fails=2:exit",), (), ())
    heard: list[list[tuple[int, str]]] = []

    def watch(news: Sequence[Played]) -> None:
        heard.append([(each.seat, each.action) for each in news])

    records: list[Record] = []
    play_batch(
        batch,
        None,
        lambda report: records.append(report) if isinstance(report, Record) else None,
        watch=lambda order: watch,
    )

    assert heard == list_asks(records[0])
    assert all(records[0].notes[index].startswith("round ") for index in records[0].notes)
    assert len(records[0].notes) == len(records[0].actions) - 1


# Deadlines and clocks


def test_the_times_of_a_seat_add_up_to_what_it_used() -> None:
    batch = make_batch((), ())
    runner_seats = [BotSeat(player, 60_000, None) for player in batch.players]
    try:
        record = GameRunner(batch, batch.games[0], runner_seats).play()
    finally:
        for seat in runner_seats:
            seat.dismiss()

    for number in range(2):
        micros = [time for (seat, _), time in zip(record.actions, record.micros, strict=True) if seat == number]
        assert round(sum(micros) / 1000, 3) == record.seats[number].used_ms
