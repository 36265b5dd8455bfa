"""Spite & Malice in words: events, actions and the table; its page fills the same sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from malice.protocol.cards import HIDDEN
from malice.protocol.messages import Out
from malice.referee.games.spite.messages import (
    CardMoved,
    Count,
    Deal,
    Draw,
    Event,
    Flip,
    Pass,
    Shuffled,
    TurnBegins,
    View,
)
from malice.referee.nouns import format_count
from malice.referee.sentences import read_sentences

SENTENCES = read_sentences(Path(__file__).parent)

GOAL = (
    "Spite & Malice is a race: all build on the same stacks in the middle, and whoever first plays the last "
    "card of their own pay-off pile wins."
)
HELP = """\
Bots write h4S-s0 for 4S to side 0, and you may too.
Centre stacks go up from the ace, whatever the suit; the first to play the last card of their pay-off pile wins.
A card to a side stack is a discard, and usually ends your turn.
"""


def describe_action(action: str, view: View, names: Sequence[str]) -> str:
    """Describe an action to the seat that may play it."""
    if action == "pass":
        return "end the turn without a discard"
    if action == "count":
        return "ask how many pay-off cards are left"
    source, _, target = action.partition("-")
    return f"{_describe_source(source, view, names)} to {_describe_target(target, view, names)}"


def _describe_source(source: str, view: View, names: Sequence[str]) -> str:
    if source[0] == "h":
        return source[1:]
    owner, pile, index = _split_pile(source)
    seat = view.seats[view.seat if owner is None else owner]
    whose = "" if owner is None else f" of {names[owner]}"
    if pile == "p":
        return f"pay-off {seat.payoff.top}{whose}"
    return f"side {index}{whose}, {seat.side[index][-1]},"


def _describe_target(target: str, view: View, names: Sequence[str]) -> str:
    owner, pile, index = _split_pile(target)
    if pile == "c":
        return f"centre {index}"
    if pile == "p":
        assert owner is not None
        return f"the pay-off pile of {names[owner]}, on {view.seats[owner].payoff.top}"
    side = view.seats[view.seat].side[index]
    return f"side {index}, on {side[-1]}" if side else f"side {index}, empty"


def _split_pile(pile: str) -> tuple[int | None, str, int]:
    """Split the name of a pile into seat, kind and index: `2s1` is side stack 1 of seat 2."""
    owner = pile[: len(pile) - len(pile.lstrip("0123456789"))]
    letter, index = pile[len(owner)], pile[len(owner) + 1 :]
    return int(owner) if owner else None, letter, int(index or 0)


def describe_event(event: Event, names: Sequence[str], viewer: int | None) -> str:
    """Describe an event in a phrase to a spectator (None) or a seat; return no words for what needs none.

    A phrase about a seat begins with its name. A seat needs no words for its own actions.
    """
    if viewer is not None and getattr(event, "seat", None) == viewer and not isinstance(event, Out):
        return _describe_own(event)
    seat = names[event.seat] if hasattr(event, "seat") else ""
    match event:
        case Deal(hands, payoffs, _, stock):
            sizes = _join_sizes([len(hand) for hand in hands])
            return SENTENCES.fill("deal", payoffs=_join_sizes(payoffs), hands=sizes, stock=stock)
        case CardMoved():
            return _describe_move(event, names, viewer)
        case Flip(card=card):
            return SENTENCES.fill("flip", seat=seat, card=card)
        case Draw(cards=cards):
            kind = "draw_hidden" if HIDDEN in cards else "draw"
            return SENTENCES.fill(kind, seat=seat, count=_count_cards(len(cards)), cards=" ".join(cards))
        case Shuffled():
            return _describe_shuffle(event, names, viewer)
        case Count(left=left):
            return SENTENCES.fill("count_told" if left else "count", seat=seat, left=", ".join(map(str, left or ())))
        case Pass():
            return SENTENCES.fill("pass", seat=seat)
        case TurnBegins() | Out():
            return ""


def _describe_own(event: Event) -> str:
    match event:
        case Draw(cards=cards):
            return SENTENCES.fill("draw_own", cards=" ".join(cards))
        case Flip(card=card):
            return SENTENCES.fill("flip_own", card=card)
        case _:
            return ""


def _describe_move(event: CardMoved, names: Sequence[str], viewer: int | None) -> str:
    kind = "play" if event.target[0] == "c" else "load" if event.target[-1] == "p" else "discard"
    source, target = (_describe_pile(pile, event.seat, names, viewer) for pile in (event.source, event.target))
    return SENTENCES.fill(kind, seat=names[event.seat], card=event.card, **{"from": source, "to": target})


def _describe_shuffle(event: Shuffled, names: Sequence[str], viewer: int | None) -> str:
    source, target = (_describe_pile(pile, None, names, viewer) for pile in (event.source, event.target))
    if event.source == event.target:
        return SENTENCES.fill("shuffle_pile", **{"from": source})
    kind = "set_aside" if event.target == "aside" else "shuffle_one" if event.count == 1 else "shuffle"
    if event.target[-1] == "p" and event.source < event.target:
        kind = "payoff_dealt"  # the piles of all seats that tied lie on that of the first of them
    return SENTENCES.fill(kind, count=_count_cards(event.count), **{"from": source, "to": target})


def _join_sizes(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if len(set(sizes)) == 1 else ", ".join(map(str, sizes))


def _count_cards(count: int) -> str:
    return SENTENCES.counts["one" if count == 1 else "many"].format(count=count)


def _describe_pile(pile: str, mover: int | None, names: Sequence[str], viewer: int | None) -> str:
    if pile in SENTENCES.piles:
        return SENTENCES.piles[pile]
    owner, letter, index = _split_pile(pile)
    name = {"p": "payoff", "h": "hand", "s": "side", "c": "centre"}[letter]
    if owner in (mover, None):
        return SENTENCES.piles[name].format(index=index)
    if owner == viewer:
        return SENTENCES.piles[f"{name}_own"].format(index=index)
    return SENTENCES.piles[f"{name}_of"].format(seat=names[owner], index=index)


def sketch(view: View, names: Sequence[str]) -> Iterator[str]:
    """Draw the table: the centre, everybody's piles, and the hand of the seat that sees it."""
    centre = "  ".join(
        f"c{slot}:{stack.cards[-1] if stack.cards else '-'} needs {stack.needs}"
        for slot, stack in enumerate(view.centre)
    )
    yield f"-- turn {view.turn}, {names[view.seat]} --  {centre}  stock {view.stock}  aside {view.aside}"
    width = max(map(len, names))
    for seat, (name, held) in enumerate(zip(names, view.seats, strict=True)):
        hand = " ".join(view.hand) if seat == view.seat else format_count(held.hand, "card")
        side = "  ".join(f"s{index}:{' '.join(pile) or '-'}" for index, pile in enumerate(held.side))
        left = "" if held.payoff.left is None else f" ({held.payoff.left})"
        out = "  out of the game" if held.out else ""
        yield f"      {name:{width}}  p:{held.payoff.top or '-'}{left}  {side}  hand {hand}{out}"
