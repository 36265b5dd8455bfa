"""A bot for Klondike that searches: it guesses the cards that it does not know, and solves the deal as if they were so.

1. It first turns through the stock once, where redeals allow that, so that only the cards face down in the columns are
   unknown: 21 of 52.
2. It lays the unknown cards out at random and searches for a solution; several guesses vote on the first step. It
   follows the best plan until a card turns up that it did not expect, and plans again.
3. If no guess has a solution from here, it looks from earlier positions, to which `undo` leads back: what it has seen
   stays known, so guesses get better, and in the end it knows the deal.
4. If that fails too, it turns up another card wherever it can; then it puts as many cards on the foundations as it
   finds, and stops.

solver.py searches. All chance comes from the `rng` of `game_start`, and searches count positions instead of time, so
the same game is played the same way again, unless the machine is so slow that the time runs out.
"""

import json
import os
import sys
from collections.abc import Sequence
from math import inf
from random import Random
from time import monotonic, process_time
from typing import Any, NamedTuple

from solver import PLENTY, Pile, Piles, Position, Search, Step, spell_out, unroll

NODES = int(os.environ.get("MALICE_NODES", "1500"))  # malice hands over the parameter; by hand there is none
GUESSES = 3  # for each position that it plans from
GAME_NODES = 50  # times NODES: what it looks at in one game
MOVE_NODES = 6  # times NODES: what it looks at for one answer
HOME_NODES = 300  # for the last search, which always takes place
NODE_MS = 0.06  # what a position costs on a machine that is not fast

CARDS = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
NUMBER = {card: number for number, card in enumerate(CARDS)}


class Table(NamedTuple):
    """What lies on the table; of cards that lie face down only how many there are."""

    found: Pile
    heights: Pile  # by column: cards face down
    ups: Piles
    talon: Pile
    turned: int
    redeals: int


UNKNOWN = -1
STOCK = 7


def read_table(view: dict[str, Any], redeals: int) -> Table:
    """Return the table of a view."""
    columns = view["columns"]
    talon = [NUMBER.get(card, UNKNOWN) for card in (*view["waste"], *view["stock"][::-1])]
    return Table(
        tuple(0 if top is None else NUMBER[top] % 13 + 1 for top in view["foundations"]),
        tuple(len(column["down"]) for column in columns),
        tuple(tuple(NUMBER[card] for card in column["up"]) for column in columns),
        tuple(talon),
        len(view["waste"]),
        redeals,
    )


# A column, and a place in it from the bottom: the card that was dealt there lies there until it is turned up.
# Or `STOCK`, and a place in waste and stock, from the end.
Place = tuple[int, int]


