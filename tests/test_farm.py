"""Whatever becomes of the workers of a run: nothing is lost, nothing counts twice, nothing wrong is kept."""

from __future__ import annotations

import random
import re
import signal
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from malice import site_pages
from malice.protocol.messages import Move
from malice.referee.records import (
    Batch,
    GameOrder,
    Key,
    Record,
    RecordedVerdict,
    compute_digest,
)
from malice.tournaments.errors import Stopped
from malice.tournaments.farm.cluster import Answered, Signalled
from malice.tournaments.farm.crew import Crew, Handed, Worker
from malice.tournaments.farm.cross_check import Check
from malice.tournaments.farm.handout import Handout, cut_blocks, merge_block, split_block
from malice.tournaments.farm.machine import Speeds
from malice.tournaments.farm.work import Answer, Block, Introduction, Refusal, Task, pack
from malice.tournaments.league.cache import CachingReader
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from malice.tournaments.running.hooks import Audit, CheckPool, Hooks, Running
from malice.tournaments.running.plan import read_plan
from tests.farms import (
    CHOOSER,
    CONFIG,
    GAMES,
    GREETING,
    Chaos,
    League,
    SimulatedCluster,
    compute_sha,
    dispatch,
    make_conditions,
    play_game,
)


@pytest.fixture
def league(tmp_path: Path) -> League:
    return League(tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_goes_wrong_the_tournament_is_the_same(seed: int, league: League) -> None:
    chaos = Chaos(seed, "ann", "bob", "cat")
    while len(league.keys() if league.path.exists() else ()) < GAMES:
        with suppress(Stopped):  # three workers vanished over a game, one after the other
            league.run(chaos)

    assert len(league.keys()) == GAMES
    assert league.sha() == compute_sha(league)


def test_all_rotations_of_a_deal_are_played_by_one_worker_in_the_order_of_the_schedule(league: League) -> None:
    cluster = SimulatedCluster("ann", "bob")
    league.run(cluster)

    tasks = [task for _, task in cluster.handed]
    for task in tasks:
        rotations = [sorted(order.key.deal for order in batch.games) for batch in task.batches]
        assert len(rotations) == 2
        assert rotations[0] == rotations[1]
    assert {address for address, _ in cluster.handed} == {"tcp://ann", "tcp://bob"}
    assert sum(len(batch.games) for task in tasks for batch in task.batches) == GAMES


def lie(change: Callable[[Record], Record]) -> Callable[[Record], Record]:
    """Return what changes a record and gives it the digest that matches."""

    def forge(record: Record) -> Record:
        forged = change(record)
        return replace(forged, digest=compute_digest(forged))

    return forge


LIES = {
    "places": lie(lambda record: replace(record, places=record.places[::-1], scores=record.scores[::-1])),
    "actions": lie(lambda record: replace(record, actions=record.actions[:-1], micros=record.micros[:-1])),
    "entries": lie(lambda record: replace(record, entries=record.entries[::-1])),
    "deal_seed": lie(lambda record: replace(record, deal_seed="00" * 32)),
    "speed": lie(lambda record: replace(record, speed=3.0)),
    "key": lie(lambda record: replace(record, key=replace(record.key, deal=5 - record.key.deal))),
    "digest": lambda record: replace(record, digest="0" * 64),
    "verdict": lambda record: replace(record, faults=(RecordedVerdict(0, "crash", 0, "gone", None, (), ""),)),
    "times": lambda record: replace(record, cpu_micros=()),
    "used": lambda record: replace(record, seats=tuple(replace(each, used_ms=1e308) for each in record.seats)),
    "notes": lambda record: replace(record, notes={-5: "before the game"}),
    "seat": lie(lambda record: replace(record, actions=((11, record.actions[0][1]), *record.actions[1:]))),
    "space": lie(lambda record: replace(record, actions=((record.actions[0][0], "a b"), *record.actions[1:]))),
    "large": lie(lambda record: replace(record, places=(2**70, 1))),
}
"""What is not covered by a digest, or is no game, must be seen at once: the league could not be read any more."""


PLAYED = ("places", "actions")
"""What only a replay tells, so that each record is replayed."""


@pytest.mark.parametrize("what", LIES)
def test_a_worker_that_lies_is_named_and_gets_no_more_work(what: str, league: League) -> None:
    cluster = SimulatedCluster("ann", "bob", forge={"bob": LIES[what]})
    league.run(cluster, drawn=1 if what in PLAYED else 0)

    said = league.out.getvalue()
    assert "bob on here sent a wrong answer" in said
    assert "bob on here is refused: " in said
    assert len(league.keys()) == GAMES
    with Store(league.path) as store:
        assert verify_league(store).complete
    last = max(number for number, (address, _) in enumerate(cluster.handed) if address == "tcp://bob")
    assert last < len(cluster.handed) - 1


def test_a_forger_that_left_before_its_replay_is_named(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[tuple[Record, Callable[[Record, str], None]]] = []
    forged: set[str] = set()

    def forge(record: Record) -> Record:
        lie: Record = LIES["places"](record)
        forged.add(lie.digest)
        return lie

    class Departure(SimulatedCluster):
        def take_turn(self) -> None:
            if waiting and "tcp://bob" in self.workers:
                self.kill("tcp://bob", back=False)
            else:
                for record, judge in waiting:
                    judge(record, "it does not replay" if record.digest in forged else "")
                waiting.clear()
            super().take_turn()

    monkeypatch.setattr(Audit, "replay", lambda audit, *each: waiting.append(each))
    league.run(Departure("ann", "bob", forge={"bob": forge}), drawn=1)

    assert league.out.getvalue().count("bob on here is refused: it does not replay") == 1
    assert len(league.keys()) == GAMES


def test_a_record_nested_too_deep_is_a_wrong_one(league: League) -> None:
    class Deep(SimulatedCluster):
        def answer(self, address: str, task: Task, **changes: object) -> None:
            if self.workers[address] != "bob":
                return super().answer(address, task, **changes)
            self.tasks[address].pop(task.number)
            record = msgspec.json.encode(play_game(task.batches[0], task.batches[0].games[0]))
            nested = record[:-1] + b',"more":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
            return self.events.put(Answered(task.number, pack(Answer(task.number, (Raw(nested),)))))

    league.run(Deep("ann", "bob"))

    assert "bob on here sent a wrong answer" in league.out.getvalue()
    assert len(league.keys()) == GAMES


class Odd(SimulatedCluster):
    """A cluster whose worker bob plays nothing.

    Args:
        raw: what he answers, if that is no answer at all.
        changes: what his answers are like otherwise.
    """

    def __init__(self, raw: bytes | None = None, **changes: object) -> None:
        super().__init__("ann", "bob")
        self._raw = raw
        self._changes = {"records": ()} | changes

    def answer(self, address: str, task: Task, **changes: object) -> None:
        if self.workers[address] != "bob":
            super().answer(address, task, **changes)
        elif self._raw is None:
            super().answer(address, task, **self._changes)
        else:
            self.tasks[address].pop(task.number)
            self.events.put(Answered(task.number, self._raw))


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        (Odd(b""), "returned something else than bytes"),
        (Odd(b"\x80\x04"), "malformed"),
        (Odd(zlib.compress(b"{}")), "missing required field `task`"),
        (Odd(zlib.compress(b"{}")[:-1]), "or a part of it"),
        (Odd(zlib.compress(b" " * 2**25)), "compressed JSON of at most 9,437,184 bytes"),
        (Odd(), "and does not say why"),
        (Odd(late=True), "and does not say why"),
        (Odd(seconds=1e308), "Expected `float` <= 1000000000.0"),
        (Odd(rules="the rules are broken"), "there the rules failed: the rules are broken"),
        (Odd(trouble="gone\nError: \x1b[2J all is lost"), "gone\n    Error: \\x1b[2J all is lost"),
    ],
)
def test_a_worker_that_answers_what_cannot_be_is_refused_and_the_others_play(
    odd: Odd, why: str, league: League
) -> None:
    league.run(odd)

    refusals = [line for line in league.out.getvalue().split("\nbob on here ") if line.startswith("is refused: ")]
    assert len(refusals) == 1
    assert why in refusals[0]
    assert len(league.keys()) == GAMES


