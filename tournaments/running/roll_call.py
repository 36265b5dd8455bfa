"""The roll call before the first game: every entry is greeted, and those that are broken are listed or left out."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TextIO

from referee.bot_seat import greet_bot
from referee.errors import BotError
from referee.isolation import probe
from referee.isolation.layers import sweep_leftovers
from referee.nouns import format_count, inflect
from referee.records import Player
from referee.verdicts import Verdict
from tournaments.entries import hidden_modules
from tournaments.entries.side_by_side import run_side_by_side
from tournaments.league.contents import Absence
from tournaments.league.store import Store
from tournaments.league.suspension import is_left_out
from tournaments.running.plan import Plan
from tournaments.sanitizer import sanitize
from tournaments.terminal.results import describe_absence

OUTPUT = 2000
"""How many characters of a broken bot's output are kept and shown."""


def call_roll(store: Store, plan: Plan, suspended: Collection[str], out: TextIO) -> None:
    """Greet every entry that can be started, and mark in the league which entries are absent.

    Args:
        store: the league.
        plan: its absent entries are those that could not be built; those that cannot be greeted are added.
        suspended: entries that are not greeted.
        out: where the absent entries are listed.

    Raises:
        BotError: entries are broken, and the plan does not keep going or no game is left to play; it lists all of them.
    """
    call_everybody(plan, suspended)
    if plan.absences and store.is_empty() and next(plan.open_batches(set(), plan.is_playable), None) is None:
        raise BotError("\n".join(_describe_broken(plan, "no game can be played without")))
    if not store.tournament().complete:
        store.note_absences(plan.list_entries())
    for line in _describe_broken(plan, "the others play without") if plan.absences else ():
        with contextlib.suppress(OSError):  # a closed terminal does not end a tournament
            print(line, file=out, flush=True)


def call_everybody(plan: Plan, suspended: Collection[str]) -> None:
    """Greet every entry that can be started, and note in the plan which ones are broken.

    Raises:
        BotError: some are, and the plan does not keep going without them; it lists all of them.
    """
    plan.absences.update(greet_entries(plan, suspended))
    if plan.absences and not plan.keep_going:
        raise BotError("\n".join(_describe_broken(plan, "a run with --keep-going plays without")))


def greet_entries(plan: Plan, suspended: Collection[str] = ()) -> dict[str, Absence]:
    """Start every bot that is neither suspended nor absent once, side by side, and exchange a hello with it.

    Returns:
        Those that cannot be started or do not answer, by label.
    """
    away = {*suspended, *plan.people, *plan.absences}
    players = [player for player in plan.players if player.label not in away]
    sweep_leftovers(plan.isolation)  # once, and here: it also tries what isolation there is
    found = run_side_by_side([partial(_greet, plan, player) for player in players])
    return {player.label: absence for player, absence in zip(players, found, strict=True) if absence}


def count_waiting(store: Store, plan: Plan, suspended: Mapping[str, int]) -> int:
    """Return how many games wait for absent entries: of the schedule, and of series that are open without them."""
    if not plan.absences:
        return 0
    done = store.keys()
    waiting = (
        key
        for batch in plan.open_batches(done, lambda key: not plan.is_playable(key))
        for key in (order.key for order in batch.games)
        if not is_left_out(plan.schedule.number(key), plan.list_labels(key), suspended)
    )
    return sum(1 for _ in waiting) or sum(
        len(batch.games) for batch in plan.more_batches(list(store.games()), suspended)
    )


def describe_waiting(waiting: int, labels: Iterable[str], again: Sequence[str]) -> str:
    """Return a line on the games that wait for absent entries, and the command that plays them."""
    names = ", ".join(map(sanitize, labels))
    command = f" with: {sanitize(shlex.join(again))}" if again else ""
    return f"{format_count(waiting, 'game')} left out, of absent bots: {names}; once they are mended, play on{command}"


def _greet(plan: Plan, player: Player, guard: int) -> Absence | None:
    try:
        greet_bot(player, plan.config.init_ms, plan.isolation, guard)
    except Verdict as verdict:
        layers = (probe.strongest_layer(plan.isolation.layer),)
        hint = hidden_modules.explain_hidden_module(verdict.stderr, layers)
        output = "\n".join(filter(None, (verdict.stderr.strip()[-OUTPUT:], hint)))
        return Absence(verdict.code, verdict.sentence, output)
    return None


def _describe_broken(plan: Plan, way_out: str) -> Iterator[str]:
    """Yield a line on the number of broken entries, and for each of them its cause and the end of its output."""
    count = len(plan.absences)
    total = format_count(len(plan.players), "entry", "entries")
    yield f"{count} of {total} {inflect(count, 'is', 'are')} broken; {way_out} {inflect(count, 'it', 'them')}:"
    for label in (player.label for player in plan.players if player.label in plan.absences):
        yield from describe_absence(label, plan.absences[label])
