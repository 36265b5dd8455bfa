"""A record played again without bots."""

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
"""What an action that is a verdict begins with."""
VERDICTS = tuple(VERDICT + code for code in get_args(Code))

VOID = "void"
"""The reason of a game in which every side failed before anybody played."""


def make_void_result(seats: int) -> Result:
    """Return the result of a game that nobody could begin."""
    return Result((1,) * seats, (0,) * seats, VOID)


class Replay:
    """A game that is played again by its rules and its cards alone, from the deal to wherever its actions lead.

    Args:
        rules: the game.
        dealer: gives the order of every shuffle.
    """

    def __init__(self, rules: SpiteAndMalice, dealer: Dealer) -> None:
        self.rules = rules
        self._dealer = dealer
        self.state, self.dealt = self._settle(rules.start(), ())

    def next(self) -> Turn | Shuffle | Result:
        """Say who acts."""
        return self.rules.next(self.state)

    def play(self, seat: int, action: str) -> Events:
        """Play an action, or withdraw the seat by a verdict; return all that changed up to the next action.

        Raises:
            IllegalAction: it is not legal.
        """
        if action.startswith(VERDICT):
            state, events = self.rules.withdraw(self.state, seat)
            events = (Out(seat, action[1:]), *events)
        else:
            state, events = self.rules.play(self.state, action)
        self.state, events = self._settle(state, events)
        return events

    def _settle(self, state: State, events: Events) -> tuple[State, Events]:
        """Shuffle until a seat is to act, or the game is over."""
        while isinstance(step := self.rules.next(state), Shuffle):
            state, more = self.rules.shuffled(state, self._dealer.order(step.size))
            events += more
        return state, events


class Step(Struct, frozen=True):
    """One action of a game and all that it changed."""

    seat: int | None
    """None for the deal that opens the game."""
    action: str
    events: Events
    """Unmasked, up to the next action."""
    view: View | None
    """The table after the step, for a spectator; None once the game is over."""


def replay_steps(record: Record, *, views: bool = False, again: Replay | None = None) -> Iterator[Step]:
    """Play the recorded game step by step: first the deal, then each action.

    Args:
        record: the game; nothing of it is trusted but its rules, deal seed and actions.
        views: also show the table after every step.
        again: plays it; whoever gives one can look at the table before each step.

    Raises:
        RecordError: an action is not legal, or the game ends elsewhere or otherwise than the record says.
    """
    again = again or start_replay(record)
    yield _step(again, None, "", again.dealt, views)
    for index, (seat, action) in enumerate(record.actions):
        _check_seat(record, index, again.next(), again.rules.teams)
        if record.reason == VOID:
            yield Step(seat, action, (Out(seat, action[1:]),), None)
            continue
        try:
            events = again.play(seat, action)
        except IllegalAction as error:
            raise RecordError(f"game {record.key}: action {index}: {error}") from None
        yield _step(again, seat, action, events, views)
    _check_end(record, again.next(), again.rules.teams)


def _step(again: Replay, seat: int | None, action: str, events: Events, views: bool) -> Step:
    over = isinstance(again.next(), Result)
    return Step(seat, action, events, again.rules.view(again.state, None) if views and not over else None)


def start_replay(record: Record) -> Replay:
    """Return a recorded game as it is after the deal.

    Raises:
        RecordError: there is no such game.
    """
    try:
        return Replay(make_rules(record.rules, len(record.entries)), Dealer(bytes.fromhex(record.deal_seed)))
    except (RulesetError, ValueError) as error:
        raise RecordError(f"game {record.key}: {error}") from None


def _check_seat(record: Record, index: int, step: Turn | Shuffle | Result, teams: tuple[int, ...]) -> None:
    """Refuse an action of a seat that was not asked."""
    seat, action = record.actions[index]
    where = f"game {record.key}: action {index} ({action!r} of seat {seat})"
    if action.startswith(VERDICT):
        if action not in VERDICTS:
            raise RecordError(f"{where}: expected one of {', '.join(VERDICTS)}")
        judged = [other for other, earlier in record.actions[:index] if earlier.startswith(VERDICT)]
        nobody_played = index == len(judged)
        playing = seat in range(len(teams)) and seat not in judged
        if nobody_played and playing and (not isinstance(step, Result) or teams[seat] in [teams[s] for s in judged]):
            return  # it failed before it was asked for an action, perhaps like its partner before it
    if step != Turn(seat):
        raise RecordError(f"{where}: expected {step}")


def _check_end(record: Record, step: Turn | Shuffle | Result, teams: tuple[int, ...]) -> None:
    """Refuse a result that the actions do not lead to."""
    played = any(not action.startswith(VERDICT) for _, action in record.actions)
    if record.reason == VOID and not played and {teams[seat] for seat, _ in record.actions} == set(teams):
        step = make_void_result(len(teams))
    said = Result(record.places, record.scores, record.reason)
    if step != said:
        raise RecordError(f"game {record.key}: expected {step} at its end, the record says {said}")


def check_record(record: Record) -> None:
    """Play a record again and compare all that its digest covers.

    Raises:
        RecordError: it does not replay, or the digest is of another game.
    """
    if record.format != FORMAT:
        raise RecordError(f"game {record.key}: expected format {FORMAT}, got {record.format}")
    for _ in replay_steps(record):
        pass
    if compute_digest(record) != record.digest:
        raise RecordError(f"game {record.key}: the digest does not match what the record says")