def test_a_worker_that_loses_its_bots_again_and_again_is_refused(league: League) -> None:
    class Forgetful(SimulatedCluster):
        def answer(self, address: str, task: Task, **changes: object) -> None:
            lacks = {"records": (), "lacks": True} if self.workers[address] == "bob" else {}
            super().answer(address, task, **lacks)

    league.run(Forgetful("ann", "bob"))

    assert "bob on here is refused: it lost the bots that it was sent 3 times" in league.out.getvalue()
    assert len(league.keys()) == GAMES


def test_workers_that_cannot_go_on_are_none_that_vanished_over_a_game(league: League) -> None:
    class Broken(SimulatedCluster):
        waiting = iter((*(f"w{number}" for number in range(30)), "ann"))

        def answer(self, address: str, task: Task, **changes: object) -> None:
            sound = self.workers.get(address) == "ann"
            super().answer(address, task, **({} if sound else {"records": (), "trouble": "no compiler"}))

        def take_turn(self) -> None:
            refused = {address for address, _ in self.handed} & self.workers.keys() - {"tcp://ann"}
            if refused and not any(self.tasks.values()) and (name := next(self.waiting, None)):
                self.workers = {f"tcp://{name}": name}
            super().take_turn()

    league.run(Broken("abe"))

    assert "vanished" not in league.out.getvalue()
    assert len(league.keys()) == GAMES


