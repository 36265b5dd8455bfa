"""Klondike in words: events, actions and the tables; its page fills the same sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from malice.referee.games.klondike.messages import (
    Dealt,
    Ended,
    Event,
    Flip,
    Moved,
    Redealt,
    TableView,
    Turned,
    Undone,
    View,
)
from malice.referee.games.klondike.plays import DONE, REDEAL, TURN, UNDO
from malice.referee.games.klondike.table import SUITS
from malice.referee.nouns import format_count
from malice.referee.sentences import read_sentences

SENTENCES = read_sentences(Path(__file__).parent)

GOAL = (
    "Klondike as a contest: all seats get the same deal, each plays it alone, and whoever brings most cards home wins."
)
HELP = """\
Columns go down in alternating colours: bots write t0-t3 for cards of column 0 to column 3, and you may too.
How many cards move follows from the card they go to. w is the waste, f a foundation: w-t2, t4-f, fH-t1.
An empty column takes a king. `undo` takes back the last action, `done` ends your play.
"""
PLAIN = {
    TURN: "turn up from the stock",
    REDEAL: "turn the waste over",
    UNDO: "take back the last action",
    DONE: "stop here",
}
"""Actions that name no card."""


def describe_event(event: Event, names: Sequence[str], viewer: int | None) -> str:
    """Describe an event in a phrase to a spectator (None) or a seat; a seat needs no words for its own actions."""
    match event:
        case Dealt(stock=stock):
            return SENTENCES.fill("deal", stock=len(stock))
        case Flip(seat, column, card):
            seat_name = "you" if seat == viewer else names[seat]
            text = SENTENCES.fill("flip", seat=seat_name, card=card, column=name_pile(column))
            return text.replace("you turns", "you turn", 1) if seat == viewer else text
        case Turned(seat, cards) if seat != viewer:
            return SENTENCES.fill("turn", seat=names[seat], cards=" ".join(cards))
        case Turned(cards=cards):
            return f"you turn {' '.join(cards)}"
        case Moved(seat, source, target, cards) if seat != viewer:
            piles = {"from": name_pile(source), "to": name_pile(target)}
            return SENTENCES.fill("move", seat=names[seat], cards=" ".join(cards), **piles)
        case Redealt(seat) if seat != viewer:
            return SENTENCES.fill("redeal", seat=names[seat])
        case Undone(seat, action) if seat != viewer:
            return SENTENCES.fill("undo", seat=names[seat], action=action)
        case Ended(seat, how, cards) if seat != viewer:
            return SENTENCES.fill(f"end_{how}", seat=names[seat], count=format_count(cards, "card"))
        case _:
            return ""


def name_pile(pile: str) -> str:
    """The name of a pile such as `t3` in words."""
    return SENTENCES.piles[pile[0]].format(index=pile[1:])


def describe_action(action: str, view: View, names: Sequence[str]) -> str:
    """Describe an action to the seat that may play it."""
    if action in PLAIN:
        return PLAIN[action]
    table = view.tables[view.seat or 0]
    assert table is not None  # a seat sees its own table
    source, _, target = action.partition("-")
    if source == "w":
        moved = table.waste[-1]
    elif source[0] == "f":
        moved = table.foundations[SUITS.index(source[1])] or ""
    else:
        moved = _find_moved(table, int(source[1:]), target)
    if target == "f":
        return f"{moved} to its foundation"
    up = table.columns[int(target[1:])].up
    return f"{moved} to column {target[1:]}, {f'on {up[-1]}' if up else 'empty'}"


def _find_moved(table: TableView, source: int, target: str) -> str:
    """The card of a column that moves, with what lies on it in brackets."""
    run = table.columns[source].up
    if target == "f":
        return run[-1]
    onto = table.columns[int(target[1:])].up
    ranks = "A23456789TJQK"
    rank = ranks[ranks.index(onto[-1][0]) - 1] if onto else "K"
    place = next(place for place, card in enumerate(run) if card[0] == rank)
    above = run[place + 1 :]
    return f"{run[place]} (with {' '.join(above)})" if above else run[place]


def sketch(view: View, names: Sequence[str]) -> Iterator[str]:
    """Draw the tables that the reader sees: foundations, stock, waste, and the columns below each other."""
    for seat, (name, table) in enumerate(zip(names, view.tables, strict=True)):
        if table is None:
            continue
        yield f"-- {name}{' (done)' if table.done else ''} --  {_count_progress(table)}"
        yield from (f"      {line}" for line in _draw_table(table))
        if seat == view.seat:
            return


def _count_progress(table: TableView) -> str:
    moves, passes = format_count(table.moves, "move"), format_count(table.passes, "pass", "passes")
    return f"{moves}, {passes} through the stock"


def _draw_table(table: TableView) -> Iterator[str]:
    foundations = "  ".join(f"f{suit}:{top or '-'}" for suit, top in zip(SUITS, table.foundations, strict=True))
    waste = " ".join(table.waste[-3:])
    yield f"{foundations}   stock {len(table.stock)}   waste ({len(table.waste)}) {waste or '-'}"
    for number, column in enumerate(table.columns):
        cards = " ".join((*column.down, *column.up))
        yield f"t{number}: {cards or '-'}"
