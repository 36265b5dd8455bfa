"""Opens a plan: keeps its bots, greets them, prints what there is to play, and writes it into the league."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TextIO

from malice.referee.errors import BotError, MachineFault
from malice.referee.isolation import probe
from malice.referee.isolation.boxes import sweep_leftovers
from malice.referee.nouns import format_count, inflect
from malice.referee.records import Batch, Player
from malice.referee.seat import greet_bot
from malice.referee.verdicts import Verdict
from malice.tournaments.entries import programs
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.lookup import describe_trouble, run_concurrently
from malice.tournaments.league.journal import Absence
from malice.tournaments.league.store import Store
from malice.tournaments.running.announcements import print_doubts, print_line, print_plan
from malice.tournaments.running.coordinator import count_default_jobs
from malice.tournaments.running.events import Events
from malice.tournaments.running.hooks import Hooks, Outcome
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.trial import estimate_rest
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.transcript import excerpt_stderr


class Playing(Protocol):
    """A way to play batches, as `coordinator.play_batches` does."""

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks, /) -> Outcome:
        """Play all batches and return what happened."""


@dataclass(frozen=True)
class RunTerms:
    """How a tournament is run."""

    jobs: int = 0
    """Referee processes; 0 for as many as there are processors for."""
    again: Sequence[str] = ()
    """The words of the command that resumes the tournament after a stop; none if nothing is kept."""
    until: float = math.inf
    """When the run is to be over, in seconds since 1970."""
    grace_s: float = math.inf
    """How much longer games may run that have begun."""
    now: Callable[[], float] = time.time
    """The clock of these times."""
    kept: KeptBots | None = None
    """Where the bots are kept and play from; by default they play where they lie."""
    playing: Playing | None = None
    """Plays the batches and has a display of its own; by default referee processes play, with a bar."""
    elsewhere: Callable[[Plan], Playing] | None = None
    """Makes what plays the batches of a plan on other machines, under our bar."""
    events: Events = field(default_factory=Events)
    """Receives what happens."""

    def count_jobs(self, plan: Plan) -> int:
        return self.jobs or count_default_jobs(plan.config.cpus_per_game)


def open_plan(store: Store, plan: Plan, out: TextIO, terms: RunTerms, *, shared: bool = False) -> Plan:
    """Greet the entries if there is a game to play, and write what the plan adds to the league.

    Args:
        store: the league.
        plan: read from that league.
        out: where the plan is printed.
        terms: how it will be played.
        shared: whether copies of the league will play the new parts.

    Returns:
        The plan with the bots as they play, which follows the league.

    Raises:
        BotError: an entry cannot be built or does not answer `hello`; nothing was written.
        Stopped: the disk is full or fails.
    """
    done = {game.key for game in plan.finished}
    if plan.count_open(done) or plan.list_broken():
        if terms.kept:
            bots = {label: bot for label, bot in plan.bots.items() if label not in plan.guests}
            found, absences = keep_bots(bots, terms.kept)
            plan = plan.place(found).mark(absences)
        plan = call_roll(plan, out)
        jobs = terms.count_jobs(plan)
        here = terms.elsewhere is None
        may_try = here and (done or terms.playing is None)
        likely_ms = estimate_rest(plan, store, done, jobs) if may_try else None
        print_plan(plan, done, jobs if here else None, out, likely_ms)
        if here:
            print_doubts(plan, jobs, out)
    return plan.write(store, shared=shared)


def keep_bots(bots: Mapping[str, Bot], kept: KeptBots) -> tuple[dict[str, Bot], dict[str, Absence]]:
    """Keep bots, as many at a time as there are processors; twins and variants in turn, since they share a copy.

    Args:
        bots: by label.
        kept: where they are kept.

    Returns:
        By label, the bots that play from their copies, and why others cannot be kept.
    """
    groups: defaultdict[str, dict[str, Bot]] = defaultdict(dict)
    for label, bot in bots.items():
        groups[bot.content][label] = bot
    results = run_concurrently([partial(_keep_group, kept, group) for group in groups.values()])
    found = {label: result for group in results for label, result in group.items()}
    return (
        {label: result for label, result in found.items() if isinstance(result, Bot)},
        {label: result for label, result in found.items() if isinstance(result, Absence)},
    )


def _keep_group(kept: KeptBots, bots: Mapping[str, Bot], guard: int) -> dict[str, Bot | Absence]:
    return {label: _keep(kept, bot) for label, bot in bots.items()}


def _keep(kept: KeptBots, bot: Bot) -> Bot | Absence:
    try:
        return kept.keep(bot)
    except Exception as error:  # strangers wrote what is copied
        return Absence("bot", describe_trouble(error), "")


OUTPUT = 2000
"""How many characters of a broken bot's output are kept and shown."""


def call_roll(plan: Plan, out: TextIO) -> Plan:
    """Greet every entry that can be started and is not suspended, and plan without the broken ones, which it lists.

    Raises:
        BotError: entries are broken, and the plan does not keep going or no game is left to play; it lists all of them.
    """
    plan = plan.mark(greet_entries(plan))
    broken = plan.list_broken()
    if broken and not plan.options.keep_going and any(label not in plan.bots for label in broken):
        way_out = "no game can be played" if plan.options.numbered else "a run with --keep-going plays"
        raise BotError("\n".join(_describe_broken(plan, f"{way_out} without")))
    if broken and not plan.tournament.parts:
        raise BotError("\n".join(_describe_broken(plan, "no game can be played without")))
    for line in _describe_broken(plan, "the others play without") if broken else ():
        print_line(line, out)
    return plan


def greet_entries(plan: Plan) -> dict[str, Absence]:
    """Start the bot of every entry that plays on, once, side by side, and exchange a hello with it.

    Returns:
        Those that cannot be started or do not answer, by label.
    """
    away = {*plan.list_suspended(), *plan.guests}
    away |= {label for label in plan.players if plan.tournament.state(label).state != "playing"}
    players = [each for label, each in plan.players.items() if label not in away]
    sweep_leftovers(plan.isolation)  # once, and here: it also tries what isolation there is
    found = run_concurrently([partial(_greet, plan, player) for player in players])
    return {player.label: absence for player, absence in zip(players, found, strict=True) if absence}


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
        yield f"  {sanitize(label)}: {absence.code}: {sanitize(absence.sentence)}"
        for line in excerpt_stderr(absence.output):
            yield f"    | {line}"
        if label in plan.bots:
            yield f"    version {entries[label].version.number} of {sanitize(label)} plays in its place"
