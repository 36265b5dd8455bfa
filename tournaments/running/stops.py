"""Why a run stops before its end, or what it waits for, in words."""

from __future__ import annotations

import contextlib
import shlex
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from malice.referee.errors import FamilyError
from malice.referee.nouns import format_count
from malice.referee.records import Key, Record
from malice.tournaments.errors import DamagedLeague, LockedLeague, Stopped
from malice.tournaments.running.hooks import Outcome, Running
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.progress import format_duration
from malice.tournaments.sanitizer import sanitize

NAMED = 20
"""How many games a run names that it could not play."""


@contextlib.contextmanager
def stop_on_errors(league: Path, go_on: str) -> Iterator[None]:
    """Turn errors of the disk and the league into `Stopped`; if a reader of events is gone, say so as it is.

    Args:
        league: its path.
        go_on: how to resume.
    """
    try:
        yield
    except* sqlite3.Error as errors:
        raise Stopped(f"{league}: cannot store a game: {find_first_error(errors)}; {go_on}") from None
    except* (DamagedLeague, FamilyError, Stopped, BrokenPipeError) as errors:
        raise find_first_error(errors) from None
    except* LockedLeague as errors:
        raise Stopped(f"{find_first_error(errors)}; {go_on}") from None
    except* OSError as errors:
        raise Stopped(f"cannot continue: {find_first_error(errors)}; {go_on}") from None


def require_all_played(outcome: Outcome, go_on: str) -> None:
    """Make sure that no game was given up.

    Raises:
        Stopped: some were; it names them, and says how to resume.
    """
    if outcome.given_up:
        lines = [f"  {key}: {why}" for key, why in sorted(outcome.given_up.items())]
        lines[NAMED:] = [f"  and {len(lines) - NAMED} more"] if len(lines) > NAMED else []
        games = "\n".join(lines)
        raise Stopped(f"{format_count(len(outcome.given_up), 'game')} could not be played:\n{games}\n{go_on}")


def describe_endless_game(record: Record) -> str:
    """Say how far a game came that had no end."""
    actions = format_count(len(record.actions), "action")
    return f"the game {sanitize(record.family)!r} was not over after {actions}"


def describe_endless(games: Mapping[Key, str]) -> Iterator[str]:
    """Yield lines on games that had no end, by how far they came: they are void."""
    for why in dict.fromkeys(games.values()):
        keys = [str(key) for key, each in sorted(games.items()) if each == why]
        more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
        yield f"warning: {why}, so these count for nobody: {', '.join(keys[:NAMED])}{more}"


def describe_finish(plan: Plan, running: Collection[Running]) -> str:
    """Say how long the running games may take after a first Ctrl-C."""
    longest = [plan.compute_game_ms(each.batch.ruleset) for each in running]
    limits = [limit for limit in longest if limit is not None]
    bound = f"at most {format_duration(max(limits) / 1000)} by the clocks"
    if len(limits) < len(longest):
        bound = "the clocks do not limit how long that takes"
    return f"finishing {format_count(len(running), 'game')}, {bound}; Ctrl-C again stops at once"


def describe_suspensions(suspended: Iterable[str], after: int, league: Path, choice: Sequence[str]) -> Iterator[str]:
    """Yield a line on each suspended bot, with the command that lets it play again.

    Args:
        suspended: their labels.
        after: how many verdicts in a row suspend a bot.
        league: the file.
        choice: the words that choose the tournament.
    """
    for label in suspended:
        command = shlex.join(["malice", "entry", "reinstate", str(league), label, *choice])
        yield (
            f"{sanitize(label)} is suspended: it ended {format_count(after, 'game')} in a row by a verdict;"
            f" let it play again with: {sanitize(command)}"
        )


def find_first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error inside the groups in which concurrent tasks wrap it."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