def test_a_replay_that_cannot_begin_is_no_fault_of_the_worker(league: League) -> None:
    class Broken(CheckPool):
        def submit(self, pieces: Sequence[bytes]) -> Future[list[bytes]]:
            future: Future[list[bytes]] = Future()
            future.set_exception(OSError("no more processes"))
            return future

    league.run(SimulatedCluster("ann"))
    heard = []
    with Store(league.path) as store, Audit(store, checkers=Broken()) as audit:
        record = next(iter(store.records()))
        audit.replay(record, lambda *told: heard.append(told))

    assert heard == [(record, "")]


def test_a_wrong_record_that_was_not_drawn_is_taken_back_before_its_part_closes(league: League) -> None:
    cluster = SimulatedCluster("ann", "bob", forge={"bob": LIES["places"]})

    with pytest.raises(Stopped, match="did not replay, and must be played again; go on"):
        league.run(cluster, drawn=0)

    left = len(league.keys())
    assert 0 < left < GAMES
    with Store(league.path) as store:
        assert not store.tournament().complete
    league.run(SimulatedCluster("ann"), drawn=0)
    assert len(league.keys()) == GAMES
    assert league.sha() == compute_sha(league)


def test_a_run_on_this_machine_replays_what_an_earlier_one_left_of_a_forger(league: League) -> None:
    class Dying(SimulatedCluster):
        def take_turn(self) -> None:
            super().take_turn()
            if len(self.handed) > 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        league.run(Dying("bob", forge={"bob": LIES["places"]}), drawn=0)

    with pytest.raises(Stopped, match="did not replay"):
        league.run(SimulatedCluster("ann"))


@pytest.mark.parametrize(
    ("greeting", "reason"),
    [
        (Refusal("here", "isolation 'bwrap' is unavailable"), "isolation 'bwrap' is unavailable"),
        (replace(GREETING, speed=0.3), "its factor is 0.3, expected at least 0.5"),
    ],
)
def test_a_worker_that_does_not_suffice_is_refused_with_the_reason(
    greeting: Introduction | Refusal, reason: str, league: League
) -> None:
    cluster = SimulatedCluster("ann", "bob", greetings={"bob": greeting})
    league.run(cluster, least=0.5)

    assert f"bob on here is refused: {reason}" in league.out.getvalue()
    assert {address for address, _ in cluster.handed} == {"tcp://ann"}


