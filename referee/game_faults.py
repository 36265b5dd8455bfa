"""What a game did wrong while it was played, with everything that repeats it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from malice.referee.errors import FamilyError, GameFault
from malice.referee.families import Family, explain_failure, load_family
from malice.referee.rules import Rules

if TYPE_CHECKING:
    from malice.protocol.messages import Move
    from malice.referee.records import Batch, GameOrder
    from malice.referee.seat import Played


@contextmanager
def name_faults(batch: Batch, order: GameOrder, played: Sequence[Played]) -> Iterator[None]:
    """Turn what the rules of a game raise, and what was refused of what they return, into a `GameFault`.

    Args:
        batch: which game is played.
        order: with which cards.
        played: what the seats have done so far; it may grow meanwhile.

    Raises:
        GameFault: the rules failed. Other errors pass.
    """
    try:
        yield
    except GameFault:
        raise
    except (Exception, SystemExit) as error:  # whatever somebody else's rules raise
        sentence = explain_failure(error, batch.family)
        if sentence is None and isinstance(error, FamilyError):
            sentence = f"the game {batch.family!r}: {error}"
        if sentence is None:
            raise
        raise GameFault(_escape(sentence), _escape(_report(batch, order, played, error))) from error


def _escape(text: str) -> str:
    """Spell out unpaired surrogates: what a game calls an action must not break the line that says so."""
    return text.encode("utf-8", "backslashreplace").decode()


def _report(batch: Batch, order: GameOrder, played: Sequence[Played], error: BaseException) -> str:
    package = load_family(batch.family).package
    actions = [(each.seat, each.action) for each in played]
    fields = {
        "game": f"{batch.family} of the package {package}" if package else batch.family,
        "ruleset": batch.ruleset,
        "parameters": _encode(batch.rules),
        "key": str(order.key),
        "deal seed": order.deal_seed,
        "seats": _encode([batch.players[player].label for player in order.seating]),
        "actions": _encode(actions),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items()) + f"\n{describe_error(error)}"


def check_rules(rules: Rules[Any], family: Family, parameters: Any, seats: int) -> Rules[Any]:
    """Make the rules refuse what they must not return."""
    from malice.referee.checked_rules import CheckedRules  # a referee of a game that ships needs none of it

    return CheckedRules(rules, family, parameters, seats)


def check_request(request: Move, seat: int) -> None:
    """Accept a request for an action before it is sent.

    Raises:
        FamilyError: it is longer than a bot has to read.
    """
    from malice.referee.checked_rules import refuse_length

    refuse_length(request, seat)


def blame_actions(legal: object, seat: int) -> None:
    """Accept a list of legal actions before a bot is blamed for an action that is not among them.

    Raises:
        FamilyError: the game is to blame.
    """
    from malice.referee.checked_rules import refuse_actions

    refuse_actions(legal, seat)


def describe_error(error: BaseException) -> str:
    """Quote an error with its traceback and those of its causes."""
    return "".join(traceback.format_exception(error))


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
