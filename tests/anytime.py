"""How often an interval that holds at any time leaves the truth out at one of a thousand looks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from malice.tournaments.ratings.anytime import bound_mean

DEALS = 1000
KINDS: dict[str, tuple[float, ...]] = {
    "equal bots, half of the deals shared": (0.25, 0, 0.5, 0, 0.25),
    "a favourite of 95 : 5": (0.01, 0, 0.08, 0, 0.91),
    "nearly all deals shared": (0.02, 0, 0.95, 0, 0.03),
}


def measure_misses(runs: int, deals: int = DEALS, seed: int = 1) -> Iterator[tuple[str, float]]:
    """Yield for each kind of deals how often the truth is left out at any look: the intervals only ever shrink."""
    rng = np.random.default_rng(seed)
    cells = np.arange(5) / 4
    for name, chances in KINDS.items():
        truth = float(cells @ np.array(chances))
        ends = [bound_mean(rng.choice(cells, deals, p=chances).tolist()) for _ in range(runs)]
        yield name, sum(not low <= truth <= high for low, high in ends) / runs
