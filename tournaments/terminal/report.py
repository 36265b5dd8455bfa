"""What happened to a league since a day: games, who climbed, what became of each submission, what needs a decision."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from malice.referee.nouns import format_count
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.contents import Contents
from malice.tournaments.league.counting import measure_progress
from malice.tournaments.league.journal import (
    FileEntry,
    FileRead,
    PartCreated,
    Readmitted,
    Renamed,
    StateChanged,
    Version,
    relabel_event,
)
from malice.tournaments.league.progression import Progression, compute_progression
from malice.tournaments.league.ranking import find_state
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.sanitizer import escape_markdown, sanitize
from malice.tournaments.terminal.tables import format_number


class Receipt(Struct, frozen=True):
    """What became of a submission: a folder or a command that a run saw for the first time."""

    at: float
    """When a run saw it, in seconds since 1970."""
    label: str
    """Of its entry, or the name of a folder that is none."""
    version: int
    """The version that it was accepted as, built and started; 0 if it was not."""
    hash: str
    """Of its content; empty if it was not accepted."""
    why: str
    """Why it was not accepted."""


class Decided(Struct, frozen=True):
    """What an organiser decided."""

    at: float
    label: str
    state: str
    """`playing`, `withdrawn`, `disqualified`, or `renamed`."""
    reason: str
    who: str
    new: str = ""
    """The label under which one that was renamed goes on."""


class Duty(Struct, frozen=True):
    """What waits for a decision."""

    label: str
    why: str
    command: str
    """What an organiser may type."""


class TournamentReport(Struct, frozen=True):
    """What happened to a tournament."""

    tournament: str
    played: int
    """Games since then."""
    games: int
    """All that are finished and count."""
    planned: int
    complete: bool
    parts: tuple[str, ...]
    """The titles of those created since then."""
    receipts: tuple[Receipt, ...]
    changes: tuple[Progression, ...]
    """None if it began since then."""
    verdicts: dict[str, dict[str, int]]
    """By label and code: games since then that ended for it by a verdict."""
    decided: tuple[Decided, ...]
    needs: tuple[Duty, ...]


def make_report(store: LeagueReader, begin: float, names: Sequence[str]) -> tuple[TournamentReport, ...]:
    """Report on tournaments since a time, in seconds since 1970."""
    return tuple(_report(store, store.view(name), begin) for name in names)


def _report(store: LeagueReader, reader: LeagueReader, begin: float) -> TournamentReport:
    contents, name = reader.read(), reader.tournament().name
    names = reader.tournament().names
    events = [(row.at, relabel_event(event, names)) for row, event in reader.events() if row.tournament == name]
    try:
        changes = compute_progression(reader.read(begin), contents)
    except LeagueError:  # it had not begun
        changes = ()
    recent = [game for game in contents.games if game.started >= begin]
    verdicts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for game in recent:
        for label, code in zip(game.labels, game.verdicts, strict=True):
            if code:
                verdicts[label][code] += 1
    games, planned = measure_progress(reader.tournament(), reader.finished())
    return TournamentReport(
        tournament=name,
        played=len(recent),
        games=games,
        planned=planned,
        complete=reader.tournament().complete,
        parts=tuple(event.part.title for at, event in events if isinstance(event, PartCreated) and at >= begin),
        receipts=tuple(each for each in _list_receipts(events) if each.at >= begin),
        changes=changes,
        verdicts={label: dict(codes) for label, codes in sorted(verdicts.items())},
        decided=tuple(each for each in _list_decided(events) if each.at >= begin),
        needs=tuple(_list_needs(store, contents)),
    )


def _list_receipts(events: Sequence[tuple[float, object]]) -> Iterator[Receipt]:
    """Yield what became of each submission; what a run saw before is none."""
    before: dict[str, FileEntry] = {}
    hashes: dict[tuple[str, int], str] = {}
    refused: dict[str, str] = {}
    for at, event in events:
        if isinstance(event, Version):
            hashes[event.label, event.number] = event.hash
        if not isinstance(event, FileRead):
            continue
        for entry in event.entries:
            old = before.get(entry.label)
            if entry.absence and (old is None or old.absence != entry.absence):
                yield Receipt(at, entry.label, 0, "", f"{entry.absence.code}: {entry.absence.sentence}")
            elif not entry.absence and entry.version and (old is None or old.absence or old.version != entry.version):
                yield Receipt(at, entry.label, entry.version, hashes.get((entry.label, entry.version), ""), "")
            before[entry.label] = entry
        for name, why in event.refused.items():
            if refused.get(name) != why:
                yield Receipt(at, name, 0, "", why)
        refused = event.refused


def _list_decided(events: Sequence[tuple[float, object]]) -> Iterator[Decided]:
    for at, event in events:
        match event:
            case StateChanged():
                yield Decided(at, event.label, event.state, event.reason, event.who)
            case Readmitted():
                yield Decided(at, event.label, "playing", "", event.who)
            case Renamed():
                yield Decided(at, event.label, "renamed", event.reason, event.who, event.new)


def _list_needs(store: LeagueReader, contents: Contents) -> Iterator[Duty]:
    choice = store.league().choose(contents.tournament.name)
    for entry in contents.entries:
        state = find_state(entry, contents.suspended)
        if state == "suspended":
            words, why = "reinstate", "is suspended, after verdicts in a row"
        elif entry.absence and entry.state == "playing":
            words, why = "withdraw", f"cannot play as it is now: {_describe_absence(entry.absence.code)}"
            if state == "playing":
                why += f"; its version {entry.version.number} plays"
        else:
            continue
        command = shlex.join(["malice", "entry", words, str(store.path), entry.label, *choice])
        yield Duty(entry.label, why, command)
    for _, decision in store.list_waiting():
        yield Duty(decision.label, f"{decision.what} waits for the next run", f"malice status {store.path}")


def _describe_absence(code: str) -> str:
    known = {"bot": "its folder holds no valid bot", "build": "it does not build", "start": "it does not start"}
    return known.get(code, f"its first answer is a {code}")


def format_report(reports: Sequence[TournamentReport], league: str, since: str) -> Iterator[str]:
    """Yield a report as lines of Markdown."""
    yield f"# {escape_markdown(league)} since {since}"
    for each in reports:
        yield ""
        yield f"## {escape_markdown(each.tournament)}"
        yield ""
        state = "complete" if each.complete else f"{each.games} of {format_count(each.planned, 'game')} are played"
        yield f"{format_count(each.played, 'game')} since then; {state}."
        yield from _format_list("New parts", [escape_markdown(title) for title in each.parts])
        yield from _format_list("Submissions", [_format_receipt(receipt) for receipt in each.receipts])
        yield from _format_list("Who moved", list(_format_moves(each.changes)))
        faults = [f"{escape_markdown(label)}: {_count_codes(codes)}" for label, codes in each.verdicts.items()]
        yield from _format_list("Faults", faults)
        yield from _format_list("Decisions", [_format_decided(decided) for decided in each.decided])
        needs = [f"{escape_markdown(need.label)} {escape_markdown(need.why)}: `{need.command}`" for need in each.needs]
        yield from _format_list("Needs a decision", [sanitize(line) for line in needs])


def _format_list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"### {title}", "", *(f"- {line}" for line in lines))


def _format_receipt(receipt: Receipt) -> str:
    label, seen = escape_markdown(receipt.label), f"{datetime.fromtimestamp(receipt.at):%Y-%m-%d %H:%M}"
    if receipt.version:
        return f"{label}: seen {seen}, built and started, plays as version {receipt.version} ({receipt.hash[:12]})"
    return f"{label}: seen {seen}, not accepted: {escape_markdown(receipt.why)}"


def _format_moves(changes: Sequence[Progression]) -> Iterator[str]:
    for each in changes:
        where = f" ({escape_markdown(each.ruleset)})" if len(changes) > 1 else ""
        for move in each.moves:
            if move.news:
                yield f"{escape_markdown(move.label)}{where}: {move.news}{_format_rank(move.rank)}"
            elif move.rank != move.rank_before:
                before = "unranked" if move.rank_before is None else str(move.rank_before)
                after = "unranked" if move.rank is None else str(move.rank)
                gain = "" if move.gain is None else f", {format_number(move.gain, 0)} Elo"
                yield f"{escape_markdown(move.label)}{where}: from {before} to {after}{gain}"


def _format_rank(rank: int | None) -> str:
    return "" if rank is None else f", rank {rank}"


def _format_decided(decided: Decided) -> str:
    who = f" by {escape_markdown(decided.who)}" if decided.who else ""
    why = f": {escape_markdown(decided.reason)}" if decided.reason else ""
    states = {"playing": "plays again", "renamed": f"goes on as {escape_markdown(decided.new)}"}
    state = states.get(decided.state, decided.state)
    return f"{escape_markdown(decided.label)}: {state}{who}{why}"


def _count_codes(codes: dict[str, int]) -> str:
    return ", ".join(f"{code} {count}" for code, count in codes.items())
