"""Games as lists show them, a row for each, and the data files for the page that searches them.

A file holds the games of ten thousand numbers, so that new games change the last file alone. It stores each lineup,
each outcome and each ending once; a game is its place in these tables.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any

from msgspec import Struct

from malice.referee.families import load_family
from malice.referee.replay import VOID
from malice.referee.rulesets import Ruleset
from malice.site_pages import shards, text
from malice.site_pages.deals import has_partners
from malice.site_pages.files import Folder
from malice.site_pages.rankings import Marks, Name, make_name
from malice.site_pages.series import describe_standing
from malice.site_pages.survey import KeyIndex, Survey
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.series import Score
from malice.tournaments.sanitizer import sanitize

ENDLESS = "endless"
"""The code of the words for a game that is void although somebody played."""


class Reasons:
    """The words of the families that are played.

    Raises:
        FamilyError: a family is missing.
    """

    def __init__(self, rulesets: Mapping[str, Ruleset]) -> None:
        self.words: Mapping[str, Mapping[str, str]] = {
            name: load_family(ruleset.family).reasons for name, ruleset in rulesets.items()
        }
        """By ruleset and code."""

    def describe(self, game: GameSummary) -> str:
        endless = game.reason == VOID and game.actions > sum(map(bool, game.verdicts))
        return text.describe_reason(ENDLESS if endless else game.reason, self.words[game.ruleset])


class RowSeat(Struct, frozen=True):
    """The bot at a seat; the verdict is empty unless one ended its game."""

    bot: Name
    verdict: str


class GameTeam(Struct, frozen=True):
    """The seats that won or lost together; without partners, one seat."""

    number: int
    place: int
    score: int
    seats: tuple[RowSeat, ...]


class GameRow(Struct, frozen=True):
    """A game in a list."""

    number: int
    key: str
    ruleset: str
    page: str
    """The file name of the ruleset's page."""
    teams: tuple[GameTeam, ...]
    """In the order of their first seats."""
    has_partners: bool
    reason: str
    series: str
    """The state of the series after this game, in words."""
    void: bool
    actions: int
    started: str
    """Day and time, UTC; empty if unknown."""


def make_game_row(game: GameSummary, reason: str, score: Score | None = None) -> GameRow:
    """A game as lists show it.

    Args:
        game: its row.
        reason: why it ended, in words.
        score: the state of its series after it.
    """
    return GameRow(
        number=game.number,
        key=str(game.key),
        ruleset=game.ruleset,
        page=text.make_slug(game.ruleset),
        teams=_group_seats(game),
        has_partners=has_partners(game),
        reason=reason,
        series=describe_standing(score),
        void=game.reason == "void",
        actions=game.actions,
        started=_format_minute(game.started),
    )


def _format_minute(started: float) -> str:
    return datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%d %H:%M") if started else ""


def _group_seats(game: GameSummary) -> tuple[GameTeam, ...]:
    seats: dict[int, list[int]] = {}
    for seat, team in enumerate(game.teams):
        seats.setdefault(team, []).append(seat)
    return tuple(
        GameTeam(
            team,
            game.places[own[0]],
            game.scores[own[0]],
            tuple(RowSeat(make_name(game.labels[seat]), game.verdicts[seat]) for seat in own),
        )
        for team, own in seats.items()
    )


SIZE = 10_000
"""The numbers of a file; a multiple of those of a shard."""
LATEST = 50
"""Games that the page shows without a script."""


class GameRows:
    """Makes rows of lists."""

    def __init__(self, survey: Survey, reasons: Reasons) -> None:
        self._survey = survey
        self._reasons = reasons

    def make(self, game: GameSummary) -> GameRow:
        return make_game_row(game, self._reasons.describe(game), self._survey.series.get(game.key))

    def make_latest(self) -> list[GameRow]:
        """The latest games of the schedule, the latest first."""
        games = (game for block in reversed(self._survey.blocks.values()) for game in reversed(block))
        return [self.make(game) for game in islice(games, LATEST)]


