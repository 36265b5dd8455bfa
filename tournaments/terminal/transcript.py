"""A game as text, action by action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from protocol.messages import TurnBegins, View
from referee.records import Key, Record
from referee.replay import VERDICT, replay_steps
from referee.rules import Events
from tournaments.nouns import format_count
from tournaments.sanitizer import sanitize
from tournaments.terminal.wording import describe_event

STDERR_FIRST, STDERR_LAST, STDERR_WIDTH = 4, 6, 200
"""How many lines of a bot's stderr to show, and their width: Python prints its error last, others first."""


def excerpt_stderr(stderr: str) -> list[str]:
    """Return the first and the last lines of a bot's stderr, sanitized and cut."""
    lines = [sanitize(line.expandtabs(4))[:STDERR_WIDTH] for line in stderr.strip().splitlines()]
    left_out = len(lines) - STDERR_FIRST - STDERR_LAST
    if left_out > 1:
        lines[STDERR_FIRST:-STDERR_LAST] = [f"... {left_out} lines left out ..."]
    return lines


def format_stderr(label: str, line: str) -> str:
    """Return a line of a bot's stderr, sanitized, after the bot's label."""
    return f"{sanitize(label)} | {sanitize(line.expandtabs(4))}"


def format_transcript(record: Record) -> Iterator[str]:
    """Yield a game line by line: who sat where, every action with what it changed, the result.

    Raises:
        RecordError: the record does not replay.
    """
    names = [sanitize(label) for label, _ in record.entries]
    width = max(map(len, names))
    yield format_heading(record.key, record.ruleset, names)
    for index, step in enumerate(replay_steps(record, views=True), start=-1):
        if step.seat is None:
            yield describe_deal(step.events, names)
        else:
            micros, note = record.micros[index], record.notes.get(index, "")
            yield format_action(index, PlayedAction(step.seat, step.action, step.events, micros, note), names)
        if step.view is not None and any(isinstance(event, TurnBegins) for event in step.events):
            yield ""
            yield from format_table_view(step.view, names, width)
    yield ""
    yield from format_ending(record, names)
    yield f"digest {record.digest}"


def format_heading(key: Key, ruleset: str, names: Sequence[str]) -> str:
    """Return which game it is, and who sits where."""
    seats = " against ".join(f"{name} (seat {seat})" for seat, name in enumerate(names))
    return f"game {key} · {sanitize(ruleset)} · {seats}"


def describe_deal(events: Events, names: Sequence[str]) -> str:
    """Describe the deal."""
    return "      " + "; ".join(filter(None, (describe_event(event, names) for event in events)))


class PlayedAction(NamedTuple):
    """An action as a line shows it."""

    seat: int
    action: str
    events: Events
    micros: int
    note: str


def format_action(index: int, played: PlayedAction, names: Sequence[str]) -> str:
    """Return an action in one line: the seat, the action, what it changed, its time, and the bot's note."""
    seat, action, events, micros, note = played
    changes = "; ".join(filter(None, (describe_event(event, names) for event in events)))
    # A verdict on a bot that had no request, or could not start, took no time.
    duration = "" if action.startswith(VERDICT) and not micros else f"  {micros / 1000:.1f} ms"
    remark = f"  # {sanitize(note)}" if note else ""
    return f"{index:5} {names[seat]:{max(map(len, names))}}  {action:8}  {changes}{duration}{remark}"


def format_ending(record: Record, names: Sequence[str]) -> Iterator[str]:
    """Yield the verdicts and the result."""
    for fault in record.faults:
        yield f"{names[fault.seat]}: {fault.code}: {sanitize(fault.sentence)}"
    places = ", ".join(
        f"{place}. {name} ({score})" for name, place, score in zip(names, record.places, record.scores, strict=True)
    )
    yield f"{record.reason} after {format_count(len(record.actions), 'action')}: {places}"


def format_table_view(view: View, names: Sequence[str], width: int) -> Iterator[str]:
    """Show the table."""
    centre = "  ".join(f"c{slot}:{stack.height or '-'}" for slot, stack in enumerate(view.centre))
    yield f"-- turn {view.turn}, {names[view.seat]} --  {centre}  stock {view.stock}  aside {view.aside}"
    for seat, (name, held) in enumerate(zip(names, view.seats, strict=True)):
        hand = " ".join(view.hand) if seat == view.seat else format_count(held.hand, "card")
        side = "  ".join(f"s{index}:{' '.join(pile) or '-'}" for index, pile in enumerate(held.side))
        left = "" if held.payoff.left is None else f" ({held.payoff.left})"
        yield f"      {name:{width}}  p:{held.payoff.top or '-'}{left}  {side}  hand {hand}"
