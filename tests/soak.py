"""Kills tournaments at given points and at random, and a cluster; plays with both engines; simulates comparisons and
leagues.

`python -m tests.soak [KILLS] [SEED] [PART...]`, where a part is points, kills, swiss, cluster, slow, games, engines,
errors, intervals, rungs, image or whole; without one, all of them. The parts:

- points: a tournament dies at each point of a list
- kills: a tournament is killed so many times at random; swiss: a Swiss one
- cluster: workers, schedulers and runs are killed
- slow: 400 slots play through a slow network
- games: random games through `malice.Game`, as the referee plays them
- engines: random rules with both engines in lockstep
- errors: how often a sequential test errs
- intervals: how often what is printed holds the truth, as docs/standings.md has it, and what is told of costs
- rungs: how often the interval of `malice rate` does
- image: every starter kit plays in an image of the Dockerfile, built in a bare root; takes debootstrap and a network
- whole: the tests that take too long for `make test`
"""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.families import list_shipped
from malice.referee.rulesets import list_rulesets, load_ruleset
from malice.tournaments.ratings.sprt import Model, Sprt
from malice.tournaments.running.costs import KEPT
from tests.cluster_crashes import RealCluster, kill_at_random
from tests.crashes import AFTER_S, POINTS, TOURNAMENT, die_and_go_on, kills, make_swiss, play_small, play_undisturbed
from tests.farms import CONFIG, League
from tests.games.random_games import compare_with_referee
from tests.games.spite.engines import compile_engine
from tests.games.spite.lockstep import play_in_lockstep
from tests.image import Builder
from tests.runs import MALICE, Run
from tests.simulated_costs import measure_cost_errors, weigh_choices
from tests.simulated_deals import measure_errors
from tests.simulated_rungs import measure_rungs
from tests.simulations import REPLICATIONS, measure
from tests.slow_network import BYTES_PER_S, play_far_away

CLUSTER_TOURNAMENT = """
entries = ["uniform", "first", "greedy", { bot = "first", label = "again" }]
seed = "crash"
deals = 20
"""
"""Its tasks are short: a worker that is killed loses all games of its task."""
MODELS: tuple[Model, ...] = ("normalised", "logistic")
SIMULATED = 1000
"""Comparisons under each hypothesis."""

CLIMBS = 3000
SLACK = 3 * math.sqrt(0.05 * 0.95 / CLIMBS)

RANDOM_GAMES = 500
"""Of each family."""
LOCKSTEP_GAMES = 200_000
EVERY = 4
"""At one step of how many lists, views and masks are compared; outcomes, events and states are at each."""
ROUND = 500
"""Games of one task."""
CLUSTER_KILLS = 30
SWISS_KILLS = 30
SWISS_GAMES = 24
"""Between two kills at most: half of that is a thirtieth of its games."""