def test_the_backlog_reads_no_further_ahead_than_the_workers_can_take(league: League) -> None:
    class Counting(SimulatedCluster):
        most = 0

        def take_turn(self) -> None:
            self.most = max(self.most, sum(map(len, self.tasks.values())))
            super().take_turn()

    cluster = Counting("ann", "bob")
    league.run(cluster)

    assert 0 < cluster.most <= 2 * 3


@pytest.fixture
def handing(league: League) -> tuple[SimulatedCluster, Crew, Handout, list[Block]]:
    """Two workers of a slot each, with nothing in hand; one game to hand out, and others; each takes a second."""
    cluster = SimulatedCluster("bob", "ann")
    with Store(league.path, create=True) as store:
        plan = read_plan(store, replace(CONFIG, entries=("greedy", "first")), league.path.parent)
    conditions = make_conditions(cluster, plan)
    crew = Crew(cluster, conditions, print, lambda slots: "")
    one_slot = replace(GREETING, slots=1)
    crew.workers = {address: Worker(address, name, one_slot) for address, name in cluster.workers.items()}
    first, *rest = [game for block in cut_blocks(plan.open_batches(set())) for game in split_block(block)]
    handout = Handout(cluster, conditions, crew, first, Hooks(print, count_left=lambda: count_left(handout)))
    handout.durations.count(["greedy", "first"], 1, 1.0)
    return cluster, crew, handout, rest


def count_left(handout: Handout) -> int:
    return 1 + sum(len(handed.left) for handed in handout.tasks.values())


def give(handout: Handout, worker: Worker, *blocks: Block) -> Handed:
    """Give a worker some games as one block."""
    block = tuple(batch for each in blocks for batch in each)
    left = {order.key: (batch, order) for batch in block for order in batch.games}
    handed = Handed(-len(handout.tasks), worker, block, left, Running(merge_block(block), set(left)))
    handout.tasks[handed.number] = handed
    worker.give(handed)
    return handed


def test_of_two_workers_with_as_much_in_hand_the_one_that_is_through_first_gets_the_next_games(
    handing: tuple[SimulatedCluster, Crew, Handout, list[Block]],
) -> None:
    cluster, crew, handout, (one, other, *_) = handing
    bob, ann = crew.workers.values()
    give(handout, bob, one)
    handed = give(handout, ann, other)
    assert handed.begun_at
    handed.begun_at -= len(handed.left)  # as many seconds as it has games

    handout.hand_out()

    assert [address for address, _ in cluster.handed] == ["tcp://ann"]


def test_the_last_games_wait_for_the_worker_that_is_through_first(
    handing: tuple[SimulatedCluster, Crew, Handout, list[Block]],
) -> None:
    cluster, crew, handout, (one, other, *rest) = handing
    bob, ann = crew.workers.values()
    give(handout, bob, *rest)
    short = [give(handout, ann, one), give(handout, ann, other)]

    handout.hand_out()
    assert cluster.handed == []

    handout.drop(short[0])
    handout.hand_out()
    assert [address for address, _ in cluster.handed] == ["tcp://ann"]


def test_blocks_of_several_parts_stay_apart_and_lose_nothing(league: League) -> None:
    orders = {
        (part, table, deal, rotation): GameOrder(Key(part, table, deal, rotation), "00" * 32, (0, 1), (0, 0))
        for part in range(2)
        for table in range(2)
        for deal in range(6)
        for rotation in range(2)
    }
    with Store(league.path, create=True) as store:
        batch = next(read_plan(store, CONFIG, league.path.parent).open_batches(set()))

    def cut(part: int) -> list[Batch]:
        return [
            replace(batch, games=tuple(orders[part, table, deal, rotation] for deal in range(first, first + 3)))
            for first in (0, 3)
            for table in range(2)
            for rotation in range(2)
        ]

    mixed = [each for pair in zip(cut(0), cut(1), strict=True) for each in pair]
    blocks = list(cut_blocks(mixed))

    assert len(blocks) == 8
    assert all(len(block) == 2 for block in blocks)
    assert sorted(order.key for block in blocks for each in block for order in each.games) == sorted(
        order.key for order in orders.values()
    )


