"""People at the table: the names that stand beside a league and never in it, and what each has reached there.

A person plays under a label that says nothing, so that journal, records and digests stay as they are when a name is
taken off, and a league that is given away names nobody.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import DataError
from malice.referee.families import Family, Statistic, load_family
from malice.referee.records import Count
from malice.referee.replay import VOID
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.file import find_people
from malice.tournaments.league.journal import PERSON, YOU
from malice.tournaments.league.parts import VersionKey
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.tournament import Tournament, Tournaments

LONGEST_NAME = 40
_LABEL = re.compile(r"person ([1-9][0-9]{0,8})")


def is_of_people(league: Tournaments) -> bool:
    """Whether people play in a league; no tournament of bots is in it then."""
    return any(version.hash == PERSON for versions in league.versions.values() for version in versions)


def describe_company(league: Path, *, people: bool) -> str:
    """Why people, or bots, do not play in a league of the others: each is rated among its own."""
    kind, other = ("people", "bots") if people else ("bots", "people")
    return f"{league}: expected a league of {kind}, got one of {other}, whose games are kept apart"


class PeopleList:
    """The names of those who play in a league, in a file beside it.

    Args:
        league: the path of the league.

    Raises:
        LeagueError: the file is damaged.
    """

    def __init__(self, league: Path) -> None:
        self.path = find_people(league)
        self.names: dict[str, str] = self._read()
        """By label."""

    def _read(self) -> dict[str, str]:
        try:
            names = msgspec.json.decode(self.path.read_bytes(), type=dict[str, str])
        except FileNotFoundError:
            return {}
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise LeagueError(where=self.path, expected="the names of people by label", got=error) from None
        if strange := [label for label in names if not _LABEL.fullmatch(label)]:
            raise LeagueError(where=self.path, expected="labels such as 'person 7'", got=repr(strange[0]))
        return names

    def find_label(self, name: str, taken: Iterable[str]) -> str:
        """Find the label of a person, or make one for somebody new, which `write` keeps.

        Args:
            name: of the person.
            taken: the labels of the league, also of those whose names were taken off.

        Raises:
            DataError: it is no name.
        """
        if not (name.strip() == name and name.isprintable() and 0 < len(name) <= LONGEST_NAME):
            raise DataError(expected=f"a name of up to {LONGEST_NAME} characters, all of them visible", got=repr(name))
        if name == YOU or _LABEL.fullmatch(name):
            raise DataError(expected="a name", got=f"{name!r}, which stands for somebody without one")
        for label, known in self.names.items():
            if known == name:
                return label
        numbers = [int(found[1]) for each in (*self.names, *taken) if (found := _LABEL.fullmatch(each))]
        label = f"person {max(numbers, default=0) + 1}"
        self.names[label] = name
        return label

    def forget(self, name: str) -> str:
        """Take a name off; return the label that stays.

        Raises:
            LeagueError: nobody has that name.
        """
        for label, known in self.names.items():
            if known == name:
                del self.names[label]
                return label
        raise LeagueError(f"{self.path}: nobody is called {name!r}")

    def write(self) -> None:
        """Write the names for their owner alone; readers see either the old ones or the new ones.

        Raises:
            OSError: they cannot be written; the old ones are unchanged.
        """
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(msgspec.json.encode(self.names))
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, self.path)
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()


class Ending(Struct, frozen=True):
    """How a game ended for one person."""

    won: bool
    drawn: bool
    score: int | None
    """None where nobody else scored."""
    values: Mapping[str, int]
    """By statistic of the family: those that count in this game."""


class Career(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody has reached in games of one kind."""

    played: Count = 0
    """Games that came to their end."""
    won: Count = 0
    drawn: Count = 0
    streak: Count = 0
    """Games won in a row, up to the last one."""
    longest: Count = 0
    """The longest such row."""
    best: int | None = None
    """The highest score."""
    shares: dict[str, Count] = {}
    """By statistic that is a share, in how many games it was 1."""
    values: dict[str, int] = {}
    """By statistic, the best value."""

    def add(self, statistics: Sequence[Statistic], ending: Ending) -> Career:
        """Count one more game, which follows all others, in a new career."""
        values = ending.values
        streak = self.streak + 1 if ending.won else 0
        shares = {
            each.name: self.shares.get(each.name, 0) + values.get(each.name, 0) for each in statistics if each.share
        }
        better = {
            each.name: _choose(each, self.values.get(each.name), values[each.name])
            for each in statistics
            if not each.share and each.name in values
        }
        scores = [score for score in (self.best, ending.score) if score is not None]
        return Career(
            played=self.played + 1,
            won=self.won + ending.won,
            drawn=self.drawn + ending.drawn,
            streak=streak,
            longest=max(self.longest, streak),
            best=max(scores, default=None),
            shares=shares,
            values=self.values | better,
        )


