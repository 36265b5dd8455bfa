"""Every parameter of Double Solitaire, with its meaning and where it comes from."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from malice.referee.errors import RulesetError
from malice.referee.rules import MatchTerms

SEATS = 2
PACK = 52


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every parameter of Double Solitaire; the defaults are the ruleset `double-solitaire`.

    The text of the game that came down to us (catsatcards.com, Double Solitaire) has lost its list of plays. Where a
    docstring says "ours", no source decides.
    """

    table_piles: int = 4
    """Cards that are dealt face up, each the beginning of a table pile. The other cards are dealt alternately to the
    two seats, so their number must be even. Source: catsatcards.com."""
    table_moves: Literal["top", "top_or_pile", "run"] = "top_or_pile"
    """What may move from one table pile to another: only its "top" card, the top card or the whole pile
    ("top_or_pile"), or any number of cards from the top ("run"). Source: ourpastimes.com, Two-Handed Solitaire; "run"
    is Klondike's."""
    empty_pile: Literal["any", "king", "none"] = "any"
    """What an empty table pile takes: "any" card, a "king", or nothing ("none"). Source: ourpastimes.com; "king" is
    Klondike's."""
    loading: Literal["all", "pack", "none"] = "all"
    """Which cards may go onto the opponent's discard pile, in suit, one rank higher or lower than its top: the card in
    hand, the top of the own discard pile and the tops of table piles ("all"), not those of the table ("pack"), or no
    card ("none"). No ace goes on a king, and nothing on an empty pile. Source: ourpastimes.com for the play, Russian
    Bank for what fits."""
    compulsory: Literal["none", "foundation"] = "none"
    """Whether a card that fits on a foundation must be played there before anything else: never, or always
    ("foundation"). Ours: the text says to play until nothing fits, which no referee can ask of plays that undo each
    other."""
    exchange: bool = False
    """Whether seat 0 may exchange the two stocks unseen before it takes its first card. Source: catsatcards.com, where
    the player who did not deal may do so, and starts."""
    passes: int = 2
    """How often both packs must go through, each card of them, without a play of anybody, until the game is stuck and
    ends. Ours; 1 or more."""
    stuck_result: Literal["fewest", "draw"] = "fewest"
    """Who wins a game that is stuck, or that a safety cap ends: the seat with the fewest cards in its pack, or
    nobody. Ours."""
    no_progress: int = 100
    """A safety cap: after this many turns for each seat without a card to a foundation, the game ends as if it were
    stuck. Ours."""
    max_turns: int = 500
    """A safety cap: after this many turns for each seat the game ends as if it were stuck. Ours."""


def match(parameters: Parameters) -> MatchTerms:
    """What a tournament must know of the parameters."""
    return MatchTerms((SEATS, SEATS), max_turns=parameters.max_turns + parameters.exchange)


def validate(parameters: Parameters, seats: int) -> None:
    """Accept parameters that make a game for that many seats.

    Raises:
        RulesetError: they make none.
    """
    if seats != SEATS:
        raise RulesetError(expected=f"{SEATS} seats", got=seats)
    piles = parameters.table_piles
    if not 1 <= piles < PACK - 1 or (PACK - piles) % SEATS:
        raise RulesetError(where="table_piles", expected=f"an even number from 2 to {PACK - SEATS}", got=piles)
    for name in ("passes", "no_progress", "max_turns"):
        if (value := getattr(parameters, name)) < 1:
            raise RulesetError(where=name, expected="at least 1", got=value)
