"""What a seat was told can be told again from the record, byte by byte."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move
from malice.referee.batch import play_batch
from malice.referee.errors import RecordError
from malice.referee.records import Batch, GameOrder, Key, Record
from malice.referee.requests import ReplayedDecision, ReplayedRequest, replay_decisions, replay_requests
from malice.referee.rulesets import load_ruleset
from malice.referee.verdicts import Verdict
from tests.tables import Script, first_legal, play, player

CLOCK = ClockRules(move_ms=60_000, bank_ms=60_000, increment_ms=1, margin_ms=0)
"""Never too short, and yet something is used of it and given back."""
CRASH = Verdict("crash", "the bot exited with status 3")


def unnumbered(line: bytes | str) -> bytes:
    """Return a line without what counts over the life of a process."""
    line = line if isinstance(line, bytes) else line.encode()
    return re.sub(rb'"(id|game)":\d+', rb'"\1":0', line.rstrip(b"\n"))


def told_again(record: Record, rngs: tuple[int, ...], seat: int) -> list[ReplayedRequest]:
    return list(replay_requests(record, rngs, seat, itertools.count(2).__next__, listed=record.seats[seat].wants_legal))


def decisions_by_seat(record: Record, rngs: tuple[int, ...]) -> list[ReplayedDecision]:
    """Gather the decisions of a game from the requests of its seats."""
    shown = [
        ReplayedDecision(each.index, seat, each.request.view, each.legal, each.played)
        for seat in range(len(rngs))
        for each in told_again(record, rngs, seat)
        if isinstance(each.request, Move) and each.index is not None
    ]
    return sorted(shown, key=lambda decision: decision.index)


def scribes(folder: Path, ruleset: str, seats: int, games: int, *how: tuple[str, ...]) -> tuple[Batch, list[Record]]:
    """Let bots play that write down what they hear."""
    found = load_ruleset(ruleset)
    extra = dict(enumerate(how))
    players = tuple(player("scribe", str(folder / f"{seat}.log"), *extra.get(seat, ())) for seat in range(seats))
    players = tuple(replace(each, label=f"scribe{seat}") for seat, each in enumerate(players))
    around = tuple(range(seats))
    orders = tuple(
        GameOrder(
            Key(0, 0, deal, 1),
            (deal + 7).to_bytes(32, "big").hex(),
            around[1:] + around[:1],
            tuple(range(40, 40 + seats)),
        )
        for deal in range(games)
    )
    batch = Batch(found.family, found.name, found.rules, players, CLOCK, 60_000, "sha256:00", orders)
    told: list[Record] = []
    play_batch(batch, None, lambda report: told.append(report) if isinstance(report, Record) else None)
    return batch, told


def heard(folder: Path, player: int) -> list[list[bytes]]:
    """Return what the referee said to a scribe, by game."""
    lines = (folder / f"{player}.log").read_bytes().splitlines()
    games: list[list[bytes]] = []
    for line in lines:
        if line.startswith(b'> {"type":"game_start"'):
            games.append([])
        if line.startswith((b'> {"type":"game', b'> {"type":"move"')):
            games[-1].append(unnumbered(line[2:]))
    return games


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ruleset", "seats", "how"),
    [
        ("standard", 2, ()),
        ("standard", 2, (("declines",),)),
        ("book", 2, ()),
        ("catsatcards", 2, ()),
        ("skipbo", 3, ()),
        ("partners-4", 4, ()),
        ("cats-multi", 4, ()),
    ],
)
def test_every_request_is_made_again_byte_by_byte(
    ruleset: str, seats: int, how: tuple[tuple[str, ...], ...], tmp_path: Path
) -> None:
    batch, records = scribes(tmp_path, ruleset, seats, 2, *how)

    assert len(records) == 2
    for seat, sitting in enumerate(batch.games[0].seating):
        games = heard(tmp_path, sitting)
        for record, order, game in zip(records, batch.games, games, strict=True):
            again = [unnumbered(encode(each.request)) for each in told_again(record, order.rngs, seat)]
            assert again == game
    for record, order in zip(records, batch.games, strict=True):
        assert list(replay_decisions(record)) == decisions_by_seat(record, order.rngs)


@pytest.mark.slow
def test_after_a_verdict_nothing_more_is_made_for_that_seat_but_all_for_the_others(tmp_path: Path) -> None:
    batch, (record,) = scribes(tmp_path, "skipbo", 3, 1, ("fails", "9"))

    assert [(fault.seat, fault.code) for fault in record.faults] == [(2, "illegal")]
    for seat, sitting in enumerate(batch.games[0].seating):
        again = told_again(record, batch.games[0].rngs, seat)
        assert [unnumbered(encode(each.request)) for each in again] == heard(tmp_path, sitting)[0]
        assert isinstance(again[-1].request, Move if seat == 2 else GameEnd)
    assert told_again(record, batch.games[0].rngs, 2)[-1].played == "!illegal"


def test_every_action_of_the_seat_has_its_request_with_what_was_played_and_the_time_it_had() -> None:
    clock = ClockRules(move_ms=1000, bank_ms=1500, increment_ms=0, margin_ms=50)
    seats = Script(wall_ms=10), Script()
    record = play(*seats, clock=clock)

    moves = [each for each in told_again(record, (0, 1), 0) if isinstance(each.request, Move)]

    mine = [(index, action) for index, (seat, action) in enumerate(record.actions) if seat == 0]
    assert [(each.index, each.played) for each in moves] == mine
    assert [each.limit for each in moves] == seats[0].limits
    assert all(each.played in each.legal for each in moves)


def test_the_list_is_left_out_of_the_request_where_it_is_not_wanted_but_known_all_the_same() -> None:
    record = play(Script(), Script())

    moves = [
        each for each in replay_requests(record, (0, 1), 0, itertools.count(2).__next__, listed=False) if each.legal
    ]

    assert moves
    assert all(b'"legal"' not in encode(each.request) for each in moves)


def crash_in_turn_three(request: Move) -> str:
    """Choose the first legal action, and crash later."""
    if request.view.turn > 2:
        raise CRASH
    return first_legal(request)


@pytest.mark.parametrize(
    "second", [Script(), Script(crash_in_turn_three), Script(fails={"begin": CRASH})], ids=("plays", "crashes", "fails")
)
def test_decisions_show_what_each_seat_was_shown_in_the_order_of_the_game(second: Script) -> None:
    record = play(Script(), second)

    found = list(replay_decisions(record))

    assert found == decisions_by_seat(record, (0, 1))
    assert all(each.played == record.actions[each.index][1] for each in found)


def test_a_void_game_has_no_decisions() -> None:
    assert list(replay_decisions(play(Script(fails={"begin": CRASH}), Script(fails={"game_start": CRASH})))) == []


def test_in_a_void_game_nobody_is_asked_for_a_move() -> None:
    void = play(Script(fails={"begin": CRASH}), Script(fails={"game_start": CRASH}))

    assert [[type(each.request) for each in told_again(void, (0, 1), seat)] for seat in range(2)] == [[GameStart]] * 2


def test_a_record_that_does_not_replay_is_refused() -> None:
    record = play(Script(), Script())

    for wrong in (replace(record, reason="stalemate"), replace(record, actions=((0, "p-c2"), *record.actions[1:]))):
        with pytest.raises(RecordError):
            told_again(wrong, (0, 1), 1)
        with pytest.raises(RecordError):
            list(replay_decisions(wrong))
