"""Klondike for programs that learn: each action is a choice of its own, and a vector holds the seat's table."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from malice.referee.games.klondike.messages import View
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.plays import (
    ACROSS,
    BACK,
    COLUMN_UP,
    DONE,
    REDEAL,
    TABLEAU,
    TURN,
    UNDO,
    WASTE_DOWN,
    WASTE_UP,
)
from malice.referee.games.klondike.table import NUMBER, RANK, SUITS
from malice.referee.learning import CARD_FEATURES, CARD_VECTORS, Learner, add_top, keep_action

MOST_DOWN, MOST_UP, STOCK = 6, 13, 24
"""The most cards that lie face down and face up in a column, and in the stock."""


def make_learner(parameters: Parameters, seats: int) -> Learner:
    """One seat's table is enough; all tables are alike."""
    across = [action for row in ACROSS for action in row if action[:2] != action[3:]]
    back = [action for row in BACK for action in row]
    ends = [TURN, REDEAL, *([] if parameters.undo == "none" else [UNDO]), DONE]
    choices = (WASTE_UP, *COLUMN_UP, *across, *WASTE_DOWN, *(back if parameters.foundation_back else []), *ends)

    def encode(view: View) -> array[float]:
        table = view.tables[view.seat] if view.seat is not None else None
        assert table, "a seat sees its own table"
        vector = array("f", [RANK[NUMBER[top]] / 13 + 1 / 13 if top else 0.0 for top in table.foundations])
        vector.append(len(table.stock) / STOCK)
        vector.append(len(table.waste) / STOCK)
        vector.append(min(1.0, table.idle / parameters.idle))
        vector.append(min(1.0, table.actions / parameters.max_actions))
        add_top(vector, table.waste)
        for column in table.columns:
            vector.append(len(column.down) / MOST_DOWN)
            vector.append(len(column.up) / MOST_UP)
            add_top(vector, column.up)
            vector += CARD_VECTORS[column.up[0] if column.up else None]
        return vector

    return Learner(choices, keep_action, tuple(_name_features()), encode)


def _name_features() -> Iterator[str]:
    yield from (f"f{suit} cards" for suit in SUITS)
    yield from ("stock", "waste", "idle", "actions")
    yield from (f"waste {mark}" for mark in CARD_FEATURES)
    for column in TABLEAU:
        yield from (f"{column} face down", f"{column} face up")
        yield from (f"{column} top {mark}" for mark in CARD_FEATURES)
        yield from (f"{column} lowest face up {mark}" for mark in CARD_FEATURES)
