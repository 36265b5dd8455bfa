"""A bot for Nuts that scores each action by itself, and plays the best one."""

import json
import sys
from typing import Any


class Bot:
    """Plays one hand: what it keeps here is gone with the next."""

    def __init__(self, game: dict[str, Any]) -> None:
        self.rules = game["rules"]

    def choose(self, view: dict[str, Any], legal: list[str]) -> str:
        """Choose one of the legal actions. Begin here: this is where a better idea goes."""
        side = view["sides"][view["team"]]  # the cards of your team; the others' are view["sides"][1 - view["team"]]
        return max(legal, key=lambda action: score(action, side))


def score(action: str, side: dict[str, Any]) -> int:
    """Tell how good an action looks: a Nuts card first, then the centre, then what turns up a card."""
    card, _, target = action.partition("-")
    if not target:
        return 1 if action == "turn" else 0
    if card == side["nuts"]:
        return 100 + (target == "f")
    if target == "f":
        return 50
    for pile in side["columns"]:
        if card in pile:
            below = pile[: pile.index(card)]
            return 40 if below and below[-1] == "??" else 20 if not below else -1
    return 10  # a waste card onto a column


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
