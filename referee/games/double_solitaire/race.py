"""How far each seat is from winning, and what follows from parameters."""

from __future__ import annotations

from collections.abc import Mapping

from malice.referee.games.double_solitaire.messages import View
from malice.referee.games.double_solitaire.parameters import PACK, SEATS, Parameters


def count_left(view: View) -> tuple[int, ...]:
    """Return by seat how many cards its pack has left; the card in hand belongs to the seat whose turn it is."""
    held = [view.card is not None and seat == view.seat for seat in range(len(view.seats))]
    return tuple(pack.stock + len(pack.discard) + card for pack, card in zip(view.seats, held, strict=True))


def list_figures(rules: Parameters, seats: int) -> Mapping[str, str]:
    """Return the numbers of cards that follow from the parameters, for `malice rules show`."""
    stock = (PACK - rules.table_piles) // SEATS
    return {"cards": str(PACK), "table piles": str(rules.table_piles), "in each stock": str(stock)}
