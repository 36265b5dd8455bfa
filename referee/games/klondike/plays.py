"""What a seat may do, in canonical order, what each action does to its table, and what others see of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from msgspec import Struct

from malice.protocol.cards import HIDDEN, Cards
from malice.referee.games.klondike.messages import Column, Ended, Flip, Moved, Redealt, TableView, Turned, Undone, View
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.table import (
    COLUMNS,
    KING,
    NUMBER,
    PACK,
    RANK,
    RED,
    SUIT,
    SUITS,
    Layout,
    Pile,
    Step,
    Table,
)

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
    """What a seat may do.

    Empty columns are all alike, so only the first of them takes a king; a whole column that a king begins never
    moves.

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


Happened = list[Struct]


def play_action(parameters: Parameters, table: Table, seat: int, action: str) -> tuple[Table, Happened]:
    """The table of a seat after a legal action, and what happened."""
    if action == DONE:
        return _finish(table, seat, "done")
    if action == UNDO:
        return _take_back(parameters, table, seat)
    events: Happened = []
    layout = change_layout(parameters, table.layout, action, seat, events)
    seen = table.seen
    for event in events:
        if isinstance(event, Flip):
            seen |= 1 << NUMBER[event.card]
        elif isinstance(event, Turned):
            for card in event.cards:
                seen |= 1 << NUMBER[card]
    cards = sum(layout.foundations)
    changed = Table(
        layout,
        table.legal,
        seen,
        max(table.best, cards),
        table.moves + 1,
        table.passes + (action == TURN and not layout.stock),
        table.actions,
        -1 if seen != table.seen or cards > table.best else table.idle,
        (*table.steps, Step(action, table.layout, table.moves, table.passes)) if parameters.undo != "none" else (),
    )
    if cards == len(PACK):
        changed, ended = _finish(changed, seat, "solved")
        return changed, events + ended
    return _go_on(parameters, changed, seat, events)


def _finish(table: Table, seat: int, how: str) -> tuple[Table, Happened]:
    """End the play of a seat with its last action."""
    return _close(table, how, 1), [Ended(seat, how, table.cards)]


def _close(table: Table, how: str, more: int) -> Table:
    return Table(
        *(table.layout, (), table.seen, table.best, table.moves, table.passes),
        *(table.actions + more, table.idle + more, (), how),
    )


def _go_on(parameters: Parameters, table: Table, seat: int, events: Happened) -> tuple[Table, Happened]:
    """Count an action, and end the play of a seat that has had enough of them."""
    actions, idle, steps = table.actions + 1, table.idle + 1, table.steps
    how = "limit" if actions >= parameters.max_actions else "idle" if idle >= parameters.idle else ""
    if how:
        return _close(table, how, 1), [*events, Ended(seat, how, table.cards)]
    legal = list_legal(table.layout, parameters, undoable=bool(steps))
    layout = table.layout
    return Table(layout, legal, table.seen, table.best, table.moves, table.passes, actions, idle, steps), events


def _take_back(parameters: Parameters, table: Table, seat: int) -> tuple[Table, Happened]:
    *earlier, step = table.steps
    free = parameters.undo == "free"
    changed = Table(
        step.before,
        table.legal,
        table.seen,
        table.best,
        step.moves if free else table.moves,
        step.passes if free else table.passes,
        table.actions,
        table.idle,
        tuple(earlier),
    )
    return _go_on(parameters, changed, seat, [_describe_undo(table.layout, step, seat)])


def _describe_undo(layout: Layout, step: Step, seat: int) -> Undone:
    """Say which cards go back, and which one lies face down again."""
    before, action = step.before, step.action
    if action == TURN:
        return Undone(seat, action, name_cards(layout.waste[len(before.waste) :]), "")
    if action == REDEAL:
        return Undone(seat, action, name_cards(before.waste), "")
    source, _, target = action.partition("-")
    hidden = ""
    if source[0] == "t":
        column = int(source[1:])
        moved = before.ups[column]
        if len(layout.downs[column]) < len(before.downs[column]):
            hidden = PACK[layout.ups[column][0]]
        else:
            moved = moved[len(layout.ups[column]) :]
        return Undone(seat, action, name_cards(moved), hidden)
    if source == WASTE:
        return Undone(seat, action, (PACK[before.waste[-1]],), "")
    return Undone(seat, action, (PACK[layout.ups[int(target[1:])][-1]],), "")


