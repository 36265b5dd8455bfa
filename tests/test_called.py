"""`malice.match` and `malice.compare` do what the commands do, with players of this process among the bots."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

import malice
from malice.protocol.messages import GameEnd, GameStart, Move
from malice.referee.errors import BotError, DataError, IllegalAction
from malice.referee.replay import VERDICT
from tests.command_line import malice as command
from tests.processes import PATIENCE_S, POLL_S, Mark
from tests.samples import sample

pytestmark = pytest.mark.slow

ISOLATION: dict[str, Any] = {"isolation": "none"}


class Listener:
    """Plays at random, and keeps all that it is told."""

    made: list[Listener]

    def __init__(self) -> None:
        self.told: list[GameStart | Move | GameEnd] = []
        self.made.append(self)
        self._rng = Random(0)

    def choose(self, request: Move) -> str:
        self.told.append(request)
        assert isinstance(request.legal, tuple)
        return self._rng.choice(request.legal)

    def game_start(self, request: GameStart) -> None:
        self.told.append(request)

    def game_end(self, request: GameEnd) -> None:
        self.told.append(request)


@pytest.fixture(autouse=True)
def made() -> list[Listener]:
    Listener.made = []
    return Listener.made


def choose_first(view: Any, legal: tuple[str, ...]) -> str:
    return legal[0]


def fail(view: Any, legal: tuple[str, ...]) -> str:
    raise ZeroDivisionError("the player's own")


def test_an_object_meets_a_bot_and_is_told_what_a_bot_is_told(made: list[Listener]) -> None:
    found = malice.match(Listener, "greedy", deals=1, seed=7, **ISOLATION)

    assert {row.label for row in found.ranking} == {"Listener", "greedy"}
    assert [(game.key, game.entries[0].label) for game in found.games] == [
        ("0.0.0.0", found.games[0].entries[0].label),
        ("0.0.0.1", found.games[0].entries[1].label),
    ]
    assert len(made) == 2, "one for each rotation"
    for player, game in zip(made, found.games, strict=True):
        start, *moves, end = player.told
        assert isinstance(start, GameStart)
        assert isinstance(end, GameEnd)
        assert game.entries[start.seat].label == start.seats[start.seat].name == "Listener"
        assert end.scores == game.scores
        again = malice.Game(game.ruleset, 2, game.deal_seed)
        heard = 0
        for each in game.actions:
            if each.seat == start.seat:
                move = moves.pop(0)
                assert isinstance(move, Move)
                assert (move.view, move.legal) == (again.view(), again.legal())
                assert move.events == again.events(since=heard)
                assert move.clock.bank_ms is not None
                heard += len(move.events)
            if not each.action.startswith(VERDICT):
                again.play(each.action)
        assert not moves


def test_functions_alone_meet_without_any_process_also_in_a_thread_and_beside_a_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("no process is needed")

    def play() -> list[tuple[int, ...]]:
        found = malice.match(Listener, lambda: choose_first, deals=2, seed=7)
        return [game.scores for game in found.games]

    async def play_beside_loop() -> list[tuple[int, ...]]:
        return play()

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    results = [play(), asyncio.run(play_beside_loop())]
    thread = threading.Thread(target=lambda: results.append(play()))
    thread.start()
    thread.join()

    assert len(results) == 3
    assert results[0] == results[1] == results[2]
    assert malice.compare(Listener, lambda: choose_first, deals=1, seconds=0).advantage.deals == 0


def test_a_function_meets_a_bot_from_a_thread_beside_a_running_loop() -> None:
    async def play() -> int:
        return len((await asyncio.to_thread(malice.match, lambda: choose_first, "uniform", deals=1)).games)

    assert asyncio.run(play()) == 2


@pytest.mark.whole
@pytest.mark.parametrize("other", ["uniform", Listener])
def test_what_a_player_raises_comes_with_its_own_traceback(other: Any) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        malice.match(lambda: fail, other, deals=1, **ISOLATION)

    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fail"
    with pytest.raises(IllegalAction, match=r"^lambda: expected one of \[.*, got 'nonsense'"):
        malice.match(lambda: lambda view, legal: "nonsense", other, deals=1, **ISOLATION)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: malice.match(choose_first, "greedy"), TypeError, "to call without arguments that returns a player"),  # type: ignore[arg-type]
        (lambda: malice.match(lambda: 7, Listener, deals=1), TypeError, "an object with choose"),  # type: ignore[arg-type,return-value]
        (lambda: malice.match(Listener, "greedy", db="x.db"), ValueError, "cannot tell whether Listener has changed"),
        (lambda: malice.match("nobody-here", "greedy"), BotError, "no bot 'nobody-here'"),
        (lambda: malice.compare("a", "b", deals=1, elo1=3), ValueError, "deals plays without a test"),
    ],
)
def test_an_error_says_what_was_expected(wrong: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wrong()


@pytest.mark.whole
def test_a_comparison_says_what_the_command_says(tmp_path: Path) -> None:
    db = tmp_path / "c.db"

    found = malice.compare("greedy", "uniform", deals=5, seed="compare", db=db, **ISOLATION)

    words = ("--deals", "5", "--seed", "compare", "--isolation", "none", "--json", "--db", db)
    printed = json.loads(command("compare", "greedy", "uniform", *words).stdout)
    assert json.loads(msgspec.json.encode(found)) == printed
    assert found.advantage.deals == 5


WAITS = """
import malice, threading

def choose(view, legal):
    print("asked", flush=True)
    threading.Event().wait()

malice.match(lambda: choose, "greedy")
"""


@pytest.mark.parametrize("number", sample([signal.SIGKILL, signal.SIGINT], 2))
def test_no_process_outlives_a_program_that_is_stopped_while_it_is_asked(number: signal.Signals) -> None:
    mark = Mark()
    program = [sys.executable, "-c", WAITS]
    with subprocess.Popen(program, env=mark.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"asked\n"
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == -number
    assert (b"KeyboardInterrupt" in said) == (number == signal.SIGINT)
    assert mark.await_end() == []


def test_no_process_outlives_a_program_that_is_stopped_while_bots_play() -> None:
    mark = Mark()
    program = [sys.executable, "-c", "import malice; malice.compare('greedy', 'first', deals=1000)"]
    with subprocess.Popen(program, env=mark.environ(), stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not mark.find("malice.referee") and time.monotonic() < deadline:
            time.sleep(POLL_S)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)

    assert process.returncode == -signal.SIGINT
    assert mark.await_end() == []


def test_players_of_the_program_begin_in_positions() -> None:
    game = malice.Game("standard", seed=3)
    for _ in range(40):
        game.play(game.legal()[-1])
    begun: list[int] = []

    class Beginner(Listener):
        def game_start(self, request: GameStart) -> None:
            assert isinstance(request.begun, int)
            begun.append(request.begun)

    found = malice.match(Beginner, lambda: choose_first, positions=[game.position()])
    assert [each.key for each in found.games] == ["0.0.0.0", "0.0.0.1"]
    assert begun == [40, 40]
    assert malice.compare(Beginner, lambda: choose_first, positions=[game.position()] * 2).advantage.deals == 2
    with pytest.raises(ValueError, match="contradict ruleset"):
        malice.match(Beginner, Beginner, positions=[game.position()], deals=3)
    with pytest.raises(DataError, match=r"^positions\[1\]: "):
        malice.compare(Beginner, Beginner, positions=[game.position(), "{}"])
