"""Games without bots, as long as those of simple bots, played by all processors: large leagues within minutes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random

from malice.referee.course import Course
from malice.referee.dealer import Dealer
from malice.referee.families import make_rules
from malice.referee.game_log import GameLog
from malice.referee.records import Batch, GameOrder, Record, SeatReport
from malice.referee.rules import Result
from malice.referee.seat import Played
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.store import Store
from malice.tournaments.running.plan import Plan

ENTRIES = 60
OFF = 0.1
"""The chance that a seat plays any legal action."""
RANKS = "A23456789TJQ"


def fill_league(store: Store, folder: Path, games: int, spare: int = 0) -> Iterator[tuple[GameSummary, Record]]:
    """Found a tournament of at least so many games under the default ruleset, play it, and yield what is left out.

    All processors play, about 12 ms a game each.

    Args:
        store: the empty league.
        folder: where its tournament file might lie.
        games: how many.
        spare: how many games are left out.
    """
    config = Config(entries=("greedy",) * ENTRIES, deals=-(-games // (ENTRIES * (ENTRIES - 1))), seed="bench")
    plan = Plan.prepare(config, folder)
    plan.write(store)
    batches = list(plan.open_batches(set()))
    left = sum(len(batch.games) for batch in batches) - spare
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for records in pool.map(play_out_batch, batches):
            played = [(plan.make_game(record), record) for record in records]
            store.add_all(played[: max(0, left)])
            yield from played[max(0, left) :]
            left -= len(played)


def play_out_batch(batch: Batch) -> list[Record]:
    """Play the games of a batch without bots; the same batch gives the same games."""
    return [play_out(batch, order, Random(str(order.key))) for order in batch.games]


def play_out(batch: Batch, order: GameOrder, rng: Random) -> Record:
    """Play a game of a batch as its referee would, with times that are made up, and return its record."""
    rules = make_rules(batch.family, batch.rules, len(order.seating))
    course = Course(rules, Dealer(bytes.fromhex(order.deal_seed)))
    log = GameLog(batch, order)
    log.add_ask((), course.dealt, rules.turn(course.state))
    chooser = TidyChooser(rng)
    used = [0] * rules.seats
    while not isinstance(step := course.step, Result):
        moves = []
        for seat in step.seats:
            micros = round(rng.lognormvariate(5, 0.7))
            used[seat] += micros
            moves.append(Played(seat, chooser.choose(seat, rules.legal(course.state, seat)), micros, micros))
        log.played += moves
        events = course.play({move.seat: move.action for move in moves})
        log.add_ask(moves, events, rules.turn(course.state))
    reports = [SeatReport("playout", used_ms=micros / 1000, cpu_ms=micros / 1000) for micros in used]
    return log.make_record(step, reports, started=round(time.time(), 3), elapsed_ms=sum(used) / 1000)


class TidyChooser:
    """Chooses actions by their words alone; without some order in the discards, games end after 60 actions."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._piles: defaultdict[tuple[int, str], str] = defaultdict(str)
        """By seat and place, the ranks that it discarded there."""

    def choose(self, seat: int, legal: tuple[str, ...]) -> str:
        """Return the action that looks best, and sometimes any."""
        if self._rng.random() < OFF:
            action = self._rng.choice(legal)
        else:
            action = max(legal, key=lambda each: self._score(seat, each))
        source, _, target = action.partition("-")
        if source[0] == "h" and target[0] == "s":
            self._piles[seat, target] += source[1]
        elif source[0] == "s":
            self._piles[seat, source] = self._piles[seat, source][:-1]
        return action

    def _score(self, seat: int, action: str) -> int:
        source, _, target = action.partition("-")
        if source[0] == "p":
            return 1000
        if target[0] == "c":
            return 0 if source[1] == "K" else 500
        value, pile = RANKS.find(source[1]), self._piles[seat, target]
        if value < 0:
            return -100
        top = RANKS.find(pile[-1]) if pile else 99
        if value in (top, top - 1):
            return 80 + value
        return 60 + value if not pile else 40 - abs(top - value) - len(pile) * (value > top)