def test_the_site_shows_how_fast_the_workers_were(league: League, tmp_path: Path) -> None:
    slow = replace(GREETING, speed=0.5)
    league.run(SimulatedCluster("ann", "bob", greetings={"bob": slow}), drawn=0)

    with Store(league.path) as store:
        site_pages.SiteWriter(CachingReader(store), tmp_path / "site").render()
    front, bot = ((tmp_path / "site" / name).read_text() for name in ("index.html", "bots/greedy.html"))

    assert f"{GAMES} games on workers of factor 0.5 to 1.25" in front
    assert f"{GAMES * 2 // 3} games on workers of factor 0.5 to 1.25" in bot


class Interrupted(SimulatedCluster):
    """A cluster during whose second turn somebody presses Ctrl-C; then it answers what it has in hand, or not."""

    turns = 0
    patient = True

    def take_turn(self) -> None:
        self.turns += bool(self.handed)
        if self.turns == 2 or (self.turns == 3 and not self.patient):
            self.events.put(Signalled(signal.SIGINT))
        elif self.turns > 3:
            super().take_turn()


@pytest.mark.parametrize("patient", [True, False])
def test_ctrl_c_lets_the_games_in_hand_finish_unless_it_comes_twice(patient: bool, league: League) -> None:
    cluster = Interrupted("ann")
    cluster.patient = patient

    with pytest.raises(Stopped, match="stopped by SIGINT"):
        league.run(cluster)

    assert cluster.finishing
    in_hand = {order.key for _, task in cluster.handed for batch in task.batches for order in batch.games}
    assert league.keys() == (in_hand if patient else set())
    assert len(in_hand) < GAMES


def test_tasks_are_taken_back_once_nobody_wants_their_games(league: League) -> None:
    played: list[Key] = []
    hooks = Hooks(lambda record: played.append(record.key), wants=lambda key: not played)

    class Slow(SimulatedCluster):
        def take_turn(self) -> None:
            if not played and self.handed:
                self.answer(*self.handed[0])

    cluster = Slow("ann", "bob")
    dispatch(league, cluster, hooks)

    first = sum(len(batch.games) for batch in cluster.handed[0][1].batches)
    assert len(cluster.handed) > 1
    assert len(played) <= first
    assert not any(cluster.tasks.values()), "all others were taken back"


def test_nothing_is_handed_out_after_the_time_is_up(league: League) -> None:
    told: list[str] = []
    hooks = Hooks(lambda record: None, latest_begin=lambda batch: 0.0, on_late=lambda: told.append("late"))
    cluster = SimulatedCluster("ann")

    assert dispatch(league, cluster, hooks).late
    assert told == ["late"]
    assert cluster.handed == []


def test_wall_clocks_warn_once_of_workers_that_are_not_alike(league: League) -> None:
    slow = replace(GREETING, speed=0.5)
    league.run(SimulatedCluster("ann", "bob", "cat", greetings={"bob": slow, "cat": slow}))

    assert league.out.getvalue().count("warning: factors from 0.5 to 1.25") == 1


def choose_last(request: Move) -> tuple[str, int]:
    assert isinstance(request.legal, tuple)
    return next((action for action in request.legal if "-c" in action), request.legal[-1]), 1000


def test_workers_whose_bots_play_differently_are_named_with_what_built_them(league: League) -> None:
    def build_by(compiler: str) -> Callable[[Record], Record]:
        return lambda record: replace(record, builds=tuple(f"{compiler}; files {label}" for label, _ in record.entries))

    forge = {"ann": build_by("cc 12"), "bob": build_by("cc 13")}
    cluster = SimulatedCluster("ann", "bob", forge=forge, choosers={"bob": choose_last})
    cluster.cross_checked = 1
    league.run(cluster)

    said = league.out.getvalue()
    told = said[said.index("warning: two workers played game ") :].split("\n")[:3]
    assert "differently, each of them twice in the same way; after" in told[0]
    assert sorted(line.split(":")[0].strip() for line in told[1:]) == ["ann on here", "bob on here"]
    assert re.search(r"bob on here: (\w+) played \S+ \(built by cc 13; files \1\)", said)
    warned = re.findall(r"(\w+) was built by cc 13 on bob, by cc 12 on ann|(\w+) was built by cc 12 on ann", said)
    assert sorted(map("".join, warned)) == sorted(map(str, CONFIG.entries))
    assert len(league.keys()) == GAMES


