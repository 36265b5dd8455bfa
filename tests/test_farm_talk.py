"""What a run on many machines says and promises: who plays, how long it takes, how much a lost worker costs."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.records import Batch, GameOrder, Key
from malice.tournaments.errors import Stopped
from malice.tournaments.farm.handout import cut_deals, keep_games
from malice.tournaments.farm.work import Block
from malice.tournaments.league.config import ClockLines
from malice.tournaments.league.store import Store
from malice.tournaments.running.hooks import Hooks
from malice.tournaments.running.plan import read_plan
from tests.farms import CONFIG, GAMES, GREETING, League, SimulatedCluster, dispatch, play_game


@pytest.fixture
def league(tmp_path: Path) -> League:
    return League(tmp_path)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    league = League(tmp_path_factory.mktemp("farm"))
    with Store(league.path, create=True) as store:
        return next(read_plan(store, CONFIG, league.path.parent).open_batches(set()))


def test_a_run_gives_up_soon_if_every_worker_stays_refused(league: League) -> None:
    slow = replace(GREETING, speed=0.3)
    cluster = SimulatedCluster("ann", "bob", greetings={"ann": slow, "bob": slow})

    with pytest.raises(Stopped, match="every worker is refused, and no other came") as stopped:
        league.run(cluster, least=0.5)

    lines = str(stopped.value).splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["ann", "bob"]
    assert all("its factor is 0.3, expected at least 0.5" in line for line in lines)


def test_a_run_without_a_worker_waits_for_one_a_while(league: League) -> None:
    with pytest.raises(Stopped, match="no worker for"):
        league.run(SimulatedCluster())


HOSTILE = "friday\x1b[2J\nError: all is lost"


def test_nothing_that_a_worker_or_a_tournament_is_called_passes_for_a_line_of_ours(league: League) -> None:
    greetings = {name: replace(GREETING, warnings=(HOSTILE,)) for name in (HOSTILE, "ann")}
    league.run(SimulatedCluster(*greetings, greetings=greetings), replace(CONFIG, name=HOSTILE))

    lines = league.out.getvalue().split("\n")
    assert sum("friday" in line for line in lines) > 2
    assert [line for line in lines if "\x1b" in line or line.startswith("Error")] == []


class Restarted(SimulatedCluster):
    """A cluster whose scheduler is started again while the first games are played."""

    def take_turn(self) -> None:
        if self.handed and not self._moved:
            for address in list(self.workers):
                self.kill(address, back=True)
        else:
            super().take_turn()


def test_a_run_says_what_its_workers_can_do_when_they_join_and_when_they_are_back(league: League) -> None:
    config = replace(CONFIG, seed="clock", clock=ClockLines(move_ms=None, bank_ms=900_000, increment_ms=0, margin_ms=0))
    league.run(Restarted("ann", "bob"), config)

    joined = [line for line in league.out.getvalue().splitlines() if "plays 2 games at a time" in line]
    assert [line.partition(" plays")[0] for line in joined] == [
        "ann on here",
        "bob on here",
        "ann on here is back, and",
        "bob on here is back, and",
    ]
    shares = re.findall(r"^(\w+) on here: (\d+) games$", league.out.getvalue(), re.MULTILINE)
    assert [name for name, _ in shares] == ["ann", "bob"], "each once, though both were there twice"
    assert sum(int(games) for _, games in shares) == GAMES
    bounds = [line.partition("; ")[2].partition(" by the clocks")[0] for line in joined[:2]]
    assert bounds == ["now 2 at a time, at most 9 h 9 min", "now 4 at a time, at most 4 h 35 min"]


def test_a_game_of_other_bots_is_another_game_of_the_simulation(batch: Batch) -> None:
    other = replace(batch, players=tuple(replace(player, hash="ab" * 32) for player in batch.players))

    assert play_game(batch, batch.games[0]).entries != play_game(other, other.games[0]).entries


def draw_block(batch: Batch, chance: random.Random) -> Block:
    """Return some games of some rotations of some deals."""
    deals = range(chance.randrange(1, 9))
    keys = [[Key(0, 0, deal, rotation) for deal in deals] for rotation in range(chance.randrange(1, 4))]
    orders = [tuple(GameOrder(key, "00" * 32, (0, 1), (0, 0)) for key in line) for line in keys]
    kept = {key for line in keys for key in line if chance.random() < 0.9}
    return keep_games(tuple(replace(batch, games=line) for line in orders), kept | {keys[0][0]})


@pytest.mark.parametrize("seed", range(50))
def test_a_block_is_cut_between_deals(seed: int, batch: Batch) -> None:
    chance = random.Random(seed)
    block, most = draw_block(batch, chance), chance.randrange(1, 20)

    first, rest = cut_deals(block, most)

    cut = [[order.key for each in part for order in each.games] for part in (first, rest)]
    assert sorted(cut[0] + cut[1]) == sorted(order.key for each in block for order in each.games)
    assert all(key.deal < other.deal for key in cut[0] for other in cut[1])
    assert len(cut[0]) <= most or len({key.deal for key in cut[0]}) == 1
    assert cut[0]


@pytest.mark.parametrize(("game_s", "most"), [(0.01, 12), (2.5, 4), (30.0, 2)])
def test_blocks_take_as_long_as_may_be_lost(game_s: float, most: int, league: League) -> None:
    cluster = SimulatedCluster("ann")
    cluster.game_s = game_s
    league.run(cluster, replace(CONFIG, entries=("greedy", "uniform"), deals=24))

    sizes = [sum(len(batch.games) for batch in task.batches) for _, task in cluster.handed]
    assert sizes[0] == 4, "nobody knows yet how long a game takes"
    assert max(sizes[3:]) == most
    assert sum(sizes) == 48


def test_at_the_end_blocks_are_short_so_that_all_slots_end_together(league: League) -> None:
    cluster = SimulatedCluster("ann", "bob")
    cluster.game_s = 0.1
    league.run(cluster, replace(CONFIG, entries=("greedy", "uniform"), deals=100))

    sizes = [sum(len(batch.games) for batch in task.batches) for _, task in cluster.handed]
    assert max(sizes) > 20
    assert max(sizes[-3:]) <= 10, "a second"
    assert sum(sizes) == 200


def test_the_time_left_follows_from_what_workers_measured(league: League) -> None:
    rates: list[float] = []
    cluster = SimulatedCluster("ann", "bob")
    cluster.game_s = 4.0

    dispatch(league, cluster, Hooks(lambda record: None, on_rate=rates.append))

    assert rates[:3] == [1.0, 1.0, 1.0], "ann and bob play two games in four seconds each"
