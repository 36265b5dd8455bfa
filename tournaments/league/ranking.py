"""The ranking of a tournament, or of a season, all tournaments of a league: which games and versions it shows."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as alter
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.rulesets import Ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.contents import Contents, Entry, GameStream, GameSummary, TablePlace
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.standings import (
    EntryStatistics,
    Row,
    Standings,
    State,
    compute_standings,
    find_statistics,
)


class Choice(Struct, frozen=True):
    """A choice of games and versions."""

    versions: Literal["newest", "all"] = "newest"
    """Whether older versions have rows of their own; their games count for their opponents in any case."""
    since: float = 0.0
    """Only games that began at this time or later, in seconds since 1970."""
    before: float = math.inf
    """Only games that began before this time."""
    without: tuple[str, ...] = ()
    """Labels of entries whose games are left out."""


EVERYTHING = Choice()


class Picker:
    """Picks the games that standings rate, and names the versions that play in them.

    Raises:
        LeagueError: the choice names a label that is no entry.
    """

    def __init__(self, league: Contents, choice: Choice = EVERYTHING) -> None:
        entries = league.entries
        _refuse_strangers(choice.without, entries)
        self._league = league
        self._choice = choice
        self._newest = {entry.label: entry.version.number for entry in entries}
        self._away = {entry.label for entry in entries if entry.state == "disqualified"} | set(choice.without)
        versions = {each for part in league.parts for table in part.tables for each in table.versions}
        older = sorted(each for each in versions if each.number != self._newest[each.label])
        self._has_older = bool(older)
        self.names: Sequence[str] = [*self._newest, *(f"{each.label}@{each.number}" for each in older)]
        """Of all that may have played; the newest versions in the order of the file come first."""
        labels = [*self._newest, *(each.label for each in older)]
        rows = len(labels) if choice.versions == "all" else len(self._newest)
        self.shown = frozenset(
            name for name, label in list(zip(self.names, labels, strict=True))[:rows] if label not in choice.without
        )
        """The names that get a row."""
        self.common: Collection[int] = {
            part.number for part in league.parts if part.common_deals and len(part.tables) > 1
        }
        """The parts in which several tables have the same cards."""

    def pick(self, game: GameSummary) -> GameSummary | None:
        """Name the versions in a game, `label@number` for an older one; None if the game is not rated."""
        if not self._choice.since <= game.started < self._choice.before or not self._away.isdisjoint(game.labels):
            return None
        return self._name_versions(game) if self._has_older else game

    def list_games(self) -> Iterator[GameSummary]:
        """Yield the games to rate, in playing order."""
        return (picked for game in self._league.games if (picked := self.pick(game)) is not None)

    def _name_versions(self, game: GameSummary) -> GameSummary:
        pairs = zip(game.labels, game.versions, strict=True)
        labels = tuple(label if self._newest[label] == version else f"{label}@{version}" for label, version in pairs)
        return replace(game, labels=labels) if labels != game.labels else game


def _refuse_strangers(labels: Iterable[str], entries: Sequence[Entry]) -> None:
    known = [entry.label for entry in entries]
    for label in labels:
        if label not in known:
            raise LeagueError(f"no entry {label!r}; entries: {', '.join(known)}")


def compute_league_standings(league: Contents, choice: Choice = EVERYTHING) -> tuple[Standings, ...]:
    """Rank the entries of a tournament by the games that count, without those of disqualified entries.

    Args:
        league: the tournament.
        choice: which games and versions to show.
    """
    entries = league.entries
    picker = Picker(league, choice)
    suspended = league.suspended
    states = {entry.label: find_state(entry, suspended) for entry in entries}
    # An older version of an entry is a row of its own, which nobody suspends.
    shown: dict[str, State] = {name: states.get(name, "playing") for name in picker.shown}
    statistics, anchor = EntryStatistics(find_statistics(league.rulesets)), league.config.anchor
    games = statistics.watch(picker.list_games())
    found = compute_standings(games, picker.names, anchor, picker.common, shown, league.clocks, live=league.live)
    found = tuple(_add_statistics(each, statistics) for each in found)
    if overruns := {entry.label: entry.overruns for entry in entries if entry.overruns}:
        found = tuple(_add_overruns(each, overruns) for each in found)
    exact = not league.ended_by_test
    found = tuple(replace(each, exact=exact) for each in found)
    if not (table := league.table):
        return found
    left = [place for place in table if place.label not in choice.without]
    return tuple(replace(each, by_table=True, rows=_order_by_table(each.rows, left)) for each in found)


def _add_overruns(standings: Standings, overruns: Mapping[str, int]) -> Standings:
    return replace(standings, rows=tuple(replace(row, overruns=overruns.get(row.label, 0)) for row in standings.rows))


def _add_statistics(standings: Standings, statistics: EntryStatistics) -> Standings:
    if (by_label := statistics.list_entries(standings.ruleset, standings.seats)) is None:
        return standings
    rows = (replace(row, statistics=by_label.get(row.label, ())) for row in standings.rows)
    return replace(standings, rows=tuple(rows))


def explain_table(league: Contents, choice: Choice) -> str:
    """Say that a choice of games changes the ratings, but not the table of the tournament; nothing if it has none."""
    if not league.table:
        return ""
    if choice.without:
        return f"the table is as it was played: matches against {', '.join(choice.without)} count in it"
    return "the table is as it was played: matches of all days count in it" if choice.since else ""


def _order_by_table(rows: Iterable[Row], table: Sequence[TablePlace]) -> tuple[Row, ...]:
    """The rows in the order of a table, with its points; rows that it lacks, as of older versions, come after.

    The ranks are those of the table, without gaps: entries that do not play keep their points, but come last,
    without a rank. The intervals of ratings do not apply to these ranks.
    """
    places = {place.label: (number, place) for number, place in enumerate(table)}

    def order(row: Row) -> tuple[bool, int]:
        return (row.state != "playing", places[row.label][0] if row.label in places else len(table))

    ordered = sorted(rows, key=order)
    taken = [places[row.label][1].place for row in ordered if row.state == "playing" and row.label in places]
    return tuple(_place_row(row, places[row.label][1] if row.label in places else None, taken) for row in ordered)


def _place_row(row: Row, found: TablePlace | None, taken: Sequence[int]) -> Row:
    """A row with its rank among the places that are taken."""
    row = replace(row, rank=None, tied=False, rating=replace(row.rating, rank_low=None, rank_high=None))
    if found is None:
        return row
    row = replace(row, points=found.points, buchholz=found.buchholz)
    if row.state != "playing":
        return row
    return replace(row, rank=1 + sum(place < found.place for place in taken), tied=taken.count(found.place) > 1)


def find_state(entry: Entry, suspended: Collection[str]) -> State:
    if entry.state != "playing":
        return entry.state
    if entry.label in suspended:
        return "suspended"
    return "absent" if entry.absence and (entry.waits or not entry.version.number) else "playing"


def read_season(league: LeagueReader, *, keep: bool = True) -> Contents:
    """Read the entries and games of all tournaments; their parts are counted through, unlike inside.

    An entry has the version and the state of the newest tournament in which it takes part. The games of an entry that
    one tournament disqualified count in the others. Where tournaments have different rules under one name, they
    are different games: the newest keeps the name, the others are named after a tournament, too. There is no table:
    only ratings compare tournaments.

    Args:
        league: all of them.
        keep: as `LeagueReader.read` explains it.
    """
    found = [league.view(name).read(keep=keep) for name in league.league().tournaments]
    rulesets, renamed = _name_rulesets(found)
    parts = (part for each in found for part in each.parts)
    games = GameStream(partial(_list_games, found, renamed))
    return alter(
        found[-1],
        rulesets=tuple(rulesets.values()),
        entries=tuple(_list_entries(found)),
        parts=tuple(replace(part, number=number) for number, part in enumerate(parts)),
        clocks=tuple(clock for each in found for clock in each.clocks),
        games=list(games) if keep else games,
        live=any(each.live for each in found),
        ended_by_test=any(each.ended_by_test for each in found),
        tests={},
        table=(),
    )


def _name_rulesets(found: Sequence[Contents]) -> tuple[dict[str, Ruleset], list[dict[str, str]]]:
    """Name the rulesets in the season, and by tournament, by the names that they have there."""
    rulesets: dict[str, Ruleset] = {}
    renamed: list[dict[str, str]] = []
    for each in reversed(found):
        renamed.insert(0, {known.name: _name(known, each.tournament.name, rulesets) for known in each.rulesets})
    return rulesets, renamed


def _name(ruleset: Ruleset, tournament: str, rulesets: dict[str, Ruleset]) -> str:
    """Find or make the name of a ruleset in the season, given the newest tournaments first."""
    later = f"{ruleset.name} of "
    for known, each in rulesets.items():
        same = (ruleset.family, ruleset.rules) == (each.family, each.rules)
        if same and (known == ruleset.name or known.startswith(later)):
            return known
    name = f"{later}{tournament}" if ruleset.name in rulesets else ruleset.name
    rulesets[name] = replace(ruleset, name=name)
    return name


def _list_entries(found: Sequence[Contents]) -> Iterator[Entry]:
    """Yield the entries, each in the order of the first tournament in which it took part."""
    entries: dict[str, Entry] = {}
    for each in found:
        # A tournament in which no version could be started says nothing about the others.
        entries |= {entry.label: entry for entry in each.entries if entry.version.number or entry.label not in entries}
    for entry in entries.values():
        yield replace(entry, state="playing") if entry.state == "disqualified" else entry


def _list_games(found: Sequence[Contents], renamed: Sequence[Mapping[str, str]]) -> Iterator[GameSummary]:
    before = 0
    for each, names in zip(found, renamed, strict=True):
        out = {entry.label for entry in each.entries if entry.state == "disqualified"}
        for game in each.games:
            if out.isdisjoint(game.labels):
                key = replace(game.key, part=before + game.key.part)
                yield replace(game, key=key, ruleset=names[game.ruleset])
        before += len(each.parts)
