"""What environments for learning cost: their steps beside the bare rules' actions, and beside a card environment of
PettingZoo's own.

All take turns in one process, in rounds, so that they meet the same noise; each row is the median of the rounds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from random import Random
from statistics import median
from typing import Any

from malice.referee.games import DEFAULT_RULESET
from malice.tournaments.bench import BenchRow
from malice.tournaments.bench.games import step_barely

ROUNDS = 5
STEPS = 6000
"""Of each environment in a round."""
PETTINGZOO = "pettingzoo.classic.leduc_holdem_v4"
CLASSIC = "PettingZoo's own environment is left out: no module {name!r}, which pettingzoo[classic] brings"


def measure_environments(say: Callable[[str], None]) -> Iterator[BenchRow]:
    """Count steps per CPU second; what is missing is said in a sentence."""
    try:
        from malice import rl
    except ModuleNotFoundError as error:
        say(f"environments for learning are left out: {error}")
        return
    others: Any = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of modules that are not ours
            others = import_module(PETTINGZOO)
    except ModuleNotFoundError as error:
        say(CLASSIC.format(name=error.name))
    envs = {"raw": rl.raw_env(DEFAULT_RULESET), "wrapped": rl.env(DEFAULT_RULESET)}
    theirs = {"raw": others.raw_env(), "wrapped": others.env()} if others else {}
    engine: list[float] = []
    ours: dict[str, list[float]] = {form: [] for form in envs}
    beside: dict[str, list[float]] = {form: [] for form in theirs}
    for number in range(ROUNDS):
        engine.append(_count_actions(number))
        for group, rates in ((envs, ours), (theirs, beside)):
            for form, env in group.items():
                rates[form].append(_count_steps(env, number))
    bare = median(engine)
    for form in envs:
        rate = median(ours[form])
        what = f"environment of PettingZoo, {form}, random steps"
        yield BenchRow(what, rate, "steps/CPU s", f"the bare rules ({bare:,.0f})", rate / bare)
        if theirs:
            other = median(beside[form])
            yield BenchRow(what, rate, "steps/CPU s", f"leduc of PettingZoo, {form} ({other:,.0f})", rate / other)


def _count_actions(seed: int) -> float:
    """Play games at random by the bare rules; return actions per CPU second."""
    rng, played = Random(seed), 0
    begin = time.process_time()
    while played < STEPS:
        played += step_barely(rng.getrandbits(32), rng)
    return played / (time.process_time() - begin)


def _count_steps(env: Any, seed: int) -> float:
    """Play games of an environment at random, as a learner does: it looks before each step; return steps per second."""
    rng, played = Random(seed), 0
    begin = time.process_time()
    while played < STEPS:
        env.reset(seed=rng.getrandbits(31))
        for _ in env.agent_iter():
            observation, _, ended, cut, _ = env.last()
            if ended or cut or played == STEPS:
                break
            env.step(rng.choice(observation["action_mask"].nonzero()[0]))
            played += 1
    return played / (time.process_time() - begin)
