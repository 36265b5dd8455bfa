"""A game as text, action by action."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from protocol.messages import CardMoved, Count, Deal, Draw, Event, Flip, Out, Pass, Shuffled, TurnBegins, View
from referee.records import Key, Record
from referee.replay import VERDICT, steps
from referee.rules import Events

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""The kinds of characters that nobody sees, but that move the cursor, turn the text around or hide in it."""
STDERR_FIRST, STDERR_LAST, STDERR_WIDTH = 4, 6, 200
"""How much is shown of what a bot wrote to stderr: Python says last what went wrong, others first."""


def harmless(text: str) -> str:
    """Return text of others with its characters for control, direction and format spelled out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelled(char) if unicodedata.category(char) in UNSEEN else char for char in text)


def _spelled(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def last_words(stderr: str) -> list[str]:
    """Return the first and the last lines that a bot wrote to stderr, harmless and none of them long."""
    lines = [harmless(line.expandtabs(4))[:STDERR_WIDTH] for line in stderr.strip().splitlines()]
    left_out = len(lines) - STDERR_FIRST - STDERR_LAST
    if left_out > 1:
        lines[STDERR_FIRST:-STDERR_LAST] = [f"... {left_out} lines left out ..."]
    return lines


def stderr_line(label: str, line: str) -> str:
    """Return a line of a bot's stderr as it is passed on: with its label in front, and harmless."""
    return f"{harmless(label)} | {harmless(line.expandtabs(4))}"


def transcript(record: Record) -> Iterator[str]:
    """Tell a game line by line: who sat where, every action with what it changed, the result.

    Raises:
        RecordError: the record does not replay.
    """
    names = [harmless(label) for label, _ in record.entries]
    width = max(map(len, names))
    yield heading(record.key, record.ruleset, names)
    for index, step in enumerate(steps(record, views=True), start=-1):
        if step.seat is None:
            yield dealt(step.events, names)
        else:
            micros, note = record.micros[index], record.notes.get(index, "")
            yield action_line(index, step.seat, step.action, step.events, micros, note, names)
        if step.view is not None and any(isinstance(event, TurnBegins) for event in step.events):
            yield ""
            yield from table(step.view, names, width)
    yield ""
    yield from ending(record, names)
    yield f"digest {record.digest}"


def heading(key: Key, ruleset: str, names: Sequence[str]) -> str:
    """Say which game it is, and who sits where."""
    seats = " against ".join(f"{name} (seat {seat})" for seat, name in enumerate(names))
    return f"game {key} · {harmless(ruleset)} · {seats}"


def dealt(events: Events, names: Sequence[str]) -> str:
    """Tell the deal."""
    return "      " + "; ".join(filter(None, (told(event, names) for event in events)))


def action_line(
    index: int, seat: int, action: str, events: Events, micros: int, note: str, names: Sequence[str]
) -> str:
    """Tell an action in one line: who, what, all that it changed, its time, and the note of the bot."""
    what = "; ".join(filter(None, (told(event, names) for event in events)))
    # A verdict on a bot that was not asked, or could not be started, took no time.
    took = "" if action.startswith(VERDICT) and not micros else f"  {micros / 1000:.1f} ms"
    remark = f"  # {harmless(note)}" if note else ""
    return f"{index:5} {names[seat]:{max(map(len, names))}}  {action:8}  {what}{took}{remark}"


def ending(record: Record, names: Sequence[str]) -> Iterator[str]:
    """Tell the verdicts and the result."""
    for fault in record.faults:
        yield f"{names[fault.seat]}: {fault.code}: {harmless(fault.sentence)}"
    places = ", ".join(
        f"{place}. {name} ({score})" for name, place, score in zip(names, record.places, record.scores, strict=True)
    )
    yield f"{record.reason} after {len(record.actions)} actions: {places}"


def told(event: Event, names: Sequence[str]) -> str:
    """Tell an event in a few words; nothing for the begin of a turn."""
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
            return "asks for the counts" + (f": {', '.join(map(str, event.left))}" if event.left else "")
        case Pass():
            return "passes"
        case CardMoved() if event.target[0].isdigit():
            return f"{event.card} to {event.target}"
        case CardMoved():
            return f"{event.card} from {event.source} to {event.target}"
        case TurnBegins():
            return ""


def table(view: View, names: Sequence[str], width: int) -> Iterator[str]:
    """Show the table."""
    centre = "  ".join(f"c{slot}:{stack.height or '-'}" for slot, stack in enumerate(view.centre))
    yield f"-- turn {view.turn}, {names[view.seat]} --  {centre}  stock {view.stock}  aside {view.aside}"
    for seat, (name, held) in enumerate(zip(names, view.seats, strict=True)):
        hand = " ".join(view.hand) if seat == view.seat else f"{held.hand} cards"
        side = "  ".join(f"s{index}:{' '.join(pile) or '-'}" for index, pile in enumerate(held.side))
        left = "" if held.payoff.left is None else f" ({held.payoff.left})"
        yield f"      {name:{width}}  p:{held.payoff.top or '-'}{left}  {side}  hand {hand}"
