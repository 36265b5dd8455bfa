"""A bot for Klondike that plays a legal action at random, each as likely as any other; it never takes back or gives up.

All chance comes from the `rng` of `game_start`: the same game is played the same way again.
"""

import json
import sys
from random import Random
from typing import Any


def choose(legal: list[str], rng: Random) -> str:
    """Return any action but `undo` and `done`, if there is one; `random()` gives the same numbers in every Python."""
    moves = [action for action in legal if action not in ("undo", "done")] or ["done"]
    return moves[int(rng.random() * len(moves))]


def main() -> None:
    rng = Random(0)
    for line in sys.stdin.buffer:
        request: dict[str, Any] = json.loads(line)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            rng = Random(int(request["rng"]))
        elif request["type"] == "move":
            answer["move"] = choose(request["legal"], rng)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
