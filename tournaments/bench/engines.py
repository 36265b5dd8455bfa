"""What games cost with either engine: processes of both take turns, and each figure is the median of its rounds.

As a program, `python -P -m malice.tournaments.bench.engines` measures the engine that plays in its process, and prints
the figures as JSON.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from shutil import which
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from malice.referee.compiled import VARIABLE, explain_missing_core, find_core
from malice.referee.course import Course, choose_dealer
from malice.referee.families import make_rules
from malice.referee.game import Game
from malice.referee.game_runner import GameRunner
from malice.referee.games import DEFAULT_RULESET
from malice.referee.records import Player
from malice.referee.replay import check_record
from malice.referee.rules import Ask
from malice.referee.rulesets import load_ruleset
from malice.referee.seat import BotSeat
from malice.tournaments.bench import BenchRow
from malice.tournaments.bench.games import make_games
from malice.tournaments.bench.leagues import play_out_batch
from malice.tournaments.entries.bots import SHIPPED

ROUNDS = 5
PLAYOUTS = 60
RECORDS = 20
REFEREED = 20
WARM_UP = 3
INSIDE = 20_000
"""Playouts without Python."""
ENVS, STEPS = 1024, 50
"""Of a row of games."""
Figures = dict[str, float]


def measure_engines(say: Callable[[str], None]) -> Iterator[BenchRow]:
    """Compare the compiled rules with those in Python; what is missing is said in a sentence."""
    if explain_missing_core():
        say(f"the compiled rules are left out: {explain_missing_core()}")
        return
    with TemporaryDirectory(prefix="malice-") as folder:
        program = ""
        if compiler := which("cc"):
            program = str(Path(folder, "first"))
            subprocess.run([compiler, "-O2", "-o", program, str(SHIPPED / "c/first/first.c")], check=True)
        rounds = [[_measure_elsewhere(engine, program) for engine in ("python", "core")] for _ in range(ROUNDS)]
    for what in rounds[0][1]:
        core = median(figures[what] for _, figures in rounds)
        if what not in rounds[0][0]:
            yield BenchRow(f"compiled rules, {what}", core, "1/CPU s", "", None)
            continue
        python = median(figures[what] for figures, _ in rounds)
        yield BenchRow(f"compiled rules, {what}", core, "1/CPU s", f"in Python ({python:,.0f})", core / python)


def _measure_elsewhere(engine: str, program: str) -> Figures:
    """Measure an engine in a process of its own, on one processor."""
    command = [sys.executable, "-P", "-m", "malice.tournaments.bench.engines", program]
    done = subprocess.run(command, env=os.environ | {VARIABLE: engine}, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Figures)


def measure_here(program: str) -> Figures:
    """Measure the engine that plays here: by what is counted, how many in a CPU second."""
    counts: dict[str, Callable[[], int]] = {
        "plain interface, actions at random": _play_out,
        "malice.Game, actions at random": _step_games,
        "records replayed and checked": _prepare_replays(),
    }
    if program:
        counts["actions that a referee plays with an instant C bot"] = _prepare_referee(program)
    if find_core():
        counts |= _list_inner()
    figures: Figures = {}
    for what, count in counts.items():
        begin = time.process_time()
        figures[what] = count() / (time.process_time() - begin)
    return figures


def _play_out() -> int:
    ruleset, count = load_ruleset(DEFAULT_RULESET), 0
    rules = make_rules(ruleset.family, ruleset.rules, 2)
    for number in range(PLAYOUTS):
        course, rng = Course(rules, choose_dealer(number.to_bytes(32, "big"))), Random(number)
        while isinstance(course.step, Ask):
            (seat,) = course.step.seats
            course.play({seat: rng.choice(rules.legal(course.state, seat))})
            count += 1
    return count


def _step_games() -> int:
    count = 0
    for number in range(PLAYOUTS):
        game, rng = Game(DEFAULT_RULESET, 2, number), Random(number)
        while not game.over:
            game.play(rng.choice(game.legal()))
        count += game.actions
    return count


def _prepare_replays() -> Callable[[], int]:
    records = play_out_batch(make_games(Player("playout", "", ()), RECORDS))

    def replay() -> int:
        for record in records:
            check_record(record)
        return len(records)

    return replay


def _prepare_referee(program: str) -> Callable[[], int]:
    batch = make_games(Player("first", "", (program,)), REFEREED + WARM_UP)

    def play(orders: slice) -> int:
        seats = [BotSeat(player, batch.init_ms, None) for player in batch.players]
        try:
            records = [GameRunner(batch, order, list(seats)).play() for order in batch.games[orders]]
        finally:
            for seat in seats:
                seat.dismiss()
        return sum(len(record.actions) for record in records)

    play(slice(WARM_UP))
    return lambda: play(slice(WARM_UP, None))


def _list_inner() -> dict[str, Callable[[], int]]:
    """What the core alone can count."""
    ruleset = load_ruleset(DEFAULT_RULESET)
    rules: Any = make_rules(ruleset.family, ruleset.rules, 2)
    counts: dict[str, Callable[[], int]] = {
        "actions at random without Python": lambda: int(rules.count_actions(INSIDE)),
        "greedy rollouts from the deal": lambda: len(Game(ruleset).rollout("greedy", 1000, Random(0))),
    }
    try:
        from malice import rl
    except ModuleNotFoundError:
        return counts
    env = rl.vector_env(ruleset, ENVS)
    env.reset(seed=0)

    def step() -> int:
        for _ in range(STEPS):
            env.step(env.masks.argmax(1))
        return STEPS * ENVS

    return counts | {f"steps of {ENVS} games in a row, with the choice of the first": step}


if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sys.stdout.buffer.write(msgspec.json.encode(measure_here(sys.argv[1])))
