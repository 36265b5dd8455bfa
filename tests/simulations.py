"""The table of simulations in docs/standings.md: how often what is printed holds where the truth is known.

`python -m tests.simulations [REPLICATIONS]` writes it; it takes half an hour with 10,000, and says what it found.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

from malice.tournaments.ratings.sprt import Sprt
from tests.anytime import measure_live_misses, measure_misses
from tests.simulated_leagues import LEAGUES, measure_coverage, measure_false_certainty
from tests.simulated_tests import measure_estimates

PAGE = Path(__file__).parents[1] / "docs/standings.md"
BEGIN, END = "Each row is ", "## The luck of the cards"
"""Of the tables on the page."""
REPLICATIONS = 10_000
TRUTH_DEALS = 60_000
"""At all tables of the league that tells the truth, but not more than a third of that at one."""
KINDS = ("rating", "score", "seat", "comparison", "luck")
CAUTIOUS = ("equal players, cards decide", "ten players, 3 common deals")
"""Leagues whose few deals tell so little that some intervals are wider than they need be."""
STOPPED = (0, 10, 20)
"""True differences under a logistic test between 0 and 20."""
EQUALS = (5, 10, 20)


def measure(runs: int) -> Iterator[str]:
    """Yield the rows of the tables, and make sure that each figure is what it should be."""
    yield "| League | rating | score | seat | comparison | deal and seat |"
    yield "| --- | --: | --: | --: | --: | --: |"
    for name, league in LEAGUES.items():
        tables = math.comb(len(league.strengths), len(league.seats))
        found = measure_coverage(league, runs, TRUTH_DEALS // max(3, tables))
        for kind, share in found.items():
            most = 1 if name in CAUTIOUS else 0.965
            slack = 3 * math.sqrt(0.05 * 0.95 / runs) if runs < REPLICATIONS else 0
            assert 0.935 - slack <= share <= most + slack, (name, kind, share)
        yield f"| {name} | " + " | ".join(f"{found[kind]:.1%}" if kind in found else "" for kind in KINDS) + " |"
    yield ""
    yield "| Equal players | leagues in which somebody is certainly better |"
    yield "| --: | --: |"
    for players in EQUALS:
        share = measure_false_certainty(players, max(100, runs // 10))
        assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / max(100, runs // 10)), (players, share)
        yield f"| {players} | {share:.1%} |"
    yield ""
    yield "| True Elo, after a test between 0 and 20 | interval holds | plain interval | median | plain median |"
    yield "| --: | --: | --: | --: | --: |"
    for elo in STOPPED:
        test = Sprt(0, 20, "logistic")
        ours = measure_estimates(test, elo, runs)
        plain = measure_estimates(test, elo, runs, corrected=False)
        slack = 3 * math.sqrt(0.05 * 0.95 / runs) if runs < REPLICATIONS else 0
        assert 0.935 - slack <= ours.coverage <= 0.965 + slack, ours
        assert abs(ours.bias) < 1 or runs < REPLICATIONS, ours
        yield f"| {elo} | {ours.coverage:.1%} | {plain.coverage:.1%} | {elo + ours.bias:.1f} | {elo + plain.bias:.1f} |"
    yield ""
    fewer = max(100, runs // 10)
    for head, misses in (
        ("Two bots, looked at after every deal, up to 1,000", measure_misses(fewer)),
        ("A bot among others, looked at after every tenth deal, up to 1,000", measure_live_misses(fewer)),
    ):
        yield f"| {head} | the truth is left out at one look |"
        yield "| --- | --: |"
        for name, share in misses:
            assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / fewer), (name, share)
            yield f"| {name} | {share:.1%} |"
        yield ""


def main() -> int:
    """Return 0 if every figure is what it should be, and the page holds them."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS
    lines = []
    for line in measure(runs):
        print(line, flush=True)
        lines.append(f"{line}\n")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    fewer = max(100, runs // 10)
    told = f"{BEGIN}{runs:,} simulated leagues or tests, those of equal players and of looks {fewer:,}.\n\n"
    PAGE.write_text(f"{before}{told}{''.join(lines)}{END}{rest.split(END)[1]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
