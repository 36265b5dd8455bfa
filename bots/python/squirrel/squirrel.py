"""A bot for Nuts that plans: it searches the next steps of its team, and follows the best of them.

It does not help the rivals: a card stays back if it only made room in the centre for one of theirs that lies open. It
remembers its team's stock from the first pass on. Where nothing is to be had, it looks for what a burn of the stocks
would bring: that shows other cards, which ones depends on how far the stock is turned, so it waits at the best place.
It does not end a hand that it would lose.

Two of these bots that play together see the same and plan the same, so each takes from the plan what its part allows,
as far as the rest of the plan still holds after it. Nothing is left to chance.
"""

import json
import sys
from typing import Any

from planning import CENTRE, NUTS, Step, Steps, search
from table import NUMBER, UNKNOWN, Pile, Rivals, Rules, Table, burn

TABLES = 60
"""How many tables a search goes on from."""
MORE_TABLES = 300
"""The same where the team is stuck."""
COVERED, TURNED = 0.5, 0.4
"""What a card of the rivals counts that is not on top of its column, or of the waste."""


class Memory:
    """What the bot has seen of its team's stock and waste."""

    def __init__(self, team: int) -> None:
        self.team = team
        self.talon: list[int] = []
        """Waste and stock, in the order in which they are turned."""
        self.turned = 0
        self.burned = False
        """Whether the stocks were burned since anything moved."""

    def follow(self, event: dict[str, Any]) -> None:
        """Take note of an event."""
        kind = event["type"]
        if kind == "deal":
            self.talon = [UNKNOWN] * len(event["sides"][self.team]["stock"])
        elif kind == "move":
            if event["from"] == f"{self.team}w":
                self.turned -= 1
                del self.talon[self.turned]
            if event["to"][0] == "f" or event["from"][1] in "nw":
                self.burned = False
        elif kind == "flip":
            self.burned = False
        elif kind == "burn":
            talon, self.turned = burn(tuple(self.talon), self.turned)
            self.talon, self.burned = list(talon), True
        elif kind in ("turn", "redeal") and event["seat"] % 2 == self.team:
            if kind == "redeal":
                self.turned = 0
            for card in event.get("cards", ()):
                self.talon[self.turned] = NUMBER.get(card, UNKNOWN)
                self.turned += 1

    def recall(self, waste: list[str], stock: int) -> Pile:
        """Return waste and stock as remembered, or as they show if that cannot be true."""
        if self.turned != len(waste) or len(self.talon) != len(waste) + stock:
            self.turned = len(waste)
            self.talon = [UNKNOWN] * (len(waste) + stock)
        for place, card in enumerate(waste):
            if card in NUMBER:
                self.talon[place] = NUMBER[card]
        return tuple(self.talon)


class Player:
    """Plays one hand."""

    def __init__(self, start: dict[str, Any]) -> None:
        rules = start["rules"]
        self.rules = Rules(int(rules["turned"]), rules["empty_column"] == "king", rules["runs"] == "whole")
        self.team = int(start["seats"][start["seat"]]["team"])
        self.memory = Memory(self.team)
        self.planned: tuple[Table, int] | None = None
        self.plan: list[Step] = []

    def choose(self, request: dict[str, Any]) -> str:
        """Return the next action."""
        for event in request["events"]:
            self.memory.follow(event)
        view, legal = request["view"], request["legal"]
        if len(legal) == 1:
            return str(legal[0])
        table = self.read_table(view)
        own, other = view["sides"][self.team], view["sides"][1 - self.team]
        lead = int(own["points"] - other["points"])
        if self.planned != (table, lead):
            self.planned = table, lead
            self.plan = self.make_plan(table, lead, value_open_cards(other))
        action = self.take(table, view["part"])
        return action if action in legal else "wait"

    def read_table(self, view: dict[str, Any]) -> Table:
        own = view["sides"][self.team]
        top = [NUMBER[own["nuts"]]] if own["nuts"] else []
        talon = self.memory.recall(own["waste"], own["stock"])
        return Table(
            heights=tuple([NUMBER[top] % 13 + 1 if top else 0 for top in view["centre"]]),
            nuts=(UNKNOWN,) * (own["nuts_left"] - 1) + tuple(top),
            columns=tuple([tuple([NUMBER.get(card, UNKNOWN) for card in pile]) for pile in own["columns"]]),
            downs=tuple([pile.count("??") for pile in own["columns"]]),
            talon=talon,
            turned=self.memory.turned,
            burned=self.memory.burned,
        )

    def make_plan(self, table: Table, lead: int, rivals: Rivals) -> list[Step]:
        plan = search(table, self.rules, TABLES, lead, rivals)
        if plan or UNKNOWN in table.talon:
            return plan
        return search(table, self.rules, MORE_TABLES, lead, rivals, burns=True)

    def take(self, table: Table, part: str) -> str:
        """Take from the plan what this part can do now."""
        if not self.plan:
            return "wait" if part == "nuts" else "turn"
        if part == "both":
            return spell_out(self.plan[0], table)
        mine = ("nuts", "column") if part == "nuts" else ("waste", "turn", "burn")
        for place, step in enumerate(self.plan):
            if step.kind in mine:
                action = spell_out(step, table)
                if action in ("turn", "wait") or self.can_go_first(table, step, self.plan[:place]):
                    return action
                break
            if step.kind == "burn":
                break
        # A partner of another kind may not see the column that this plan begins with.
        return self.plan[0].action if part == "cards" and self.plan[0].kind == "column" else "wait"

    def can_go_first(self, table: Table, step: Step, before: list[Step]) -> bool:
        """Return whether a step can be played now, and those that come before it in the plan still after it."""
        at: Table | None = table
        for each in (step, *before):
            if at is None:
                return False
            follow = (found for found in Steps(at, self.rules).list_all() if found.step[:2] == each[:2])
            found = next(follow, None)
            if found is None:
                return False
            at = found.table
        return True


def value_open_cards(side: dict[str, Any]) -> Rivals:
    """Return what each card of a team that lies open would bring it in the centre."""
    found: dict[str, float] = {}
    for piles, below in ((side["columns"], COVERED), ([side["waste"]], TURNED)):
        for pile in piles:
            found.update(dict.fromkeys(pile, CENTRE * below))
            found.update(dict.fromkeys(pile[-1:], CENTRE))
    if side["nuts"]:
        found[side["nuts"]] = NUTS + CENTRE
    return {NUMBER[card]: worth for card, worth in found.items() if card in NUMBER}


def spell_out(step: Step, table: Table) -> str:
    """Return the first action of a step."""
    if step.kind == "burn":
        return "wait" if table.turned == step.held else "turn"
    return "turn" if step.turns else step.action


def number(text: str) -> float:
    """Read 7.0 as 7: the protocol lets a number be spelt either way, and only an integer is an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def main() -> None:
    player = None
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=number)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            player = Player(request)
        elif request["type"] == "move" and player:
            answer["move"] = player.choose(request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
