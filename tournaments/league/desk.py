"""What an organiser decides about entries: at once, or while a run plays, which takes it up between two deals."""

from __future__ import annotations

import getpass
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from malice.referee.records import Key
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import LABEL_LENGTH
from malice.tournaments.league.file import LeagueFile, Waiting
from malice.tournaments.league.journal import AnyEvent, DealsOver, Readmitted, Renamed, State, StateChanged
from malice.tournaments.league.notes import Ruling
from malice.tournaments.league.opening import open_store
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.store import Store, is_played
from malice.tournaments.league.tournament import Tournament

STATES: Mapping[str, State] = {"withdraw": "withdrawn", "disqualify": "disqualified", "reinstate": "playing"}
Events = list[tuple[str, AnyEvent]]
"""Events with their tournaments."""


class Effect(NamedTuple):
    """What became of a decision."""

    decision: Ruling
    tournaments: tuple[str, ...]
    """Those in which it holds; none if it was refused or waits."""
    refusal: str = ""


def name_user() -> str:
    """Who decides, for the journal."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in a container
        return ""


def decide(store: Store, decision: Ruling, number: int | None = None) -> tuple[str, ...]:
    """Let a decision hold; return the tournaments in which something changed.

    Args:
        store: the league, open for writing.
        decision: the decision.
        number: its number, if it waited.

    Raises:
        LeagueError: there is no such entry, or nothing to change; the league is unchanged.
    """
    events = draft(store, decision)
    store.append_all(events, number)
    return tuple(dict.fromkeys(name for name, _ in events))


def draft(store: LeagueReader, decision: Ruling) -> Events:
    """The events of a decision, in every tournament that has the entry and is meant.

    Raises:
        LeagueError: none of them has it, or it would change in none; the message tells of the last one.
    """
    tournaments, bore = store.league().tournaments, store.league().names
    decision = replace(decision, label=bore.get(decision.label, decision.label))
    if unknown := [name for name in decision.tournaments if name not in tournaments]:
        store.select(unknown[0])  # which says what there is
    if decision.what == "rename":
        return [_draft_renaming(store, decision)]
    names = list(decision.tournaments) or store.league().list_meant()
    having = [name for name in names if any(each.label == decision.label for each in tournaments[name].file_entries)]
    events: Events = []
    refusal = None
    for name in having or names[-1:]:
        try:
            events += [(name, event) for event in _draft(store.view(name), decision)]
        except LeagueError as error:
            refusal = error
    if refusal and not events:
        raise refusal
    return events


def _draft_renaming(store: LeagueReader, decision: Ruling) -> tuple[str, AnyEvent]:
    league, label, new = store.league(), decision.label, decision.new
    having = [each for each in league.tournaments.values() if any(e.label == label for e in each.file_entries)]
    if not having:
        raise LeagueError(f"no entry {label!r}", got=label, hint=f"entries: {', '.join(sorted(league.list_labels()))}")
    if any(each.config.anonymous for each in having):
        raise LeagueError(f"{label}: stands for itself in an anonymous tournament; the list of names says whose it is")
    if not 1 <= len(new) <= LABEL_LENGTH:
        raise LeagueError(expected=f"a label of 1 to {LABEL_LENGTH} characters", got=len(new))
    if new in league.list_labels() or new in league.names:
        raise LeagueError(expected="a label that no entry bears, or bore", got=repr(new))
    return having[0].name, Renamed(label, new, decision.reason, decision.who)


def _draft(store: LeagueReader, decision: Ruling) -> Iterator[AnyEvent]:
    assert decision.what != "rename"
    tournament, label = store.tournament(), decision.label
    labels = [entry.label for entry in tournament.file_entries]
    if label not in labels:
        raise LeagueError(f"no entry {label!r}", where=tournament.name, got=label, hint=f"entries: {', '.join(labels)}")
    now, then = tournament.state(label).state, STATES[decision.what]
    suspended = store.suspended() if then == "playing" else {}
    if now == then and label not in suspended:
        way = "neither suspended nor withdrawn nor disqualified" if then == "playing" else f"{now} already"
        raise LeagueError(f"is {way}", where=label)
    if now == "disqualified" and then != "playing":
        raise LeagueError("is disqualified", where=label, hint="to let its games count again, reinstate it first")
    if now != then:
        over = tuple(list_deals_over(tournament, label, store.keys()))
        yield StateChanged(label, then, decision.reason, decision.who, over)
    if label in suspended:
        yield Readmitted(label, suspended[label], decision.who)


def list_deals_over(tournament: Tournament, label: str, done: Collection[Key]) -> Iterator[DealsOver]:
    """Yield which deals of an entry's tables in open parts are over in all rotations."""
    opened = {schedule.part.number: schedule for schedule in tournament.open_parts}
    played: defaultdict[tuple[int, int], defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    for key in done:
        if key.part in opened and label in opened[key.part].labels[key.table]:
            played[key.part, key.table][key.deal] += 1
    for (part, table), deals in sorted(played.items()):
        whole = sorted(deal for deal, games in deals.items() if games == opened[part].rotations[table])
        first = None
        for deal in whole:
            first = deal if first is None else first
            if deal + 1 not in deals or deals[deal + 1] != opened[part].rotations[table]:
                yield DealsOver(part, table, first, deal + 1)
                first = None


def take_up(store: Store, waiting: Sequence[tuple[int, Ruling]]) -> Iterator[Effect]:
    """Let decisions that wait hold, in their order; yield what became of each."""
    for number, decision in waiting:
        try:
            yield Effect(decision, decide(store, decision, number))
        except LeagueError as error:
            store.append_all([], number)
            yield Effect(decision, (), str(error))


def submit(league: Path, decision: Ruling) -> list[Effect]:
    """Let a decision hold at once, or, while a run plays, have it wait for that run.

    Returns:
        What became of it, after the decisions that had waited before; nothing if it waits.

    Raises:
        LeagueError: there is no such entry, or nothing to change.
    """
    queued = league.is_file() and is_played(league) and _queue(league, decision)
    if queued and is_played(league):
        return []
    with open_store(league, write=True, several=True) as store:
        effects = list(take_up(store, store.list_waiting()))
        return effects if queued else [*effects, Effect(decision, decide(store, decision))]


def _queue(league: Path, decision: Ruling) -> bool:
    """Write a decision where the run finds it; return False for a run of an older malice, which would not look."""
    with open_store(league, several=True) as store:
        if not store.takes_decisions:
            return False
        draft(store, decision)
        if any((each.what, each.label) == (decision.what, decision.label) for _, each in store.list_waiting()):
            raise LeagueError(
                f"{decision.label}: this waits already; the run takes it up when the deals at play are over"
            )
    file = LeagueFile(league, Waiting())
    try:
        with file.transaction():
            text = msgspec.json.encode(decision).decode()
            file.write("INSERT INTO decisions (at, decision) VALUES (?, ?)", (time.time(), text))
    finally:
        file.connection.close()
    return True
