"""A hostile bot, for the benchmark of its effect on opponents; run as a program.

For some moves it plays the first legal action and does harm each time; then it breaks a rule. Its first argument
says how: one of the names in `WAYS`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress

MOVES = 20
"""The number of moves after which it breaks a rule."""
MIB = 1 << 20

hoard: list[object] = []
"""What the bot keeps alive: memory, open files, a count of its children."""


def spin() -> None:
    """Spin for ever."""
    while True:
        pass


def pause() -> None:
    """Sleep for ever."""
    while True:
        signal.pause()


def start_child(task: Callable[[], None]) -> None:
    """Start a process for a task, unless there are too many already."""
    with suppress(OSError):
        if os.fork() == 0:
            task()


def crowd() -> None:
    """Start three processes that sleep."""
    for _ in range(3):
        start_child(pause)


def burn() -> None:
    """Start a process that spins; eight at most."""
    if len(hoard) < 8:
        hoard.append(None)
        start_child(spin)


def spread() -> None:
    """Leave the assigned processors, and burn on all of them."""
    with suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    burn()


def eat() -> None:
    """Allocate 16 MiB more."""
    hoard.append(b"x" * (16 * MIB))


def fill() -> None:
    """Write one MiB to the disk."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - it must stay open
    file.write(bytes(MIB))
    hoard.append(file)


def repeat(task: Callable[[], None]) -> Callable[[], None]:
    """Make a function that repeats a task until it fails."""

    def loop() -> None:
        while True:
            task()

    return loop


def do_nothing() -> None:
    """Do no harm yet."""


def write(descriptor: int, text: bytes) -> Callable[[], None]:
    def write_text() -> None:
        os.write(descriptor, text)

    return write_text


WAYS: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
    "spins": (burn, spin),
    "spreads": (spread, spin),
    "crowds": (crowd, lambda: os._exit(0)),
    "eats": (eat, repeat(eat)),
    "fills": (fill, repeat(fill)),
    "floods": (write(2, b"x" * 65_536), repeat(write(1, b"x" * 65_536))),
    "babbles": (write(1, b"thinking\n"), repeat(write(1, b"thinking\n"))),
    "sleeps": (lambda: time.sleep(0.002), pause),
    "cheats": (do_nothing, lambda: print('{"id": 0}', flush=True)),
    "crashes": (do_nothing, lambda: os.kill(os.getpid(), signal.SIGSEGV)),
}
"""By name: the harm with each move, and the rule that it breaks in the end."""


def main(way: str) -> None:
    """Play until the input ends or the bot breaks a rule."""
    harm, break_rule = WAYS[way]
    moves = 0
    for line in sys.stdin:
        request = json.loads(line)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            moves = 0
        if request["type"] == "move":
            moves += 1
            harm()
            if moves > MOVES:
                break_rule()
            answer["move"] = request["legal"][0]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
