"""The speed of the rules: uniform random playouts with legal lists, on one core."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

from malice.referee.dealer import Dealer
from malice.referee.families import make_rules
from malice.referee.games import DEFAULT_RULESET
from malice.referee.rules import Result, Shuffle
from malice.referee.rulesets import load_ruleset
from malice.tournaments.bench import BenchRow

PLAYOUTS = 400


def measure_engine() -> Iterator[BenchRow]:
    """Count actions per CPU second, and measure the share of the dealer's shuffles."""
    ruleset = load_ruleset(DEFAULT_RULESET)
    rules = make_rules(ruleset.family, ruleset.rules, 2)
    count = 0
    shuffling = 0.0
    begin = time.process_time()
    for number in range(PLAYOUTS):
        dealer, rng = Dealer(number.to_bytes(32, "big")), Random(number)
        state = rules.start()
        while not isinstance(step := rules.next(state), Result):
            if isinstance(step, Shuffle):
                before = time.process_time()
                order = dealer.order(step.size)
                shuffling += time.process_time() - before
                state, _ = rules.shuffled(state, order)
            else:
                actions = {seat: rng.choice(rules.legal(state, seat)) for seat in step.seats}
                state, _ = rules.play(state, actions)
                count += len(actions)
    seconds = time.process_time() - begin
    yield BenchRow(
        "engine, uniform random playouts with legal lists",
        count / seconds,
        "actions/CPU s",
        "time without the shuffles",
        seconds / (seconds - shuffling),
    )
