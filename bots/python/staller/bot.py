"""A bot that never plays to the centre of its own accord: it discards, and waits for the stock to run out.

Against good players it wins nothing, but where a stock that runs out is a draw, it draws most of its games.
A handy sparring partner: does a bot, or a ruleset, get anywhere against somebody who does not play along?
"""

import json
import sys


def choose(legal: list[str]) -> str:
    """Return the first discard; without one a pass, and another action only if it must."""
    discards = (action for action in legal if "-s" in action)
    return next(discards, "pass" if "pass" in legal else legal[0])


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "move":
            answer["move"] = choose(request["legal"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
