"""Refuses parameters that cannot be played together, with all reasons in one message."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from malice.protocol.cards import ORDER, RANKS
from malice.referee.errors import RulesetError
from malice.referee.games.spite.packs import (
    FRENCH,
    count_payoff_cards,
    count_payoff_packs,
    list_fitting_cards,
    list_packs,
)
from malice.referee.games.spite.parameters import Parameters

MOST_SEATS = 8
TEAM_SEATS = {"none": None, "2x2": 4, "3x2": 6}
LEAST = {
    "decks": 1,
    "jokers": 0,
    "payoff_size": 1,
    "hand_size": 1,
    "centre_limit": 1,
    "side_count": 1,
    "side_initial": 0,
    "redeals": 0,
    "match_target": 0,
    "max_turns": 1,
    "no_progress": 1,
    "tie_cap": 0,
}

MOST = 10_000
"""The largest number in any parameter: no game needs more."""

Complaints = Iterator[str]


def validate(rules: Parameters, seats: int) -> None:
    """Check that the parameters make a game for that many seats.

    Raises:
        RulesetError: they do not; the message gives every reason.
    """
    for checks in (
        (_check_numbers, _check_ranks),
        (_check_seats, _check_skipbo, _check_payoff_packs, _check_effects),
        (_check_deal, _check_fit),
    ):
        complaints = [complaint for check in checks for complaint in check(rules, seats)]
        if complaints:
            raise RulesetError("; ".join(complaints))


def _check_numbers(rules: Parameters, seats: int) -> Complaints:
    for field, least in LEAST.items():
        value = getattr(rules, field)
        if isinstance(value, int) and value < least:
            yield f"{field} = {value}: expected {least} or more"
        if isinstance(value, int) and value > MOST:
            yield f"{field} = {value}: expected {MOST} or less"
    if isinstance(rules.payoff_size, float) and not 0 < rules.payoff_size < 1:
        yield f"payoff_size = {rules.payoff_size}: expected a whole number, or a share between 0 and 1"
    if not 2 <= rules.stack_top <= 13:
        yield f"stack_top = {rules.stack_top}: expected 2 to 13"
    least, most = rules.players
    if not 2 <= least <= most <= MOST_SEATS:
        yield f"players = [{least}, {most}]: expected a range within 2 to {MOST_SEATS}"
    elif not least <= seats <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        yield f"players = [{least}, {most}]: expected {expected} seats, got {seats}"


def _check_ranks(rules: Parameters, seats: int) -> Complaints:
    known = RANKS[: rules.stack_top]
    for field, ranks in _list_rank_fields(rules):
        unknown = "".join(rank for rank in ranks if rank not in known)
        if unknown:
            yield f"{field} = {ranks!r}: expected ranks out of {known!r}, got {unknown!r}"
        if len(set(ranks)) < len(ranks):
            yield f"{field} = {ranks!r}: expected each rank once"
    if rules.wild_kings:
        for field, ranks in _list_rank_fields(rules)[1:]:
            if "K" in ranks:
                yield f"{field} = {ranks!r} contradicts wild_kings = true: a wild card is never forced"


def _list_rank_fields(rules: Parameters) -> list[tuple[str, str]]:
    forced = rules.compulsory
    zones = [(f"compulsory.{zone}", getattr(forced, zone)) for zone in forced.__struct_fields__]
    return [("wild_ban", rules.wild_ban), *zones]


def _check_seats(rules: Parameters, seats: int) -> Complaints:
    needed = TEAM_SEATS[rules.teams]
    if needed and seats != needed:
        yield f"teams = {rules.teams!r} contradicts a game of {seats} seats: it needs {needed}"


def _check_skipbo(rules: Parameters, seats: int) -> Complaints:
    if rules.deck_kind == "skipbo":
        if rules.wild_kings:
            yield "wild_kings = true contradicts deck_kind = 'skipbo': there are no kings"
        if rules.loading != "none":
            yield f"loading = {rules.loading!r} contradicts deck_kind = 'skipbo': its cards have no suits"
        if rules.payoff_source != "mixed":
            yield f"payoff_source = {rules.payoff_source!r} contradicts deck_kind = 'skipbo': it is one pack"


def _check_payoff_packs(rules: Parameters, seats: int) -> Complaints:
    if rules.payoff_source == "mixed":
        return
    if not isinstance(rules.payoff_size, int):
        yield (
            f"payoff_size = {rules.payoff_size} contradicts payoff_source = 'separate_pack':"
            " expected a whole number of cards"
        )
    elif seats * rules.payoff_size % FRENCH:
        yield (
            f"payoff_size = {rules.payoff_size} contradicts payoff_source = 'separate_pack':"
            f" {seats} piles do not use up whole packs of {FRENCH}"
        )
    else:
        decks = seats if rules.decks == "players" else rules.decks
        separate = count_payoff_packs(rules, seats)
        if decks <= separate:
            yield (
                f"decks = {rules.decks!r} contradicts payoff_source = 'separate_pack':"
                f" the pay-off piles use up {separate}, and the stock needs one more"
            )


def _starts_by_payoff(rules: Parameters) -> bool:
    return rules.first_player in ("high_payoff", "low_payoff")


def _passes_with_cards(rules: Parameters) -> bool:
    return rules.discard == "optional" or rules.side_rule != "any"


def _passes_matter(rules: Parameters) -> bool:
    emptied = rules.stock_out_when == "play_on" and rules.stalemate == "redeal"
    return emptied or _passes_with_cards(rules)


def _has_wilds(rules: Parameters) -> bool:
    return rules.wild_kings or rules.jokers > 0 or rules.deck_kind == "skipbo"


_NO_LEAD = "the first pay-off cards do not decide who starts"
_NO_PASS = "nobody who holds cards can pass"
NEEDS: tuple[tuple[str, Callable[[Parameters], bool], str], ...] = (
    ("wild_ban", _has_wilds, "there are no wild cards"),
    ("first_tie", _starts_by_payoff, _NO_LEAD),
    ("tie_cap", _starts_by_payoff, _NO_LEAD),
    ("stalemate", _passes_matter, _NO_PASS),
    ("stalemate_result", _passes_with_cards, _NO_PASS),
    ("redeals", lambda rules: rules.stalemate == "redeal", "stalemate is not 'redeal'"),
)
"""What a parameter needs to have an effect, and the reason to give if it is set without that."""


def _check_effects(rules: Parameters, seats: int) -> Complaints:
    default = Parameters()
    for field, applies, reason in NEEDS:
        value = getattr(rules, field)
        if value != getattr(default, field) and not applies(rules):
            yield f"{field} = {value!r} has no effect: {reason}"


def _check_deal(rules: Parameters, seats: int) -> Complaints:
    payoff_pack, deck = list_packs(rules, seats)
    size = count_payoff_cards(rules, len(payoff_pack + deck), seats)
    if not size:
        yield f"payoff_size = {rules.payoff_size} leaves no card for each of {seats} seats"
    needed = seats * (size + rules.hand_size + rules.side_count * rules.side_initial)
    if needed > len(payoff_pack + deck):
        yield f"the deal needs {needed} cards, but {seats} seats play with {len(payoff_pack + deck)}"


def _check_fit(rules: Parameters, seats: int) -> Complaints:
    """Check that every card fits at some height, and that every height has a card."""
    payoff_pack, deck = list_packs(rules, seats)
    cards = sorted({*payoff_pack, *deck}, key=ORDER.__getitem__)
    fits = [list_fitting_cards(rules, height) for height in range(rules.stack_top)]
    dead = {card[0]: None for card in cards if not any(card in accepted for accepted in fits)}
    if dead:
        yield f"stack_top = {rules.stack_top}: cards of rank {', '.join(dead)} could never be played to the centre"
    missing = [RANKS[height] for height, accepted in enumerate(fits) if accepted.isdisjoint(cards)]
    if missing:
        yield f"stack_top = {rules.stack_top}: no card could be played as {', '.join(missing)}"