def _choose(statistic: Statistic, before: int | None, value: int) -> int:
    if before is None:
        return value
    return max(before, value) if statistic.best == "most" else min(before, value)


def list_values(family: Family, figures: Sequence[int], ms: int) -> dict[str, int]:
    """The statistics of a seat that count: its figures, and where they are timed its thinking time."""
    rest = iter(figures)
    values = {each.name: ms if each.timed else next(rest, 0) for each in family.statistics}
    return {each.name: values[each.name] for each in family.statistics if not each.within or values[each.within]}


class CareerRow(Struct, frozen=True):
    """What a person has reached under one ruleset against the same others."""

    label: str
    family: str
    ruleset: str
    against: tuple[str, ...]
    """The labels of the others, sorted; none for daily deals, which one plays alone."""
    career: Career


def read_careers(league: LeagueReader, last: GameSummary | None = None) -> list[CareerRow]:
    """Count the games of everybody who played in a league, in the order in which they were played.

    Args:
        league: the league.
        last: a game of the chosen tournament that is over, and not stored yet.

    Raises:
        DamagedLeague: as `LeagueReader`.
    """
    found: dict[tuple[str, str, str, tuple[str, ...]], Career] = {}
    readers = [league.view(name) for name in league.league().tournaments]
    games = [(game, reader.tournament()) for reader in readers for game in reader.games()]
    if last:
        games.append((last, league.tournament()))
    for game, tournament in sorted(games, key=lambda each: each[0].started):
        if game.reason == VOID:
            continue
        family = load_family(tournament.rulesets[game.ruleset].family)
        for seat in list_people_seats(game, tournament):
            others = (other for other, team in enumerate(game.teams) if team != game.teams[seat])
            kind = (game.labels[seat], family.name, game.ruleset, tuple(sorted(game.labels[other] for other in others)))
            found[kind] = found.get(kind, Career()).add(family.statistics, _judge(family, game, seat))
    return [CareerRow(*kind, career) for kind, career in sorted(found.items())]


def list_people_seats(game: GameSummary, tournament: Tournament) -> list[int]:
    """The seats of people."""
    keys = map(VersionKey, game.labels, game.versions)
    return [seat for seat, key in enumerate(keys) if tournament.version(key).hash == PERSON]


def _judge(family: Family, game: GameSummary, seat: int) -> Ending:
    first = {team for team, place in zip(game.teams, game.places, strict=True) if place == 1}
    leads = game.places[seat] == 1
    figures = game.figures[seat] if game.figures else ()
    values = list_values(family, figures, round(game.used_ms[seat])) if game.figures else {}
    return Ending(leads and len(first) == 1, leads and len(first) > 1, game.scores[seat], values)


def call_people(labels: Sequence[str], names: Mapping[str, str]) -> dict[str, str]:
    """What to call the people of a table, by label: by name, or if several are there by number."""
    several = len(labels) > 1
    return {label: names.get(label, f"player {number}" if several else label) for number, label in enumerate(labels, 1)}


def show_names(game: GameSummary, names: Mapping[str, str]) -> GameSummary:
    """A game with names instead of labels, to be shown and not kept."""
    return replace(game, labels=tuple(names.get(label, label) for label in game.labels))
