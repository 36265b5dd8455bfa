"""Double Solitaire for programs that learn: choices by source and target, and a vector of all that lies open."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from malice.referee.games.double_solitaire.messages import View
from malice.referee.games.double_solitaire.parameters import PACK, SEATS, Parameters
from malice.referee.games.double_solitaire.state import DISCARD, END, EXCHANGE, KEEP
from malice.referee.learning import CARD_FEATURES, CARD_VECTORS, Learner, add_top

RUN = 13
"""Cards from king to ace."""


def make_learner(parameters: Parameters, seats: int) -> Learner:
    piles = [f"t{place}" for place in range(parameters.table_piles)]

    def encode(view: View) -> array[float]:
        vector = array("f", [height / RUN for height in view.foundations])
        vector += CARD_VECTORS[view.card]
        for place in (view.seat, 1 - view.seat):
            vector.append(view.seats[place].stock / PACK)
            vector.append(len(view.seats[place].discard) / PACK)
            vector.append(min(1.0, view.quiet[place] / parameters.no_progress))
            add_top(vector, view.seats[place].discard)
        for pile in view.table:
            vector.append(min(1.0, len(pile) / RUN))
            add_top(vector, pile)
            vector += CARD_VECTORS[pile[0] if pile else None]
        return vector

    return Learner(tuple(_list_choices(piles, parameters)), find_choice, tuple(_name_features(piles)), encode)


def find_choice(action: str) -> str:
    """Several cards of a table pile, however many (`t1x3-t0`), are one choice: `t1x-t0`."""
    return re.sub("x[0-9]+", "x", action) if "x" in action and action != EXCHANGE else action


def _list_choices(piles: list[str], parameters: Parameters) -> Iterator[str]:
    targets = ("f", *piles, "o")
    yield from (f"{source}-{target}" for source in ("h", "d") for target in targets)
    for source in piles:
        yield from (f"{source}-{target}" for target in targets if target != source)
        yield from (f"{source}x-{target}" for target in piles if target != source)
    yield from (DISCARD, END)
    if parameters.exchange:
        yield from (EXCHANGE, KEEP)


def _name_features(piles: list[str]) -> Iterator[str]:
    yield from (f"f{suit} cards" for suit in "CDHS")
    yield from (f"card in hand {mark}" for mark in CARD_FEATURES)
    for place in range(SEATS):
        name = "me" if place == 0 else f"next{place}"
        yield from (f"{name} stock", f"{name} discard cards", f"{name} quiet")
        yield from (f"{name} discard {mark}" for mark in CARD_FEATURES)
    for pile in piles:
        yield f"{pile} cards"
        yield from (f"{pile} top {mark}" for mark in CARD_FEATURES)
        yield from (f"{pile} lowest {mark}" for mark in CARD_FEATURES)
