"""A league as text: its entries, the rounds of a tournament, and what a verification found."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from malice.referee.nouns import format_count
from malice.tournaments.league.contents import Contents, Entry
from malice.tournaments.league.formats.decisions import describe_changes, format_points
from malice.tournaments.league.formats.knockout import FINAL, Round, Tie
from malice.tournaments.league.formats.swiss import Encounter, SwissRow, find_missing_round
from malice.tournaments.league.ranking import find_state
from malice.tournaments.league.standings import State
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import Verified, VerifiedPart
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import format_bytes, format_table

HEAD = ("entry", "version", "state", "games", "disk", "content", "bot", "why")
HASH_LENGTH = 12


class EntryStatus(Struct, frozen=True):
    """An entry with what became of it."""

    tournament: str
    label: str
    version: int
    """The version that plays, from 1; 0 if none could be started so far."""
    versions: int
    """How many versions the league knows."""
    state: State
    games: int
    """Stored games in this tournament, of all versions."""
    hash: str
    name: str
    """The name and version that the bot gives itself."""
    parameters: dict[str, str]
    """The parameters of its bot.toml, with the values that it plays with."""
    reason: str
    """Why it is in that state, or why an older version plays."""
    kept_bytes: int
    """What all its versions take on the disk; a version that another entry shares counts for both."""


def list_entry_statuses(
    store: Store, kept: Mapping[str, int], variants: Mapping[str, str] = MappingProxyType({})
) -> list[EntryStatus]:
    """List the entries of the chosen tournament, in the order of its file.

    Args:
        store: the league.
        kept: by content hash, what the bots that are kept take on the disk, in bytes.
        variants: by the hash of a version, the content hash of the kept bot of which it is a variant.
    """
    games = Counter(label for game in store.finished() for label in game.labels)
    suspended, versions = store.suspended(), store.league().versions
    return [
        EntryStatus(
            tournament=store.tournament().name,
            label=entry.label,
            version=entry.version.number,
            versions=len(versions.get(entry.label, ())),
            state=find_state(entry, suspended),
            games=games[entry.label],
            hash=entry.version.hash,
            name=f"{entry.version.name or entry.label} {entry.version.version}".strip(),
            parameters=entry.version.parameters,
            kept_bytes=sum(
                kept.get(content, 0)
                for content in {variants.get(each.hash, each.hash) for each in versions.get(entry.label, ())}
            ),
            reason=_explain(entry),
        )
        for entry in store.entries()
    ]


def _explain(entry: Entry, *, anonymous: bool = False) -> str:
    """Why an entry is in its state, or why an older version plays; sentences about a bot name its files."""
    if entry.state != "playing":
        return entry.reason
    if entry.absence is None:
        return ""
    return entry.absence.code if anonymous else f"{entry.absence.code}: {entry.absence.sentence}"


def describe_absentees(store: Store, contents: Contents) -> Iterator[str]:
    """Yield a line on each entry that does not play, with the command that lets it play again."""
    meanwhile = contents.tournament.format.absent
    choice = store.league().choose(contents.tournament.name)
    for entry in contents.entries:
        state = find_state(entry, contents.suspended)
        reason = _explain(entry, anonymous=contents.config.anonymous)
        label, why = sanitize(entry.label), f": {sanitize(reason)}" if reason else ""
        if state == "absent":
            yield f"{label} is absent{f', and {meanwhile}' if entry.version.number else ''}{why}"
        elif state != "playing":
            command = shlex.join(["malice", "entry", "reinstate", str(store.path), entry.label, *choice])
            yield f"{label} is {state}{why} ({sanitize(command)})"
        elif reason:
            yield f"{label} plays in version {entry.version.number}, since its bot is broken{why}"


def format_entries(lines: Sequence[EntryStatus]) -> Iterator[str]:
    """Yield a table of entries."""
    rows = [
        (
            sanitize(line.label),
            str(line.version) if line.version == line.versions else f"{line.version} of {line.versions}",
            line.state,
            str(line.games),
            format_bytes(line.kept_bytes) if line.kept_bytes else "",
            line.hash[:HASH_LENGTH],
            sanitize(line.name),
            sanitize(line.reason),
        )
        for line in lines
    ]
    yield from format_table(HEAD, rows, left=(0, 2, 5, 6, 7))


def describe_rounds(contents: Contents, without: Collection[str] = ()) -> Iterator[str]:
    """Yield the course of a tournament that is played in rounds; nothing for other formats.

    Args:
        contents: those of the tournament.
        without: labels of entries that get no row.
    """
    format, format_input = contents.tournament.format, contents.format_input
    if format.rounds is not None:
        yield from _format_encounters([row for row in format.rounds(format_input) if row.label not in without])
        if missing := find_missing_round(format_input):
            yield f"round {missing} of {contents.config.rounds} is not drawn: fewer than two entries can play"
    if format.bracket is not None:
        yield from _format_bracket(contents, format.bracket(format_input))


def _format_encounters(rows: Sequence[SwissRow]) -> Iterator[str]:
    places = {row.label: place for place, row in enumerate(rows, 1)}
    rounds = max((len(row.encounters) for row in rows), default=0)
    head = ("no.", "bot", *map(str, range(1, rounds + 1)))
    cells = [
        (str(places[row.label]), sanitize(row.label), *(_format_encounter(one, places) for one in row.encounters))
        for row in rows
    ]
    if rounds:
        yield "rounds: the number of the opponent in this table, and the points of the match"
        yield from format_table(head, cells, left=(1,))


def _format_encounter(encounter: Encounter | None, places: Mapping[str, int]) -> str:
    if encounter is None:
        return "-"
    return f"{_name_opponent(encounter, places)} {format_points(encounter.points)}"


def _name_opponent(encounter: Encounter, places: Mapping[str, int]) -> str:
    """The number of an opponent, or its label if it has no row."""
    if encounter.opponent is not None:
        return str(places.get(encounter.opponent) or sanitize(encounter.opponent))
    return "bye" if encounter.disqualified is None else f"bye ({sanitize(encounter.disqualified)} disqualified)"


def _format_bracket(contents: Contents, rounds: Sequence[Round]) -> Iterator[str]:
    out = {entry.label for entry in contents.entries if entry.state == "disqualified"}
    for each in rounds:
        yield f"{each.title}:"
        for number, tie in enumerate(each.ties):
            ends = ("wins", "is third")[number] if each.title == FINAL else "advances"
            yield f"  {_describe_tie(tie, ends, out)}"


def _describe_tie(tie: Tie, ends: str, out: Collection[str]) -> str:
    """Describe a tie.

    Args:
        tie: the tie.
        ends: what becomes of its winner.
        out: the labels of those that were disqualified, whose results stand.
    """
    names = [sanitize(label) + (" (disqualified)" if label in out else "") for label in tie.labels]
    if len(names) < 2:
        return f"{names[0]} without an opponent" if names else "nobody"
    scores = ", ".join(
        "-".join(format_points(match.score[match.labels.index(label)]) for label in tie.labels) for match in tie.matches
    )
    how = f": {scores}" if scores else ": not played" if tie.barred else ""
    if not tie.over:
        return f"{' v '.join(names)}{how or ': open'}"
    if tie.winner is None:
        return f"{' v '.join(names)}{how}, both were {'suspended' if tie.barred else 'absent'}, nobody {ends}"
    return f"{' v '.join(names)}{how}, {sanitize(tie.winner)} {ends}{_explain_end(tie)}"


def _explain_end(tie: Tie) -> str:
    """Why somebody advances who did not win by the score."""
    if tie.barred:
        return f", since {sanitize(tie.loser or '')} was suspended"
    last = tie.matches[-1]
    if not last.complete:
        return f", since {sanitize(tie.loser or '')} was absent"
    return ", tied to the end: the higher seed" if last.winner is None else ""


def describe_verified(verified: Verified) -> Iterator[str]:
    """Yield the lines of a verification: what is there, the parts, what was not covered, the tournament SHA."""
    unreplayed = sum(part.unreplayed for part in verified.parts)
    replay = f"{unreplayed} of them not by the rules of today" if unreplayed else "all of them replay"
    yield f"games           {verified.games} ({_describe_state(verified)}), {replay}"
    if verified.left_out:
        ahead = "played ahead of a suspension, or of the end of a test"
        yield f"left out        {verified.left_out} that were {ahead}, and count for nobody"
    if verified.overruns:
        slow = ", ".join(f"{sanitize(label)} {count}" for label, count in verified.overruns.items())
        yield f"given up        when the time of a run was over, by who had used most of it: {slow}"
    for part in verified.parts:
        yield from _describe_part(part, alone=len(verified.parts) == 1)
    yield f"not covered     {', '.join(verified.not_covered)}"
    yield f"tournament SHA  {verified.sha}"


def _describe_state(verified: Verified) -> str:
    if verified.complete:
        return "complete but for the games of suspended bots" if verified.suspended else "complete"
    state = f"of {verified.planned}, not complete"
    if verified.absent:
        state += f", the games of absent bots wait: {', '.join(map(sanitize, verified.absent))}"
    return state


def _describe_part(part: VerifiedPart, *, alone: bool) -> Iterator[str]:
    if not alone:
        state = "closed" if part.closed else "open"
        planned = format_count(part.planned, "game")
        yield f"part {part.number:<10} {sanitize(part.title)}: {part.games} of {planned}, {state}"
    yield f"commit          {part.commit}"
    yield f"seed            {part.seed or 'published when no game of the part is open'}"
    if part.changes:
        yield f"changed since   {describe_changes(part.changes)}{_describe_effect(part)}"
    for difference in part.differences:
        yield f"                by today's format: {sanitize(difference)}"
    if not alone:
        yield f"SHA             {part.sha}"


def _describe_effect(part: VerifiedPart) -> str:
    """Say how far the play of a part could be checked whose rules or format have changed."""
    if not part.unreplayed:
        return "; all its games replay"
    return (
        f"; {format_count(part.unreplayed, 'game')} not replayed: cards, seats and digests are checked, the play is not"
    )
