"""Random games through `malice.Game`, beside the same games as the referee plays them."""

from __future__ import annotations

from hashlib import sha256
from random import Random

import malice
from malice.referee.course import Course, Dealer, list_asked
from malice.referee.families import load_family, make_rules
from malice.referee.rules import Result
from malice.referee.rulesets import load_ruleset

MOST_ACTIONS = 400
ASIDE = 0.1
"""How often a copy is dealt anew, and plays another action."""


def keep_playing(game: malice.Game, seat: int) -> tuple[str, ...]:
    """List the legal actions after which the seat plays on; all of them if there is none."""
    final = load_family(game.ruleset.family).final
    return tuple(action for action in game.legal(seat) if action not in final) or game.legal(seat)


def compare_with_referee(name: str, seats: int, seed: int) -> None:
    """Play a random game, whose copies are dealt anew and play otherwise; assert that it goes as the referee's own."""
    ruleset, rng = load_ruleset(name), Random(seed)
    game = malice.Game(name, seats, seed)
    rules = make_rules(ruleset.family, ruleset.rules, seats)
    course = Course(rules, Dealer(sha256(f"game\0{seed}".encode()).digest()))
    while not game.over and game.actions < MOST_ACTIONS:
        assert game.to_act == list_asked(course.step)
        actions = {seat: rng.choice(keep_playing(game, seat)) for seat in game.to_act}
        if rng.random() < ASIDE:
            left, game = game, game.copy()
            left.resample(rng.randrange(seats), rng)
            left.play({seat: rng.choice(left.legal(seat)) for seat in left.to_act})
        game.play(actions)
        course.play(actions)
        assert game._course.events == course.events
        for seat in range(seats):
            assert game.view(seat) == rules.view(course.state, seat)
    assert game.result == (course.step if isinstance(course.step, Result) else None)
    again = malice.Game.from_position(game.position())
    assert [again.events(seat) for seat in range(seats)] == [game.events(seat) for seat in range(seats)]
