"""The command line, called in this process."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from malice.tournaments.cli import main


def malice(*words: str | Path, input: str = "", code: int | None = None) -> Result:
    """Run a command; fail unless it exits with the given code."""
    result = CliRunner().invoke(main, [str(word) for word in words], prog_name="malice", input=input)
    assert code in (None, result.exit_code), result.output
    return result
