"""A bot without foresight: it scores every legal action by itself and plays the best one.

In this order: the pay-off card; a card onto an opponent's pay-off pile, where a ruleset allows that; cards of
its hand and its side stacks to the centre; a wild card only if that brings its pay-off card near, or if it
holds two of them or hardly anything else; then the tidiest discard: on a card of the same rank, on a card
one higher, on an empty stack, and last where it buries least.
"""

import json
import sys
from typing import Any

View = dict[str, Any]

VALUE = {rank: value for value, rank in enumerate("A23456789TJQKW", start=1)}
VALUE["?"] = 0  # a card that is not shown

PAYOFF, LOAD, PLAY, WILD = 1000, 900, 500, 300  # tidy discards follow, up to 100
KEEP = -100  # a wild card discarded: worse than any other discard
PASS, COUNT = -500, -900


def choose(view: View, legal: list[str], rules: dict[str, Any]) -> str:
    """Return the action with the highest score, of equal ones the first."""
    return max(legal, key=lambda action: score(action, view, rules))


def score(action: str, view: View, rules: dict[str, Any]) -> int:
    """Tell how good `action` looks: one of the levels above, and what tells actions of one level apart."""
    source, _, target = action.partition("-")
    if not target:
        return PASS if action == "pass" else COUNT
    card = card_at(source, view)
    if target[0] == "c":
        return score_play(source, card, int(target[1:]), view, rules)
    if target[0] == "s":
        return score_discard(card, own(view)["side"][int(target[1:])], rules)
    loads_opponent = view["seats"][int(target[:-1])]["team"] != own(view)["team"]
    return LOAD + (source == "p") if loads_opponent else KEEP


def own(view: View) -> Any:
    return view["seats"][view["seat"]]


def card_at(source: str, view: View) -> str:
    """Return the card that lies at `source`: `h7C`, `p`, `s1`, or `2p`, `2s1` of seat 2."""
    if source[0] == "h":
        return source[1:]
    owner, pile, index = source.rpartition("p") if source.endswith("p") else source.rpartition("s")
    seat = view["seats"][int(owner)] if owner else own(view)
    card: str = seat["payoff"]["top"] if pile == "p" else seat["side"][int(index)][-1]
    return card


def is_wild(card: str, rules: dict[str, Any]) -> bool:
    return card[0] == "W" or (card[0] == "K" and rules["wild_kings"])


def score_play(source: str, card: str, slot: int, view: View, rules: dict[str, Any]) -> int:
    """Score a card to the centre: hand before side stacks, and rather where the pay-off card is near."""
    centre = view["centre"]
    height = centre[slot]["height"] if slot < len(centre) else 0
    payoff = own(view)["payoff"]["top"]
    missing = (VALUE[payoff[0]] - height - 1) % rules["stack_top"] if payoff else 0
    if source.endswith("p"):
        return PAYOFF - missing
    from_hand = source[0] == "h"
    if not is_wild(card, rules):
        return PLAY + 50 * from_hand - missing
    hand = view["hand"]
    spare = from_hand and (len(hand) <= 2 or sum(is_wild(other, rules) for other in hand) >= 2)
    return (WILD if spare or missing <= 2 else KEEP + 50) - missing


def score_discard(card: str, pile: list[str], rules: dict[str, Any]) -> int:
    """Score a card on top of `pile`: what lies below should not be needed before it, and high cards last."""
    if is_wild(card, rules):
        return KEEP - len(pile)
    value = VALUE[card[0]]
    if not pile:
        return 60 + value
    top = VALUE[pile[-1][0]]
    if value == top:
        return 90 + value
    if value == top - 1:
        return 80 + value
    if value < top and not is_wild(pile[-1], rules):
        return 40 - (top - value)
    return 20 - (value - top) - len(pile)


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