class Player:
    """Plays one game."""

    def __init__(self, rules: dict[str, Any], rng: Random, clock: dict[str, Any] | None = None) -> None:
        self.rules, self.rng = rules, rng
        self.move_ms: float | None = clock["move_ms"] if clock else None
        self.now = process_time if clock and clock["kind"] == "cpu" else monotonic
        self.unlimited = rules["redeals"] == "unlimited"
        self.redeals = PLENTY if self.unlimited else int(rules["redeals"])
        self.known: dict[Place, int] = {}
        self.guess: dict[Place, int] = {}
        self.trail: list[Table] = []  # the tables before all actions that can be taken back
        self.plan: list[str] = []  # actions
        self.left = GAME_NODES * NODES  # positions that it may still look at
        self.budget = 0  # those for this answer
        self.until = inf  # when it must have answered
        self.stopping = False
        self.last: Table | None = None  # the table of the request before
        self.best: list[Step] = []  # to the most cards on the foundations, in the last search
        self.record = 0  # the most cards that the foundations ever held

    def choose(self, view: dict[str, Any], legal: Sequence[str], clock: dict[str, Any]) -> str:
        """Return the next action."""
        self.until = self.now() + (inf if self.move_ms is None else 0.5 * self.move_ms / 1000)
        table = read_table(view, self.redeals)
        self.learn(view, table)
        self.record = max(self.record, sum(table.found))
        if not self.plan and self.explores(table):
            self.plan = ["turn" if table.turned < len(table.talon) else "redeal"]
        if not self.plan:
            self.make_plan(view, table, clock)
        action = self.plan.pop(0) if self.plan else "done" if self.stopping else wait(legal)
        if action not in legal:
            action = "done"
        self.note(action, table)
        return action

    def recall(self, events: Sequence[dict[str, Any]]) -> None:
        """Learn what was turned up before this bot took the seat over, from the events of its first request."""
        heights = [*range(7)]
        for event in events:
            column = event.get("column", event.get("action", ""))[1:2]
            if event["type"] == "flip":
                heights[int(column)] -= 1
                self.known[int(column), heights[int(column)]] = NUMBER[event["card"]]
            elif event["type"] == "undo" and event["hidden"]:
                heights[int(column)] += 1
            again = event["type"] == "redeal" or event.get("action") == "redeal"
            if again and not self.unlimited:
                self.redeals += 1 if event["type"] == "undo" else -1

    def note(self, action: str, table: Table) -> None:
        """Keep what an action needs to be taken back."""
        if action == "undo":
            self.redeals = self.trail.pop().redeals
        elif self.rules["undo"] != "none":
            self.trail.append(table)
        if action == "redeal" and not self.unlimited:
            self.redeals -= 1

    def learn(self, view: dict[str, Any], table: Table) -> None:
        """Keep what the table shows of the deal; forget the plan if a card is not what it was thought to be."""
        for column, height in enumerate(table.heights):
            if self.last and height < self.last.heights[column]:
                self.see((column, height), table.ups[column][0])
        for held, card in enumerate(table.talon):
            if card != UNKNOWN:
                self.see((STOCK, len(table.talon) - held), card)
        self.last = table

    def see(self, place: Place, card: int) -> None:
        if place[0] != STOCK:
            self.known[place] = card
        if self.guess.get(place, card) != card:
            self.plan, self.guess = [], {}

    def explores(self, table: Table) -> bool:
        """Return whether to turn through the stock before anything else."""
        return self.unlimited and UNKNOWN in table.talon

    # Plans

    def make_plan(self, view: dict[str, Any], table: Table, clock: dict[str, Any]) -> None:
        """Plan from here, or from an earlier table; at last turn up what can be turned up, or bring cards home."""
        spare = min(self.rules["idle"] - view["idle"], self.rules["max_actions"] - view["actions"]) - 1
        self.budget = self.bound(clock)
        if not self.stopping and self.budget:
            if self.plan_from(table, 0, GUESSES, spare):
                return
            depth = len(self.trail)
            for back in dict.fromkeys((depth // 4, depth // 2, min(depth, spare * 2 // 3), depth)):
                if 0 < back < spare and self.plan_from(self.trail[-back], back, 2, spare):
                    return
            if self.unveil(table, spare) or self.retreat(spare):
                return
        if self.now() > self.until and not self.stopping:
            return  # a slow moment of the machine says nothing about the deal
        self.stopping = True
        self.bring_home(table)

    def bound(self, clock: dict[str, Any]) -> int:
        """Return how many positions it may look at for this answer: few when the time runs out."""
        budget = min(self.left, MOVE_NODES * NODES)
        bank = clock.get("bank_ms")
        if self.move_ms is not None:
            budget = min(budget, int(0.7 * self.move_ms / NODE_MS))
        if bank is not None:
            budget = min(budget, int(bank / 8 / NODE_MS))
        return max(0, budget)

    def retreat(self, spare: int) -> bool:
        """Plan to go back where all cards are known, and to look for a solution from there; return whether it may."""
        depth = len(self.trail)
        back = min(max(1, depth // 3), depth)
        if self.is_uncertain() or not 0 < back < spare // 2:
            return False
        self.plan = ["undo"] * back
        return True

    def is_uncertain(self) -> bool:
        return len(self.known) < 21

    def plan_from(self, table: Table, back: int, guesses: int, spare: int) -> bool:
        """Plan from a table that lies `back` actions back; return whether there is a plan."""
        plans: list[tuple[list[Step], dict[Place, int]]] = []
        for _ in range(guesses if self.is_uncertain() else 1):
            guess = self.make_guess(table)
            steps = self.search(self.fill(table, guess), NODES if self.is_uncertain() else 5 * NODES)
            if steps:
                plans.append((steps, guess))
        if not plans:
            return False
        votes = [steps[0] for steps, _ in plans]
        steps, guess = max(plans, key=lambda plan: (votes.count(plan[0][0]), -len(plan[0])))
        actions = self.spell_out(table, steps)
        if back + self.count_until_new(table, actions) > spare:
            return False
        self.plan, self.guess = ["undo"] * back + actions, guess
        return True

    def search(self, position: Position, limit: int, hidden: int = 0) -> list[Step] | None:
        """Search, and count what that costs."""
        searching = Search(
            self.rules["draw"], self.rules["foundation_back"], min(limit, self.budget), self.until, self.now
        )
        steps = searching.solve(position, hidden)
        self.left -= searching.nodes
        self.budget -= searching.nodes
        self.best = unroll(searching.best)
        return steps

    def make_guess(self, table: Table) -> dict[Place, int]:
        """Lay out the cards that nobody has seen at random."""
        places = [
            (column, place) for column in range(7) for place in range(column) if (column, place) not in self.known
        ]
        places += [(STOCK, len(table.talon) - held) for held, card in enumerate(table.talon) if card == UNKNOWN]
        seen = {*self.known.values(), *table.talon, *(card for run in table.ups for card in run)}
        seen |= {13 * suit + rank for suit, height in enumerate(table.found) for rank in range(height)}
        cards = [card for card in range(52) if card not in seen]
        for place in range(len(cards) - 1, 0, -1):
            other = int(self.rng.random() * (place + 1))
            cards[place], cards[other] = cards[other], cards[place]
        return dict(zip(places, cards, strict=True))

    def fill(self, table: Table, guess: dict[Place, int]) -> Position:
        """Return a table with its unknown cards as guessed."""
        cards, size = guess | self.known, len(table.talon)
        columns = enumerate(table.heights)
        downs = tuple(tuple(cards[column, place] for place in range(height)) for column, height in columns)
        pairs = enumerate(table.talon)
        talon = tuple(cards[STOCK, size - held] if card == UNKNOWN else card for held, card in pairs)
        return Position(table.found, downs, table.ups, talon, table.turned, table.redeals)

    def spell_out(self, table: Table, steps: Sequence[Step]) -> list[str]:
        """Return the actions of steps from a table."""
        return list(spell_out(steps, len(table.talon), table.turned, self.rules["draw"]))

    def count_until_new(self, table: Table, actions: Sequence[str]) -> int:
        """Return after how many actions at most there is a new card, or a new record of the foundations."""
        cards = sum(table.found)
        for count, action in enumerate(actions, 1):
            cards += action.endswith("-f")
            cards -= action[0] == "f"
            if cards > self.record:
                return count
        return len(actions)

    def unveil(self, table: Table, spare: int) -> bool:
        """Plan to turn up another card that nobody knows; return whether that is possible."""
        hidden = sum(table.heights)
        if not self.is_uncertain() or not hidden:
            return False
        guess = self.make_guess(table)
        steps = self.search(self.fill(table, guess), NODES, hidden - 1)
        actions = self.spell_out(table, steps or ())
        if not actions or len(actions) > spare:
            return False
        self.plan, self.guess = actions, guess
        return True

    def bring_home(self, table: Table) -> None:
        """Plan to put as many cards on the foundations as a last search finds."""
        self.budget = HOME_NODES
        self.search(self.fill(table, self.make_guess(table)), HOME_NODES)
        self.plan = self.spell_out(table, self.best)


def wait(legal: Sequence[str]) -> str:
    """Return an action that changes little, to think on with the next request."""
    return next((action for action in legal if action in ("turn", "redeal")), legal[0])


def number(text: str) -> float:
    """Read 7.0 as 7: the protocol lets a number be spelt either way, and only an integer is an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def main() -> None:
    player = None
    seat, begun = 0, False
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=number)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            player, seat = (
                Player(request["rules"], Random(request["rng"]), request["clock"]),
                request["seat"],
            )
            begun = "from" in request
        elif request["type"] == "move" and player:
            if begun:
                player.recall(request["events"])
                begun = False
            answer["move"] = player.choose(request["view"]["tables"][seat], request["legal"], request["clock"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
