"""How a command goes on after it was stopped, in the words of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from malice.tournaments.commands.event_output import EventOutput
from malice.tournaments.commands.time_limit import Limit
from malice.tournaments.errors import Stopped

if TYPE_CHECKING:
    from malice.tournaments.running.plan import Plan
    from malice.tournaments.running.run import RunTerms


def make_terms(plan: Plan, resume: list[str], limit: Limit, db: Path, output: EventOutput) -> RunTerms:
    """Return how a tournament is run whose bots are kept.

    Args:
        plan: the tournament.
        resume: the words of the command that goes on with it.
        limit: when it must be over.
        db: the league.
        output: where its events go.
    """
    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.running.run import RunTerms

    return RunTerms(plan.config.jobs, resume, limit.until, limit.grace_s, kept=KeptBots(db), events=output.events)


def spell_command(tournament: Path | None, db: Path | None, options: Mapping[str, object]) -> list[str]:
    """Return the words of `malice run` with the options that are set."""
    words = ["malice", "run", *([str(tournament)] if tournament else [])]
    for name, value in ({"--db": db} | dict(options)).items():
        if value:
            words += [name] if value is True else [name, str(value)]
    return words


@contextmanager
def stop_on_interrupt(resume: list[str]) -> Iterator[None]:
    """Stop cleanly if a signal comes before the first game, or after the last."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(f"interrupted; resume with: {shlex.join(resume)}") from None
