"""Takes luck off the results of stored games, by playing them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec.structs import replace

from referee.families import load_family
from referee.luck import measure_luck
from referee.rules import Luck
from referee.rulesets import Ruleset
from tournaments.league.contents import Game
from tournaments.league.reader import LeagueReader
from tournaments.ratings.adjustment import FEWEST, Adjustment, adjust_scores
from tournaments.ratings.comparison import Others
from tournaments.ratings.pairs import convert_to_elo

MOST_GAMES = 2_000
"""More than these are not played again: a game takes about 20 ms of CPU, and somebody waits."""


class Watcher(Protocol):
    """Whoever waits while games are played again."""

    def expect(self, games: int) -> None:
        """Learn that so many more games are to be played again."""

    def count_game(self) -> None:
        """Learn that one of them was."""


def find_luck(ruleset: Ruleset) -> Luck | None:
    """Return how to measure luck between two seats under a ruleset; None if nothing was fitted for it."""
    return load_family(ruleset.family).luck(ruleset.rules, 2)


def count_replays(league: LeagueReader, deals: Sequence[Sequence[Game]]) -> int:
    """Return how many games `adjust_deals` plays again: all, or none."""
    return sum(map(len, deals)) if _plan_replays(league, deals) else 0


def adjust_deals(
    league: LeagueReader,
    deals: Sequence[Sequence[Game]],
    sides: tuple[str, str],
    others: Others | None = None,
    watcher: Watcher | None = None,
) -> Adjustment | None:
    """Return the adjusted score of one side of a comparison.

    None if luck cannot be measured under each of the rulesets, if there are more than `MOST_GAMES` games, or if it is
    not certain that the adjusted score is the sharper one.

    Args:
        league: holds the records.
        deals: the games of each.
        sides: the side, and the other one; either plays in every game.
        others: the opponents of both, if the two do not meet each other.
        watcher: hears of each game; what `count_replays` says, it was told before.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    lucks = _plan_replays(league, deals)
    if lucks is None:
        return None
    scores, measured = [], []
    for deal in deals:
        results = []
        for game in deal:
            results.append(_measure(league, game, lucks[game.ruleset], sides))
            if watcher:
                watcher.count_game()
        scores.append(sum(score for score, _ in results) / len(results))
        measured.append(sum(luck for _, luck in results) / len(results))
    found = adjust_scores(scores, measured, others.convert_to_elo if others else convert_to_elo)
    return found and replace(found, functions=tuple(luck.hash for luck in lucks.values()))


def _plan_replays(league: LeagueReader, deals: Sequence[Sequence[Game]]) -> dict[str, Luck] | None:
    """Return how to measure luck by ruleset; None if there is nothing to gain, or too much to play."""
    games = [game for deal in deals for game in deal]
    if len(deals) < FEWEST or len(games) > MOST_GAMES:
        return None
    return _find_lucks(league.rulesets(), games)


def _find_lucks(rulesets: Iterable[Ruleset], games: Iterable[Game]) -> dict[str, Luck] | None:
    """Return how to measure luck by ruleset; None if under one of them nothing can."""
    played = {game.ruleset for game in games}
    lucks: dict[str, Luck] = {}
    for ruleset in rulesets:
        if ruleset.name in played:
            luck = find_luck(ruleset)
            if luck is None:
                return None
            lucks[ruleset.name] = luck
    return lucks


def _measure(league: LeagueReader, game: Game, luck: Luck, sides: tuple[str, str]) -> tuple[float, float]:
    """Return the score and the luck of the first side; where only the other one plays, what that one left of both."""
    ours = sides[0] in game.labels
    seat = game.labels.index(sides[0] if ours else sides[1])
    score, lucky = game.finish().points[seat] / 2, measure_luck(luck, league.record(game.key))[seat]
    return (score, lucky) if ours else (1 - score, -lucky)
