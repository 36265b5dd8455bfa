"""The numbers of cards, for whoever reads a ruleset."""

from __future__ import annotations

from collections.abc import Mapping

from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.table import COLUMNS, PACK


def list_figures(parameters: Parameters, seats: int) -> Mapping[str, str]:
    """Return the figures by caption; they are the same for any number of seats."""
    dealt = COLUMNS * (COLUMNS + 1) // 2
    return {
        "cards for each seat": str(len(PACK)),
        "face down in the columns": str(dealt - COLUMNS),
        "in the stock after the deal": str(len(PACK) - dealt),
    }
