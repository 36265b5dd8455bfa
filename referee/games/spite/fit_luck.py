"""Fits what cards are worth under a ruleset, on games of bots that ship, and writes `weights/RULESET.json`.

`python -m malice.referee.games.spite.fit_luck standard bots/python/planner bots/python/greedy` wrote the file for
`standard`. The same command writes the same file, as long as the bots and the rules play as they did.
"""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from malice.referee.course import Course, Dealer
from malice.referee.games.spite.engine import SpiteAndMalice
from malice.referee.games.spite.luck import FEATURES, WEIGHTS, FeatureMeter, Weights, hash_rules
from malice.referee.games.spite.parameters import Parameters
from malice.referee.rules import Result
from malice.referee.rulesets import load_ruleset

DEALS = 600
RIDGE = 10.0
"""How many games' worth of evidence say that a feature is worth nothing."""
DIGITS = 6

Bot = Callable[[Any, list[str], Any], str]
Floats = NDArray[np.float64]
Example = tuple[Floats, float]
"""The features of a game, and its result for the same seat less what that seat gets on average."""


def load_bot(folder: Path) -> Bot:
    """Load the function `choose(view, legal, rules)` of a bot."""
    choose: Bot = runpy.run_path(str(folder / "bot.py"))["choose"]
    return choose


def play_game(parameters: Parameters, bots: Sequence[Bot], seed: str) -> tuple[list[float], float]:
    """Play one game; return its features and the result, as seat 0 sees them."""
    rules = SpiteAndMalice(parameters, 2)
    told = msgspec.to_builtins(parameters)
    course = Course(rules, Dealer(sha256(seed.encode()).digest()))
    meter = FeatureMeter(rules.derived, course.state)
    while not isinstance(step := course.step, Result):
        (seat,) = step.seats
        legal = rules.legal(course.state, seat)
        action = bots[seat](msgspec.to_builtins(rules.view(course.state, seat)), list(legal), told)
        meter.follow(course.play({seat: action}))
    return meter.sums, (step.places[1] - step.places[0] + 1) / 2


def list_examples(parameters: Parameters, bots: Sequence[Bot], deals: int) -> Iterator[Example]:
    """Play every two bots and return their games, and the deals of two games; then each bot against itself."""
    for place, pair in enumerate(combinations(bots, 2)):
        both = [
            [play_game(parameters, order, f"luck {place} {deal}") for deal in range(deals)]
            for order in (pair, pair[::-1])
        ]
        features = np.array([[sums for sums, _ in games] for games in both])
        results = np.array([[result for _, result in games] for games in both])
        results -= results.mean(axis=1, keepdims=True)
        yield from zip(features.reshape(-1, 2 * FEATURES), results.reshape(-1).tolist(), strict=True)
        # As one game in two seats: what matters is what is left of luck in both together.
        root = np.sqrt(0.5)
        yield from zip(root * (features[0] - features[1]), (root * (results[0] - results[1])).tolist(), strict=True)
    for place, bot in enumerate(bots):
        for deal in range(deals):
            sums, result = play_game(parameters, (bot, bot), f"luck alone {place} {deal}")
            yield np.array(sums), result - 0.5


def fit(examples: Sequence[Example]) -> Floats:
    """Fit what each feature is worth, by ridge regression on features of equal spread."""
    features = np.array([each for each, _ in examples])
    results = np.array([result for _, result in examples])
    spread = features.std(axis=0) + 1e-9
    scaled = features / spread
    matrix = scaled.T @ scaled + RIDGE * np.eye(2 * FEATURES)
    return np.asarray(np.linalg.solve(matrix, scaled.T @ results) / spread)


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ruleset")
    parser.add_argument("bots", nargs="+", type=Path, help="folders of bots with a function choose")
    parser.add_argument("--deals", type=int, default=DEALS)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    parameters = load_ruleset(options.ruleset).rules
    worth = fit(list(list_examples(parameters, [load_bot(folder) for folder in options.bots], options.deals)))
    rounded = [round(each, DIGITS) + 0.0 for each in worth.tolist()]
    weights = Weights(
        ruleset=options.ruleset,
        rules=hash_rules(parameters),
        games=f"{options.deals} deals of every two of {', '.join(folder.name for folder in options.bots)}, and of each",
        plain=tuple(rounded[:FEATURES]),
        close=tuple(rounded[FEATURES:]),
    )
    options.out.mkdir(exist_ok=True)
    path = options.out / f"{options.ruleset}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n")


if __name__ == "__main__":
    main()
