"""Every two entries of a tournament, with luck and without."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from malice.tournaments.league.adjustment import ReplayListener
from malice.tournaments.league.choice import Picker
from malice.tournaments.league.comparison import Comparison, Pair, compare_pairs
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.reader import LeagueReader


def compare_without_luck(league: LeagueReader, watcher: ReplayListener | None = None) -> Iterator[Comparison]:
    """Yield what the games of every two entries say, wherever the score without luck is the sharper one.

    The entries come in the order of the tournament file. This plays the games again, at about 20 ms of CPU for each;
    `watcher` hears of them.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    exact = not league.ended_by_test()
    picker = Picker(league)
    places = {name: place for place, name in enumerate(picker.names)}
    played: dict[tuple[int, int, str], list[GameSummary]] = defaultdict(list)
    for game in picker.list_games():
        if len(game.labels) == len(set(game.labels)) == 2 and picker.shown.issuperset(game.labels):
            one, other = sorted(places[label] for label in game.labels)
            played[one, other, game.ruleset].append(game)
    pairs = [
        Pair((picker.names[one], picker.names[other]), games)
        for (one, other, _), games in sorted(played.items(), key=lambda item: item[0])
    ]
    for found in compare_pairs(league, pairs, exact=exact, adjusted=True, watcher=watcher):
        if found.adjusted:
            yield found