def write_list(folder: Folder, survey: Survey, reasons: Reasons, marks: Marks) -> list[int]:
    """Write the data files, and keep those whose games are the same; return their numbers.

    Raises:
        OSError: a file cannot be written.
    """
    found = groupby(survey.blocks, lambda block: block * shards.SIZE // SIZE)
    parts = {number: list(blocks) for number, blocks in found}
    for number, blocks in parts.items():
        name = f"list-{number}"
        header = shards.make_header(name, ([survey.digest(block) for block in blocks], reasons.words))
        if folder.read_first_line(f"data/{name}.js") == header:
            folder.keep(f"data/{name}.js")
        else:
            packed = _pack_blocks(survey, blocks, ListedGames(reasons, marks))
            folder.write(f"data/{name}.js", shards.make_script(name, header, packed))
    return list(parts)


def _pack_blocks(survey: Survey, blocks: list[int], games: ListedGames) -> bytes:
    for block in blocks:
        for game in survey.blocks[block]:
            games.add(game, describe_standing(survey.series.get(game.key)))
    return games.pack()


class ListedGames:
    """The games of a data file.

    Args:
        reasons: why games end, in words.
        marks: the discs of the bots.
    """

    def __init__(self, reasons: Reasons, marks: Marks) -> None:
        self._reasons = reasons
        self._marks = marks
        self._words: list[str] = []
        """Why games ended, by ending."""
        self._index = KeyIndex()
        self._tables: dict[str, dict[Any, int]] = {"lineup": {}, "outcome": {}, "ending": {}, "standing": {"": 0}}
        """By column: its different values, each with its place."""
        self._columns = {name: array("q") for name in (*self._tables, "actions", "minutes")}
        self._minute = 0

    def add(self, game: GameSummary, standing: str = "") -> None:
        """Add the game with the next higher number, and where its series stands after it, in words."""
        self._index.add(game.number, game.key)
        self._add_place("lineup", (game.ruleset, game.teams, game.labels, game.versions, game.once))
        self._add_place("outcome", (game.places, game.scores))
        self._add_place("standing", standing)
        if self._add_place("ending", (game.ruleset, game.reason, game.verdicts)) == len(self._words):
            self._words.append(self._reasons.describe(game))
        self._columns["actions"].append(game.actions)
        minute = int(game.started // 60)
        self._columns["minutes"].append(minute - self._minute)
        self._minute = minute

    def _add_place(self, name: str, value: object) -> int:
        """Add the place of a value to a column, and return it."""
        table = self._tables[name]
        place = table.setdefault(value, len(table))
        self._columns[name].append(place)
        return place

    def pack(self) -> bytes:
        """What the data file passes to the page."""
        lineups = list(self._tables["lineup"])
        names = _number(pair for _, _, labels, versions, _ in lineups for pair in zip(labels, versions, strict=True))
        rulesets = _number(ruleset for ruleset, *_ in lineups)
        endings = zip(self._tables["ending"], self._words, strict=True)
        payload = {
            "keys": self._index.make_payload(),
            "names": [self._describe_name(label, version) for label, version in names],
            "rulesets": [(ruleset, text.make_slug(ruleset), sanitize(ruleset, 60)) for ruleset in rulesets],
            "lineups": [
                (rulesets[ruleset], teams, [names[pair] for pair in zip(labels, versions, strict=True)], *[1] * once)
                for ruleset, teams, labels, versions, once in lineups
            ],
            "outcomes": list(self._tables["outcome"]),
            "endings": [(reason, words, verdicts) for (_, reason, verdicts), words in endings],
            "standings": list(self._tables["standing"]),
            "columns": {name: column.tolist() for name, column in self._columns.items()},
        }
        return shards.pack(payload)

    def _describe_name(self, label: str, version: int) -> tuple[str, int, str, str, str]:
        name = make_name(label)
        return (label, version, name.slug, name.label, self._marks.find(name))


def _number(values: Iterator[Any]) -> dict[Any, int]:
    """The different values, each with its place."""
    return {value: place for place, value in enumerate(dict.fromkeys(values))}
