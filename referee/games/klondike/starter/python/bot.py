"""A bot for Klondike that takes the first action that looks useful, and stops when a whole pass brought nothing."""

import json
import sys
from collections.abc import Iterator
from typing import Any

RANKS = "A23456789TJQK"


class Bot:
    """Plays one game: what it keeps here is gone with the next."""

    def __init__(self, game: dict[str, Any]) -> None:
        self.rules = game["rules"]
        self.seat = game["seat"]
        self.moved = True  # whether a card has moved in this pass through the stock

    def choose(self, view: dict[str, Any], legal: list[str]) -> str:
        """Choose one of the legal actions. Begin here: this is where a better idea goes."""
        table = view["tables"][self.seat]  # those of the others are null: nobody sees them
        for action in self.prefer(table, legal):
            if action in legal:
                if action == "redeal":
                    self.moved = False
                elif action != "turn":
                    self.moved = True
                return action
        return "done"

    def prefer(self, table: dict[str, Any], legal: list[str]) -> Iterator[str]:
        """Yield actions, the best first."""
        yield from (action for action in legal if action.endswith("-f"))
        yield from self.list_unveiling(table, legal)
        yield from (action for action in legal if action.startswith("w-t"))
        yield "turn"
        if self.moved:  # otherwise another pass would bring nothing either
            yield "redeal"

    def list_unveiling(self, table: dict[str, Any], legal: list[str]) -> list[str]:
        """List the moves of all that lies face up in a column, from the column with most cards face down."""
        columns = table["columns"]
        found = []
        for action in legal:
            source, _, target = action.partition("-")
            if source[0] == "t" and target.startswith("t"):
                mine, other = columns[int(source[1:])], columns[int(target[1:])]["up"]
                whole = not other or RANKS.index(mine["up"][0][0]) + 1 == RANKS.index(other[-1][0])
                if mine["down"] and whole:
                    found.append((len(mine["down"]), action))
        return [action for _, action in sorted(found, reverse=True)]


def main() -> None:
    bot = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            bot = Bot(request)
        elif request["type"] == "move" and bot:
            answer["move"] = bot.choose(request["view"], request["legal"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
