"""Spite & Malice in words: events, actions and the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from protocol.messages import Out
from referee.games.spite.messages import CardMoved, Count, Deal, Draw, Event, Flip, Pass, Shuffled, TurnBegins, View
from referee.nouns import format_count

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

    A spectator reads it after the name of the seat that acts; a seat needs no words for its own actions.
    """
    if viewer is not None and not isinstance(event, Deal | Shuffled | Out):
        return _describe_to_seat(event, names, viewer)
    match event:
        case Deal():
            return f"{', '.join(map(str, event.payoffs))} pay-off cards, {event.stock} in the stock"
        case Flip():
            return f"{names[event.seat]} turns up {event.card}"
        case Draw():
            return f"{names[event.seat]} draws {' '.join(event.cards)}"
        case Shuffled():
            return f"{format_count(event.count, 'card')} from {event.source} shuffled into {event.target}"
        case Out():
            return f"{names[event.seat]} is out: {event.code}"
        case Count():
            return "asks for the counts" + (f": {', '.join(map(str, event.left))}" if event.left else "")
        case Pass():
            return "passes"
        case CardMoved() if event.target[0].isdigit():
            return f"{event.card} to {event.target}"
        case CardMoved():
            return f"{event.card} from {event.source} to {event.target}"
        case TurnBegins():
            return ""


def _describe_to_seat(
    event: TurnBegins | CardMoved | Count | Pass | Draw | Flip, names: Sequence[str], seat: int
) -> str:
    match event:
        case TurnBegins():
            return ""
        case CardMoved() | Count() | Pass() if event.seat == seat:
            return ""
        case CardMoved():
            source, target = (_describe_pile(pile, event.seat, names) for pile in (event.source, event.target))
            return f"{names[event.seat]} moves {event.card} from {source} to {target}"
        case Count() | Pass():
            return f"{names[event.seat]} {describe_event(event, names, None)}"
        case Draw() if event.seat == seat:
            return f"you draw {' '.join(event.cards)}"
        case Draw():
            return f"{names[event.seat]} draws {_count_cards(len(event.cards))}"
        case Flip() if event.seat == seat:
            return f"you turn up {event.card}"
        case Flip():
            return describe_event(event, names, None)


def _count_cards(count: int) -> str:
    return "a card" if count == 1 else f"{count} cards"


def _describe_pile(pile: str, mover: int, names: Sequence[str]) -> str:
    owner, letter, index = _split_pile(pile)
    name = {"p": "the pay-off pile", "h": "the hand", "s": f"side {index}", "c": f"centre {index}"}[letter]
    return name if owner in (mover, None) else f"{name} of {names[owner]}"


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
