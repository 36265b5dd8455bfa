"""A bot for Double Solitaire to start from: it scores every legal action by itself and plays the best one.

Improve `score`, or look further: what does a play uncover, and what may the opponent do then?
"""

import json
import sys
from typing import Any


def choose(view: dict[str, Any], legal: list[str]) -> str:
    """Choose the action with the highest score, among equals the first."""
    return max(legal, key=lambda action: score(action, view))


def score(action: str, view: dict[str, Any]) -> int:
    """Tell how good an action looks: by how many cards it changes the lead, and what it leaves behind."""
    source, _, target = action.partition("-")
    if action in ("end", "h-d"):
        return 0
    gain = (source in ("h", "d")) + (target == "o")  # a card less here, a card more there
    if source[0] == "t":
        if target[0] == "t":
            return 1  # it may open a place for another card; no position comes twice in a turn
        gain += leaves_empty(source, view)  # any card may go there
    return 10 * gain + 2 + (target == "f")


def leaves_empty(source: str, view: dict[str, Any]) -> bool:
    """Tell whether the top card of a table pile is its only one."""
    return len(view["table"][int(source[1:])]) == 1


def number(text: str) -> float:
    """Read 7.0 as 7: the protocol lets a number be spelt either way, and only an integer is an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=number)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "move":
            answer["move"] = choose(request["view"], request["legal"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
