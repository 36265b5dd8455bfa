"""Every parameter of Nuts, with its meaning and where it comes from, and which cannot be played together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from malice.referee.errors import RulesetError
from malice.referee.rules import MatchTerms


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every parameter of Nuts; the defaults are the ruleset `nuts`."""

    players: tuple[int, int] = (4, 4)
    """How many seats play: [4, 4] makes two teams, seats 0 and 2 against 1 and 3, in which seats 0 and 1 play the Nuts
    and seats 2 and 3 the Cards; [2, 2] makes two teams of one seat each, which plays both parts. (catsatcards.com,
    Nuts, has four players; two are a ruling of malice, after the game's name Two-Handed Solitaire.)"""
    nuts_size: int = 11
    """Cards in each Nuts pile. (catsatcards.com, Nuts.)"""
    columns: tuple[int, ...] = (5, 4, 3, 2, 1)
    """Cards dealt to each column of a tableau, the last one face up; what is left of a pack is the stock.
    (catsatcards.com, Nuts.)"""
    turned: int = 3
    """How many cards of the stock a turn brings to the waste; the last turn of a pass may bring fewer.
    (catsatcards.com, Nuts.)"""
    turn_ticks: int = 1
    """How many ticks a turn takes: after it, its seat is asked again so many ticks later. (A ruling of malice: at a
    table, a turn takes about as long as any other move.)"""
    redeal_ticks: int = 0
    """How many ticks more a turn takes that first turns the waste over, because the stock is empty. (A ruling of
    malice.)"""
    empty_column: Literal["any", "king"] = "any"
    """What an empty column takes: "any" card or run, or only one that begins with a "king". (A ruling of malice, after
    Nertz at dkmgames.com: the text on Nuts has lost its list of plays.)"""
    runs: Literal["any", "whole"] = "any"
    """What may move from column to column: "any" number of face-up cards from the end, or only the "whole" run of
    face-up cards. (A ruling of malice, after Nertz.)"""
    waste_visible: Literal["all", "top"] = "all"
    """What all seats see of a waste: "all" its cards, so that nobody has to remember them, or only its "top". (The text
    exposes the top; that turned cards lie open is a ruling of malice.)"""
    nuts_out: Literal["tick", "at_once"] = "tick"
    """When the hand ends after the last card of a Nuts pile was played: at the end of the "tick", so that actions drawn
    later still count, or "at_once". (A ruling of malice: at a table, a shout ends the hand.)"""
    penalty: int = 2
    """Points that a team loses for each card left in its Nuts pile. (catsatcards.com, Nuts.)"""
    match_target: int = 250
    """Points that win a series of hands; 0 means single hands. (catsatcards.com, Nuts.)"""
    idle_ticks: int = 20
    """After so many idle ticks in a row the stocks are burned, and after as many more the hand ends. A tick is idle if
    no card went to the centre, no Nuts or waste card moved, and no card of a column was turned up. (A ruling of malice:
    nothing else bounds a hand in which all are stuck.)"""
    burn: Literal["each", "once", "never"] = "each"
    """How often the top card of every stock goes to its bottom, so that turns show other cards: once in "each" row of
    idle ticks, "once" in a hand, or "never". (A ruling of malice, after Nertz at lindaslifejournal and naelizie: "burn
    one".)"""
    max_ticks: int = 1000
    """A safety cap: after so many ticks the hand ends. (A ruling of malice.)"""


def match(rules: Parameters) -> MatchTerms:
    """What a tournament must know of the parameters."""
    return MatchTerms(rules.players, rules.match_target, rules.max_ticks, simultaneous=True)


def classify(rules: Parameters) -> object:
    """Equal values for parameters under which a bot sees and plays the same kinds of things."""
    return rules.players, rules.waste_visible, rules.turn_ticks > 1 or rules.redeal_ticks > 0


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
