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
    _refuse_policy(policy)
    if compiled := getattr(course.rules, "roll_out", None):
        results: tuple[Result, ...] | None = compiled(course.state, policy, seeds)
        if results is not None:  # else it is a state that the compiled rules cannot hold
            return results
    return tuple(_play_out(course.copy(), policy, seed) for seed in seeds)


def advance(
    course: Course | CompiledCourse, policy: Policy, seed: int, turns: int | None = None
) -> list[dict[int, str]]:
    """Play a course on for so many turns at most, or to its end; return the actions.

    The seed decides what the policy leaves to chance; the shuffles to come stay as they are.

    Raises:
        RulesetError: the policy takes compiled rules, which are not here.
    """
    _refuse_policy(policy)
    if not isinstance(course, Course):
        return [{seat: action} for seat, action in course.advance(policy, seed, turns)]
    if policy == "greedy":
        raise RulesetError(f"the policy 'greedy' takes compiled rules, and no seat may have left: {ADVICE}")
    chance, rules = choose_dealer(b"rollout\0%d" % seed), course.rules
    choose = chance.draw if policy == "uniform" else lambda _: 0
    last = None if turns is None else rules.turn(course.state) + turns
    played = []
    while not isinstance(step := course.step, Result) and (last is None or rules.turn(course.state) < last):
        legal = {seat: rules.legal(course.state, seat) for seat in step.seats}
        actions = {seat: words[choose(len(words))] for seat, words in legal.items()}
        course.play(actions)
        played.append(actions)
    return played


def _play_out(course: Course | CompiledCourse, policy: Policy, seed: int) -> Result:
    course.replace_dealer(make_game_dealer(seed))
    advance(course, policy, seed)
    assert isinstance(course.step, Result)
    return course.step


def _refuse_policy(policy: str) -> None:
    if policy not in get_args(Policy):
        raise ValueError(f"expected one of the policies {get_args(Policy)}, got {policy!r}")
