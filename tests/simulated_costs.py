"""How often what is told of costs holds: real choices, each weighed in many worlds, of which every run draws a few."""

from __future__ import annotations

import math
from random import Random
from typing import NamedTuple

import numpy as np

from malice.referee.records import Key
from malice.referee.requests import replay_decisions
from malice.referee.rulesets import load_ruleset
from malice.tournaments.running.costs import PROOF, Disagreement, Trial, Weighed, bound, list_costs
from tests.site_league import play

CHOICES = 30
POOL = Trial(200, PROOF.tries)
"""Of each choice: their mean is taken for the truth."""
LABELS = ("greedy", "careful")


class CostErrors(NamedTuple):
    alone: float
    """How often the 95 % interval of one choice misses its cost, whether it is told or not."""
    together: float
    """How often any of the intervals that are told together misses."""
    nothing: float
    """How often a cost is told of anything that costs nothing."""


def weigh_choices(count: int = CHOICES, trial: Trial = POOL) -> list[list[float]]:
    """Return, for choices between two legal actions at random moments of games, what one cost by world."""
    random, found = Random("costs"), []
    rules = load_ruleset("standard").rules
    for deal in range(count):
        record = play(rules, LABELS, Key(0, 0, deal, 0))
        each = random.choice([each for each in replay_decisions(record) if len(each.legal) > 1])
        plays = random.choice([action for action in each.legal if action != each.played])
        found.append(list_costs(record, Disagreement(each.seat, each.index, each.played, plays), trial))
    return found


def measure_cost_errors(choices: list[list[float]], runs: int, trials: int, seed: int = 1) -> CostErrors:
    """Return how often intervals miss: those of single choices, and those told of `trials` that are drawn from them."""
    rng = np.random.default_rng(seed)
    size = PROOF.worlds + 1
    alone, joint = (bound(Weighed(0, 0, 0.0, 1.0, size), each).margin for each in (1, trials))
    truths = np.array([[np.mean(costs)] for costs in choices])
    means, errors = np.empty((len(choices), runs)), np.empty((len(choices), runs))
    for place, costs in enumerate(choices):
        drawn = np.zeros((runs, size))  # with the world in which both are worth the same
        drawn[:, :-1] = rng.choice(np.array(costs), (runs, size - 1))
        means[place], errors[place] = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(size)
    off = np.abs(means - truths)
    told = means > joint * errors
    picked = rng.integers(len(choices), size=(trials, runs)), np.arange(runs)
    return CostErrors(
        alone=float((off > alone * errors).mean()),
        together=float((told & (off > joint * errors))[picked].any(axis=0).mean()),
        nothing=float((told & (truths <= 0))[picked].any(axis=0).mean()),
    )
