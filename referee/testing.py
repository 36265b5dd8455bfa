"""What every game promises, as claims to test: one function for each, over a game under one set of parameters.

Each claim plays a game that follows from a seed, and raises `BrokenClaim` or `FamilyError` with a sentence about the
first thing that is wrong; what the game itself raises passes. `malice rules test` tests them all, and the tests of a
package may do the same:

    SUBJECT = Subject(FAMILY, Parameters(), seats=2)

    @pytest.mark.parametrize("claim", CLAIMS)
    def test_the_game_keeps_a_promise(claim):
        claim(SUBJECT, seed=0)
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import combinations
from random import Random
from typing import Any

import msgspec

from malice.protocol.messages import Out
from malice.referee.checked_rules import CheckedRules, locate, refuse_length
from malice.referee.course import find_acting, list_asked
from malice.referee.errors import IllegalAction
from malice.referee.families import load_family
from malice.referee.leaks import stay_the_same_in_a_world, tell_no_secret
from malice.referee.learning import Learner
from malice.referee.rules import Ask, Events, Result, Rules
from malice.referee.sample_games import BrokenClaim, Sample, Subject, play_sample

Claim = Callable[[Subject, object], None]
"""Tests a promise on the game of a seed; raises what is wrong."""

OTHERS = 4
"""How many of the actions that a seat does not play are tried at each ask."""
NONSENSE = ("", " ", "no-such-action", "\N{SNOWMAN}")
"""Words that are no action of any game."""
ASKS = 8
"""At how many asks of a game seats leave."""
AGAIN = 0.05
"""How likely it is at each ask that another one follows."""


def declare_what_it_returns(subject: Subject, seed: object) -> None:
    """Types, order and distinct words; seats as `match` says; declared events; a result that a league can store."""
    rules = CheckedRules(subject.make(), subject.family, subject.parameters, subject.seats)
    turn = 0
    for sample in play_sample(subject, seed, rules):
        for seat in range(subject.seats):
            view = rules.view(sample.state, seat)
            heard = [rules.mask(event, seat) for event in sample.events]
            legal = rules.legal(sample.state, seat)
            refuse_length((view, heard, legal), seat)
            if seat not in list_asked(sample.course.step) and legal:
                raise BrokenClaim(
                    f"legal: expected no action of seat {seat}, not asked {sample.when}, got {legal[0]!r}"
                )
        rules.view(sample.state, None)
        before, turn = turn, rules.turn(sample.state)
        if turn < before:
            raise BrokenClaim(f"turn: expected {before} or more {sample.when}, got {turn}")


def repeat_itself(subject: Subject, seed: object) -> None:
    """The same cards and actions give the same game, byte for byte, here and in a process that hashes otherwise."""
    rules = subject.make()
    lines = list(_transcribe(subject, seed, rules))
    # By the same object: what it remembers of a game must not change the next one.
    for number, (line, again) in enumerate(zip(lines, _transcribe(subject, seed, rules), strict=False)):
        if line != again:
            raise BrokenClaim(f"expected the same again at ask {number}, got {_show_change(line, again)}")
    if not subject.ruleset:
        return
    # A set of words is in another order in each process.
    here = _digest(lines)
    command = [sys.executable, "-P", "-m", "malice.referee.testing", subject.family.name, str(subject.seats), str(seed)]
    parameters = msgspec.json.encode(subject.parameters)
    environment = os.environ | {"PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"}
    there = subprocess.run(command, input=parameters, env=environment, capture_output=True, check=False)
    if there.stdout.decode().strip() != here:
        why = there.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["another"]
        raise BrokenClaim(f"expected the same game in another process, which hashes otherwise, got {why[0]}")


def _transcribe(subject: Subject, seed: object, rules: Rules[Any]) -> Iterator[bytes]:
    for sample in play_sample(subject, seed, rules):
        yield observe(rules, sample.state, sample.events)


def _digest(lines: Sequence[bytes]) -> str:
    return sha256(b"\n".join(lines)).hexdigest()


def _show_change(one: bytes, other: bytes) -> str:
    place = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return f"{other[max(0, place - 40) : place + 40]!r} in place of {one[max(0, place - 40) : place + 40]!r}"


def observe(rules: Rules[Any], state: Any, events: Events = ()) -> bytes:
    """Encode everything that anybody sees of a state and of what led to it."""
    seats = range(rules.seats)
    step = rules.next(state)
    masked = [[event if isinstance(event, Out) else rules.mask(event, seat) for event in events] for seat in seats]
    legal = [rules.legal(state, seat) for seat in list_asked(step)]
    views = [rules.view(state, seat) for seat in (None, *seats)] if isinstance(step, Ask) else []
    return msgspec.json.encode((str(step), events, masked, legal, views, rules.turn(state)))


def leave_states_alone(subject: Subject, seed: object) -> None:
    """A state is never changed: each method that gets one leaves it as it was, to the last byte that it pickles to."""
    rules = subject.make()
    for sample in play_sample(subject, seed, rules):
        state, asked = sample.state, list_asked(sample.course.step)
        methods: dict[str, Callable[[], object]] = {
            "next": partial(rules.next, state),
            "turn": partial(rules.turn, state),
        }
        for seat in (None, *range(subject.seats)):
            methods["view"] = partial(rules.view, state, seat)
            if seat is not None:
                methods["legal"] = partial(rules.legal, state, seat)
            _require_unchanged(rules, state, methods, sample.when)
        if asked:
            changes = {
                "play": partial(rules.play, state, sample.actions),
                "withdraw": partial(rules.withdraw, state, asked[:1]),
            }
            _require_unchanged(rules, state, changes, sample.when)


def _require_unchanged(rules: Rules[Any], state: Any, methods: Mapping[str, Callable[[], object]], when: str) -> None:
    before = _snap(rules, state)
    for name, call in methods.items():
        call()
        if _snap(rules, state) != before:
            raise BrokenClaim(
                f"{name}: expected it to leave the state as it was {when}, got a changed one{locate(rules, name)}"
            )


def _snap(rules: Rules[Any], state: Any) -> bytes:
    try:
        return pickle.dumps(state)
    except (TypeError, AttributeError, pickle.PicklingError):
        return observe(rules, state)


def accept_what_is_listed(subject: Subject, seed: object) -> None:
    """`play` takes every action that `legal` lists, and raises `IllegalAction`, and nothing else, for any other."""
    rules, random, seen = subject.make(), Random(str(seed)), set[str]()
    for sample in play_sample(subject, seed, rules):
        for seat in list_asked(sample.course.step):
            legal = rules.legal(sample.state, seat)
            for action in random.sample(legal, min(OTHERS, len(legal))):
                rules.play(sample.state, {**sample.actions, seat: action})
            elsewhere = sorted(seen - set(legal))
            for action in (*NONSENSE, *random.sample(elsewhere, min(OTHERS, len(elsewhere)))):
                _require_refusal(rules, sample, seat, action)
            seen.update(legal)


def _require_refusal(rules: Rules[Any], sample: Sample, seat: int, action: str) -> None:
    expected = (
        f"play: expected IllegalAction for {action!r} of seat {seat} {sample.when}, since `legal` does not list it"
    )
    try:
        rules.play(sample.state, {**sample.actions, seat: action})
    except IllegalAction:
        return
    except Exception as error:
        raise BrokenClaim(f"{expected}, got {type(error).__name__}: {error}{locate(rules, 'play')}") from error
    raise BrokenClaim(f"{expected}, got a new state{locate(rules, 'play')}")


def go_on_without_who_leaves(subject: Subject, seed: object) -> None:
    """Seats leave at any ask: they are never asked again, the others play on to the end, and rank before them."""
    rules = CheckedRules(subject.make(), subject.family, subject.parameters, subject.seats)
    random = Random(f"leave {seed}")
    asks = [sample.played for sample in play_sample(subject, seed) if sample.actions]
    # Each seat may leave before anybody plays, for it may be unable to start.
    for seat in range(subject.seats):
        _leave(subject, seed, rules, 0, (seat,))
    for count in sorted(random.sample(asks, min(ASKS, len(asks)))):
        asked = next(list_asked(each.course.step) for each in play_sample(subject, seed) if each.played == count)
        groups = [group for size in range(1, len(asked) + 1) for group in combinations(asked, size)]
        for group in random.sample(groups, min(OTHERS, len(groups))):
            _leave(subject, seed, rules, count, group)


def _leave(subject: Subject, seed: object, rules: Rules[Any], count: int, group: tuple[int, ...]) -> None:
    """Play up to an ask, let seats leave there, and play on to the end."""
    sample = next(sample for sample in play_sample(subject, seed, rules) if sample.played == count)
    course, random, where = sample.course, Random(f"on {seed}"), f"{sample.when}, when {_name_seats(group)} left"
    asked = list_asked(course.step)
    course.withdraw(dict.fromkeys(group, "crash"))
    stayed = [seat for seat in asked if seat not in group]
    acting = find_acting(course.step, stayed)
    if isinstance(course.step, Ask) and stayed and not acting and set(course.step.seats) & set(stayed):
        raise BrokenClaim(f"withdraw: expected that it asks no more seats than before {where}, got {course.step}")
    if acting and set(group) <= set(asked):
        course.play({seat: sample.actions[seat] for seat in acting})
    actions, left = count, [group]
    while isinstance(step := course.step, Ask):
        if (actions := actions + len(step.seats)) > subject.match.max_actions:
            raise BrokenClaim(f"expected an end of the game {where}, got none")
        if len(left) == 1 and random.random() < AGAIN:
            left.append((random.choice(step.seats),))
            where += f", and {_name_seats(left[1])} later"
            course.withdraw(dict.fromkeys(left[1], "crash"))
        else:
            course.play({seat: random.choice(rules.legal(course.state, seat)) for seat in step.seats})
    _require_order(step, rules.teams, left, where)


def _require_order(result: Result, teams: Sequence[int], left: Sequence[tuple[int, ...]], where: str) -> None:
    """Refuse a result unless who stayed comes before who left, later before earlier, and who left together tie."""
    gone: dict[int, int] = {}
    for number, group in enumerate(left):
        for seat in group:
            gone.setdefault(teams[seat], number)
    places = [
        {place for place, team in zip(result.places, teams, strict=True) if gone.get(team) == number}
        for number in (*range(len(left)), None)
    ]
    if any(len(tied) > 1 for tied in places[:-1]):
        raise BrokenClaim(f"expected a tie of those who left together {where}, got places {result.places}")
    ranks = [place for tied in places for place in sorted(tied, reverse=True)]
    if ranks != sorted(ranks, reverse=True) or len(set(ranks)) != len(ranks):
        raise BrokenClaim(f"expected that who left ranks last, the first at the end, {where}, got {result.places}")


def _name_seats(seats: Sequence[int]) -> str:
    return f"seat{'s' if len(seats) > 1 else ''} {', '.join(map(str, seats))}"


def find_words(subject: Subject, seed: object) -> None:
    """Events, actions and tables have words for people, and the race has a figure for each seat."""
    family, rules = subject.family, subject.make()
    names = [f"player {seat}" for seat in range(subject.seats)]
    for sample in play_sample(subject, seed, rules):
        for event in sample.events:
            _require_text("describe_event", family.describe_event(event, names, None), sample)
            for seat in range(subject.seats):
                if (masked := rules.mask(event, seat)) is not None:
                    _require_text("describe_event", family.describe_event(masked, names, seat), sample)
        shown = rules.view(sample.state, None)
        family.draw(shown, names)
        family.measure_race(shown, subject.seats)
        for seat in list_asked(sample.course.step):
            view = rules.view(sample.state, seat)
            for action in rules.legal(sample.state, seat):
                _require_text("describe_action", family.describe_action(action, view, names), sample)


def _require_text(name: str, text: object, sample: Sample) -> None:
    if not isinstance(text, str):
        raise BrokenClaim(f"{name}: expected text {sample.when}, got {text!r}")


def teach(subject: Subject, seed: object) -> None:
    """Every legal action is one of the choices of programs that learn, every view a vector of the size of its names."""
    if subject.family.learner is None:
        return
    learner, rules = subject.family.learner(subject.parameters, subject.seats), subject.make()
    choices = set(learner.choices)
    for what, names in (("choices", learner.choices), ("features", learner.features)):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BrokenClaim(f"learner: expected distinct {what}, got {twice!r} twice")
    for sample in play_sample(subject, seed, rules):
        for seat in range(subject.seats):
            for action in rules.legal(sample.state, seat):
                if (choice := learner.choice(action)) not in choices:
                    raise BrokenClaim(
                        f"learner: expected one of its choices for {action!r} {sample.when}, got {choice!r}"
                    )
            _require_vector(learner, learner.encode(rules.view(sample.state, seat)), sample)


def _require_vector(learner: Learner, vector: object, sample: Sample) -> None:
    size = len(learner.features)
    if not isinstance(vector, array) or vector.typecode != "f" or len(vector) != size:
        raise BrokenClaim(f"learner: expected an array('f') of {size} places {sample.when}, got {vector!r}")
    if min(vector, default=0) < 0 or max(vector, default=0) > 1:
        name, value = next(pair for pair in zip(learner.features, vector, strict=True) if not 0 <= pair[1] <= 1)
        raise BrokenClaim(f"learner: expected 0 to 1 for {name!r} {sample.when}, got {value}")


CLAIMS: Mapping[str, Claim] = {
    "types": declare_what_it_returns,
    "same again": repeat_itself,
    "states stay": leave_states_alone,
    "actions": accept_what_is_listed,
    "withdrawals": go_on_without_who_leaves,
    "words": find_words,
    "secrets": tell_no_secret,
    "worlds": stay_the_same_in_a_world,
    "learner": teach,
}
"""By a name for people."""


def main() -> None:
    """Print the digest of a sample game; `repeat_itself` starts this."""
    name, seats, seed = sys.argv[1:]
    family = load_family(name)
    parameters = msgspec.json.decode(sys.stdin.buffer.read(), type=family.parameters)
    subject = Subject(family, parameters, int(seats))
    print(_digest(list(_transcribe(subject, seed, subject.make()))))


if __name__ == "__main__":
    main()
