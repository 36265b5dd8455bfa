"""Kills a tournament a hundred times at random and says what it did: `python -m tests.soak [KILLS] [SEED]`."""

from __future__ import annotations

import secrets
import sys
import tempfile
from pathlib import Path

from tests.crashes import TOURNAMENT, kills, play_undisturbed
from tests.runs import Run


def main() -> int:
    """Return 0 if every resumed tournament is the same as an undisturbed one."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else secrets.randbits(31)
    print(f"{times} kills, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="malice-soak-") as folder:
        undisturbed, disturbed = (_run(Path(folder, name)) for name in ("undisturbed", "disturbed"))
        longest_s = play_undisturbed(undisturbed)
        for number, told in enumerate(kills(disturbed, times, seed, longest_s), 1):
            print(f"{number:4}  {told}", flush=True)
            assert not told.startswith("it was complete") or undisturbed.sha() in told
        code, _, err = disturbed.finish()
        assert code == 0, err
        assert disturbed.sha() == undisturbed.sha()
        print(f"the same tournament as without kills: {disturbed.sha()}")
    return 0


def _run(folder: Path) -> Run:
    folder.mkdir()
    run = Run(folder)
    run.write(TOURNAMENT)
    return run


if __name__ == "__main__":
    sys.exit(main())
