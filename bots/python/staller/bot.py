"""A bot that never plays to the centre unless it must: it discards, and waits for the stock to run out.

It wins nothing against good players, but draws most games under rulesets where an empty stock is a draw.
Use it to test whether a bot, or a ruleset, makes progress against an opponent who refuses to play.
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
