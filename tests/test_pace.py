"""Entries of a round-robin stay together, however many games are played at a time and however long each takes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import convert

from malice.referee.records import Batch, Key
from malice.tournaments.league.config import Config
from malice.tournaments.league.counting import Suspensions
from malice.tournaments.league.parts import Part, PartTable, Schedule, VersionKey
from malice.tournaments.running.hooks import Running
from malice.tournaments.running.open_parts import BLOCKS, make_pace
from malice.tournaments.running.plan import Plan

SUSPENDS_NOBODY = Suspensions([], 0, ())


def plan_of(entries: int, deals: int, **more: object) -> Plan:
    lines = tuple({"bot": "first", "label": f"e{number}"} for number in range(entries))
    return Plan.prepare(convert({"entries": lines, "deals": deals, "seed": "pace", **more}, Config), Path())


class Jobs:
    """Plays batches as the coordinator does, but whoever tests decides which job is next to finish a game."""

    def __init__(self, plan: Plan, jobs: int) -> None:
        pace = make_pace(plan.tournament.schedules[0], (), SUSPENDS_NOBODY)
        assert pace
        self.pace = pace
        self.finished: Counter[str] = Counter(dict.fromkeys(plan.players, 0))
        self._plan = plan
        self._jobs = jobs
        self._batches = plan.open_batches(set())
        self._next: Batch | None = None
        self._left: list[tuple[Running, list[Key]]] = []

    def begin(self) -> int:
        """Begin all batches that may begin; return how many run."""
        while len(self._left) < self._jobs and (batch := self._next or next(self._batches, None)):
            self._next = batch
            if self._left and not self.pace.allows(batch, [running for running, _ in self._left]):
                break
            self._next = None
            keys = [order.key for order in batch.games]
            self._left.append((Running(batch, set(keys)), keys))
        return len(self._left)

    def finish(self, job: int) -> None:
        running, keys = self._left[job]
        running.left.discard(keys.pop(0))
        labels = [player.label for player in running.batch.players]
        self.finished.update(labels)
        self.pace.count(labels)
        if not keys:
            del self._left[job]

    def list_jobs_without(self, label: str) -> list[int]:
        return [
            job
            for job, (running, _) in enumerate(self._left)
            if label not in {player.label for player in running.batch.players}
        ]

    def spread(self) -> int:
        return max(self.finished.values()) - min(self.finished.values())


@settings(max_examples=12, deadline=None)
@given(entries=st.integers(3, 9), deals=st.integers(1, 14), jobs=st.integers(1, 12), data=st.data())
def test_entries_never_differ_by_more_than_two_blocks(entries: int, deals: int, jobs: int, data: st.DataObject) -> None:
    plan = plan_of(entries, deals)
    played = Jobs(plan, jobs)
    chance = data.draw(st.randoms(use_true_random=False))
    slow = chance.randrange(jobs)

    while running := played.begin():
        # One job is slow: it finishes a game only if no other can.
        played.finish(chance.choice([job for job in range(running) if job != slow] or [0]))
        assert played.spread() <= BLOCKS * 2 * plan.tournament.schedules[0].batch_deals

    assert sum(played.finished.values()) == 2 * plan.tournament.planned


def test_an_entry_whose_games_do_not_end_holds_the_others_back() -> None:
    plan = plan_of(5, 4)
    played = Jobs(plan, 100)

    played.begin()
    while quick := played.list_jobs_without("e0"):
        played.finish(quick[0])
        played.begin()

    assert played.finished["e0"] == 0
    assert played.spread() <= BLOCKS * 2 * plan.tournament.schedules[0].batch_deals
    assert sum(played.finished.values()) < plan.tournament.planned


def test_as_many_jobs_as_two_rounds_have_games_are_busy_from_the_start() -> None:
    assert [Jobs(plan_of(entries, 8), 2 * entries).begin() for entries in (2, 3, 4, 8)] == [4, 6, 8, 16]


def test_games_against_a_suspended_entry_hold_nobody_back() -> None:
    plan = plan_of(4, 1)
    suspensions = Suspensions([], 0, ())
    pace = make_pace(plan.tournament.schedules[0], (), suspensions)
    assert pace
    for _ in range(9):
        pace.count(("e0", "e3"))
    mine, other = find_batch(plan, {"e0", "e1"}), find_batch(plan, {"e1", "e2"})
    running = [Running(other, {order.key for order in other.games})]
    assert not pace.allows(mine, running)

    suspensions.suspended["e3"] = 0

    assert pace.allows(mine, running)


def test_larger_tables_have_no_pace() -> None:
    plan = plan_of(5, 2, rulesets=["multi-4"])

    assert make_pace(plan.tournament.schedules[0], (), SUSPENDS_NOBODY) is None


@pytest.mark.parametrize(("tables", "paced"), [(5, True), (4, False)])
def test_drawn_tables_have_a_pace_if_all_sit_equally_often(tables: int, paced: bool) -> None:
    plan = plan_of(5, 2, tables=tables)

    assert (make_pace(plan.tournament.schedules[0], (), SUSPENDS_NOBODY) is not None) == paced


def test_a_newcomer_is_not_held_back_by_those_who_cannot_keep_up() -> None:
    newcomer, others = VersionKey("new", 1), [VersionKey(f"e{number}", 1) for number in range(4)]
    part = Part("adds new", 8, tuple(PartTable("standard", (newcomer, other)) for other in others))

    assert make_pace(Schedule(part), (), SUSPENDS_NOBODY) is None


def find_batch(plan: Plan, labels: set[str]) -> Batch:
    return next(each for each in plan.open_batches(set()) if {player.label for player in each.players} == labels)
