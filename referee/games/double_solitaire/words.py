"""Double Solitaire in words: events, actions and the table; its page fills the same sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from malice.protocol.cards import RANKS, SUITS, Cards
from malice.protocol.messages import Out
from malice.referee.games.double_solitaire.messages import (
    CardsMoved,
    Deal,
    Draw,
    End,
    Event,
    Exchanged,
    TurnedOver,
    View,
)
from malice.referee.games.double_solitaire.state import DISCARD, END, EXCHANGE, KEEP
from malice.referee.sentences import read_sentences

SENTENCES = read_sentences(Path(__file__).parent)

GOAL = "Double Solitaire is two patiences on one table: whoever first has no card left wins."
HELP = """\
Bots write h-t1 for the card in hand to table pile 1, and you may too.
Table piles go down in alternating colours, foundations up from the ace in suit, and the opponent's discard pile takes
a card of the suit of its top, one rank higher or lower; the first without stock and discard pile wins.
A card to your own discard pile ends your turn.
"""
FIXED = {END: "end the turn", KEEP: "keep the stocks as they are", EXCHANGE: "exchange the two stocks, unseen"}
"""The actions that always mean the same."""
MOST_SHOWN = 8
"""Cards of a discard pile that are shown, from its top."""


def describe_action(action: str, view: View, names: Sequence[str]) -> str:
    """Describe an action to the seat that may play it."""
    if action in FIXED:
        return FIXED[action]
    if action == DISCARD:
        return f"discard {view.card}, which ends the turn"
    source, _, target = action.partition("-")
    return f"{_describe_source(source, view)} to {_describe_target(target, view, names)}"


def _describe_source(source: str, view: View) -> str:
    if source == "h":
        return str(view.card)
    if source == "d":
        return f"{view.seats[view.seat].discard[-1]} of your discard pile"
    name, _, count = source.partition("x")
    pile = view.table[int(name[1:])]
    return f"{' '.join(pile[-int(count or 1) :])} of {name}"


def _describe_target(target: str, view: View, names: Sequence[str]) -> str:
    if target == "f":
        return "its foundation"
    if target == "o":
        other = 1 - view.seat
        return f"the discard pile of {names[other]}, on {view.seats[other].discard[-1]}"
    pile = view.table[int(target[1:])]
    return f"{target}, on {pile[-1]}" if pile else f"{target}, empty"


def describe_event(event: Event, names: Sequence[str], viewer: int | None) -> str:
    """Describe an event in a phrase to a spectator (None) or a seat; return no words for what needs none.

    A phrase about a seat begins with its name. A seat needs no words for its own actions.
    """
    own = viewer is not None and getattr(event, "seat", None) == viewer
    match event:
        case Deal(table, stocks):
            return SENTENCES.fill("deal", table=_count_cards(len(table)), stocks=stocks[0])
        case Exchanged(seat):
            return "" if own else SENTENCES.fill("exchange", seat=names[seat])
        case TurnedOver(seat, count):
            return SENTENCES.fill("turn_over_own" if own else "turn_over", seat=names[seat], count=_count_cards(count))
        case Draw(seat, card):
            return SENTENCES.fill("draw_own" if own else "draw", seat=names[seat], card=card)
        case CardsMoved():
            return "" if own else _describe_move(event, names, viewer)
        case End(seat):
            return "" if own else SENTENCES.fill("end", seat=names[seat])
        case Out():
            return ""


def _count_cards(count: int) -> str:
    return SENTENCES.counts["one" if count == 1 else "many"].format(count=count)


def _describe_move(event: CardsMoved, names: Sequence[str], viewer: int | None) -> str:
    source, target = (_describe_pile(pile, event.seat, names, viewer) for pile in (event.source, event.target))
    holes = {"seat": names[event.seat], "card": event.cards[-1], "count": _count_cards(len(event.cards))}
    return SENTENCES.fill(_find_kind(event), **holes, **{"from": source, "to": target})


def _find_kind(event: CardsMoved) -> str:
    if event.target == "f":
        return "build"
    if event.target[0] != "t":
        return "discard" if event.source == "h" and event.target == f"{event.seat}d" else "load"
    if event.source[0] != "t":
        return "play"
    return "shift" if len(event.cards) == 1 else "shift_many"


def _describe_pile(pile: str, mover: int, names: Sequence[str], viewer: int | None) -> str:
    if pile[0] == "t":
        return SENTENCES.piles["table"].format(index=pile[1:])
    if pile[-1] != "d":
        return SENTENCES.piles["hand"]
    owner = int(pile[0])
    if owner == mover:
        return SENTENCES.piles["discard"]
    return SENTENCES.piles["discard_own" if owner == viewer else "discard_of"].format(seat=names[owner])


def sketch(view: View, names: Sequence[str]) -> Iterator[str]:
    """Draw the table: foundations, table piles, and both packs."""
    built = "  ".join(f"{suit}:{RANKS[height - 1] if height else '-'}" for suit, height in _pair_foundations(view))
    yield f"-- turn {view.turn}, {names[view.seat]} --  in hand {view.card or '-'}  foundations {built}"
    yield "      " + "   ".join(f"t{place}: {' '.join(pile) or '-'}" for place, pile in enumerate(view.table))
    width = max(map(len, names))
    for name, pack in zip(names, view.seats, strict=True):
        out = "  out of the game" if pack.out else ""
        yield f"      {name:{width}}  stock {pack.stock:2}  discard {_sketch_discard(pack.discard)}{out}"


def _pair_foundations(view: View) -> Iterator[tuple[str, int]]:
    return zip(SUITS, view.foundations, strict=False)


def _sketch_discard(cards: Cards) -> str:
    """The cards of a discard pile, its top last."""
    more = len(cards) - MOST_SHOWN
    shown = " ".join(cards[-MOST_SHOWN:]) or "-"
    return f"({more} more) {shown}" if more > 0 else shown
