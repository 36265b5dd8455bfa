"""A game as text, action by action."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from malice.protocol.messages import Out
from malice.referee.families import Family, load_family
from malice.referee.game import Position
from malice.referee.nouns import format_count
from malice.referee.records import Key, Record
from malice.referee.replay import VERDICT, find_rules, replay_asks
from malice.referee.rules import Events, Result, Rules
from malice.referee.seat import Played
from malice.tournaments.sanitizer import sanitize

STDERR_FIRST, STDERR_LAST, STDERR_WIDTH = 4, 6, 200
"""How many lines of a bot's stderr to show, and their width: Python prints its error last, others first."""


def excerpt_stderr(stderr: str) -> list[str]:
    """The first and the last lines of a bot's stderr, sanitized and cut."""
    lines = [sanitize(line.expandtabs(4))[:STDERR_WIDTH] for line in stderr.strip().splitlines()]
    left_out = len(lines) - STDERR_FIRST - STDERR_LAST
    if left_out > 1:
        lines[STDERR_FIRST:-STDERR_LAST] = [f"... {left_out} lines left out ..."]
    return lines


def format_stderr(label: str, line: str) -> str:
    """A line of a bot's stderr, sanitized, after the bot's label."""
    return f"{sanitize(label)} | {sanitize(line.expandtabs(4))}"


def format_transcript(record: Record) -> Iterator[str]:
    """Yield a game line by line: who sat where, every action with what it changed, the result.

    Raises:
        RecordError: the record does not replay.
    """
    names = [sanitize(label) for label, _ in record.entries]
    narrator = Narrator(record.family, find_rules(record), names)
    yield format_heading(record.key, record.ruleset, names)
    for ask in replay_asks(record):
        news = [
            Played(seat, action, record.micros[index], 0, record.notes.get(index, ""))
            for index, (seat, action) in enumerate(ask.moves, start=ask.first)
        ]
        if record.position and not ask.moves:
            yield describe_begun(record.position)
        else:
            yield from narrator.describe_ask(ask.first, news, ask.events)
        if narrator.begins_turn(ask.after):
            yield ""
            yield from narrator.sketch(ask.after)
    yield ""
    yield from format_ending(record, names)
    yield f"digest {record.digest}"


def describe_begun(position: Position) -> str:
    """Say where a game begins that does not begin with its deal."""
    return f"      begins after {format_count(position.actions, 'action')} of another game"


class Narrator:
    """Describes a game ask by ask to a spectator.

    Args:
        family: the name of the game.
        rules: the game under its ruleset.
        names: by seat, sanitized.
    """

    def __init__(self, family: str, rules: Rules[Any], names: Sequence[str]) -> None:
        self._family = load_family(family)
        self._rules = rules
        self._names = names
        self._turn = 0

    def begins_turn(self, state: Any) -> bool:
        """Whether a turn begins in this state that had not begun before."""
        before, self._turn = self._turn, self._rules.turn(state)
        return self._turn != before and not self.is_over(state)

    def is_over(self, state: Any) -> bool:
        return isinstance(self._rules.next(state), Result)

    def sketch(self, state: Any) -> list[str]:
        """Draw the table as a spectator sees it."""
        return self._family.draw(self._rules.view(state, None), self._names)

    def describe_ask(self, index: int, news: Sequence[Played], events: Events) -> Iterator[str]:
        """Yield a line for each action of an ask, and what it changed; of several, what they changed comes after all.

        Args:
            index: the index of the first action in the game.
            news: the actions; none for the deal.
            events: what the ask changed.
        """
        told = [describe_event(self._family, event, self._names, None) for event in events]
        phrases = [phrase for phrase in told if phrase]
        if len(news) == 1:
            # The line begins with the name of the seat that acts; a phrase about it need not repeat that.
            subject = f"{self._names[news[0].seat]} "
            yield self._format_action(index, news[0], "; ".join(phrase.removeprefix(subject) for phrase in phrases))
            return
        for place, played in enumerate(news):
            yield self._format_action(index + place, played, "")
        if phrases:
            yield f"      {'; '.join(phrases)}"

    def _format_action(self, index: int, played: Played, changes: str) -> str:
        """An action in one line: the seat, the action, what it changed, its time, and the bot's note."""
        names = self._names
        end = _format_duration(played) + (f"  # {sanitize(played.note)}" if played.note else "")
        told = f"{played.action:8}  {changes}" if changes else played.action
        return f"{index:5} {names[played.seat]:{max(map(len, names))}}  {told}{end}"


def _format_duration(played: Played) -> str:
    """The time of an action; a verdict on a bot that had no request, or could not start, took none."""
    return "" if played.action.startswith(VERDICT) and not played.micros else f"  {played.micros / 1000:.1f} ms"


def describe_event(family: Family, event: Any, names: Sequence[str], viewer: int | None) -> str:
    """Describe an event in a phrase to a seat, or to a spectator (None); return no words for what needs none."""
    if isinstance(event, Out):
        return f"{names[event.seat]} is out: {event.code}"
    return family.describe_event(event, names, viewer)


def format_heading(key: Key, ruleset: str, names: Sequence[str]) -> str:
    """Which game it is, and who sits where."""
    seats = " against ".join(f"{name} (seat {seat})" for seat, name in enumerate(names))
    return f"game {key} · {sanitize(ruleset)} · {seats}"


def format_ending(record: Record, names: Sequence[str]) -> Iterator[str]:
    """Yield the verdicts and the result."""
    for fault in record.faults:
        yield f"{names[fault.seat]}: {fault.code}: {sanitize(fault.sentence)}"
    places = format_places(zip(record.places, names, record.scores, strict=True))
    yield f"{record.reason} after {format_count(len(record.actions), 'action')}: {places}"


def format_places(results: Iterable[tuple[int, str, int]]) -> str:
    """Who took which place with which score, in the order of the results."""
    return ", ".join(f"{place}. {name} ({score})" for place, name, score in results)