def main() -> int:
    """Return 0 if every resumed tournament is the same as an undisturbed one."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else secrets.randbits(31)
    parts: dict[str, Callable[[], None]] = {
        "points": _die_at_every_point,
        "kills": lambda: _soak(TOURNAMENT, times, seed),
        "swiss": lambda: _soak(make_swiss(entries=40, rounds=9), SWISS_KILLS, seed, SWISS_GAMES),
        "cluster": lambda: _soak_cluster(CLUSTER_KILLS, seed),
        "slow": _play_far_away,
        "games": lambda: _play_random_games(seed),
        "engines": lambda: _play_in_lockstep(seed),
        "errors": _count_errors,
        "intervals": _count_intervals,
        "rungs": _count_climbs,
        "image": _play_in_images,
        "whole": _test_whole,
    }
    chosen = sys.argv[3:] or list(parts)
    if unknown := [name for name in chosen if name not in parts]:
        sys.exit(f"expected parts of {', '.join(parts)}, got: {', '.join(unknown)}")
    for name in chosen:
        parts[name]()
    return 0


def _test_whole() -> None:
    """Run the tests that `make test` leaves out."""
    if code := pytest.main(["-m", "whole"]):
        sys.exit(code)


def _list_seats(name: str) -> range:
    least, most = load_ruleset(name).match.players
    return range(least, most + 1)


def _play_random_games(seed: int) -> None:
    """Play random games of each family through `malice.Game`, and compare them with those of the referee."""
    for family in list_shipped():
        tables = [(name, seats) for name in list_rulesets(family) for seats in _list_seats(name)]
        for number in range(max(RANDOM_GAMES, len(tables))):
            compare_with_referee(*tables[number % len(tables)], seed + number)
        print(
            f"{RANDOM_GAMES} random games of {family}, copied and dealt anew, are as the referee plays them", flush=True
        )


def _play_in_lockstep(seed: int) -> None:
    """Play games of random rules with both engines, on all processors, and compare all that they say."""
    if find_spec("malice_core") is None:
        print("malice-core not found (make core): no game is played with both engines", flush=True)
        return
    rounds = [range(first, first + ROUND) for first in range(seed, seed + LOCKSTEP_GAMES, ROUND)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        actions = sum(pool.map(_play_round, rounds))
    print(f"{LOCKSTEP_GAMES} games, {actions} actions: the core says what Python says", flush=True)


def _play_round(seeds: range) -> int:
    return sum(play_in_lockstep(compile_engine, seed, every=EVERY) for seed in seeds)


def _die_at_every_point() -> None:
    """Let a tournament die at each point of the list, and compare it with an undisturbed one."""
    with tempfile.TemporaryDirectory(prefix="malice-soak-") as name:
        small = play_small(_make_folder(Path(name, "small")))
        for number, point in enumerate(POINTS):
            die_and_go_on(point, Run(_make_folder(Path(name, str(number)))), small)
            print(f"died before {point.word} number {point.times}, and went on", flush=True)


def _make_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _soak(text: str, times: int, seed: int, games: int = 0) -> None:
    """Kill a tournament so many times, and compare it with an undisturbed one."""
    print(f"{times} kills, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="malice-soak-") as folder:
        undisturbed, disturbed = (_run(Path(folder, name), text) for name in ("undisturbed", "disturbed"))
        longest_s = play_undisturbed(undisturbed)
        for number, told in enumerate(kills(disturbed, times, seed, AFTER_S if games else longest_s, games), 1):
            print(f"{number:4}  {told}", flush=True)
            assert not told.startswith("it was complete") or undisturbed.sha() in told
        code, _, err = disturbed.finish()
        assert code == 0, err
        assert disturbed.sha() == undisturbed.sha()
        print(f"the same tournament as without kills: {disturbed.sha()}", flush=True)


def _soak_cluster(times: int, seed: int) -> None:
    """Kill workers, schedulers and runs so many times, and compare the tournament with that of one machine."""
    print(f"{times} kills in a cluster, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="malice-soak-") as name:
        folder = Path(name)
        alone, far = (_run(folder / each, CLUSTER_TOURNAMENT) for each in ("alone", "far"))
        assert alone.finish("--jobs", "2")[0] == 0
        with RealCluster(folder) as cluster:
            for number, told in enumerate(kill_at_random(cluster, far, times, seed), 1):
                print(f"{number:4}  {told}", flush=True)
                assert not told.startswith("it was complete") or alone.sha() in told
            code, _, err = far.finish("--dask", str(cluster.file), malice=MALICE)
        assert code == 0, err
        assert far.sha() == alone.sha()
        print(f"the same tournament as on one machine: {far.sha()}", flush=True)


def _play_far_away() -> None:
    """Let 10 workers of 40 slots play standard games of 25 s behind 256 kbit/s each way and 150 ms there and back."""
    workers, slots, game_s, games = 10, 40, 25.0, 4000
    config = replace(CONFIG, entries=("greedy", "uniform"), rulesets=("standard",), deals=games // 2)
    with tempfile.TemporaryDirectory(prefix="malice-soak-") as name:
        league, begin = League(Path(name)), time.monotonic()
        up, down = play_far_away(league, config, workers, slots, game_s)
        seconds = time.monotonic() - begin
        assert len(league.keys()) == games
    least_s = games * game_s / (workers * slots)
    print(
        f"{games} games through a slow network: {seconds:.0f} s, at least {least_s:.0f} s; {up / games / 1000:.1f} kB a"
        f" game up, {down / games / 1000:.1f} kB down, which takes {down / BYTES_PER_S:.0f} s",
        flush=True,
    )
    assert seconds < 3 * least_s


def _count_errors() -> None:
    """Make sure that the sequential test of a comparison errs as seldom as it says."""
    for model in MODELS:
        for split in (0.4, 0.55, 0.7):
            wrong = measure_errors(Sprt(model=model), split, SIMULATED)
            print(f"{model} test, {split:.0%} split deals: wrong in {wrong[0]:.1%} and {wrong[1]:.1%}", flush=True)
            assert max(wrong) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / SIMULATED)


def _count_intervals() -> None:
    """Make sure that what is printed holds the truth as often as it says."""
    for line in measure(REPLICATIONS):
        print(line, flush=True)
    choices = weigh_choices()
    for games in (1, 30, 1000):
        found = measure_cost_errors(choices, REPLICATIONS, games * KEPT)
        print(
            f"costs of {games * KEPT} choices: an interval misses in {found.alone:.1%}, any that is told in"
            f" {found.together:.1%}, and something is told that costs nothing in {found.nothing:.1%}",
            flush=True,
        )
        assert found.together <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / REPLICATIONS)


def _count_climbs() -> None:
    """Make sure that the interval of a rating on a ladder holds the truth as often as it says."""
    for name, share in measure_rungs(CLIMBS):
        print(f"a climb {name}: the interval holds in {share:.1%}", flush=True)
        assert 0.935 - SLACK <= share <= 0.965 + SLACK, (name, share)


def _play_in_images() -> None:
    """Build the images without a container engine, and let every starter kit play in a sandbox in the larger one."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        print("the images take root and debootstrap, and are not built", flush=True)
        return
    with tempfile.TemporaryDirectory(prefix="malice-soak-") as name:
        builder = Builder(Path(name))
        print(
            builder.build("malice").run("malice --version && malice play greedy first --require-isolation"), flush=True
        )
        image = builder.build("kits")
        kits = json.loads(image.run("malice new --list --json"))
        assert all(kit["ready"] for kit in kits), kits
        languages = sorted({kit["language"] for kit in kits})
        for language in languages:
            image.run(f"malice new {language} --language {language}")
        words = ", ".join(f'"{language}"' for language in languages)
        image.run(f"printf 'entries = [{words}]\\ndeals = 1\\nmemory_mb = 2048\\n' > kits.toml")
        print(image.run("malice run kits.toml --isolation bwrap --require-isolation"), flush=True)
        print(f"{len(languages)} starter kits were built and played in the image, each in a sandbox", flush=True)


def _run(folder: Path, text: str) -> Run:
    run = Run(_make_folder(folder))
    run.write(text, "auto")
    return run


if __name__ == "__main__":
    sys.exit(main())
