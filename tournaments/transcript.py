"""A game as text, action by action."""

from __future__ import annotations

from collections.abc import Iterator

from protocol.messages import CardMoved, Count, Deal, Draw, Event, Flip, Out, Pass, Shuffled, TurnBegins, View
from referee.records import Record
from referee.replay import VERDICT, steps

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    code: f"\\u{code:04x}" for code in (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Characters of bots that would move the cursor or turn the text around."""


def harmless(text: str) -> str:
    """Return text of a bot with its control and direction characters spelled out."""
    return text.translate(_CONTROL)


def transcript(record: Record) -> Iterator[str]:
    """Tell a game line by line: who sat where, every action with what it changed, the result.

    Raises:
        RecordError: the record does not replay.
    """
    names = [harmless(label) for label, _ in record.entries]
    width = max(map(len, names))
    yield f"game {record.key} · {record.ruleset} · " + " against ".join(
        f"{name} (seat {seat})" for seat, name in enumerate(names)
    )
    for index, step in enumerate(steps(record, views=True), start=-1):
        told = [text for event in step.events if (text := _told(event, names))]
        if step.seat is None:
            yield "      " + "; ".join(told)
        else:
            note = f"  # {harmless(record.notes[index])}" if index in record.notes else ""
            took = "" if step.action.startswith(VERDICT) else f"  {record.micros[index] / 1000:.1f} ms"
            yield f"{index:5} {names[step.seat]:{width}}  {step.action:8}  {'; '.join(told)}{took}{note}"
        if step.view is not None and any(isinstance(event, TurnBegins) for event in step.events):
            yield ""
            yield from _table(step.view, names, width)
    yield ""
    for fault in record.faults:
        yield f"{names[fault.seat]}: {fault.code}: {harmless(fault.sentence)}"
    places = ", ".join(
        f"{place}. {name} ({score})" for name, place, score in zip(names, record.places, record.scores, strict=True)
    )
    yield f"{record.reason} after {len(record.actions)} actions: {places}"
    yield f"digest {record.digest}"


def _told(event: Event, names: list[str]) -> str:
    match event:
        case Deal():
            return f"{', '.join(map(str, event.payoffs))} pay-off cards, {event.stock} in the stock"
        case Flip():
            return f"{names[event.seat]} turns up {event.card}"
        case Draw():
            return f"{names[event.seat]} draws {' '.join(event.cards)}"
        case Shuffled():
            return f"{event.count} cards from {event.source} shuffled into {event.target}"
        case Out():
            return f"{names[event.seat]} is out: {event.code}"
        case Count():
            return "asks for the counts"
        case Pass():
            return "passes"
        case CardMoved() if event.target[0].isdigit():
            return f"{event.card} to {event.target}"
        case CardMoved():
            return f"{event.card} from {event.source} to {event.target}"
        case TurnBegins():
            return ""


def _table(view: View, names: list[str], width: int) -> Iterator[str]:
    """Show the table before a turn."""
    centre = "  ".join(f"c{slot}:{stack.height or '-'}" for slot, stack in enumerate(view.centre))
    yield f"-- turn {view.turn}, {names[view.seat]} --  {centre}  stock {view.stock}  aside {view.aside}"
    for seat, (name, held) in enumerate(zip(names, view.seats, strict=True)):
        hand = " ".join(view.hand) if seat == view.seat else f"{held.hand} cards"
        side = "  ".join(f"s{index}:{' '.join(pile) or '-'}" for index, pile in enumerate(held.side))
        left = "" if held.payoff.left is None else f" ({held.payoff.left})"
        yield f"      {name:{width}}  p:{held.payoff.top or '-'}{left}  {side}  hand {hand}"
