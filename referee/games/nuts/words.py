"""Nuts in words: events, actions and the table; its page fills the same sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from malice.protocol.cards import HIDDEN, Cards
from malice.protocol.messages import Out
from malice.referee.games.nuts.messages import (
    Burned,
    CardsMoved,
    Deal,
    Event,
    Flip,
    Lapse,
    Redeal,
    SideView,
    Turned,
    View,
)
from malice.referee.games.nuts.moves import CENTRE, TURN, WAIT
from malice.referee.nouns import format_count
from malice.referee.sentences import read_sentences

SENTENCES = read_sentences(Path(__file__).parent)

GOAL = (
    "Nuts is patience for two teams at once: all play at the same time onto common foundations, and the cards "
    "in the centre count once a team has emptied its Nuts pile."
)
HELP = """\
Bots write 7H-t3 for 7H to column 3 of your team, 7H-f for 7H to the centre, and you may too.
Columns go down in alternating colours; foundations go up in suit from the ace, and take cards of both teams.
All act at once: who is drawn later in a tick may find the place taken, and the action lapses.
Each card of yours in the centre is a point; each card left in your Nuts pile costs two.
"""


def describe_action(action: str, view: View, names: Sequence[str]) -> str:
    """Describe an action to the seat that may play it."""
    side = view.sides[view.team]
    if action == WAIT:
        return "wait"
    if action == TURN:
        return "turn cards of the stock" if side.stock else "turn the waste over, and cards of it"
    card, _, target = action.partition("-")
    source = f"{_describe_source(side, view, card)} to"
    if target == CENTRE:
        return f"{source} the centre"
    pile = side.columns[int(target[1:])]
    return f"{source} column {target[1:]}, {f'on {pile[-1]}' if pile else 'empty'}"


def _describe_source(side: SideView, view: View, card: str) -> str:
    """Name a card that may move, by its pile, and how many lie on it."""
    if side.nuts == card and view.part != "cards":
        return f"Nuts {card}"
    for pile in side.columns:
        if card in pile and (above := len(pile) - 1 - pile.index(card)):
            return f"{card} and {format_count(above, 'card')} on it"
    return f"waste {card}" if side.waste[-1:] == (card,) else card


def describe_event(event: Event, names: Sequence[str], viewer: int | None) -> str:
    """Describe an event in a phrase to a spectator (None) or a seat; return no words for what needs none.

    A phrase about a seat begins with its name. A seat needs no words for its own moves.
    """
    match event:
        case Deal(sides):
            stock, nuts = len(sides[0].stock), len(sides[0].nuts)
            return SENTENCES.fill("deal", nuts=nuts, columns=sum(map(len, sides[0].columns)), stock=stock)
        case CardsMoved():
            return "" if event.seat == viewer else _describe_move(event, names)
        case Flip(pile, card):
            return SENTENCES.fill("flip", card=card, pile=_describe_pile(pile, names, viewer))
        case Turned(seat, cards):
            return _fill_about("turn", seat, names, viewer, cards=_list_cards(cards))
        case Redeal(seat, count):
            return _fill_about("redeal", seat, names, viewer, count=_count_cards(count))
        case Lapse(seat, action):
            return _fill_about("lapse", seat, names, viewer, action=_describe_lapse(action))
        case Burned():
            return SENTENCES.fill("burn")
        case Out():
            return ""


def _fill_about(kind: str, seat: int, names: Sequence[str], viewer: int | None, **holes: object) -> str:
    """Fill a sentence about a seat, or the one for that seat itself."""
    return SENTENCES.fill(f"{kind}_own" if seat == viewer else kind, seat=names[seat], **holes)


def _list_cards(cards: Cards) -> str:
    """List cards that were turned, the top one last; hidden ones are only counted."""
    shown = [card for card in cards if card != HIDDEN]
    hidden = len(cards) - len(shown)
    return " ".join([f"{_count_cards(hidden)} and", *shown] if hidden else shown)


def _count_cards(count: int) -> str:
    return SENTENCES.counts["one" if count == 1 else "many"].format(count=count)


def _describe_move(event: CardsMoved, names: Sequence[str]) -> str:
    kind = "centre" if event.target[0] == CENTRE else "move"
    source, target = (SENTENCES.piles.get(pile[1], "").format(index=pile[2:]) for pile in (event.source, event.target))
    return SENTENCES.fill(kind, seat=names[event.seat], cards=" ".join(event.cards), **{"from": source, "to": target})


def _describe_pile(pile: str, names: Sequence[str], viewer: int | None) -> str:
    if viewer is not None and viewer % 2 == int(pile[0]):
        return SENTENCES.piles[f"{pile[1]}_own"].format(index=pile[2:])
    return SENTENCES.piles[f"{pile[1]}_of"].format(index=pile[2:], team=name_team(int(pile[0]), names))


def name_team(team: int, names: Sequence[str]) -> str:
    """Name a team by its seats."""
    return " & ".join(names[team::2])


def _describe_lapse(action: str) -> str:
    card, _, target = action.partition("-")
    return SENTENCES.actions[target[0] if target else action].format(card=card, index=target[1:])


def sketch(view: View, names: Sequence[str]) -> Iterator[str]:
    """Draw the table: the foundations, and the cards of both teams side by side, face-down cards as their number."""
    part = SENTENCES.parts[view.part]
    tops = [top or "--" for top in view.centre]
    centre = "  ".join(f"{tops[place]} {tops[place + 1]}" for place in range(0, len(tops), 2))
    yield f"-- tick {view.tick}, {names[view.seat]} ({part}) --  centre  {centre}"
    blocks = [list(_sketch_side(side, name_team(team, names))) for team, side in enumerate(view.sides)]
    width = max(map(len, blocks[0]))
    for left, right in zip_longest(*blocks, fillvalue=""):
        yield f"      {left:{width}}   {right}".rstrip()


def _sketch_side(side: SideView, name: str) -> Iterator[str]:
    points = format_count(side.points, "point") if side.points >= 0 else f"{side.points} points"
    yield f"{name}: {points}"
    yield f"Nuts {side.nuts or '--'} ({side.nuts_left})  stock {side.stock}  waste {_sketch_waste(side.waste)}"
    for column, pile in enumerate(side.columns):
        hidden = pile.count(HIDDEN)
        shown = " ".join(pile[hidden:]) or "--"
        yield f"t{column}  {f'({hidden})' if hidden else '   '} {shown}"


def _sketch_waste(waste: Cards) -> str:
    """Show the top of a waste, last, and what lies next below."""
    if not waste:
        return "--"
    return ("... " if len(waste) > 3 else "") + " ".join(waste[-3:])
