"""Games played on to their end by a policy, without bots: by compiled rules all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from malice.referee.compiled import ADVICE, CompiledCourse
from malice.referee.course import Course, choose_dealer, make_game_dealer
from malice.referee.errors import RulesetError
from malice.referee.rules import Result

Policy = Literal["first", "uniform", "greedy"]
"""How every seat plays: the first legal action, any, or that of the bot `greedy`, which takes compiled rules."""


def roll_out(course: Course | CompiledCourse, policy: Policy, seeds: Sequence[int]) -> tuple[Result, ...]:
    """Play a course on to its end once for each seed, which decides the shuffles and what is left to chance.

    Raises:
        RulesetError: the policy takes compiled rules, which are not here.
    """
    if policy not in get_args(Policy):
        raise ValueError(f"expected one of the policies {get_args(Policy)}, got {policy!r}")
    if compiled := getattr(course.rules, "roll_out", None):
        results: tuple[Result, ...] | None = compiled(course.state, policy, seeds)
        if results is not None:  # else it is a state that the compiled rules cannot hold
            return results
    if policy == "greedy":
        raise RulesetError(f"the policy 'greedy' takes compiled rules: {ADVICE}")
    return tuple(_play_out(course.copy(), policy, seed) for seed in seeds)


def _play_out(course: Course | CompiledCourse, policy: Policy, seed: int) -> Result:
    course.replace_dealer(make_game_dealer(seed))
    chance = choose_dealer(b"rollout\0%d" % seed)
    choose = chance.draw if policy == "uniform" else lambda _: 0
    while not isinstance(step := course.step, Result):
        legal = {seat: course.rules.legal(course.state, seat) for seat in step.seats}
        course.play({seat: actions[choose(len(actions))] for seat, actions in legal.items()})
    return step
