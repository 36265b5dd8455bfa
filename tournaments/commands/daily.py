"""`malice play you --daily`: the deal of the day, for a person alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import click
from click.core import ParameterSource

OWN = ("bots", "ruleset", "daily", "day")
"""What `--daily` can be combined with."""


def play_daily(context: click.Context, bots: Sequence[str], ruleset: str, day: date | None) -> None:
    """Play the deal of a day, or go on with it.

    Args:
        context: tells which options were given.
        bots: must be `you` alone.
        ruleset: the ruleset.
        day: the date; None for today's, in UTC, so that everybody has the same.

    Raises:
        click.UsageError: something else was asked for too.
        DataError: the ruleset has no daily deal, or what was kept is damaged.
    """
    from malice.referee.rulesets import find_ruleset, load_ruleset
    from malice.tournaments.entries.bots import PERSON
    from malice.tournaments.terminal.daily import DailyGame, Shelf

    if tuple(bots) != (PERSON.manifest.name,):
        raise click.UsageError(
            "--daily is for a person alone, since a bot could work the deal out: malice play you --daily"
        )
    given = [name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if strange := sorted(set(given) - set(OWN)):
        raise click.UsageError(f"--daily takes only --ruleset and --day, got --{strange[0].replace('_', '-')}")
    chosen = find_ruleset(ruleset, Path()) if "ruleset" in given else load_ruleset(_choose_ruleset())
    shelf = Shelf(find_data_folder() / "daily")
    DailyGame(chosen, day or datetime.now(UTC).date(), shelf).play(sys.stdin.buffer, sys.stdout)


def _choose_ruleset() -> str:
    """Return the first ruleset that has a daily deal."""
    from malice.referee.families import list_shipped, load_family
    from malice.referee.rulesets import list_family_rulesets

    family = next(name for name in list_shipped() if load_family(name).winnable)
    return list_family_rulesets(family)[0]


def find_data_folder() -> Path:
    """Return the folder in which malice keeps what belongs to the person: XDG_DATA_HOME, or ~/.local/share."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local/share") / "malice"
