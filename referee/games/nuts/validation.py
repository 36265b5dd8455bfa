"""Refuses parameters that cannot be played together, with all reasons in one message."""

from __future__ import annotations

from collections.abc import Iterator

from malice.referee.errors import RulesetError
from malice.referee.games.nuts.parameters import Parameters

PACK = 52
LEAST = {
    "nuts_size": 1,
    "turned": 1,
    "turn_ticks": 1,
    "redeal_ticks": 0,
    "penalty": 0,
    "match_target": 0,
    "idle_ticks": 1,
    "max_ticks": 1,
}
MOST = 10_000
"""The largest number in any parameter: no game needs more."""
MOST_COLUMNS = 10
"""An action names its column by one digit."""
SEATS = (2, 4)


def validate(rules: Parameters, seats: int) -> None:
    """Check that the parameters make a game for that many seats.

    Raises:
        RulesetError: they do not; the message gives every reason.
    """
    if complaints := [*_check_numbers(rules), *_check_seats(rules, seats), *_check_deal(rules)]:
        raise RulesetError("; ".join(complaints))


def _check_numbers(rules: Parameters) -> Iterator[str]:
    for field, least in LEAST.items():
        value = getattr(rules, field)
        if not least <= value <= MOST:
            yield f"{field} = {value}: expected {least} to {MOST}"


def _check_seats(rules: Parameters, seats: int) -> Iterator[str]:
    least, most = rules.players
    if least != most or least not in SEATS:
        yield f"players = [{least}, {most}]: expected [2, 2] or [4, 4]"
    elif seats != least:
        yield f"players = [{least}, {most}]: expected {least} seats, got {seats}"


def _check_deal(rules: Parameters) -> Iterator[str]:
    columns = list(rules.columns)
    if not 1 <= len(columns) <= MOST_COLUMNS or min(columns, default=0) < 1:
        yield f"columns = {columns}: expected 1 to {MOST_COLUMNS} columns of at least one card"
    if rules.nuts_size + sum(columns) > PACK:
        yield f"the deal needs {rules.nuts_size + sum(columns)} cards, but each team has {PACK}"
