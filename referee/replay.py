"""Plays a record again without bots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from msgspec import Struct

from protocol.messages import Out, View
from referee.dealer import Dealer
from referee.errors import IllegalAction, RecordError, RulesetError
from referee.games import make_rules
from referee.records import FORMAT, Record, compute_digest
from referee.rules import Events, Result, Shuffle, Turn
from referee.spite import SpiteAndMalice
from referee.spite.state import State
from referee.verdicts import Code

VERDICT = "!"
"""The first character of an action that is a verdict."""
VERDICTS = tuple(VERDICT + code for code in get_args(Code))

VOID = "void"
"""The reason of a game in which every team failed before anybody played."""


def make_void_result(seats: int) -> Result:
    """Return the result of a game that no team could begin."""
    return Result((1,) * seats, (0,) * seats, VOID)


class Replay:
    """Plays a game again from its rules and its cards alone, from the deal to the last of its actions.

    Args:
        rules: the game.
        dealer: chooses the order of every shuffle.
    """

    def __init__(self, rules: SpiteAndMalice, dealer: Dealer) -> None:
        self.rules = rules
        self._dealer = dealer
        self.state, self.dealt = self._settle(rules.start(), ())

    def next(self) -> Turn | Shuffle | Result:
        """Return who acts next, or the result."""
        return self.rules.next(self.state)

    def play(self, seat: int, action: str) -> Events:
        """Play an action, or withdraw the seat for a verdict; return all events up to the next action.

        Raises:
            IllegalAction: the action is not legal.
        """
        if action.startswith(VERDICT):
            state, events = self.rules.withdraw(self.state, seat)
            events = (Out(seat, action[1:]), *events)
        else:
            state, events = self.rules.play(self.state, action)
        self.state, events = self._settle(state, events)
        return events

    def _settle(self, state: State, events: Events) -> tuple[State, Events]:
        """Shuffle until a seat must act, or the game is over."""
        while isinstance(step := self.rules.next(state), Shuffle):
            state, more = self.rules.shuffled(state, self._dealer.order(step.size))
            events += more
        return state, events


class Step(Struct, frozen=True):
    """One action of a game and its events."""

    seat: int | None
    """None for the deal that opens the game."""
    action: str
    events: Events
    """Unmasked, up to the next action."""
    view: View | None
    """The table after the step, for a spectator; None once the game is over."""


def replay_steps(record: Record, *, views: bool = False, replay: Replay | None = None) -> Iterator[Step]:
    """Play the recorded game step by step: first the deal, then each action.

    Args:
        record: the game; this trusts only its rules, deal seed and actions.
        views: whether each step has a view.
        replay: plays the game; a caller that passes its own can look at the table before each step.

    Raises:
        RecordError: an action is not legal, or the game ends at another action or with another result than recorded.
    """
    replay = replay or start_replay(record)
    yield _make_step(replay, None, "", replay.dealt, views)
    for index, (seat, action) in enumerate(record.actions):
        _check_seat(record, index, replay.next(), replay.rules.teams)
        if record.reason == VOID:
            yield Step(seat, action, (Out(seat, action[1:]),), None)
            continue
        try:
            events = replay.play(seat, action)
        except IllegalAction as error:
            raise RecordError(f"game {record.key}: action {index}: {error}") from None
        yield _make_step(replay, seat, action, events, views)
    _check_end(record, replay.next(), replay.rules.teams)


def _make_step(replay: Replay, seat: int | None, action: str, events: Events, views: bool) -> Step:
    over = isinstance(replay.next(), Result)
    return Step(seat, action, events, replay.rules.view(replay.state, None) if views and not over else None)


def start_replay(record: Record) -> Replay:
    """Return a recorded game as it stands after the deal.

    Raises:
        RecordError: its rules or its deal seed make no game.
    """
    try:
        return Replay(make_rules(record.rules, len(record.entries)), Dealer(bytes.fromhex(record.deal_seed)))
    except (RulesetError, ValueError) as error:
        raise RecordError(f"game {record.key}: {error}") from None


def _check_seat(record: Record, index: int, step: Turn | Shuffle | Result, teams: tuple[int, ...]) -> None:
    """Refuse an action of a seat that does not act."""
    seat, action = record.actions[index]
    where = f"game {record.key}: action {index} ({action!r} of seat {seat})"
    if action.startswith(VERDICT):
        if action not in VERDICTS:
            raise RecordError(f"{where}: expected one of {', '.join(VERDICTS)}")
        judged = [other for other, earlier in record.actions[:index] if earlier.startswith(VERDICT)]
        nobody_played = index == len(judged)
        playing = seat in range(len(teams)) and seat not in judged
        if nobody_played and playing and (not isinstance(step, Result) or teams[seat] in [teams[s] for s in judged]):
            return  # the seat failed before its first action was due, perhaps after its partner
    if step != Turn(seat):
        raise RecordError(f"{where}: expected {step}")


def _check_end(record: Record, step: Turn | Shuffle | Result, teams: tuple[int, ...]) -> None:
    """Refuse a result that does not follow from the actions."""
    played = any(not action.startswith(VERDICT) for _, action in record.actions)
    if record.reason == VOID and not played and {teams[seat] for seat, _ in record.actions} == set(teams):
        step = make_void_result(len(teams))
    recorded = Result(record.places, record.scores, record.reason)
    if step != recorded:
        raise RecordError(f"game {record.key}: expected {step} at its end, the record says {recorded}")


def check_record(record: Record) -> None:
    """Play a record again and compare everything under its digest.

    Raises:
        RecordError: it does not replay, or the digest belongs to another game.
    """
    if record.format != FORMAT:
        raise RecordError(f"game {record.key}: expected format {FORMAT}, got {record.format}")
    for _ in replay_steps(record):
        pass
    if compute_digest(record) != record.digest:
        raise RecordError(f"game {record.key}: the digest does not match what the record says")