@lru_cache(1 << 14)
def name_cards(cards: Pile) -> tuple[str, ...]:
    """The names of cards, cached: most piles are the same from ask to ask."""
    return tuple([PACK[card] for card in cards])


def change_layout(parameters: Parameters, layout: Layout, action: str, seat: int, events: Happened) -> Layout:
    """The layout after an action that moves cards; what happened is added to `events`."""
    if action == TURN:
        split = max(0, len(layout.stock) - parameters.draw)
        cards = layout.stock[split:][::-1]
        events.append(Turned(seat, name_cards(cards)))
        stock, waste = layout.stock[:split], layout.waste + cards
        return Layout(layout.downs, layout.ups, layout.foundations, stock, waste, layout.redeals)
    if action == REDEAL:
        events.append(Redealt(seat))
        stock, redeals = layout.waste[::-1], layout.redeals + 1
        return Layout(layout.downs, layout.ups, layout.foundations, stock, (), redeals)
    source, _, target = action.partition("-")
    return _move_cards(layout, source, target, seat, events)


def _move_cards(layout: Layout, source: str, target: str, seat: int, events: Happened) -> Layout:
    downs, ups, foundations, waste = layout.downs, layout.ups, layout.foundations, layout.waste
    if source == WASTE:
        cards: Pile = waste[-1:]
        waste = waste[:-1]
    elif source[0] == "f":
        suit = SUITS.index(source[1])
        cards = (13 * suit + foundations[suit] - 1,)
        foundations = _raise(foundations, suit, -1)
    else:
        column = int(source[1:])
        run = ups[column]
        split = len(run) - 1 if target == "f" else _find_split(run, ups[int(target[1:])])
        cards = run[split:]
        ups = _put(ups, column, run[:split])
    if target == "f":
        suit = SUIT[cards[0]]
        foundations = _raise(foundations, suit, 1)
        events.append(Moved(seat, source, f"f{SUITS[suit]}", (PACK[cards[0]],)))
    else:
        place = int(target[1:])
        ups = _put(ups, place, ups[place] + cards)
        events.append(Moved(seat, source, target, name_cards(cards)))
    if source[0] == "t" and not ups[column] and downs[column]:
        *rest, card = downs[column]
        downs, ups = _put(downs, column, tuple(rest)), _put(ups, column, (card,))
        events.append(Flip(seat, TABLEAU[column], PACK[card]))
    return Layout(downs, ups, foundations, layout.stock, waste, layout.redeals)


def _find_split(run: Pile, target: Pile) -> int:
    """Where the part of a run begins that goes to a column: below its last card, or from a king on."""
    rank = RANK[target[-1]] - 1 if target else KING
    return RANK[run[0]] - rank


def _put(piles: tuple[Pile, ...], column: int, pile: Pile) -> tuple[Pile, ...]:
    return (*piles[:column], pile, *piles[column + 1 :])


def _raise(foundations: tuple[int, int, int, int], suit: int, by: int) -> tuple[int, int, int, int]:
    heights = list(foundations)
    heights[suit] += by
    return (heights[0], heights[1], heights[2], heights[3])


def make_view(tables: tuple[Table, ...], turn: int, seat: int | None) -> View:
    """The table of a seat and nothing of the others; for a spectator all tables, without what is hidden."""
    if seat is None:
        return View(turn, None, tuple(map(view_table, tables)))
    shown: list[TableView | None] = [None] * len(tables)
    shown[seat] = view_table(tables[seat])
    return View(turn, seat, tuple(shown))


def view_table(table: Table) -> TableView:
    """A table as its seat sees it: a card that lies face down is `??` unless it has been face up."""
    layout, seen = table.layout, table.seen
    foundations = layout.foundations
    return TableView(
        tuple([Column(_hide(down, seen), name_cards(up)) for down, up in zip(layout.downs, layout.ups, strict=True)]),
        tuple([PACK[13 * suit + foundations[suit] - 1] if foundations[suit] else None for suit in range(4)]),
        _hide(layout.stock, seen),
        name_cards(layout.waste),
        table.moves,
        table.passes,
        table.actions,
        table.idle,
        bool(table.end),
    )


def _hide(cards: Pile, seen: int) -> Cards:
    return tuple([PACK[card] if seen >> card & 1 else HIDDEN for card in cards])
