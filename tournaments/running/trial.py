"""A trial of every bot, to say how long a tournament may take and how much of the disk."""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from statistics import mean

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import FamilyError
from malice.referee.records import Batch, Key, Player, Record, RecordedVerdict
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import find_seats
from malice.tournaments.league.contents import summarize_record
from malice.tournaments.league.parts import Seeds
from malice.tournaments.league.store import Store
from malice.tournaments.league.stored_games import pack_record
from malice.tournaments.running.announcements import find_first_error
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks
from malice.tournaments.running.plan import Plan

GAMES = 2
"""Games of each bot against itself; the first shows what it costs to start the bot."""
BANK_MS = 3000
"""Most time for all actions of a seat in such a game."""
TRIAL_S = 20.0
"""No such game begins later than this."""


FILLING = 0.65
"""How full the pages of a league are."""
SAMPLE = 20
"""From how many finished games the time of the others is estimated."""
SHARE = 10
"""How many times as many games as a trial a tournament needs to be worth it."""


class RunEstimate(Struct, frozen=True):
    """What a tournament will probably need."""

    likely_ms: float | None
    """For all games, played one by one; None if no game of the trial shows it."""
    game_bytes: int | None
    """What the league stores of a game; None like `likely_ms`."""


class Cost(Struct, frozen=True):
    """What an entry takes at each seat, in milliseconds."""

    game_ms: float
    start_ms: float
    """Once in each batch."""


def estimate_rest(plan: Plan, store: Store, done: Collection[Key], jobs: int) -> float | None:
    """The likely time of the open games, played one by one, in milliseconds.

    Finished games give it, or else a trial; None if that takes too long beside the tournament, or if nobody knows
    how many games are to be played.
    """
    if plan.config.sprt:
        return None
    if not done:
        worthwhile = SHARE * count_trial_games(plan) <= plan.tournament.planned
        return estimate_tournament(plan, jobs).likely_ms if worthwhile else None
    keys = sorted(done)
    sample = keys[:: -(-len(keys) // SAMPLE)]
    return mean(store.record(key).elapsed_ms for key in sample) * plan.count_open(done)


def estimate_tournament(plan: Plan, jobs: int) -> RunEstimate:
    """Let every entry play against itself under every ruleset, isolated as in the tournament, and add up.

    The cards are random: nothing here tells a card of the tournament. A game that lasts too long is cut off; its bot is
    taken to answer as slowly for as many actions as the others need. A bot whose turn did not come in time is taken to
    be like the others.

    Raises:
        FamilyError: the rules of a game failed.
        KeyboardInterrupt: a signal stopped the trial.
    """
    trials = list(_list_trials(plan))
    records: dict[int, list[Record]] = defaultdict(list)
    latest = time.time() + TRIAL_S
    hooks = Hooks(lambda record: records[record.key.table].append(record), latest_begin=lambda batch: latest)
    batches = iter([batch for _, _, batch in trials])
    try:
        outcome = play_batches(batches, min(jobs, len(trials)), plan.config.cpus_per_game, hooks)
    except* FamilyError as errors:
        raise find_first_error(errors) from None
    if outcome.stopped:
        raise KeyboardInterrupt
    played = [record for each in records.values() for record in each]
    likely = 0.0
    for ruleset in plan.setup.rulesets:
        mine = [
            (entry, records[number])
            for number, (entry, each, _) in enumerate(trials)
            if each is ruleset and records[number]
        ]
        costs = _compute_costs(mine)
        if costs is None:
            return RunEstimate(None, None)
        likely += _add_up(plan, ruleset, costs)
    sizes = [_measure_bytes(record) for record in played]
    return RunEstimate(likely, round(mean(sizes)))


def count_trial_games(plan: Plan) -> int:
    return GAMES * len(plan.players) * len(plan.setup.rulesets)


def _list_trials(plan: Plan) -> Iterator[tuple[str, Ruleset, Batch]]:
    """Yield the batches of the trial, each with a label and a ruleset; their number is the table of their keys."""
    seeds = Seeds(secrets.token_bytes(32))
    # A bot that sleeps uses no CPU time, so only the wall clock bounds the trial.
    bank = min(plan.config.clock.bank_ms or BANK_MS, BANK_MS)
    clock: dict[str, object] = {"kind": "wall", "cap_ms": None, "bank_ms": bank, "increment_ms": 0}
    number = 0
    for ruleset in plan.setup.rulesets:
        seats = find_seats(plan.config, ruleset)
        for label, player in plan.players.items():
            yield label, ruleset, _make_trial(plan, ruleset, (player,) * seats, (seeds, number), clock)
            number += 1


def _make_trial(
    plan: Plan, ruleset: Ruleset, players: tuple[Player, ...], deal: tuple[Seeds, int], clock: dict[str, object]
) -> Batch:
    seeds, number = deal
    return Batch(
        family=ruleset.family,
        ruleset=ruleset.name,
        rules=ruleset.rules,
        players=players,
        clock=replace(plan.make_clock(), **clock),
        init_ms=plan.config.init_ms,
        commit=seeds.commit,
        games=tuple(seeds.order(Key(0, number, game, 0), len(players)) for game in range(GAMES)),
        isolation=plan.isolation,
    )


def _compute_costs(trials: Sequence[tuple[str, Sequence[Record]]]) -> dict[str, Cost] | None:
    """The cost of each entry that was tried under a ruleset; None if none finished a game without a fault."""
    lengths = [len(record.actions) for _, records in trials for record in records if not record.faults]
    return {entry: _compute_cost(records, mean(lengths)) for entry, records in trials} if lengths else None


def _compute_cost(records: Sequence[Record], actions: float) -> Cost:
    record = records[-1]
    seats = len(record.entries)
    elapsed = record.elapsed_ms
    if any(_is_cut_off(fault, record) for fault in record.faults):
        elapsed = sum(record.micros) / 1000 / max(1, len(record.actions)) * actions
    start = max(0.0, records[0].elapsed_ms - record.elapsed_ms) if len(records) > 1 else 0.0
    return Cost(elapsed / seats, start / seats)


def _is_cut_off(fault: RecordedVerdict, record: Record) -> bool:
    """Whether a bot lost only because the trial gave it less time than the tournament does."""
    bank, moved = record.clock.bank_ms or 0, any('"type":"move"' in line for line in fault.lines[-1:])
    return fault.code == "timeout" and moved and record.seats[fault.seat].used_ms >= bank


def _add_up(plan: Plan, ruleset: Ruleset, costs: dict[str, Cost]) -> float:
    """The milliseconds of all games under a ruleset; an entry that was not tried costs as much as the others."""
    other = Cost(mean(cost.game_ms for cost in costs.values()), mean(cost.start_ms for cost in costs.values()))
    limit = plan.compute_game_ms(ruleset.name)
    total = 0.0
    for schedule in plan.tournament.schedules:
        batches = -(-schedule.deals // schedule.batch_deals)
        for table, labels, rotations in zip(schedule.part.tables, schedule.labels, schedule.rotations, strict=True):
            if table.ruleset == ruleset.name:
                seated = [costs.get(label, other) for label in labels]
                games = sum(cost.game_ms * schedule.deals + cost.start_ms * batches for cost in seated)
                total += rotations * (games if limit is None else min(games, limit * schedule.deals))
    return total


def _measure_bytes(record: Record) -> int:
    teams = tuple(range(len(record.entries)))
    summary = msgspec.json.encode(summarize_record(record, 0, teams, teams))
    return round((len(pack_record(record)) + len(record.events) + len(summary)) / FILLING)
