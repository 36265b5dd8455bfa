"""A ruleset is data: every parameter of the family, its meaning, and where rulesets are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from referee.errors import RulesetError
from referee.toml_files import convert, read_toml, suggestion

FOLDER = Path(__file__).parent / "rulesets"
DEFAULT = "standard"


class Compulsory(Struct, frozen=True, forbid_unknown_fields=True):
    """Ranks that must be played to the centre as soon as they fit, by the zone they lie in."""

    hand: str = ""
    payoff: str = ""
    side: str = ""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every parameter of Spite & Malice and its relatives; the defaults are the game as first described."""

    players: tuple[int, int] = (2, 2)
    """The least and the greatest number of seats."""
    teams: Literal["none", "2x2", "3x2"] = "none"
    """Partners: two pairs or three pairs, partners sitting opposite."""
    decks: int | Literal["players"] = 2
    """Packs shuffled together; "players" takes one for each seat."""
    jokers: int = 0
    """Jokers in the stock's pack, all packs together; a joker is wild."""
    deck_kind: Literal["french", "skipbo"] = "french"
    """Packs of 52, or Skip-Bo's 162 cards: twelve of each 1 to 12, and 18 wild."""
    payoff_source: Literal["mixed", "separate_pack"] = "mixed"
    """Pay-off piles come from the same cards as the stock, or from a pack of their own."""
    payoff_size: int | float = 20
    """Cards in each pay-off pile; below 1, the share of all cards that the piles hold together."""
    hand_size: int = 5
    """Cards that a hand is filled up to."""
    refill_at: Literal["turn_start", "turn_end"] = "turn_start"
    """When a hand is filled up."""
    wild_kings: bool = True
    """Kings stand for any card in the centre."""
    wild_ban: str = ""
    """Ranks that no wild card may stand for."""
    stack_top: int = 12
    """The value that completes a centre stack."""
    centre_limit: int | Literal["unlimited", "players+1"] = 3
    """Centre stacks at a time."""
    side_count: int = 4
    """Side stacks of each seat."""
    side_rule: Literal["any", "equal_or_one_lower"] = "any"
    """What may be discarded on a side stack: any card, or one of equal rank or one lower."""
    side_initial: int = 0
    """Cards dealt face up to each side stack at the start."""
    fill_empty_sides: bool = False
    """Before the discard that ends the turn, each empty side stack of one's own takes a card of the hand."""
    discard: Literal["mandatory", "optional"] = "mandatory"
    """A turn ends by a discard only, or also by a pass."""
    compulsory: Compulsory = Compulsory()
    """Ranks that must be played to the centre as soon as they fit."""
    loading: Literal["none", "suit_adjacent"] = "none"
    """Playing on the opponent's pay-off pile: never, or in suit, one higher or lower."""
    recycle: Literal["shuffle", "bottom", "aside"] = "shuffle"
    """A completed stack is shuffled into the stock, shuffled and put under it, or set aside."""
    last_resort_recycle: bool = False
    """When nothing was set aside, the open centre stacks give all but their top cards to a new stock."""
    stock_out_when: Literal["need", "empty", "none", "play_on"] = "need"
    """The stock is out when a draw cannot be filled, when it is empty, when nothing can be drawn, or never."""
    stock_out_result: Literal["draw", "fewest"] = "draw"
    """A game that ends because the stock is out is a draw, or is won by the fewest pay-off cards."""
    stalemate: Literal["end", "must_play", "redeal"] = "end"
    """What a full round of passes does: end the game, force aces and twos out of the hands, or redeal."""
    stalemate_result: Literal["draw", "fewest"] = "fewest"
    """A game that ends by passes is a draw, or is won by the fewest pay-off cards."""
    redeals: int = 3
    """Redeals of one game at most."""
    first_player: Literal["high_payoff", "low_payoff", "random", "seat"] = "high_payoff"
    """Who starts: the higher or lower first pay-off card, a seat drawn by lot, or seat 0."""
    first_tie: Literal["reshuffle_own", "redeal_together"] = "reshuffle_own"
    """When first pay-off cards are equal: each shuffles the own pile, or all piles are shuffled together."""
    side_visible: Literal["all", "top"] = "all"
    """Side stacks are spread, or only their top cards can be seen."""
    payoff_count: Literal["public", "on_request"] = "public"
    """Everybody sees how many pay-off cards are left, or a seat has to ask."""
    scoring: Literal["win_only", "five_plus", "remain_only", "skipbo"] = "five_plus"
    """Points of the winner: 1; 5 and 1 per pay-off card left; those cards only; or 25 and 5 per card."""
    match_target: int = 0
    """Points that win a series; 0 plays single games."""
    max_turns: int = 300
    """The game ends after so many turns for each seat."""
    no_progress: int = 100
    """The game ends after so many turns for each seat without a pay-off card played."""
    tie_cap: int = 50
    """After so many equal first pay-off cards, the lot decides who starts."""


class Ruleset(Struct, frozen=True):
    """Parameters with a name and where they come from."""

    name: str
    about: str
    source: str
    rules: Parameters


class RulesetFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A ruleset as written by hand: what differs from the one it extends."""

    about: str
    source: str
    extends: str | None = None
    rules: dict[str, Any] = {}


def names() -> tuple[str, ...]:
    """Return the names of the rulesets that ship, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load(name: str) -> Ruleset:
    """Return the ruleset called `name`.

    Raises:
        RulesetError: there is none; the message lists those that exist.
    """
    if name not in names():
        raise RulesetError(
            f"unknown ruleset {name!r}{suggestion(name, names())}; rulesets: {', '.join(names())}"
        )
    return read_ruleset(FOLDER / f"{name}.toml")


def read_ruleset(path: Path) -> Ruleset:
    """Return the ruleset that the TOML file at `path` describes.

    Raises:
        DataError: the file does not fit, or the ruleset it extends does not exist.
    """
    file = convert(read_toml(path), RulesetFile, str(path))
    merged = _merged_rules(file, path)
    return Ruleset(path.stem, file.about, file.source, convert(merged, Parameters, f"{path}: rules"))


def _merged_rules(file: RulesetFile, path: Path) -> dict[str, Any]:
    if file.extends is None:
        return dict(file.rules)
    parent = FOLDER / f"{file.extends}.toml"
    if not parent.exists() or parent == path:
        raise RulesetError(
            f"{path}: extends unknown ruleset {file.extends!r}{suggestion(file.extends, names())};"
            f" rulesets: {', '.join(names())}"
        )
    return _merged_rules(convert(read_toml(parent), RulesetFile, str(parent)), parent) | file.rules
