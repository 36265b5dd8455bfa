"""A record played again without bots."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from protocol.messages import Out, View
from referee.dealer import Dealer
from referee.errors import IllegalAction, RecordError
from referee.games import game
from referee.records import FORMAT, Record, digest
from referee.rules import Events, Result, Shuffle, Turn

VERDICT = "!"
"""What an action that is a verdict begins with."""


VOID = "void"
"""The reason of a game in which every seat failed before anybody played."""


class Step(Struct, frozen=True):
    """One action of a game and all that it changed."""

    seat: int | None
    """None for the deal that opens the game."""
    action: str
    events: Events
    """Unmasked, up to the next action."""
    view: View | None
    """The table after the step, for a spectator; None once the game is over."""


def steps(record: Record, *, views: bool = False) -> Iterator[Step]:
    """Play the recorded game step by step: first the deal, then each action.

    Args:
        record: the game; nothing of it is trusted but its rules, deal seed and actions.
        views: also show the table after every step.

    Raises:
        RecordError: an action is not legal, or the game ends elsewhere or otherwise than the record says.
    """
    rules = game(record.rules, len(record.entries))
    dealer = Dealer(bytes.fromhex(record.deal_seed))
    state = rules.start()

    def settled(events: Events) -> Events:
        nonlocal state
        while isinstance(step := rules.next(state), Shuffle):
            state, more = rules.shuffled(state, dealer.order(step.size))
            events += more
        return events

    def shown() -> View | None:
        return rules.view(state, None) if views and not isinstance(rules.next(state), Result) else None

    yield Step(None, "", settled(()), shown())
    for index, (seat, action) in enumerate(record.actions):
        if record.reason == VOID:
            yield Step(seat, action, (Out(seat, action[1:]),), None)
            continue
        if isinstance(rules.next(state), Result):
            raise RecordError(f"game {record.key}: over before action {index} ({action!r})")
        if action.startswith(VERDICT):
            state, events = rules.withdraw(state, seat)
            events = (Out(seat, action[1:]), *events)
        else:
            if rules.next(state) != Turn(seat):
                raise RecordError(f"game {record.key}: action {index} is not the turn of seat {seat}")
            try:
                state, events = rules.play(state, action)
            except IllegalAction as error:
                raise RecordError(f"game {record.key}: action {index}: {error}") from None
        yield Step(seat, action, settled(events), shown())
    _check_end(record, rules.next(state))


def _check_end(record: Record, step: object) -> None:
    if record.reason == VOID:
        if not all(action.startswith(VERDICT) for _, action in record.actions):
            raise RecordError(f"game {record.key}: void, but somebody played")
        return
    if not isinstance(step, Result):
        raise RecordError(f"game {record.key}: not over after {len(record.actions)} actions")
    said = Result(record.places, record.scores, record.reason)
    if step != said:
        raise RecordError(f"game {record.key}: expected the end {step}, the record says {said}")


def check(record: Record) -> None:
    """Play a record again and compare all that its digest covers.

    Raises:
        RecordError: it does not replay, or the digest is of another game.
    """
    if record.format != FORMAT:
        raise RecordError(f"game {record.key}: expected format {FORMAT}, got {record.format}")
    for _ in steps(record):
        pass
    if digest(record) != record.digest:
        raise RecordError(f"game {record.key}: the digest does not match what the record says")
