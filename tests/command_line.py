"""The command line, called in this process."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from malice.tournaments.cli import main

PLAYING = ("run", "compare", "play")
OTHERWISE = {"--jobs", "--watch", "--dask", "you"}


def malice(*words: str | Path, input: str = "", code: int | None = None) -> Result:
    """Run a command; fail unless it exits with the given code.

    Games are played one at a time, unless the words say otherwise: a second referee takes a third of a second to start.
    """
    typed = [str(word) for word in words]
    if typed and typed[0] in PLAYING and not OTHERWISE & {*typed}:
        typed += ["--jobs", "1"]
    result = CliRunner().invoke(main, typed, prog_name="malice", input=input)
    assert code in (None, result.exit_code), result.output
    return result
