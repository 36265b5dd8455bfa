"""A bot that plans its turn: it looks for the line of plays that leaves it best off.

From the view alone it plays through what its cards can do in the centre: pay-off card, hand, side stacks, wild
cards as a last resort for each stack. A breadth-first search visits every position it can reach, up to `LIMIT`
of them, each one once whatever the order of the plays. What it cannot know it does not guess: the five cards drawn
for an empty hand count as a bonus, and the next pay-off card with the mean over all that it may be. The position
with the highest worth is the aim, the first action on the shortest way there is the answer, and the next request
starts afresh.

What a position is worth, in hundredths of a card or so:
  plus   a pay-off card played, an empty hand, wild cards kept, few cards missing below its own pay-off card
  minus  cards left in hand, cards buried under others in side stacks, few cards missing below an opponent's
         pay-off card: so it does not open the way for him, and closes it where that costs little

No clock, no chance: the same request has the same answer. The parameter `danger` in bot.toml says how much it fears
its opponents' pay-off cards, in per cent of the weights below: 0 is a bot that looks only at its own cards.
"""

import json
import os
import sys
from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

LIMIT = 400  # positions looked at for one answer: a few milliseconds
PAYOFF, WIN, EMPTY_HAND = 800, 100_000, 400
CARD_LEFT, WILD_LEFT, WILD_THROWN = -50, 250, -300
HIGH_FIRST = 3  # of equally tidy discards the higher card: it is needed later
NEAR = (300, 200, 100, 40)  # by the number of cards missing below the own pay-off card
FEAR = int(os.environ.get("MALICE_DANGER", "100"))  # malice hands over the parameter; by hand there is none
DANGER = tuple(weight * FEAR // 100 for weight in (600, 300, 120, 50))  # and below that of an opponent

HIDDEN, WILD = 0, 14
VALUE = {rank: value for value, rank in enumerate("?A23456789TJQKW")}


class Position(NamedTuple):
    """What changes while a turn is planned; cards are numbers, suits do not matter in the centre."""

    heights: tuple[int, ...]  # of the centre stacks, sorted: which slot is which does not matter
    hand: tuple[int, ...]  # sorted, so wild cards stand last
    left: tuple[int, ...]  # cards left in each side stack
    paid: int  # the pay-off cards that were played, own and partner's, as bits


def burial(below: int, above: int) -> int:
    """Return what it costs to have `above` lie on `below`."""
    if below == HIDDEN or above in (below, below - 1):
        return 0
    if below == WILD:
        return 200
    if above == WILD:
        return 25
    return 25 + 12 * (below - above - 1) if above < below else 80 + 6 * (above - below)


BURIAL = [[burial(below, above) for above in range(WILD + 1)] for below in range(WILD + 1)]


class Turn:
    """What stays the same while a turn is planned."""

    def __init__(self, view: dict[str, Any], rules: dict[str, Any]) -> None:
        self.value = {**VALUE, "K": WILD} if rules["wild_kings"] else VALUE
        self.top = int(rules["stack_top"])
        banned = {VALUE[rank] for rank in rules["wild_ban"]}
        self.wild_fits = tuple(height + 1 not in banned for height in range(self.top))
        self.next_payoffs = [*range(1, self.top + 1), WILD]
        self.unlimited = rules["centre_limit"] == "unlimited"
        seats, own = view["seats"], view["seats"][view["seat"]]
        partners = [seat for seat, other in enumerate(seats) if other["team"] == own["team"] and other is not own]
        usable = {"": own} | {str(seat): seats[seat] for seat in partners}
        self.slots = [stack["height"] for stack in view["centre"]]
        self.piles = [self.values(pile) for seat in usable.values() for pile in seat["side"]]
        self.names = [f"{name}s{index}" for name, seat in usable.items() for index in range(len(seat["side"]))]
        self.own_piles = len(own["side"])
        self.clutter = [self.clutter_by_size(pile) for pile in self.piles]
        payers = {f"{name}p": seat["payoff"] for name, seat in usable.items() if seat["payoff"]["top"]}
        self.payoffs = self.values([payoff["top"] for payoff in payers.values()])
        self.payoff_names = list(payers)
        self.last_ones = all(payoff["left"] == 1 for payoff in payers.values())
        others = [seat for seat in seats if seat["team"] != own["team"] and not seat["out"]]
        self.opponents = [seat for seat in others if seat["payoff"]["top"]]
        self.may_draw = bool(view["stock"] + view["aside"] >= rules["hand_size"])
        self.hand = tuple(sorted(self.values(view["hand"])))
        self.raised_memo: dict[tuple[tuple[int, ...], int], tuple[int, ...]] = {}
        self.missing_memo: dict[tuple[int, int], list[int]] = {}
        self.danger_memo: dict[int, int] = {}

    def values(self, cards: list[str]) -> list[int]:
        return [self.value[card[0]] for card in cards]

    @staticmethod
    def clutter_by_size(pile: list[int]) -> list[int]:
        """Return for each number of cards that may be left of `pile` what their burying each other costs."""
        costs = [0, 0]
        for below, above in pairwise(pile):
            costs.append(costs[-1] + BURIAL[below][above])
        return costs

    def start(self) -> Position:
        heights = self.slots if not self.unlimited or 0 in self.slots else [*self.slots, 0]
        return Position(tuple(sorted(heights)), self.hand, tuple(map(len, self.piles)), 0)

    def after(self, position: Position, action: str) -> Position:
        """Return the position after a play of the legal list."""
        source, _, target = action.partition("-c")
        heights, hand, left, paid = position
        slot = int(target)
        heights = self.raised(heights, self.slots[slot] if slot < len(self.slots) else 0)
        if source.endswith("p"):
            paid |= 1 << self.payoff_names.index(source)
        elif source[0] == "h":
            hand = without(hand, self.value[source[1]])
        else:
            left = one_less(left, self.names.index(source))
        return Position(heights, hand, left, paid)

    def following(self, position: Position) -> Iterator[Position]:
        """Go through the positions one play further; a wild card only where no other card fits."""
        heights, hand, left, paid = position
        if not hand and not self.may_draw:
            return
        for height in dict.fromkeys(heights):
            needed = height + 1
            raised = self.raised(heights, height)
            wild_fits = self.wild_fits[height]
            for index, payoff in enumerate(self.payoffs):
                if not paid >> index & 1 and (payoff == needed or (wild_fits and payoff == WILD)):
                    yield Position(raised, hand, left, paid | 1 << index)
            natural = False
            if needed in hand:
                natural = True
                yield Position(raised, without(hand, needed), left, paid)
            for index, size in enumerate(left):
                if size and self.piles[index][size - 1] == needed:
                    natural = True
                    yield Position(raised, hand, one_less(left, index), paid)
            if natural or not wild_fits:
                continue
            if hand and hand[-1] == WILD:
                yield Position(raised, hand[:-1], left, paid)
            for index, size in enumerate(left):
                if size and self.piles[index][size - 1] == WILD:
                    yield Position(raised, hand, one_less(left, index), paid)

    def raised(self, heights: tuple[int, ...], height: int) -> tuple[int, ...]:
        """Return `heights` with a card on one that was `height`; a completed stack leaves an empty slot."""
        key = (heights, height)
        if key not in self.raised_memo:
            others = list(without(heights, height))
            others.append((height + 1) % self.top)
            if self.unlimited and 0 not in others:
                others.append(0)
            self.raised_memo[key] = tuple(sorted(others))
        return self.raised_memo[key]

    def worth(self, position: Position) -> int:
        """Return what it is worth to stop here, with the best discard; an empty hand draws and goes on."""
        heights, hand, left, paid = position
        worth = self.prize(paid) - self.danger(heights)
        for costs, size in zip(self.clutter, left, strict=True):
            worth -= costs[size]
        if not hand and not self.may_draw:
            return worth  # the stock has run out, and there is mostly no next turn to be near for
        worth += self.nearness(position)
        if not hand:
            return worth + EMPTY_HAND
        wilds = hand.count(WILD)
        worth += WILD_LEFT * wilds + CARD_LEFT * (len(hand) - wilds)
        return worth + self.best_discard(hand, left)

    def prize(self, paid: int) -> int:
        played = paid.bit_count()
        wins = self.last_ones and 0 < played == len(self.payoffs)
        return WIN if wins else PAYOFF * played

    def best_discard(self, hand: tuple[int, ...], left: tuple[int, ...]) -> int:
        piles = zip(self.piles[: self.own_piles], left, strict=False)
        tops = {pile[size - 1] if size else HIDDEN for pile, size in piles}
        return max(discard_worth(card, top) for card in set(hand) for top in tops)

    def nearness(self, position: Position) -> int:
        """Return the value of how few cards below its pay-off card the bot cannot see among its own.

        A pay-off card that was played is followed by one that may be any card: that one counts with the mean.
        """
        wilds = position.hand.count(WILD)
        have = 0
        for card in position.hand:
            have |= 1 << card
        for pile, size in zip(self.piles, position.left, strict=True):
            if size:
                have |= 1 << pile[size - 1]
                wilds += pile[size - 1] == WILD
        stacks = [self.missing(height, have) for height in set(position.heights)]
        values = (NEAR[0],) * wilds + NEAR + (0,) * self.top
        known = [payoff for index, payoff in enumerate(self.payoffs) if not position.paid >> index & 1]
        near = [values[min(missing[payoff] for missing in stacks)] for payoff in known]
        if position.paid:
            fewest = [min(missing) for missing in zip(*stacks, strict=True)]
            near.append(sum(values[fewest[card]] for card in self.next_payoffs) // len(self.next_payoffs))
        return max(near, default=0)

    def missing(self, height: int, have: int) -> list[int]:
        """Return for each card how many ranks that are not in `have` go on a stack before it fits."""
        if (height, have) not in self.missing_memo:
            self.missing_memo[height, have] = [
                (ranks & ~have).bit_count() for ranks in ranks_below(height, self.wild_fits)
            ]
        return self.missing_memo[height, have]

    def danger(self, heights: tuple[int, ...]) -> int:
        """Return the cost of how near the nearest opponent is."""
        return max(self.danger_of(height) for height in heights) if heights else 0

    def danger_of(self, height: int) -> int:
        if height not in self.danger_memo:
            lacks = [self.lacks(height, opponent) for opponent in self.opponents]
            self.danger_memo[height] = weight(DANGER, min(lacks)) if lacks else 0
        return self.danger_memo[height]

    def lacks(self, height: int, opponent: dict[str, Any]) -> int:
        """Count the cards that an opponent needs from his hand until his pay-off card fits on a stack."""
        piles = [self.values(pile) for pile in opponent["side"] if pile]
        lacks = 0
        for rank in ranks_between(height, self.value[opponent["payoff"]["top"][0]], self.wild_fits):
            wild = WILD if self.wild_fits[rank - 1] else rank
            for pile in sorted(piles, key=lambda pile: pile[-1:] == [WILD]):
                if pile and pile[-1] in (rank, wild):
                    pile.pop()
                    break
            else:
                lacks += 1
        return lacks


@cache
def ranks_below(height: int, wild_fits: tuple[bool, ...]) -> tuple[int, ...]:
    """Return for each card the set of ranks, as bits, that a stack of that height needs before the card fits."""
    return tuple(sum(1 << rank for rank in ranks_between(height, card, wild_fits)) for card in range(WILD + 1))


def ranks_between(height: int, card: int, wild_fits: tuple[bool, ...]) -> Iterator[int]:
    """Go through the ranks that a stack needs until `card` fits, past its completion if need be."""
    for _ in wild_fits:
        if card == height + 1 or (card == WILD and wild_fits[height]):
            return
        yield height + 1
        height = (height + 1) % len(wild_fits)


def without(cards: tuple[int, ...], card: int) -> tuple[int, ...]:
    place = cards.index(card)
    return cards[:place] + cards[place + 1 :]


def one_less(left: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*left[:index], left[index] - 1, *left[index + 1 :])


def weight(weights: tuple[int, ...], missing: int) -> int:
    return weights[missing] if missing < len(weights) else 0


def discard_worth(card: int, top: int) -> int:
    """Return the worth of a discard on a stack with `top`, an empty one if that is `HIDDEN`."""
    return (WILD_THROWN if card == WILD else HIGH_FIRST * card) - BURIAL[top][card]


def choose(view: dict[str, Any], legal: list[str], rules: dict[str, Any]) -> str:
    """Return the action to play: win, or load an opponent, or follow the best line, or end the turn."""
    plays = [action for action in legal if "-c" in action]
    discards = [action for action in legal if "-s" in action]
    ends = [*discards, *(["pass"] if "pass" in legal else [])]
    loads = [action for action in legal if "-" in action and action not in plays and action not in discards]
    if view["seats"][view["seat"]]["payoff"]["left"] == 1 and legal[0].startswith("p-"):
        return legal[0]
    if loads:
        return loads[0]
    turn = Turn(view, rules)
    return best_play(turn, plays, bool(ends)) or best_end(turn, ends) or legal[0]


def best_play(turn: Turn, plays: list[str], may_end: bool) -> str | None:
    """Return the first play of the best line, None if it is best to end the turn now."""
    start = turn.start()
    best, answer = (turn.worth(start) if may_end else -WIN), None
    seen = {start}
    queue: deque[tuple[Position, str]] = deque()
    for action in plays:
        position = turn.after(start, action)
        if position not in seen:
            seen.add(position)
            queue.append((position, action))
    for _ in range(LIMIT):
        if not queue:
            break
        position, action = queue.popleft()
        worth = turn.worth(position)
        if worth > best:
            best, answer = worth, action
        for further in turn.following(position):
            if further not in seen:
                seen.add(further)
                queue.append((further, action))
    return answer


def best_end(turn: Turn, ends: list[str]) -> str | None:
    """Return the tidiest discard, or a pass where that is allowed and better."""

    def worth(action: str) -> int:
        if action == "pass":
            return CARD_LEFT
        card, stack = turn.value[action[1]], int(action.partition("-s")[2])
        pile = turn.piles[stack]
        return discard_worth(card, pile[-1] if pile else HIDDEN)

    return max(ends, key=worth, default=None)


def number(text: str) -> float:
    """Read 7.0 as 7: the protocol lets a number be spelt either way, and only an integer is an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def main() -> None:
    rules: dict[str, Any] = {}
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=number)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            rules = request["rules"]
        elif request["type"] == "move":
            answer["move"] = choose(request["view"], request["legal"], rules)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
