"""What a run tells people: how much there is to play, what to look at, what it waits for, and why it stops."""

from __future__ import annotations

import contextlib
import os
import shlex
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from malice.protocol.messages import ClockRules
from malice.referee.errors import FamilyError
from malice.referee.nouns import format_count, inflect
from malice.referee.records import Key, Record
from malice.tournaments.entries.lookup import find_twins
from malice.tournaments.errors import DamagedLeague, LockedLeague, Stopped
from malice.tournaments.league.formats.draw import measure_spread
from malice.tournaments.league.parts import Part
from malice.tournaments.league.tournament import Tournament, count_games, measure_workload
from malice.tournaments.ratings.sprt import Sprt
from malice.tournaments.running.hooks import Outcome, Running
from malice.tournaments.running.isolation import describe_shortcomings
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.progress import format_bound, format_duration
from malice.tournaments.sanitizer import sanitize

BUSY = 1.5
"""The load per processor from which other work delays bots; a run that just ended leaves less."""
WAY_OUT = 'in a tournament file, kind = "cpu" in [clock] counts only the time that a bot computes'


def describe_doubts(clock: ClockRules, wanted: int, processors: int, load: float) -> Iterator[str]:
    """Yield a line on each reason why bots may lose wall time to something else than their own thinking.

    Args:
        clock: the clock of the tournament; only limits of wall time can be in doubt.
        wanted: how many processors all games at a time take.
        processors: how many there are for them.
        load: how many processes the machine wanted to run in the last minute, on average.
    """
    if clock.kind == "cpu" or (clock.move_ms is None and clock.bank_ms is None):
        return
    if wanted > processors:
        yield (
            f"warning: the games at a time take {wanted} processors, and there are {processors}:"
            f" bots wait for each other while their clocks run; fewer --jobs help, or {WAY_OUT}"
        )
    if load >= BUSY * processors:
        yield (
            f"warning: this machine is busy (load {load:.1f}, {processors} processors):"
            f" bots may be late through no fault of their own; {WAY_OUT}"
        )


