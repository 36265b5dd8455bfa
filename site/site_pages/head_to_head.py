"""The data files of the head-to-head page: what every two entries made of one another, a file for each entry.

An entry's file holds its meetings with the entries after it, so that each meeting is stored once; the page turns it
around where the later of the two comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from malice.site_pages import shards, text
from malice.site_pages.bot_details import has_duels, measure_duel
from malice.site_pages.crosstable import name_versions
from malice.site_pages.deals import Deals, GamesAgainst, Kind
from malice.site_pages.files import Folder
from malice.site_pages.rankings import Marks, Ranking, make_name
from malice.site_pages.sections import Section
from malice.site_pages.survey import Survey
from malice.tournaments.league.contents import Contents
from malice.tournaments.league.standings import OpponentScore, Standings

DIGITS = 4
"""Of figures after the point: more than the page shows."""
Span = tuple[float | None, float | None, float | None]
"""A figure, and the ends of its 95 % interval."""


class StoredSide(Struct, frozen=True, omit_defaults=True):
    """What a meeting came to for one of the two."""

    seats: list[tuple[int, int, int]]
    """By seat: the games, and those won and drawn against the other."""
    ms: float | None = None
    """Thinking time per action in these games."""
    failed: int = 0
    """Games that ended for it by a verdict."""
    swept: list[str] = []
    """The latest deals that it won from both seats, each by its first game."""
    widest: tuple[str, int] | None = None
    """Its win by the most points, and by how many."""


class WithoutLuck(Struct, frozen=True):
    """What is left of the difference without luck."""

    elo: Span
    factor: float | None
    """How many times the games would tell as much with luck."""


class StoredDuel(Struct, frozen=True, omit_defaults=True):
    """What follows from complete deals, from the point of view of the first of the two."""

    deals: tuple[int, ...]
    """Deals by its points: 0, ½, 1, 1½, 2."""
    elo: Span
    los: float | None
    luck: Span
    adjusted: WithoutLuck | None = None


class StoredMeeting(Struct, frozen=True, omit_defaults=True):
    """The games of two entries in one ranking."""

    ranking: int
    other: int
    """The place of the second in the order of entry."""
    games: tuple[int, int, int]
    """Won, drawn and lost by the first."""
    sides: tuple[StoredSide, StoredSide]
    longest: tuple[str, int] | None
    """The game with the most actions, and how many."""
    duel: StoredDuel | None = None
    """None where a deal is not two games of two."""


def write_meetings(
    folder: Folder,
    contents: Contents,
    survey: Survey,
    ranked: Sequence[tuple[Standings, Section]],
    marks: Marks,
) -> None:
    """Write what the head-to-head page shows.

    Args:
        folder: that of the site.
        contents: the league.
        survey: its games.
        ranked: the standings, each with its section of the front page.
        marks: the discs of the bots.

    Raises:
        OSError: a file cannot be written.
    """
    places = {entry.label: place for place, entry in enumerate(contents.entries)}
    found = survey.bots.list_meetings()
    makers = [
        _MeetingMaker(number, standings, section, survey.deals, found, places)
        for number, (standings, section) in enumerate(ranked)
    ]
    files = []
    for label, place in places.items():  # one by one, since a large league has many meetings
        if stored := [meeting for maker in makers for meeting in maker.list_later(label)]:
            _write(folder, f"meetings-{place}", stored)
            files.append(place)
    versions = name_versions(contents)
    bots = [
        (label, versions.get(label, label), name.slug, name.label, marks.find(name))
        for label, name in ((label, make_name(label)) for label in places)
    ]
    index = {
        "bots": bots,
        "rankings": [_describe_ranking(section.ranking, places) for _, section in ranked],
        "files": files,
        "first": _list_first([standings for standings, _ in ranked], places),
    }
    _write(folder, "meetings", index)


def _write(folder: Folder, name: str, content: object) -> None:
    folder.write(f"data/{name}.js", shards.make_script(name, shards.make_header(name, content), shards.pack(content)))


def _list_first(all_standings: Sequence[Standings], places: Mapping[str, int]) -> list[tuple[int, int]]:
    """Each bot that met another, with the best one it met, in the order in which the page proposes them."""
    found: dict[int, int] = {}
    for standings in all_standings:
        labels = [row.label for row in standings.rows if row.label in places]
        for label in labels:
            met = standings.crosstable.get(label, {})
            opponent = next((other for other in labels if other in met and met[other].games), None)
            if opponent is not None:
                found.setdefault(places[label], places[opponent])
    return list(found.items())


def _describe_ranking(ranking: Ranking, places: Mapping[str, int]) -> dict[str, object]:
    """Its words, and by entry its rank, of how many, its Elo and the interval."""
    rows: list[tuple[str, str, str, str] | None] = [None] * len(places)
    for row in ranking.rows:
        if row.bot.exact in places:
            cells = {name: cell.text for name, cell in row.cells.items() if cell is not None}
            rows[places[row.bot.exact]] = (cells["rank"], row.of, cells["elo"], cells["low"])
    return {
        "title": ranking.title,
        "ruleset": ranking.ruleset,
        "page": ranking.page,
        "seats": ranking.seats,
        "exact": ranking.exact,
        "rows": rows,
    }


class _MeetingMaker:
    """Makes the meetings of one ranking."""

    def __init__(
        self,
        number: int,
        standings: Standings,
        section: Section,
        deals: Deals,
        found: Mapping[tuple[Kind, str, str], GamesAgainst],
        places: Mapping[str, int],
    ) -> None:
        self._number = number
        self._crosstable = standings.crosstable
        self._places = places
        self._ruleset = standings.ruleset
        self._kind = standings.ruleset, standings.seats
        self._duels = has_duels(standings)
        self._adjusted = _list_adjusted(section)
        self._deals = deals
        self._found = found

    def list_later(self, label: str) -> Iterator[StoredMeeting]:
        """Yield what an entry made of each that stands after it in the order of entry."""
        for other, score in self._crosstable.get(label, {}).items():
            if score.games and self._places.get(other, -1) > self._places[label]:
                yield self._make(label, other, self._places[other], score)

    def _make(self, label: str, other: str, place: int, score: OpponentScore) -> StoredMeeting:
        longest = self._found[self._kind, label, other].longest
        return StoredMeeting(
            ranking=self._number,
            other=place,
            games=(score.wins, score.draws, score.losses),
            sides=(self._make_own(label, other), self._make_own(other, label)),
            longest=(str(longest.key), longest.actions) if longest else None,
            duel=self._make_duel(label, other) if self._duels else None,
        )

    def _make_own(self, label: str, other: str) -> StoredSide:
        meeting = self._found[self._kind, label, other]
        widest = meeting.widest
        return StoredSide(
            seats=[(each.games, each.wins, each.draws) for each in meeting.seats],
            ms=_round(meeting.used_ms / meeting.asked if meeting.asked else None),
            failed=meeting.failed,
            swept=list(map(str, self._deals.list_swept(self._ruleset, label, other))) if self._duels else [],
            widest=(str(widest.key), widest.margin) if widest and widest.margin > 0 else None,
        )

    def _make_duel(self, label: str, other: str) -> StoredDuel:
        record, advantage = measure_duel(self._deals.count_pairs(self._ruleset, label, other))
        return StoredDuel(
            deals=record.pair_counts,
            elo=_make_span(record.pairs.elo, advantage.elo_low, advantage.elo_high),
            los=_round(advantage.los),
            luck=_make_span(record.luck, record.luck_low, record.luck_high),
            adjusted=self._adjusted.get((label, other)),
        )


def _list_adjusted(section: Section) -> dict[tuple[str, str], WithoutLuck]:
    """By both directions, where somebody asked for scores without luck."""
    found: dict[tuple[str, str], WithoutLuck] = {}
    for one, adjusted in section.luck.pairs if section.luck else ():
        low, high = adjusted.elo_low, adjusted.elo_high
        turned = [None if value is None else -value for value in (adjusted.elo, high, low)]
        factor = _round(adjusted.factor)
        found[one.new.label, one.base.label] = WithoutLuck(_make_span(adjusted.elo, low, high), factor)
        found[one.base.label, one.new.label] = WithoutLuck(_make_span(*turned), factor)
    return found


def _make_span(figure: float | None, low: float | None, high: float | None) -> Span:
    return _round(figure), _round(low), _round(high)


def _round(value: float | None) -> float | None:
    value = text.drop_unknown(value)
    return None if value is None else round(value, DIGITS) + 0.0  # no -0
