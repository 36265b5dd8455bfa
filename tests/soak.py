"""Kills a tournament a hundred times at random, then a Swiss of forty entries thirty times, and says what it did.

`python -m tests.soak [KILLS] [SEED]`
"""

from __future__ import annotations

import secrets
import sys
import tempfile
from pathlib import Path

from tests.crashes import TOURNAMENT, kills, make_swiss
from tests.runs import Run

SWISS_KILLS = 30
SWISS_GAMES = 24
"""Between two kills at most: half of that is a thirtieth of its games."""


def main() -> int:
    """Return 0 if every resumed tournament is the same as an undisturbed one."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else secrets.randbits(31)
    _soak(TOURNAMENT, times, seed)
    _soak(make_swiss(entries=40, rounds=9), SWISS_KILLS, seed, SWISS_GAMES)
    return 0


def _soak(text: str, times: int, seed: int, games: int = 0) -> None:
    """Kill a tournament so many times, and compare it with an undisturbed one."""
    print(f"{times} kills, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="malice-soak-") as folder:
        undisturbed, disturbed = (_run(Path(folder, name), text) for name in ("undisturbed", "disturbed"))
        assert undisturbed.finish()[0] == 0
        for number, told in enumerate(kills(disturbed, times, seed, games), 1):
            print(f"{number:4}  {told}", flush=True)
            assert not told.startswith("it was complete") or undisturbed.sha() in told
        code, _, err = disturbed.finish()
        assert code == 0, err
        assert disturbed.sha() == undisturbed.sha()
        print(f"the same tournament as without kills: {disturbed.sha()}", flush=True)


def _run(folder: Path, text: str) -> Run:
    folder.mkdir()
    run = Run(folder)
    run.write(text)
    return run


if __name__ == "__main__":
    sys.exit(main())