def test_bots_that_never_play_the_same_way_twice_blame_no_worker(league: League) -> None:
    chance = random.Random(0)

    def choose_either(request: Move) -> tuple[str, int]:
        return chance.choice((CHOOSER, choose_last))(request)

    cluster = SimulatedCluster("ann", "bob", choosers={"ann": choose_either, "bob": choose_either})
    cluster.cross_checked = 1
    league.run(cluster)

    handed = sum(len(batch.games) for _, task in cluster.handed for batch in task.batches)
    assert handed > GAMES, "some were played by two"
    assert "differently" not in league.out.getvalue()


def test_a_block_goes_back_to_the_worker_that_has_taken_the_address_of_another(league: League) -> None:
    ann, bob = (Worker("tcp://here", name, GREETING) for name in ("ann", "bob"))
    crew = Crew(SimulatedCluster(), None, print, str)  # type: ignore[arg-type]
    crew.workers[bob.address] = bob

    assert Check((), ann, {}, bob, repeated={ann}).find_player(crew) is bob
    assert Check((), ann, {}, bob).find_player(crew) is None, "ann is gone"


@pytest.mark.parametrize("seed", range(2))
def test_what_two_workers_play_is_stored_once_whatever_goes_wrong(seed: int, league: League) -> None:
    chaos = Chaos(seed, "ann", "bob", "cat")
    chaos.cross_checked = 1
    while len(league.keys() if league.path.exists() else ()) < GAMES:
        with suppress(Stopped):
            league.run(chaos)

    assert league.sha() == compute_sha(league)
    assert "differently" not in league.out.getvalue()


def test_a_worker_that_leaves_hands_back_what_it_has_not_played_and_gets_no_more(league: League) -> None:
    class Departure(SimulatedCluster):
        def answer(self, address: str, task: Task, **changes: object) -> None:
            if self.workers[address] != "bob":
                return super().answer(address, task, **changes)
            lines = [msgspec.json.encode(play_game(batch, batch.games[0])) for batch in task.batches[:1]]
            super().answer(address, task, records=tuple(map(Raw, lines)), leaving=True)
            return None

    cluster = Departure("ann", "bob")
    league.run(cluster)

    said = league.out.getvalue()
    assert said.count("bob on here leaves: it finishes the games that it plays") == 1
    assert "refused" not in said
    assert sum(address == "tcp://bob" for address, _ in cluster.handed) == 2, "one window"
    assert len(league.keys()) == GAMES


def test_a_worker_that_leaves_and_plays_nothing_is_not_waited_for(league: League) -> None:
    class Lingering(SimulatedCluster):
        def answer(self, address: str, task: Task, **changes: object) -> None:
            super().answer(address, task, leaving=True)

    with pytest.raises(Stopped, match="no worker for"):
        league.run(Lingering("ann"))


def test_a_run_pauses_also_if_no_game_is_in_hand(league: League) -> None:
    cluster = SimulatedCluster("ann")

    assert dispatch(league, cluster, Hooks(lambda record: None, pauses=lambda: True)).paused
    assert len(cluster.handed) == 2, "one window"


def test_clocks_follow_a_worker_that_became_slower(league: League) -> None:
    class Hot(SimulatedCluster):
        def answer(self, address: str, task: Task, **changes: object) -> None:
            super().answer(address, task, measured=Speeds(0.5, 0.4))

    cluster = Hot("ann")
    league.run(cluster)

    assert league.out.getvalue().count("ann on here: factor 0.5 by CPU time, 0.4 by wall time now, was 1.25") == 1
    assert [task.batches[0].speed for _, task in cluster.handed] == [1.25] * 2 + [0.5] * (len(cluster.handed) - 2)
