"""The roll call before the first game: every entry is greeted, and those that are broken are listed or left out."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TextIO

from malice.referee.errors import BotError, MachineFault
from malice.referee.isolation import probe
from malice.referee.isolation.boxes import sweep_leftovers
from malice.referee.nouns import format_count, inflect
from malice.referee.records import Key, Player
from malice.referee.seat import greet_bot
from malice.referee.verdicts import Verdict
from malice.tournaments.entries import programs
from malice.tournaments.entries.lookup import describe_trouble, run_concurrently
from malice.tournaments.league.journal import Absence
from malice.tournaments.running.plan import Plan
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.results import describe_absence

OUTPUT = 2000
"""How many characters of a broken bot's output are kept and shown."""


def call_roll(plan: Plan, suspended: Collection[str], out: TextIO) -> None:
    """Greet every entry that can be started, note in the plan which ones are broken, and list these.

    Args:
        plan: its absent entries are those that could not be built; those that cannot be greeted are added.
        suspended: entries that are not greeted.
        out: where the absent entries are listed.

    Raises:
        BotError: entries are broken, and the plan does not keep going or no game is left to play; it lists all of them.
    """
    plan.note_absences(greet_entries(plan, suspended))
    broken = plan.list_broken()
    if not broken:
        return
    if not plan.keep_going and any(label not in plan.bots for label in broken):
        raise BotError("\n".join(_describe_broken(plan, plan.next_steps.play_without())))
    if not plan.tournament.parts:
        raise BotError("\n".join(_describe_broken(plan, "no game can be played without")))
    for line in _describe_broken(plan, "the others play without"):
        with contextlib.suppress(OSError):  # a closed terminal does not end a tournament
            print(line, file=out, flush=True)


def greet_entries(plan: Plan, suspended: Collection[str] = ()) -> dict[str, Absence]:
    """Start the bot of every entry that plays on, once, side by side, and exchange a hello with it.

    Returns:
        Those that cannot be started or do not answer, by label.
    """
    away = {*suspended, *plan.guests}
    away |= {label for label in plan.players if plan.tournament.state(label).state != "playing"}
    players = [each for label, each in plan.players.items() if label not in away]
    sweep_leftovers(plan.isolation)  # once, and here: it also tries what isolation there is
    found = run_concurrently([partial(_greet, plan, player) for player in players])
    return {player.label: absence for player, absence in zip(players, found, strict=True) if absence}


def count_waiting(plan: Plan, done: Collection[Key], part: int | None = None) -> int:
    """How many games of a part, or of all open parts, wait for absent entries."""
    tournament, waiting = plan.tournament, plan.tournament.waiting()
    if not waiting:
        return 0
    tables = {
        (schedule.part.number, number): schedule.deals * len(labels)
        for schedule in tournament.open_parts
        if part is None or part == schedule.part.number
        for number, labels in enumerate(schedule.labels)
        if not waiting.isdisjoint(labels) and not any(map(tournament.excuses, schedule.part.tables[number].versions))
    }
    return sum(tables.values()) - sum((key.part, key.table) in tables for key in done)


def describe_waiting(waiting: int, labels: Iterable[str], again: Sequence[str]) -> str:
    """One line on the games that wait for absent entries, and the command that plays them."""
    names = ", ".join(map(sanitize, labels))
    command = f" with: {sanitize(shlex.join(again))}" if again else ""
    return f"{format_count(waiting, 'game')} left out, of absent bots: {names}; once they are mended, play on{command}"


def _greet(plan: Plan, player: Player, guard: int) -> Absence | None:
    try:
        greet_bot(player, plan.config.init_ms, plan.isolation, guard)
    except Verdict as verdict:
        layers = (probe.find_strongest_layer(plan.isolation.layer),)
        evidence = f"{verdict.sentence}\n{verdict.stderr}"
        hint = programs.explain_limits(evidence, layers, plan.isolation.memory_mb)
        output = "\n".join(filter(None, (verdict.stderr.strip()[-OUTPUT:], hint)))
        return Absence(verdict.code, verdict.sentence, output)
    except (MachineFault, OSError) as error:
        return Absence("start", describe_trouble(error), "")
    return None


def _describe_broken(plan: Plan, way_out: str) -> Iterator[str]:
    """Yield a line on the number of broken entries, and for each of them its cause and the end of its output."""
    broken = plan.list_broken()
    count, total = len(broken), format_count(len(plan.setup.entries), "entry", "entries")
    yield f"{count} of {total} {inflect(count, 'is', 'are')} broken; {way_out} {inflect(count, 'it', 'them')}:"
    entries = {entry.label: entry for entry in plan.tournament.list_entries()}
    for label, absence in broken.items():
        yield from describe_absence(label, absence)
        if label in plan.bots:
            yield f"    version {entries[label].version.number} of {sanitize(label)} plays in its place"
