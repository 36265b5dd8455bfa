"""How standings develop: ratings after each part, and what changed between two states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from statistics import mean
from typing import Literal

from msgspec import Struct

from malice.protocol.messages import ClockRules
from malice.referee.replay import VOID
from malice.tournaments.league.contents import Contents, GameSummary, TablePlace
from malice.tournaments.league.parts import Part
from malice.tournaments.league.ranking import EVERYTHING, Choice, Picker, compute_league_standings
from malice.tournaments.league.rating_groups import GroupGames, RatingGroup, collect_groups
from malice.tournaments.league.standings import Row, Standings, rank_entries
from malice.tournaments.ratings.fit import Fit, Rating, fit_beginnings, fit_ratings
from malice.tournaments.ratings.rated_games import CompleteDeals

News = Literal["", "new", "gone", "new version"]


class RankChange(Struct, frozen=True):
    """An entry before and after."""

    label: str
    news: News
    """Whether it is new, gone, or plays in another version; empty if it is the same bot."""
    rank_before: int | None
    rank: int | None
    elo_before: float | None
    elo: float | None
    gain: float | None
    """By how much its Elo rose, relative to the entries that are the same bots as before; None without both figures."""


class Progression(Struct, frozen=True):
    """What changed under one ruleset with one number of seats."""

    ruleset: str
    seats: int
    drift: float
    """By how much the Elo of the entries that are the same bots rose on average, which counts as no change."""
    moves: tuple[RankChange, ...]
    """In the order of the ranking; those that are gone come last."""


class Changes(Struct, frozen=True):
    """What changed in a league since an earlier state of it, or since another league."""

    since: str
    """The name of its file, without its folder, the day, or the title of a part."""
    progressions: tuple[Progression, ...]
    part: str = ""
    """The title of the newest part, if the earlier state is that before this part."""


def compute_progression(before: Contents, after: Contents, choice: Choice = EVERYTHING) -> tuple[Progression, ...]:
    """Compute what changed between two states of a league, or between two leagues.

    Args:
        before: the earlier state.
        after: the later one.
        choice: which games of the later state to rate.
    """
    earlier = {(each.ruleset, each.seats): each for each in compute_league_standings(before, Choice(choice.versions))}
    same = _list_same(before, after)
    return tuple(
        _compare(earlier.get((standings.ruleset, standings.seats)), standings, same)
        for standings in compute_league_standings(after, choice)
    )


def _list_same(before: Contents, after: Contents) -> frozenset[str]:
    """The labels that stand for the same content in both."""
    contents = {entry.label: entry.version.hash for entry in before.entries}
    return frozenset(entry.label for entry in after.entries if contents.get(entry.label) == entry.version.hash)


def _compare(before: Standings | None, after: Standings, same: frozenset[str]) -> Progression:
    old = {row.label: row for row in before.rows if row.games} if before else {}
    # Who changed and has not played since is not gone.
    here = {row.label for row in after.rows if row.state != "disqualified"} & old.keys()
    new = {row.label: row for row in after.rows if row.games or row.label in here}
    pairs = [(_get_elo(old.get(label)), _get_elo(new[label])) for label in new if label in same]
    rises = [elo - before for before, elo in pairs if elo is not None and before is not None]
    drift = mean(rises) if rises else 0.0
    return Progression(after.ruleset, after.seats, drift, tuple(_list_moves(old, new, same, drift)))


def _list_moves(
    old: Mapping[str, Row], new: Mapping[str, Row], same: frozenset[str], drift: float
) -> Iterator[RankChange]:
    for label in [*new, *(label for label in old if label not in new)]:
        before, after = old.get(label), new.get(label)
        elo_before, elo = _get_elo(before), _get_elo(after)
        yield RankChange(
            label=label,
            news=_describe_news(before, after, label in same),
            rank_before=before.rank if before else None,
            rank=after.rank if after else None,
            elo_before=elo_before,
            elo=elo,
            gain=None if elo is None or elo_before is None else elo - elo_before - drift,
        )


def _get_elo(row: Row | None) -> float | None:
    return row.rating.elo if row else None


def _describe_news(before: Row | None, after: Row | None, same: bool) -> News:
    if before is None:
        return "new"
    if after is None:
        return "gone"
    return "" if same else "new version"


MOST_STEPS = 30
"""Every step takes a fit; earlier ones are merged into the first."""


class PartStep(Struct, frozen=True):
    """The ratings after a part, after several that were merged, or after so many games of a part."""

    parts: tuple[int, ...]
    """The numbers of the parts that came in since the step before; empty where steps go by games."""
    titles: tuple[str, ...]
    """Theirs."""
    games: int
    """Rated games up to this step."""
    ratings: dict[str, Rating]
    """Of the entries shown that have an Elo by then."""
    groups: int
    """Sets of entries that never met each other until then; with several, Elo compares only within a set."""


class PartRatings(Struct, frozen=True):
    """How the ratings of one ruleset with one number of seats developed."""

    ruleset: str
    seats: int
    steps: tuple[PartStep, ...]
    """At least two."""


def compute_part_ratings(league: Contents, choice: Choice = EVERYTHING) -> tuple[PartRatings, ...]:
    """Rate every ruleset and number of seats after each part, where several parts have rated games.

    A step holds the joint fit of all rated games of the parts up to its own, by the rules of the ranking, so the
    last one agrees with the ranking. Parts without rated games make no step, and blocks for open series belong
    to the part before them. There are at most `MOST_STEPS` steps; with 100,000 games, all of them take a few
    seconds.

    Args:
        league: the tournament.
        choice: which games and versions to show.

    Raises:
        LeagueError: the choice names a label that is no entry.
    """
    if sum(not part.block for part in league.parts) < 2:
        return ()
    picker = Picker(league, choice)
    groups = collect_groups(picker.list_games(), picker.names, picker.common, league.clocks)
    return tuple(
        PartRatings(kind.ruleset, kind.seats, steps)
        for kind, games in groups.items()
        if len(steps := _make_steps(league, picker, games.complete)) > 1
    )


def _make_steps(league: Contents, picker: Picker, games: CompleteDeals) -> tuple[PartStep, ...]:
    spans = list(_merge_parts(league.parts, frozenset(games.by_part)))
    if len(spans) < 2:
        return ()
    anchor = league.config.anchor
    fits = fit_beginnings(
        games.rated,
        len(picker.names),
        accumulate(sum(games.by_part.get(part.number, 0) for part in span) for span in spans),
        anchor=None if anchor is None else picker.names.index(anchor),
    )
    return tuple(_make_step(span, fit, picker) for span, fit in zip(spans, fits, strict=True))


def _merge_parts(parts: Sequence[Part], rated: frozenset[int]) -> Iterator[list[Part]]:
    """Yield the parts of each step, of those that rate games: one, with the blocks that follow it."""
    steps: list[list[Part]] = []
    for part in parts:
        if part.number not in rated:
            continue
        if part.block and steps:
            steps[-1].append(part)
        else:
            steps.append([part])
    early = max(0, len(steps) - MOST_STEPS + 1)
    if early > 1:
        yield [part for step in steps[:early] for part in step]
        steps = steps[early:]
    yield from steps


def _make_step(span: Sequence[Part], fit: Fit, picker: Picker) -> PartStep:
    return PartStep(
        parts=tuple(part.number for part in span),
        titles=tuple(part.title for part in span),
        games=fit.games,
        ratings=_name_ratings(fit, picker),
        groups=fit.pools,
    )


def _name_ratings(fit: Fit, picker: Picker) -> dict[str, Rating]:
    ratings = zip(picker.names, fit.ratings, strict=True)
    return {name: rating for name, rating in ratings if name in picker.shown and rating.elo is not None}


FIRST_GAMES = 8
"""Where steps go by games, so many for each entry make the first; each has twice as many as the one before."""
MOST_BEGINNINGS = 6
"""Of those steps, the latest are kept; all together they cost about as much as the ranking."""
FULL = 0.7
"""No step has more than this share of all games but the last, which has them all: it would tell the same."""


class GameRatings:
    """How ratings developed within a tournament, by games; asked again, it rates new beginnings only."""

    def __init__(self) -> None:
        self._known: dict[int, PartStep] = {}

    def compute(self, league: Contents, all_standings: Sequence[Standings]) -> tuple[PartRatings, ...]:
        """Rate every ruleset and number of seats after 64 rated games, 128, 256 and so on.

        A step holds the joint fit of the games of the first deals that were complete, the last step the ranking. Where
        there are too few games for two steps there are none.

        Args:
            league: the tournament.
            all_standings: its standings, of all games.
        """
        picker = Picker(league, EVERYTHING)
        kinds = _group_games(picker.list_games(), league.clocks)
        known, self._known = self._known, {}
        found = []
        for played, standings in zip(kinds, all_standings, strict=True):
            steps = [*self._list_beginnings(league, picker, played, known), _make_last_step(standings)]
            if len(steps) > 1:
                found.append(PartRatings(standings.ruleset, standings.seats, tuple(steps)))
        return tuple(found)

    def _list_beginnings(
        self, league: Contents, picker: Picker, played: Sequence[GameSummary], known: Mapping[int, PartStep]
    ) -> Iterator[PartStep]:
        games = _order_by_end(_list_rated(played))
        most = FULL * len(games)
        least = FIRST_GAMES * len(league.entries)
        lengths = [size for power in range(40) if least <= (size := 1 << power) <= most][-MOST_BEGINNINGS:]
        number = {name: index for index, name in enumerate(picker.names)}
        anchor = league.config.anchor
        for length in lengths:
            first = games[: _end_deal(games, length)]
            played_in = tuple((game.number, game.labels, game.places) for game in first)
            key = hash((tuple(picker.names), anchor, played_in))
            if (step := known.get(key)) is None:
                rated = GroupGames(number, picker.common)
                for game in first:
                    rated.add(game)
                reference = None if anchor is None else number[anchor]
                fit = fit_ratings(rated.complete.rated, len(number), anchor=reference)
                step = PartStep((), (), fit.games, _name_ratings(fit, picker), fit.pools)
            self._known[key] = step
            yield step


def _group_games(games: Iterable[GameSummary], clocks: Sequence[ClockRules]) -> list[list[GameSummary]]:
    """The games that are rated together, in the order of `collect_groups`."""
    groups: dict[RatingGroup, list[GameSummary]] = {}
    for game in games:
        part = game.key.part
        clock = clocks[part] if part < len(clocks) else None
        groups.setdefault(RatingGroup(game.ruleset, len(game.labels), clock), []).append(game)
    return list(groups.values())


def _list_rated(played: Sequence[GameSummary]) -> list[GameSummary]:
    """The games of complete deals but void ones, as `GroupGames` rates them."""
    counts = Counter(map(_name_deal, played))
    return [game for game in played if counts[_name_deal(game)] == game.rotations and game.reason != VOID]


def _order_by_end(games: Sequence[GameSummary]) -> list[GameSummary]:
    """The games deal by deal, in the order in which the deals end."""
    ends = {_name_deal(game): game.number for game in games}  # in playing order
    return sorted(games, key=lambda game: ends[_name_deal(game)])


def _end_deal(games: Sequence[GameSummary], length: int) -> int:
    """So many games, or a few more, so that the last deal is whole."""
    deal = _name_deal(games[length - 1])
    while length < len(games) and _name_deal(games[length]) == deal:
        length += 1
    return length


def _name_deal(game: GameSummary) -> tuple[int, int, int]:
    return game.key.part, game.key.table, game.key.deal


def _make_last_step(standings: Standings) -> PartStep:
    ratings = {row.label: row.rating for row in standings.rows if row.rating.elo is not None}
    return PartStep((), (), standings.games, ratings, standings.groups)


_UNRATED = Rating(games=0, wins=0, draws=0, losses=0, score=None, average_opponent=None, pool=-1)


class Before(Struct, frozen=True):
    """The standings of one kind of game after the part before the newest."""

    ratings: Mapping[str, Rating]
    """Of those that had one."""
    ranks: Mapping[str, int]


def compute_part_changes(
    league: Contents,
    found: Sequence[PartRatings],
    all_standings: Sequence[Standings],
    table: Sequence[TablePlace] = (),
) -> Changes | None:
    """Compute what the newest part with rated games changed; None without a part before it.

    Only kinds of games that this part has are compared. Who does not play now takes no rank then either.

    Args:
        league: the tournament.
        found: what the standings were after each part.
        all_standings: what they are now.
        table: of a format that keeps one: as it was then.
    """
    newest = max((each.steps[-1].parts[-1] for each in found), default=-1)
    steps = {(each.ruleset, each.seats): each.steps for each in found if each.steps[-1].parts[-1] == newest}
    compared = [each for each in all_standings if (each.ruleset, each.seats) in steps]
    if not compared:
        return None
    *_, before, last = next(iter(steps.values()))
    progressions = (
        _compare_parts(each, *_look_back(each, steps[each.ruleset, each.seats][-2], league, table)) for each in compared
    )
    return Changes(before.titles[-1], tuple(progressions), last.titles[-1])


def _look_back(
    standings: Standings, step: PartStep, league: Contents, table: Sequence[TablePlace]
) -> tuple[Before, frozenset[str]]:
    """The standings after a step, and the labels that had played by then in whatever version."""
    last = step.parts[-1]
    tables = [each for part in league.parts if part.number <= last for each in part.tables]
    known = frozenset(version.label for each in tables for version in each.versions)
    active = [row.label for row in standings.rows if row.state == "playing"]
    if standings.by_table:
        places = {place.label: place.place for place in table if place.label in active}
        ranks = {label: 1 + sum(other < own for other in places.values()) for label, own in places.items()}
    else:
        ranks = _rank(step.ratings, active)
    return Before(step.ratings, ranks), known


def _rank(ratings: Mapping[str, Rating], active: Sequence[str]) -> dict[str, int]:
    all_ratings = [ratings.get(label, _UNRATED) for label in active]
    numbers = range(len(active))
    return {
        active[found.number]: found.rank
        for found in rank_entries(all_ratings, active, numbers, numbers)
        if found.rank is not None
    }


def _compare_parts(standings: Standings, before: Before, known: frozenset[str]) -> Progression:
    rows = [row for row in standings.rows if row.games]
    rises = [
        row.rating.elo - old
        for row in rows
        if row.rating.elo is not None and (old := _find_elo(before, row.label)) is not None
    ]
    drift = mean(rises) if rises else 0.0
    return Progression(standings.ruleset, standings.seats, drift, tuple(_list_part_changes(rows, before, known, drift)))


def _list_part_changes(
    rows: Sequence[Row], before: Before, known: frozenset[str], drift: float
) -> Iterator[RankChange]:
    for row in rows:
        old, elo = _find_elo(before, row.label), row.rating.elo
        news: News = "" if old is not None else "new version" if row.label in known else "new"
        yield RankChange(
            label=row.label,
            news=news,
            rank_before=before.ranks.get(row.label),
            rank=row.rank,
            elo_before=old,
            elo=elo,
            gain=None if elo is None or old is None else elo - old - drift,
        )


def _find_elo(before: Before, label: str) -> float | None:
    rating = before.ratings.get(label)
    return None if rating is None else rating.elo
