"""Double Solitaire: two packs, one table, and whoever is rid of their pack first wins."""

from pathlib import Path

from referee.families import Family
from referee.games.double_solitaire.engine import DoubleSolitaire
from referee.games.double_solitaire.messages import PUBLIC, Event, View
from referee.games.double_solitaire.parameters import Parameters, match

__all__ = ["FAMILY", "DoubleSolitaire"]

FAMILY = Family(
    name="double-solitaire",
    folder=Path(__file__).parent,
    parameters=Parameters,
    view=View,
    event=Event,
    public=PUBLIC,
    match=match,
    rules=DoubleSolitaire,
)