def measure_load() -> float:
    """The average load of the last minute; 0 where it is unknown."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0


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
    bound = f"at most {format_bound(max(limits) / 1000)} by the clocks"
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


def describe_waiting(waiting: int, labels: Iterable[str], again: Sequence[str]) -> str:
    """One line on the games that wait for absent entries, and the command that plays them."""
    names = ", ".join(map(sanitize, labels))
    command = f" with: {sanitize(shlex.join(again))}" if again else ""
    return f"{format_count(waiting, 'game')} left out, of absent bots: {names}; once they are mended, play on{command}"


def find_first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error inside the groups in which concurrent tasks wrap it."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


FEW_COMMON = 5
"""Fewer deals that all tables have in common do not tell how much these hang together."""


def print_plan(
    plan: Plan, done: Collection[Key], jobs: int | None, out: TextIO, likely_ms: float | None = None
) -> None:
    """Print the size of a tournament, and what its author may want to change before it begins.

    Args:
        plan: the tournament.
        done: the games that were played before.
        jobs: games at a time; None if workers that join will play as many as they can.
        out: where to print.
        likely_ms: the likely time of the games that are left, played one by one, if it is known.
    """
    tournament = plan.tournament
    if plan.config.sprt:
        print_line(_describe_test(plan, plan.config.sprt, jobs), out)
    else:
        print_line(_describe_size(plan, done, jobs, likely_ms), out)
    if tournament.seeding and not done:
        print_line(f"seeded by rating: {', '.join(map(sanitize, tournament.seeding))}", out)
    for line in (
        *_describe_drawn_tables(plan),
        *_describe_common_deals(plan),
        *tournament.format.announce(tournament),
        *_describe_twins(plan),
    ):
        print_line(line, out)
    if len(tournament.parts) > 1 or not plan.tournament.format.grows:
        for part in plan.parts:
            print_line(describe_part(plan.tournament, part), out)
    if done:
        print_line(f"{format_count(len(done), 'game')} {inflect(len(done), 'is', 'are')} already played", out)
    for line in describe_shortcomings(plan.config.isolation, tuple(plan.players.values())):
        print_line(line, out)
    if plan.config.seed is not None:
        print_line("the seed is set by hand: anyone who knows it, even a bot, knows every card", out)


def _describe_size(plan: Plan, done: Collection[Key], jobs: int | None, likely_ms: float | None) -> str:
    workload, left = measure_workload(plan.tournament, count_games(done)), plan.count_open(done)
    words = [
        f"{sanitize(plan.config.name)}: {format_count(len(plan.setup.entries), 'entry', 'entries')}",
        format_count(workload.tables, "table"),
        f"{format_count(plan.config.deals, 'deal')}{_describe_rotations(plan)}:"
        f" {format_count(workload.games, 'game')} in {format_count(workload.batches, 'batch', 'batches')}",
    ]
    if left:
        words += [_describe_jobs(jobs), _describe_limit(plan, done, jobs)]
        if jobs and likely_ms is not None:
            rest = " for those that are left" if done else ""
            words.append(f"likely {format_duration(likely_ms / 1000 / jobs)}{rest}")
    return ", ".join(words)


def _describe_jobs(jobs: int | None) -> str:
    return f"{jobs} at a time" if jobs else "as many at a time as the workers play"


def _describe_rotations(plan: Plan) -> str:
    """Say in how many games a deal is played, where all rulesets agree on that."""
    same = [ruleset.match.same_deal for ruleset in plan.tournament.rulesets.values()]
    return ", the same for all seats" if all(same) else "" if any(same) else " in every rotation of seats"


def _describe_test(plan: Plan, test: Sprt, jobs: int | None) -> str:
    return (
        f"{sanitize(plan.config.name)}: at most {format_count(plan.config.deals, 'deal')}, {_describe_jobs(jobs)},"
        f" until a test decides between {test.elo0:g} and {test.elo1:g} Elo ({test.model})"
    )


def describe_part(tournament: Tournament, part: Part) -> str:
    return f"{sanitize(part.title)}: {format_count(tournament.schedule(part).total, 'game')}"


def print_doubts(plan: Plan, jobs: int, out: TextIO) -> None:
    """Print a warning if wall clocks may charge bots for what others do on this machine."""
    processors = len(os.sched_getaffinity(0))
    for line in describe_doubts(plan.config.clock, jobs * plan.config.cpus_per_game, processors, measure_load()):
        print_line(line, out)


def compute_longest_ms(plan: Plan, done: Collection[Key] = ()) -> int | None:
    """The longest time that the clocks allow for the open games, one by one; None without a limit."""
    total = 0
    for (part, table), games in plan.count_open_tables(done).items():
        longest = plan.compute_game_ms(plan.tournament.parts[part].tables[table].ruleset)
        if longest is None:
            return None
        total += longest * games
    return total


def describe_bound(plan: Plan, done: Collection[Key], slots: int) -> str:
    """Say how long the open games can take with so many at a time; nothing if the clocks do not limit it."""
    longest = compute_longest_ms(plan, done)
    if longest is None:
        return ""
    slots = max(1, min(slots, plan.count_open(done)))
    return f"at most {format_bound(longest / 1000 / slots)} by the clocks"


def _describe_limit(plan: Plan, done: Collection[Key], jobs: int | None) -> str:
    """Say how long the open games can take, or else which clocks there are."""
    if bound := describe_bound(plan, done, jobs or 1):
        return bound if jobs else "no bound on the time before they join"
    clock = plan.config.clock
    unit = "ms of CPU time" if clock.kind == "cpu" else "ms"
    limits = {"each action": clock.move_ms, "each game": clock.bank_ms}
    words = [f"{limit} {unit} for {what}" for what, limit in limits.items() if limit is not None]
    if not words:
        return "no time limit"
    guests = f", no limit for {', '.join(map(sanitize, plan.guests))}" if plan.guests else ""
    return f"{' and '.join(words)}, plus {clock.margin_ms} ms margin{guests}"


def _describe_drawn_tables(plan: Plan) -> Iterator[str]:
    """Yield lines on how evenly drawn tables let the entries meet, and how many tables would connect them all."""
    if not plan.config.tables:
        return
    places = {label: place for place, label in enumerate(plan.tournament.current())}
    for name in plan.tournament.rulesets:
        tables = [
            tuple(places[version.label] for version in table.versions)
            for part in plan.tournament.parts
            for table in part.tables
            if table.ruleset == name and table.after is None
        ]
        if not tables:
            continue
        spread = measure_spread(tables, len(places))
        often = f"{spread.fewest} to {spread.most}" if spread.fewest < spread.most else f"{spread.most}"
        yield f"{sanitize(name)}: any two entries meet at {often} of {format_count(len(tables), 'drawn table')}"
        if spread.groups > 1:
            enough = -(-(len(places) - 1) // (len(tables[0]) - 1))
            yield (
                f"{sanitize(name)}: the tables leave {spread.groups} groups that never meet and cannot be compared;"
                f" tables = {enough} would connect all"
            )


def _describe_common_deals(plan: Plan) -> Iterator[str]:
    """Yield a line on deals that are common to several tables, but too few to tell what these share."""
    config = plan.config
    several = any(len(part.tables) > len(plan.tournament.rulesets) for part in plan.tournament.parts)
    if config.common_deals and config.deals < FEW_COMMON and several and not config.sprt:
        yield (
            f"only {format_count(config.deals, 'deal')}, common to all tables: the intervals take the tables as if they"
            f" had cards of their own; from {FEW_COMMON} deals on they allow for what the tables share"
        )


def _describe_twins(plan: Plan) -> Iterator[str]:
    """Yield a line on entries with the same content."""
    labels = list(plan.bots)
    for twins in find_twins(labels, [plan.bots[label].hash for label in labels]):
        yield f"{', '.join(map(sanitize, twins))} are one and the same bot"


def print_line(text: str, out: TextIO) -> None:
    """Print a line; a closed terminal does not end a tournament."""
    with contextlib.suppress(OSError):
        print(text, file=out, flush=True)
