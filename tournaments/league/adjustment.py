"""Takes luck off the results of stored games, by playing them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from referee.families import load_family
from referee.luck import measure_luck
from referee.rules import Luck
from referee.rulesets import Ruleset
from tournaments.league.contents import Game
from tournaments.league.reader import LeagueReader
from tournaments.ratings.adjustment import Adjustment, adjust_scores

MOST_GAMES = 4_000
"""More than these are not played again: that would take longer than a few seconds."""


def adjust_deals(league: LeagueReader, deals: Sequence[Sequence[Game]], label: str) -> Adjustment | None:
    """Return the adjusted score of an entry.

    None if luck cannot be measured under each of the rulesets, if there are more than `MOST_GAMES` games, or if it is
    not certain that the adjusted score is the sharper one.

    Args:
        league: holds the records.
        deals: the games of each, all with the entry.
        label: its name in them.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    games = [game for deal in deals for game in deal]
    lucks = _find_lucks(league.rulesets(), games)
    if lucks is None or len(games) > MOST_GAMES:
        return None
    measured = {game.number: _measure(league, game, lucks[game.ruleset], label) for game in games}
    return adjust_scores(
        [_average(game.finish().points[game.labels.index(label)] / 2 for game in deal) for deal in deals],
        [_average(measured[game.number] for game in deal) for deal in deals],
    )


def _find_lucks(rulesets: Iterable[Ruleset], games: Iterable[Game]) -> dict[str, Luck] | None:
    """Return how to measure luck by ruleset; None if under one of them nothing can."""
    played = {game.ruleset for game in games}
    lucks: dict[str, Luck] = {}
    for ruleset in rulesets:
        if ruleset.name in played:
            luck = load_family(ruleset.family).luck(ruleset.rules, 2)
            if luck is None:
                return None
            lucks[ruleset.name] = luck
    return lucks


def _measure(league: LeagueReader, game: Game, luck: Luck, label: str) -> float:
    return measure_luck(luck, league.record(game.key))[game.labels.index(label)]


def _average(values: Iterable[float]) -> float:
    each = list(values)
    return sum(each) / len(each)
