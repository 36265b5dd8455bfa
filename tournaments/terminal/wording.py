"""The words of the terminal for actions and events."""

from __future__ import annotations

from collections.abc import Sequence

from protocol.messages import CardMoved, Count, Deal, Draw, Event, Flip, Out, Pass, Shuffled, TurnBegins, View
from tournaments.nouns import format_count


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


def describe_event(event: Event, names: Sequence[str]) -> str:
    """Describe an event to a spectator in a few words; return no words for the beginning of a turn."""
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


def describe_event_to_seat(event: Event, seat: int, names: Sequence[str]) -> str | None:
    """Describe an event to a seat; return None for its own actions, and for events without news."""
    match event:
        case TurnBegins():
            return None
        case CardMoved() | Count() | Pass() if event.seat == seat:
            return None
        case CardMoved():
            source, target = (_describe_pile(pile, event.seat, names) for pile in (event.source, event.target))
            return f"{names[event.seat]} moves {event.card} from {source} to {target}"
        case Count() | Pass():
            return f"{names[event.seat]} {describe_event(event, names)}"
        case Draw() if event.seat == seat:
            return f"you draw {' '.join(event.cards)}"
        case Draw():
            return f"{names[event.seat]} draws {_count_cards(len(event.cards))}"
        case Flip() if event.seat == seat:
            return f"you turn up {event.card}"
        case _:
            return describe_event(event, names)


def _count_cards(count: int) -> str:
    return "a card" if count == 1 else f"{count} cards"


def _describe_pile(pile: str, mover: int, names: Sequence[str]) -> str:
    owner, letter, index = _split_pile(pile)
    name = {"p": "the pay-off pile", "h": "the hand", "s": f"side {index}", "c": f"centre {index}"}[letter]
    return name if owner in (mover, None) else f"{name} of {names[owner]}"
