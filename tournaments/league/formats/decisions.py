"""What a format decides by, what it decides, and the matches of two entries that rounds are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct

from malice.tournaments.league.contents import Finished, GameSummary
from malice.tournaments.league.counting import CountedGames, find_counted_games
from malice.tournaments.league.parts import Draft
from malice.tournaments.league.tournament import Tournament


class Wait:
    """The next part, if there is one, depends on games that are still open."""


class Done:
    """No part is missing."""


Decision = Draft | Wait | Done


class FormatInput(NamedTuple):
    """What a format decides by.

    Open parts still change, so it sees the results of closed ones alone: then the same parts follow whenever it is
    asked.
    """

    tournament: Tournament
    counted_games: CountedGames
    """Of the games of closed parts."""
    suspended: Collection[str]
    """Entries that get no new games until they are readmitted."""
    list_games: Callable[[], Iterable[GameSummary]]
    """Returns the games of closed parts that count, in playing order."""


def make_format_input(
    tournament: Tournament,
    finished: Iterable[Finished],
    suspended: Iterable[str],
    list_games: Callable[[], Iterable[GameSummary]],
) -> FormatInput:
    """Return what the format of a tournament decides by.

    Args:
        tournament: the tournament.
        finished: its finished games, in playing order; those of open parts are left out.
        suspended: entries that get no new games.
        list_games: returns its stored games with their results.
    """
    counted_games = find_counted_games(tournament, (game for game in finished if game.key.part in tournament.closed))
    counted = {game.number for game in counted_games.counted}

    def list_counted() -> Iterable[GameSummary]:
        return (game for game in list_games() if game.number in counted)

    return FormatInput(tournament, counted_games, frozenset(suspended), list_counted)


HALF = Fraction(1, 2)
Place = tuple[int, int]
"""A part, and a table in it."""


class Match(Struct, frozen=True):
    """The result of two entries at a table of a closed part."""

    labels: tuple[str, str]
    """In the order of the table."""
    score: tuple[Fraction, Fraction]
    """Games won, and half of those drawn, in the deals that count."""
    points: tuple[Fraction, Fraction]
    """One for the winner, a half each in a draw; whoever was absent loses, and both do if both were."""
    complete: bool
    """Whether all its games were played; if not, absence decided it."""

    @property
    def winner(self) -> str | None:
        """The label of the winner; None if there is none."""
        one, other = self.points
        return None if one == other else self.labels[one < other]


def format_points(points: Fraction) -> str:
    """Points with a half where there is one: 0, ½, 1, 2½."""
    whole, half = divmod(points, 1)
    return f"{whole or '' if half else whole}{'½' if half else ''}"


def list_matches(format_input: FormatInput) -> dict[Place, Match]:
    """The matches of all closed parts, by part and table."""
    tournament, counted_games = format_input.tournament, format_input.counted_games
    scores = _add_up(format_input.list_games())
    played = counted_games.count_deals(tournament.closed)
    matches = {}
    for part in tournament.parts:
        if part.number not in tournament.closed:
            continue
        away = tournament.absent[part.number] | set(counted_games.by_part.get(part.number, ()))
        for number, table in enumerate(part.tables):
            one, other = (version.label for version in table.versions)
            score = tuple(scores[part.number, number, label] for label in (one, other))
            complete = played[part.number, number] == part.deals
            points = _compute_points(score) if complete else (Fraction(one not in away), Fraction(other not in away))
            matches[part.number, number] = Match((one, other), (score[0], score[1]), points, complete)
    return matches


def _add_up(games: Iterable[GameSummary]) -> dict[tuple[int, int, str], Fraction]:
    scores: dict[tuple[int, int, str], Fraction] = defaultdict(Fraction)
    for game in games:
        shared = min(game.places) == max(game.places)
        for label, place in zip(game.labels, game.places, strict=True):
            scores[game.key.part, game.key.table, label] += HALF if shared else Fraction(place == 1)
    return scores


def _compute_points(score: tuple[Fraction, ...]) -> tuple[Fraction, Fraction]:
    one, other = score
    if one == other:
        return HALF, HALF
    return Fraction(one > other), Fraction(other > one)
