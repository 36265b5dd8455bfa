"""Takes luck off the results of stored games, by playing them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from malice.referee.luck import find_luck
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.replayers import count_processors, replay_rows
from malice.tournaments.ratings.adjustment import FEWEST, Adjustment, adjust_scores
from malice.tournaments.ratings.comparison import Others
from malice.tournaments.ratings.pairs import convert_to_elo

MOST_GAMES = 2_000
"""More than these are not played again: a game takes about 20 ms of CPU, and somebody waits."""

_lucks = msgspec.msgpack.Decoder(tuple[float, ...])


class ReplayListener(Protocol):
    """Whoever waits while games are played again."""

    def expect(self, games: int) -> None:
        """Learn that so many more games are to be played again."""

    def count_game(self) -> None:
        """Learn that one of them was."""


class Compared(NamedTuple):
    """What a side of a comparison played."""

    deals: Sequence[Sequence[GameSummary]]
    """The games of each."""
    sides: tuple[str, str]
    """The side, and the other one; either plays in every game."""
    others: Others | None = None
    """The opponents of both, if the two do not meet each other."""


def adjust_deals(
    league: LeagueReader, compared: Sequence[Compared], watcher: ReplayListener | None = None
) -> list[Adjustment | None]:
    """Return the adjusted score of one side of each comparison; many games are played again on all processors.

    None if luck cannot be measured under each of the rulesets, if there are more than `MOST_GAMES` games, or if it is
    not certain that the adjusted score is the sharper one.

    Args:
        league: holds the records.
        compared: the comparisons.
        watcher: hears of each game; first how many there are of all comparisons.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    planned = [(each, _find_functions(league, each.deals)) for each in compared]
    keys = [game.key for each, hashes in planned if hashes for deal in each.deals for game in deal]
    if watcher:
        watcher.expect(len(keys))
    with replay_rows(league, "luck", len(keys), count_processors()) as replayers:
        lucks = _watch(replayers.replay((league.find_row(key), None) for key in keys), watcher)
        return [_adjust(each, lucks, hashes) if hashes else None for each, hashes in planned]


def _find_functions(league: LeagueReader, deals: Sequence[Sequence[GameSummary]]) -> tuple[str, ...]:
    """Return the hashes of what measures luck; none if it cannot be, if it is nothing to gain, or too much to play."""
    if len(deals) < FEWEST or sum(map(len, deals)) > MOST_GAMES:
        return ()
    played = {game.ruleset for deal in deals for game in deal}
    lucks = [find_luck(ruleset) for ruleset in league.rulesets() if ruleset.name in played]
    return tuple(luck.hash for luck in lucks if luck) if all(lucks) else ()


def _watch(replayed: Iterable[tuple[object, bytes]], watcher: ReplayListener | None) -> Iterator[tuple[float, ...]]:
    """Yield the luck of the seats of each game."""
    for _, measured in replayed:
        if watcher:
            watcher.count_game()
        yield _lucks.decode(measured)


def _adjust(compared: Compared, lucks: Iterator[tuple[float, ...]], functions: tuple[str, ...]) -> Adjustment | None:
    scores, measured = [], []
    for deal in compared.deals:
        results = [_compare(game, next(lucks), compared.sides) for game in deal]
        scores.append(sum(score for score, _ in results) / len(results))
        measured.append(sum(luck for _, luck in results) / len(results))
    others = compared.others
    found = adjust_scores(scores, measured, others.convert_to_elo if others else convert_to_elo)
    return found and replace(found, functions=functions)


def _compare(game: GameSummary, lucks: Sequence[float], sides: tuple[str, str]) -> tuple[float, float]:
    """Return the score and the luck of the first side; where only the other one plays, what that one left of both."""
    ours = sides[0] in game.labels
    seat = game.labels.index(sides[0] if ours else sides[1])
    score, lucky = game.finish().points[seat] / 2, lucks[seat]
    return (score, lucky) if ours else (1 - score, -lucky)
