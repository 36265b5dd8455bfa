"""What a game itself counts, such as deals solved: the statistics of its family, added up for each entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from malice.referee.families import Statistic, load_family
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.contents import GameSummary


class EntryStatistic(Struct, frozen=True):
    """A statistic of an entry under one ruleset."""

    name: str
    caption: str
    games: int
    """How many games count for it."""
    mean: float
    """The mean value; of a share, from 0 to 1."""
    best: float | None
    """None for a share."""
    share: bool


Values = dict[str, list[float]]
"""By statistic, the values in the games that count for it."""


def find_statistics(rulesets: Iterable[Ruleset]) -> dict[str, tuple[Statistic, ...]]:
    """Return by ruleset what its family counts, for those that count anything."""
    found = {ruleset.name: load_family(ruleset.family).statistics for ruleset in rulesets}
    return {name: statistics for name, statistics in found.items() if statistics}


def summarize_statistics(
    games: Iterable[GameSummary], statistics: Mapping[str, Sequence[Statistic]]
) -> dict[tuple[str, int], dict[str, tuple[EntryStatistic, ...]]]:
    """Return the statistics by ruleset and number of seats, and by label.

    Args:
        games: those that count.
        statistics: what each ruleset counts.
    """
    values: dict[tuple[str, int], dict[str, Values]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for game in games:
        if game.ruleset in statistics and game.figures:
            kind = values[game.ruleset, len(game.labels)]
            for seat, label in enumerate(game.labels):
                for name, value in _list_values(game, seat, statistics[game.ruleset]):
                    kind[label][name].append(value)
    return {
        kind: {label: tuple(_make_entry_statistics(found, statistics[kind[0]])) for label, found in by_label.items()}
        for kind, by_label in values.items()
    }


def _list_values(game: GameSummary, seat: int, statistics: Sequence[Statistic]) -> Iterator[tuple[str, float]]:
    """Yield the value of each statistic for which a seat's game counts."""
    figures = iter(game.figures[seat])
    values = {each.name: game.used_ms[seat] if each.timed else next(figures) for each in statistics}
    return ((each.name, values[each.name]) for each in statistics if not each.within or values[each.within])


def _make_entry_statistics(values: Values, statistics: Sequence[Statistic]) -> Iterator[EntryStatistic]:
    for each in statistics:
        if found := values.get(each.name):
            best = None if each.share else max(found) if each.best == "most" else min(found)
            yield EntryStatistic(each.name, each.caption, len(found), sum(found) / len(found), best, each.share)
