"""What an action of each game costs the referee, compared with the default ruleset."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from statistics import median

from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move
from malice.referee.families import list_shipped
from malice.referee.game_runner import GameRunner
from malice.referee.games import DEFAULT_FAMILY, DEFAULT_RULESET
from malice.referee.records import Batch, Key, Player
from malice.referee.rulesets import Ruleset, list_family_rulesets, load_ruleset
from malice.tournaments.bench import BenchRow
from malice.tournaments.bench.seats import Puppet
from malice.tournaments.league.parts import Seeds

ROUNDS = 9
GAMES = 6
"""Games of each ruleset in a round."""


def measure_each_game() -> Iterator[BenchRow]:
    """Let puppets that choose at random play a ruleset of every game that ships, in turns: all meet the same noise."""
    standard = load_ruleset(DEFAULT_RULESET)
    others = [load_ruleset(list_family_rulesets(name)[0]) for name in list_shipped() if name != DEFAULT_FAMILY]
    batches = {ruleset.name: _make_batch(ruleset) for ruleset in (standard, *others)}
    costs: dict[str, list[float]] = {name: [] for name in batches}
    for _ in range(ROUNDS):
        for name, batch in batches.items():
            costs[name].append(_measure(batch))
    reference = median(costs.pop(standard.name))
    for name, measured in costs.items():
        cost = median(measured)
        yield BenchRow(
            f"referee, an action of {name}, random puppets",
            cost * 1e6,
            "µs",
            f"{DEFAULT_RULESET} ({reference * 1e6:.1f} µs)",
            cost / reference,
        )


def _make_batch(ruleset: Ruleset) -> Batch:
    seeds, seats = Seeds(b"\0" * 32), ruleset.match.players[0]
    return Batch(
        family=ruleset.family,
        ruleset=ruleset.name,
        rules=ruleset.rules,
        players=(Player("puppet", "", ()),) * seats,
        clock=ClockRules(),
        init_ms=5000,
        commit=seeds.commit,
        games=tuple(seeds.order(Key(0, 0, deal, 0), seats) for deal in range(GAMES)),
    )


def _write(request: GameStart | Move | GameEnd) -> None:
    """Encode a request as for a bot: what a seat sees is part of what its game costs."""
    encode(request)


def _measure(batch: Batch) -> float:
    """Play the games of a batch; return CPU seconds per action."""
    random, actions = Random(0), 0

    def choose(request: Move) -> tuple[str, int]:
        assert isinstance(request.legal, tuple)
        # The last action may be the one that gives a game up: games of a few actions would measure their beginning.
        return request.legal[int(random.random() * max(1, len(request.legal) - 1))], 0

    begin = time.process_time()
    for order in batch.games:
        seats = [Puppet(choose, _write) for _ in batch.players]
        actions += len(GameRunner(batch, order, list(seats)).play().actions)
    return (time.process_time() - begin) / actions
