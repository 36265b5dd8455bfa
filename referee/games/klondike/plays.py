"""What an action does to the table of a seat."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from malice.referee.games.klondike.actions import DONE, REDEAL, TABLEAU, TURN, UNDO, WASTE, list_legal
from malice.referee.games.klondike.messages import Ended, Flip, Moved, Redealt, Turned, Undone
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.table import KING, NUMBER, PACK, RANK, SUIT, SUITS, Layout, Pile, Step, Table

Happened = list[Struct]


def play_action(parameters: Parameters, table: Table, seat: int, action: str) -> tuple[Table, Happened]:
    """Return the table of a seat after a legal action, and what happened."""
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
        Step(action, table.layout, table.moves, table.passes, table.last) if parameters.undo != "none" else None,
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
        *(table.actions + more, table.idle + more, None, how),
    )


def _go_on(parameters: Parameters, table: Table, seat: int, events: Happened) -> tuple[Table, Happened]:
    """Count an action, and end the play of a seat that has had enough of them."""
    actions, idle, last = table.actions + 1, table.idle + 1, table.last
    how = "limit" if actions >= parameters.max_actions else "idle" if idle >= parameters.idle else ""
    if how:
        return _close(table, how, 1), [*events, Ended(seat, how, table.cards)]
    legal = list_legal(table.layout, parameters, undoable=last is not None)
    layout = table.layout
    return Table(layout, legal, table.seen, table.best, table.moves, table.passes, actions, idle, last), events


def _take_back(parameters: Parameters, table: Table, seat: int) -> tuple[Table, Happened]:
    step = table.last
    assert step is not None  # `undo` would not be legal
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
        step.earlier,
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
    """Return the names of cards; most piles are the same from ask to ask."""
    return tuple([PACK[card] for card in cards])


def change_layout(parameters: Parameters, layout: Layout, action: str, seat: int, events: Happened) -> Layout:
    """Return the layout after an action that moves cards; `events` receives what happened."""
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
    """Return where the cards of a run begin that go to a column: below its last card, or from a king on."""
    rank = RANK[target[-1]] - 1 if target else KING
    return RANK[run[0]] - rank


def _put(piles: tuple[Pile, ...], column: int, pile: Pile) -> tuple[Pile, ...]:
    return (*piles[:column], pile, *piles[column + 1 :])


def _raise(foundations: tuple[int, int, int, int], suit: int, by: int) -> tuple[int, int, int, int]:
    heights = list(foundations)
    heights[suit] += by
    return (heights[0], heights[1], heights[2], heights[3])
