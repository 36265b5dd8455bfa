"""The table over all rulesets: the mean score of each entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from site_pages import text
from site_pages.rankings import Cell, Name, make_name
from tournaments.league.standings import Standings


class OverallRow(Struct, frozen=True):
    """A row of the table over all rulesets."""

    rank: Cell
    bot: Name
    score: Cell
    played: Cell
    by_ruleset: list[Cell]
    group: Cell


def make_overall(all_standings: Sequence[Standings]) -> tuple[list[str], list[OverallRow]]:
    """Return the rulesets and the table of mean scores; each ruleset has the same weight, however many games it has.

    An entry is ranked only against entries that share its group in every ranking with several groups.
    """
    rulesets = list(dict.fromkeys(standings.ruleset for standings in all_standings))
    all_scores: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    groups_of: defaultdict[str, tuple[int, ...]] = defaultdict(tuple)
    for standings in all_standings:
        for row in standings.rows:
            scores = all_scores[row.label][standings.ruleset]
            if (score := text.drop_unknown(row.rating.score)) is not None:
                scores.append(score)
            if standings.warning:
                groups_of[row.label] += (row.group or standings.groups + 1,)
    means = {
        label: {ruleset: fmean(scores) for ruleset, scores in by_ruleset.items() if scores}
        for label, by_ruleset in all_scores.items()
    }
    groups = sorted({groups_of[label] for label in means})
    order = sorted(
        means, key=lambda label: (groups_of[label], -len(means[label]), -fmean(means[label].values() or [0.0]), label)
    )
    rows = []
    for place, label in enumerate(order, 1):
        rivals = [means[other] for other in order if groups_of[other] == groups_of[label]]
        rows.append(_make_overall_row(label, place, means[label], rivals, groups.index(groups_of[label]) + 1, rulesets))
    return rulesets, rows


def _make_overall_row(
    label: str,
    place: int,
    own: dict[str, float],
    rivals: Sequence[dict[str, float]],
    group: int,
    rulesets: Sequence[str],
) -> OverallRow:
    standing = (len(own), fmean(own.values())) if own else (0, 0.0)
    rank = 1 + sum((len(other), fmean(other.values())) > standing for other in rivals if other)
    score = fmean(own.values()) if own else None
    return OverallRow(
        rank=Cell(str(rank), place) if own else Cell(text.NONE),
        bot=make_name(label),
        score=Cell(text.format_percent(score), score),
        played=Cell(f"{len(own)} of {len(rulesets)}", len(own)),
        by_ruleset=[Cell(text.format_percent(own.get(ruleset)), own.get(ruleset)) for ruleset in rulesets],
        group=Cell(str(group), group),
    )
