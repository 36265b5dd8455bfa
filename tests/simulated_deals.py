"""Deals of two bots whose two games hang together, and how often a sequential test errs on them."""

from __future__ import annotations

import math
import random

from malice.tournaments.ratings.pairs import K
from malice.tournaments.ratings.sprt import Sprt, Walk, expect_score

DRAWN = 0.06
"""The share of deals with one drawn game."""


def make_chances(test: Sprt, elo: float, split: float) -> list[float]:
    """Return the chances of LL, LD, WL or DD, WD, WW of bots that differ by so much.

    Args:
        test: says which Elo that is.
        elo: the difference.
        split: the share of deals that each bot wins once, since cards and seat decide them.
    """
    rest, low, high = 1 - split - DRAWN, 0.0, 1.0
    for _ in range(100):
        lean = (low + high) / 2
        chances = [rest * (1 - lean), DRAWN * (1 - lean), split, DRAWN * lean, rest * lean]
        low, high = (lean, high) if _measure_elo(test, chances) < elo else (low, lean)
    return chances


def _measure_elo(test: Sprt, chances: list[float]) -> float:
    mean = sum(index / 4 * chance for index, chance in enumerate(chances))
    if test.model == "logistic":
        return -400 * math.log10(1 / mean - 1)
    sigma = math.sqrt(sum((index / 4 - mean) ** 2 * chance for index, chance in enumerate(chances)))
    return (mean - 0.5) / sigma / math.sqrt(2) * K


def measure_errors(test: Sprt, split: float, runs: int, seed: int = 1) -> tuple[float, float]:
    """Return how often a test accepts H1 where H0 is true, and H0 where H1 is true."""
    chance = random.Random(seed)
    wrong = []
    for elo, verdict in ((test.elo0, "H1"), (test.elo1, "H0")):
        weights = make_chances(test, elo, split)
        wrong.append(sum(_run(test, weights, chance) == verdict for _ in range(runs)) / runs)
    return wrong[0], wrong[1]


def measure_errors_against_others(test: Sprt, mean: float, runs: int, seed: int = 1) -> tuple[float, float]:
    """Return the same of two bots that meet others on the same cards.

    Args:
        test: a logistic one.
        mean: what the two score against the others on average.
        runs: how many comparisons under each hypothesis.
        seed: of the simulation.
    """
    chance = random.Random(seed)
    wrong = []
    for elo, verdict in ((test.elo0, "H1"), (test.elo1, "H0")):
        lead = expect_score(elo, mean) - 0.5
        wrong.append(sum(_run_against_others(test, mean, lead, chance) == verdict for _ in range(runs)) / runs)
    return wrong[0], wrong[1]


SHARED = 0.6
"""How often the cards of a game say the same to both bots."""


def _run_against_others(test: Sprt, mean: float, lead: float, chance: random.Random) -> str:
    walk, won, games = Walk(test, 9, 1), 0, 0
    while walk.verdict is None:
        cell = 4
        for _ in range(2):
            luck = chance.random()
            new = luck < mean + lead
            base = (luck if chance.random() < SHARED else chance.random()) < mean - lead
            cell += 2 * (new - base)
            won, games = won + new + base, games + 2
        walk.add(cell, won / games)
    return walk.verdict


def _run(test: Sprt, weights: list[float], chance: random.Random) -> str:
    walk = Walk(test, len(weights), 2)
    while walk.verdict is None:
        for cell in chance.choices(range(len(weights)), weights, k=50):
            walk.add(cell)
    return walk.verdict
