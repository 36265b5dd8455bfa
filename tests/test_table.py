"""One game from deal to record, with scripted seats: who is asked what, who is judged, and what is kept."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move, MoveAnswer, Out
from malice.referee.clock import MS
from malice.referee.game_runner import GameRunner
from malice.referee.games.spite.messages import CardMoved, Deal, Draw
from malice.referee.records import Player
from malice.referee.replay import check_record
from malice.referee.rulesets import load_ruleset
from malice.referee.verdicts import Verdict
from tests.tables import RULES, Script, batch, first_legal, play

CRASH = Verdict("crash", "the bot exited with status 3")
LATE = Verdict("timeout", "no answer", wall=7 * MS, cpu=2 * MS)


def fails(verdict: Verdict, after: int = 0) -> Callable[[Move], str]:
    """Choose the first legal action so many times, then fail."""
    left = iter(range(after))

    def choose(request: Move) -> str:
        if next(left, None) is None:
            raise verdict
        return first_legal(request)

    return choose


def test_a_game_is_played_to_its_end_and_its_record_replays() -> None:
    record = play(Script(), Script())

    check_record(record)
    assert record.faults == ()
    assert {seat for seat, _ in record.actions} == {0, 1}
    assert len(record.actions) == len(record.micros) == len(record.cpu_micros)


def test_a_move_is_asked_of_the_seat_whose_turn_it_is_with_all_that_it_may_do() -> None:
    seats = Script(), Script()

    record = play(*seats)

    assert [len(seat.moves) for seat in seats] == [
        sum(owner == number for owner, _ in record.actions) for number in range(2)
    ]
    for number, seat in enumerate(seats):
        assert all(request.view.seat == number for request in seat.moves)
        assert all(request.legal for request in seat.moves)


def test_a_seat_that_declines_the_list_is_not_sent_it() -> None:
    seats = Script(lambda request: f"h{request.view.hand[0]}-s0", wants_legal=False), Script()

    record = play(*seats)

    assert record.faults == ()
    assert all(b'"legal"' not in encode(request) for request in seats[0].moves)


def test_every_event_is_told_once_own_ones_too_and_other_hands_are_masked() -> None:
    seats = Script(), Script()

    record = play(*seats)

    for number, seat in enumerate(seats):
        told = [event for request in seat.moves for event in request.events]
        moved = [event.seat for event in told if isinstance(event, CardMoved)]
        assert moved == [owner for owner, _ in record.actions][: len(moved)]
        assert [isinstance(event, Deal) for event in told].count(True) == 1
        for event in told:
            if isinstance(event, Draw):
                assert (set(event.cards) == {"??"}) == (event.seat != number)
            if isinstance(event, Deal):
                assert [set(hand) == {"??"} for hand in event.hands] == [other != number for other in range(2)]


def test_the_game_is_announced_to_each_seat_and_its_end_is_told() -> None:
    seats = Script(), Script()

    record = play(*seats)

    for number, seat in enumerate(seats):
        start, end = seat.requests[0], seat.requests[-1]
        assert isinstance(start, GameStart)
        assert isinstance(end, GameEnd)
        assert (start.seat, start.game, start.rules) == (number, 1, msgspec.to_builtins(RULES))
        assert (end.place, end.places, end.reason) == (record.places[number], record.places, record.reason)


# verdicts


@pytest.mark.parametrize(("after", "action"), [(0, 0), (4, 8)])
def test_a_seat_that_fails_has_lost_and_the_game_is_over(after: int, action: int) -> None:
    seats = Script(fails(LATE, after)), Script()

    record = play(*seats)

    check_record(record)
    assert (record.places, record.reason) == ((2, 1), "forfeit")
    assert record.actions[-1] == (0, "!timeout")
    assert (record.micros[-1], record.cpu_micros[-1]) == (7000, 2000)
    assert (record.seats[0].used_ms, record.seats[0].cpu_ms) == (7.0, 2.0)
    fault = record.faults[0]
    assert (fault.seat, fault.code, fault.sentence) == (0, "timeout", "no answer")
    assert (fault.exit, fault.lines, fault.stderr) == ("exited with status 9", ("> asked", "< told"), "oh no")
    assert fault.action == len(record.actions) - 1
    assert seats[0].dismissals == 1


def test_an_illegal_action_is_a_verdict() -> None:
    record = play(Script(), Script(lambda request: "p-c9", wall_ms=5))

    check_record(record)
    assert (record.micros[-1], record.seats[1].used_ms) == (5000, 5.0)
    assert (record.places, record.reason) == ((1, 2), "forfeit")
    assert record.actions[-1] == (1, "!illegal")
    assert record.faults[0].sentence.startswith("expected one of h")
    assert record.faults[0].sentence.endswith("; got: 'p-c9'")


def test_who_has_failed_is_asked_nothing_more_and_the_other_hears_of_its_win() -> None:
    seats = Script(fails(CRASH)), Script()

    play(*seats)

    assert isinstance(seats[0].requests[-1], Move)
    assert [type(request) for request in seats[1].requests] == [GameStart, GameEnd]


@pytest.mark.parametrize("when", ["begin", "game_start"])
@pytest.mark.parametrize("seat", [0, 1])
def test_one_seat_that_cannot_begin_forfeits(when: str, seat: int) -> None:
    seats = [Script(), Script()]
    seats[seat] = Script(fails={when: CRASH})

    record = play(*seats)

    check_record(record)
    assert (record.actions, record.reason) == (((seat, "!crash"),), "forfeit")
    assert record.places[seat] == 2
    assert seats[1 - seat].moves == []


@pytest.mark.parametrize("when", [("begin", "begin"), ("begin", "game_start"), ("game_start", "begin")])
def test_a_game_that_nobody_can_begin_is_void_and_replays(when: tuple[str, str]) -> None:
    seats = [Script(fails={each: verdict}) for each, verdict in zip(when, (CRASH, LATE), strict=True)]

    record = play(*seats)

    check_record(record)
    assert (record.reason, record.places, record.scores) == ("void", (1, 1), (0, 0))
    assert record.actions == ((0, "!crash"), (1, "!timeout"))
    assert [fault.code for fault in record.faults] == ["crash", "timeout"]
    assert [seat.dismissals for seat in seats] == [1, 1]


def test_who_fails_when_the_game_is_over_has_lost_nothing() -> None:
    calm = play(Script(), Script())
    seats = Script(fails={"game_end": LATE}), Script(fails={"game_end": CRASH})

    record = play(*seats)

    assert (record.digest, record.faults) == (calm.digest, ())
    assert [seat.dismissals for seat in seats] == [1, 1]


def test_the_game_goes_on_when_one_of_three_is_out() -> None:
    rules = replace(load_ruleset("multi").rules, first_player="seat")
    seats = Script(), Script(fails(CRASH, 2)), Script()
    told = replace(batch(*(Player(name, "00", ()) for name in "abc")), rules=rules)

    record = GameRunner(told, told.games[0], list(seats)).play()

    check_record(record)
    assert record.places[1] == 3
    assert len(seats[2].moves) > 2
    assert Out(1, "crash") in [event for request in seats[2].moves for event in request.events]


@pytest.mark.parametrize(
    ("failing", "reason", "places"),
    [
        ((0, 2), "forfeit", (2, 1, 2, 1)),
        ((3,), "forfeit", (1, 2, 1, 2)),
        ((0, 3), "void", (1, 1, 1, 1)),
        ((1, 2, 3), "void", (1, 1, 1, 1)),
    ],
)
def test_partners_go_together_and_a_game_without_a_whole_side_is_void(
    failing: tuple[int, ...], reason: str, places: tuple[int, ...]
) -> None:
    seats = [Script(fails={"begin": CRASH} if number in failing else None) for number in range(4)]
    told = replace(batch(*(Player(name, "00", ()) for name in "abcd")), rules=load_ruleset("partners-4").rules)

    record = GameRunner(told, told.games[0], list(seats)).play()

    check_record(record)
    assert (record.reason, record.places) == (reason, places)
    assert [fault.seat for fault in record.faults] == list(failing)
    for number, seat in enumerate(seats):
        assert [type(request) for request in seat.requests] == ([] if number in failing else [GameStart, GameEnd])


# clock


def test_a_move_may_take_the_shorter_of_move_and_bank_and_the_margin() -> None:
    seats = Script(wall_ms=300), Script(wall_ms=300)

    play(*seats, clock=ClockRules(move_ms=400, bank_ms=1000, increment_ms=0, margin_ms=50))

    for seat in seats:
        assert seat.limits[:5] == [450 * MS, 450 * MS, 450 * MS, 150 * MS, 50 * MS]


def test_without_limits_a_seat_may_think_for_ever() -> None:
    seats = Script(), Script()

    play(*seats)

    assert set(seats[0].limits) == {None}


def test_the_increment_comes_with_ones_own_turn_only() -> None:
    seats = Script(wall_ms=100), Script(wall_ms=100)

    record = play(*seats, clock=ClockRules(move_ms=None, bank_ms=100_000, increment_ms=30, margin_ms=0), deal=1)

    for number, seat in enumerate(seats):
        bank, turn = 100_000, 0
        for request in seat.moves:
            if request.view.turn != turn:
                bank, turn = min(bank + 30, 100_000), request.view.turn
            assert request.clock.bank_ms == bank
            bank -= 100
        turns = len({request.view.turn for request in seat.moves})
        assert len(seat.moves) > turns, "no turn of more than one action"
        assert record.seats[number].used_ms == 100 * len(seat.moves)


# notes


def note_of(*notes: object) -> dict[int, str]:
    """Play with these notes at seat 0, one a move, and return what is kept of them by move."""
    left = iter(notes)
    record = play(Script(lambda request: MoveAnswer(request.id, first_legal(request), next(left, None))), Script())
    own = [index for index, (seat, _) in enumerate(record.actions) if seat == 0]
    return {own.index(index): note for index, note in record.notes.items()}


def test_notes_are_kept_by_action_and_cut_at_500_characters() -> None:
    assert note_of("short", None, "ü" * 501) == {0: "short", 2: "ü" * 500}


def test_a_note_that_is_no_string_or_empty_is_ignored() -> None:
    assert note_of(7, {"a": 1}, "", ["x"], "kept") == {4: "kept"}


def test_all_notes_of_a_seat_hold_16_kib_and_no_character_is_cut_in_two() -> None:
    found = note_of("x", *["é" * 500] * 20, "y", "z")

    assert sum(len(note.encode()) for note in found.values()) == 16_384
    assert found[17] == "é" * 191
    assert found[21] == "y"
    assert 22 not in found


# record


def test_times_and_notes_are_not_in_the_digest() -> None:
    calm = play(Script(), Script())

    slow = play(Script(lambda request: MoveAnswer(request.id, first_legal(request), "hm"), wall_ms=70), Script())

    assert slow.notes
    assert slow.micros != calm.micros
    assert slow.digest == calm.digest


def test_another_deal_has_another_digest() -> None:
    assert play(Script(), Script(), deal=0).digest != play(Script(), Script(), deal=1).digest
