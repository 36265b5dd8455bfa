"""What a seat may do, in canonical order."""

from __future__ import annotations

from typing import Final

from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.table import COLUMNS, KING, RANK, RED, SUIT, SUITS, Layout

TURN: Final = "turn"
REDEAL: Final = "redeal"
UNDO: Final = "undo"
DONE: Final = "done"
WASTE: Final = "w"

_COLUMNS: Final = range(COLUMNS)
TABLEAU: Final = tuple(f"t{column}" for column in _COLUMNS)
FOUNDATIONS: Final = tuple(f"f{suit}" for suit in SUITS)
WASTE_UP: Final = "w-f"
COLUMN_UP: Final = tuple(f"t{column}-f" for column in _COLUMNS)
ACROSS: Final = tuple(tuple(f"t{source}-t{target}" for target in _COLUMNS) for source in _COLUMNS)
WASTE_DOWN: Final = tuple(f"w-t{column}" for column in _COLUMNS)
BACK: Final = tuple(tuple(f"f{suit}-t{column}" for column in _COLUMNS) for suit in SUITS)


def list_legal(layout: Layout, parameters: Parameters, *, undoable: bool) -> tuple[str, ...]:
    """Return what a seat may do.

    Empty columns are all alike, so only the first of them takes a king; a whole column that a king begins never moves.

    Args:
        layout: where its cards lie.
        parameters: those of the ruleset.
        undoable: whether there is an action to take back.
    """
    ups, foundations, waste = layout.ups, layout.foundations, layout.waste
    found: list[str] = []
    if waste and foundations[SUIT[waste[-1]]] == RANK[waste[-1]]:
        found.append(WASTE_UP)
    for column in _COLUMNS:
        if (run := ups[column]) and foundations[SUIT[run[-1]]] == RANK[run[-1]]:
            found.append(COLUMN_UP[column])
    empty = -1 if () not in ups else ups.index(())
    _add_across(found, layout, empty)
    if waste:
        _add_down(found, ups, waste[-1], WASTE_DOWN, empty)
    if parameters.foundation_back:
        for suit, height in enumerate(foundations):
            if height:
                _add_down(found, ups, 13 * suit + height - 1, BACK[suit], empty)
    if layout.stock:
        found.append(TURN)
    elif waste and (parameters.redeals == "unlimited" or layout.redeals < parameters.redeals):
        found.append(REDEAL)
    if undoable:
        found.append(UNDO)
    found.append(DONE)
    return tuple(found)


def _add_across(found: list[str], layout: Layout, empty: int) -> None:
    """Add the moves of runs; how many cards move follows from the card they go to."""
    ups, downs = layout.ups, layout.downs
    ends = [(target, RANK[run[-1]], RED[run[-1]]) for target, run in enumerate(ups) if run]
    for source, run in enumerate(ups):
        if not run:
            continue
        last = run[-1]
        low, high, red = RANK[last], RANK[run[0]], RED[last]
        for target, rank, other in ends:
            # The card that goes there has the next lower rank; colours alternate, so its parity tells its colour.
            if low < rank <= high + 1 and (red ^ ((rank - 1 - low) & 1)) != other and target != source:
                found.append(ACROSS[source][target])
        if empty >= 0 and high == KING and downs[source]:
            found.append(ACROSS[source][empty])


def _add_down(
    found: list[str], ups: tuple[tuple[int, ...], ...], card: int, names: tuple[str, ...], empty: int
) -> None:
    """Add the columns that take a single card."""
    rank, red = RANK[card], RED[card]
    if rank == KING:
        if empty >= 0:
            found.append(names[empty])
        return
    for column, run in enumerate(ups):
        if run and RANK[run[-1]] == rank + 1 and RED[run[-1]] != red:
            found.append(names[column])
