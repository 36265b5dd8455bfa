"""How ratings developed from part to part: the fit of the ranking, after each part."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from malice.tournaments.league.choice import EVERYTHING, Choice, Picker
from malice.tournaments.league.contents import GameSummary, LeagueContents
from malice.tournaments.league.kinds import group_games, list_complete, list_counted, make_rated_game
from malice.tournaments.league.parts import Part
from malice.tournaments.ratings.fit import Fit, Rating, fit_beginnings

MOST_STEPS = 30
"""Every step takes a fit; earlier ones are merged into the first."""


class PartStep(Struct, frozen=True):
    """The ratings after a part, or after several that were merged."""

    parts: tuple[int, ...]
    """The numbers of the parts that came in since the step before; never empty."""
    titles: tuple[str, ...]
    """Theirs."""
    games: int
    """Rated games of these and all earlier parts."""
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


def compute_part_ratings(league: LeagueContents, choice: Choice = EVERYTHING) -> tuple[PartRatings, ...]:
    """Return, for every ruleset and number of seats with rated games in several parts, the ratings after each part.

    A step holds the joint fit of all rated games of the parts up to its own, by the rules of the ranking, so the last
    one agrees with the ranking. Parts without rated games make no step, and blocks for open series belong to the part
    before them. There are at most `MOST_STEPS` steps; with 100,000 games, all of them take a few seconds.

    Args:
        league: the tournament.
        choice: which games and versions to show.

    Raises:
        LeagueError: the choice names a label that is no entry.
    """
    if sum(not part.block for part in league.parts()) < 2:
        return ()
    picker = Picker(league, choice)
    return tuple(
        PartRatings(kind.ruleset, kind.seats, steps)
        for kind, played in group_games(picker.list_games(), league.clocks()).items()
        if len(steps := _make_steps(league, picker, list_counted(list_complete(played)))) > 1
    )


def _make_steps(league: LeagueContents, picker: Picker, games: Sequence[GameSummary]) -> tuple[PartStep, ...]:
    games = sorted(games, key=lambda game: game.key.part)
    of_game = [game.key.part for game in games]
    spans = list(_merge_parts(league.parts(), frozenset(of_game)))
    if len(spans) < 2:
        return ()
    number = {name: index for index, name in enumerate(picker.names)}
    anchor = league.config().anchor
    fits = fit_beginnings(
        [make_rated_game(game, number, picker.common) for game in games],
        len(number),
        [bisect_right(of_game, span[-1].number) for span in spans],
        anchor=None if anchor is None else number[anchor],
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
    ratings = zip(picker.names, fit.ratings, strict=True)
    return PartStep(
        parts=tuple(part.number for part in span),
        titles=tuple(part.title for part in span),
        games=fit.games,
        ratings={name: rating for name, rating in ratings if name in picker.shown and rating.elo is not None},
        groups=fit.pools,
    )
