"""A bot that plays a legal action at random, each as likely as any other.

All chance comes from the `rng` of `game_start`: the same game is played the same way again.
"""

import json
import sys
from random import Random
from typing import Any


def choose(view: dict[str, Any], legal: list[str], rules: dict[str, Any], rng: Random) -> str:
    """Return any of `legal`; `random()` alone gives the same numbers in every version of Python."""
    return legal[int(rng.random() * len(legal))]


def number(text: str) -> float:
    """Read 7.0 as 7: the protocol lets a number be spelt either way, and only an integer is an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def main() -> None:
    rules: dict[str, Any] = {}
    rng = Random(0)
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=number)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            rules, rng = request["rules"], Random(request["rng"])
        elif request["type"] == "move":
            answer["move"] = choose(request["view"], request["legal"], rules, rng)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
