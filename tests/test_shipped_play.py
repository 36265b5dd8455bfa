"""How the bots that ship play: legally, always the same, and no worse than they promise."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from random import Random
from types import FrameType
from typing import Any

import msgspec
import pytest

from malice.referee.course import Course, Dealer
from malice.referee.families import make_rules
from malice.referee.rules import Result
from malice.referee.rulesets import load_ruleset
from malice.tournaments.entries.bots import list_shipped_bots
from tests.samples import sample

Choose = Callable[[dict[str, Any], list[str], dict[str, Any], Random], str]
Watch = Callable[[dict[str, Any], list[str], str], None]
DECIDING = ("greedy", "planner", "staller", "uniform")
STANDARD: dict[str, Any] = msgspec.to_builtins(load_ruleset("standard").rules)
every_deciding_bot = pytest.mark.parametrize("name", DECIDING)


def chooser(name: str) -> Choose:
    """Load a bot's `choose` from its file; it is given the arguments that it names."""
    path = list_shipped_bots()[name] / "bot.py"
    spec = spec_from_file_location(f"shipped_{name}", path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = signature(module.choose).parameters

    def choose(view: dict[str, Any], legal: list[str], rules: dict[str, Any], rng: Random) -> str:
        given = {"view": view, "legal": legal, "rules": rules, "rng": rng}
        answer: str = module.choose(**{key: given[key] for key in wanted})
        return answer

    return choose


BOTS = {name: chooser(name) for name in DECIDING}


def ignore(view: dict[str, Any], legal: list[str], action: str) -> None:
    """Watch nothing."""


def play(ruleset: str, names: Sequence[str], seed: int, watch: Watch = ignore) -> tuple[Result, list[str]]:
    """Play a game with a bot in each seat; they get what they would get as JSON."""
    found = load_ruleset(ruleset)
    rules = make_rules(found.family, found.rules, len(names))
    sent = msgspec.to_builtins(found.rules)
    course = Course(rules, Dealer(seed.to_bytes(32, "big")))
    chance = [Random(f"{seed}/{seat}") for seat in range(len(names))]
    actions = []
    while not isinstance(step := course.step, Result):
        (seat,) = step.seats
        view = json.loads(msgspec.json.encode(rules.view(course.state, seat)))
        legal = list(rules.legal(course.state, seat))
        action = BOTS[names[seat]](view, list(legal), sent, chance[seat])
        assert action in legal
        watch(view, legal, action)
        actions.append(action)
        course.play({seat: action})
    return step, actions


def table(
    hand: str = "",
    payoff: str = "9D",
    left: int | None = 10,
    centre: Sequence[int] = (0, 0, 0),
    side: Sequence[str] = ("", "", "", ""),
    opponent: str = "7C",
) -> dict[str, Any]:
    """A position of two seats as seat 0 sees it; cards are written one after the other, with blanks."""
    seats: list[dict[str, Any]] = [
        {"payoff": {"top": top, "left": left}, "hand": 5, "side": piles, "team": team, "out": False}
        for team, top, piles in ((0, payoff, [pile.split() for pile in side]), (1, opponent, [[], [], [], []]))
    ]
    stacks = [{"cards": ["??"] * height, "height": height, "needs": "?"} for height in centre]
    return {
        "turn": 9,
        "seat": 0,
        "hand": hand.split(),
        "stock": 40,
        "aside": 0,
        "centre": stacks,
        "seats": seats,
    }


def ask(name: str, view: dict[str, Any], legal: str, **rules: Any) -> str:
    answer = BOTS[name](view, legal.split(), STANDARD | rules, Random(1))
    assert answer in legal.split()
    return answer


# Whole games


@pytest.mark.parametrize("ruleset", sample(["standard", "classic"], 2))
@every_deciding_bot
def test_a_bot_plays_whole_games_by_the_rules_and_the_same_again(name: str, ruleset: str) -> None:
    for seed in range(2):
        for opponent in ("greedy", "uniform"):
            assert play(ruleset, [name, opponent], seed) == play(ruleset, [name, opponent], seed)


@pytest.mark.parametrize("ruleset", ["catsatcards", "loading", "massachusetts", "partners-4", "skipbo-short"])
@every_deciding_bot
def test_a_bot_gets_along_with_relatives_of_the_game(name: str, ruleset: str) -> None:
    seats = load_ruleset(ruleset).rules.players[0]

    result, _ = play(ruleset, [name, "greedy"] * (seats // 2), 1)

    assert result.reason in {"payoff_empty", "stock_out", "stalemate"}


def test_uniform_never_gets_anywhere_against_itself() -> None:
    lengths = []
    for seed in range(20):
        result, actions = play("standard", ["uniform", "uniform"], seed)
        assert result.reason == "stock_out"
        lengths.append(len(actions))

    assert 54 <= sorted(lengths)[10] <= 64


@pytest.mark.parametrize(
    ("better", "worse", "least"),
    [("greedy", "uniform", 16), pytest.param("planner", "greedy", 13, marks=pytest.mark.whole)],
)
def test_the_better_bot_wins_most_games(better: str, worse: str, least: int) -> None:
    won = sum(play("standard", [better, worse], seed)[0].places == (1, 2) for seed in range(10))
    won += sum(play("standard", [worse, better], seed)[0].places == (2, 1) for seed in range(10))

    assert won >= least


@pytest.mark.whole
def test_planner_and_greedy_never_leave_a_playable_last_card() -> None:
    last_cards = []

    def watch(view: dict[str, Any], legal: list[str], action: str) -> None:
        if view["seats"][view["seat"]]["payoff"]["left"] == 1 and legal[0].startswith("p-c"):
            last_cards.append(action)

    for seed in range(8):
        play("standard", ["planner", "greedy"], seed, watch)

    assert last_cards
    assert all(action.startswith("p-c") for action in last_cards)


def test_staller_never_plays_to_the_centre() -> None:
    def watch(view: dict[str, Any], legal: list[str], action: str) -> None:
        assert "-s" in action

    play("classic", ["staller", "staller"], 3, watch)


# Positions that are rare


@every_deciding_bot
def test_the_only_legal_action_is_taken(name: str) -> None:
    for action in ("p-c1", "hKS-c0", "h7C-s2", "s1-c0", "pass", "count"):
        assert ask(name, table("7C KS", payoff="9D", side=("", "2C", "", "")), action) == action


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_a_count_is_not_asked_for_while_something_else_can_be_done(name: str) -> None:
    hidden = table("7C 8H", left=None)

    assert ask(name, hidden, "h7C-s0 h8H-s0 count") != "count"
    assert ask(name, hidden, "pass count") == "pass"
    assert ask("staller", hidden, "pass count") == "pass"


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_the_pay_off_card_goes_before_a_pass(name: str) -> None:
    assert ask(name, table("7C", payoff="3D", centre=(2, 0)), "p-c0 h7C-s0 pass", discard="optional") == "p-c0"


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_an_opponent_is_loaded_where_that_is_allowed(name: str) -> None:
    view = table("8C 2H", payoff="6C", opponent="7C")

    assert ask(name, view, "h2H-s0 h8C-s0 h8C-1p", loading="suit_adjacent") == "h8C-1p"
    assert ask(name, view, "p-1p h2H-s0 h8C-s0 h8C-1p", loading="suit_adjacent") == "p-1p"


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_a_forced_fill_takes_the_card_that_is_needed_last(name: str) -> None:
    view = table("2C 4H QS KD", side=("5C", "", "6D", "7H"), centre=(3, 0, 0))

    fills = "h2C-s1 h4H-s1 hQS-s1 hKD-s1"
    assert ask(name, view, fills, fill_empty_sides=True) == "hQS-s1"


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_a_discard_is_tidy_and_no_wild_card(name: str) -> None:
    view = table("6C 9H KD", side=("7D", "2S", "QH", "3D"))
    legal = " ".join(f"h{card}-s{stack}" for card in ("6C", "9H", "KD") for stack in range(4))

    assert ask(name, view, legal) == "h6C-s0"


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_jokers_and_hidden_cards_are_understood(name: str) -> None:
    view = table("3C KH WX", payoff="5D", left=None, centre=(3, 0), side=("?? 2C", "", "", ""), opponent="3C")
    legal = "h3C-s0 h3C-s1 hKH-s0 hKH-s1 hWX-c0 hWX-s0 hWX-s1 count"

    answer = ask(name, view, legal, wild_kings=False, stack_top=13, jokers=4, wild_ban="A")

    assert answer == "hWX-c0"  # a four, so that the pay-off five fits


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_a_partners_cards_are_played_too(name: str) -> None:
    view = table("7C", payoff="QD", centre=(2, 5))
    view["seats"] += [view["seats"][0] | {"payoff": {"top": "3D", "left": 2}, "side": [[], ["6C"], [], []]}]

    assert ask(name, view, "2p-c0 h7C-s0 2s1-c1", teams="2x2") == "2p-c0"
    assert ask(name, view, "h7C-s0 2s1-c1", teams="2x2") == "2s1-c1"


# What planner promises


def follow(view: dict[str, Any], plays: dict[str, int]) -> list[str]:
    """Let planner play while it likes one of `plays`, each to the stack it names; return what it played."""
    done: list[str] = []
    while True:
        heights = [stack["height"] for stack in view["centre"]]
        legal = [play for play, height in plays.items() if play not in done and heights[int(play[-1])] == height]
        discards = [f"h{card}-s0" for card in view["hand"]]
        action = BOTS["planner"](view, legal + discards, STANDARD, Random(1))
        if action in discards:
            return done
        done.append(action)
        if action.startswith("p"):
            return done
        source, slot = action.split("-c")
        view["centre"][int(slot)]["height"] += 1
        if source[0] == "h":
            view["hand"].remove(source[1:])
        else:
            view["seats"][0]["side"][int(source[1])].pop()


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_the_last_pay_off_card_goes_before_anything_else(name: str) -> None:
    view = table("8C 2H", payoff="3C", left=1, centre=(2, 1, 0), opponent="7C")

    assert ask(name, view, "p-c0 h2H-c1 h2H-s0 h8C-s0 h8C-1p", loading="suit_adjacent") == "p-c0"


def test_planner_finds_the_line_to_its_last_card_through_hand_side_stack_and_wild_card() -> None:
    view = table("4C JS JH KD", payoff="7D", left=1, centre=(3, 9, 11), side=("9C 6C", "", "", ""))

    line = follow(view, {"p-c0": 6, "h4C-c0": 3, "hKD-c0": 4, "s0-c0": 5})

    assert line == ["h4C-c0", "hKD-c0", "s0-c0", "p-c0"]


def test_planner_does_not_open_the_way_for_the_opponent_for_nothing() -> None:
    legal = "h6H-c0 h6H-s0 h6H-s1 hJC-s0 hJC-s1"

    def answer(opponent: str) -> str:
        view = table("6H JC", payoff="2D", centre=(5, 8, 8), side=("TC", "QC", "QD", "QH"), opponent=opponent)
        return ask("planner", view, legal)

    assert answer(opponent="3S") == "h6H-c0"
    assert answer(opponent="7S") == "hJC-s1"


def join_partner(view: dict[str, Any], payoff: str, left: int) -> dict[str, Any]:
    """Return `view` with a third seat, a partner of seat 0 with these pay-off cards."""
    view["seats"].append(view["seats"][0] | {"payoff": {"top": payoff, "left": left}, "side": [[], [], [], []]})
    return view


def test_planner_spends_a_wild_card_on_its_pay_off_card_though_that_helps_the_opponent() -> None:
    view = table("6C 7D 7H TS KD", payoff="9D", centre=(3, 7, 2), opponent="JC")
    discards = " ".join(f"h{card}-s0" for card in view["hand"])

    assert ask("planner", view, f"hKD-c0 hKD-c1 hKD-c2 {discards}") == "hKD-c1"


def test_planner_brings_its_pay_off_card_nearer_with_the_last_card_of_its_hand_too() -> None:
    view = table("KD", payoff="9D", centre=(6, 2, 10), opponent="4C")

    assert ask("planner", view, "hKD-c2 hKD-c1 hKD-c0 hKD-s0") == "hKD-c0"


def test_planner_adds_its_partners_pay_off_card_to_its_own() -> None:
    legal = "hKD-c0 h6C-s0 hKD-s0"

    def answer(partner: str) -> str:
        view = table("6C KD", payoff="8D", centre=(6, 11, 11), opponent="9C")
        return ask("planner", join_partner(view, partner, left=5), legal, teams="2x2")

    assert answer("9S") == "hKD-c0"
    assert answer("2S") == "h6C-s0"


def test_planner_pays_any_price_for_the_last_pay_off_card_of_its_side_only() -> None:
    legal = "hKD-c0 hKH-c0 h6C-s0 hKD-s0 hKH-s0"

    def answer(own: str | None, own_left: int, partner_left: int) -> str:
        view = table("6C KD KH", left=own_left, centre=(6, 11, 11), opponent="JC")
        view["seats"][0]["payoff"]["top"] = own
        return ask("planner", join_partner(view, "9S", partner_left), legal, teams="2x2")

    assert answer(None, own_left=0, partner_left=1) == "hKD-c0"
    assert answer("5D", own_left=1, partner_left=5) == "h6C-s0"


def test_planner_is_quick_where_its_cards_leave_it_most_to_look_at() -> None:
    piles = ("9C 8C 7C KC", "TC 6C 5C KD", "JC 4C 3C KH", "QC 2C AC KS")
    view = table("2C 5D 8H KC KD", payoff="QD", centre=(1, 2, 4, 5, 7, 8, 10, 0), side=piles)
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        ask("planner", view, "hKC-c0 h2C-c0 h5D-c2 h8H-c4 h2C-s0 s0-c1", centre_limit="unlimited")
    finally:
        sys.setprofile(None)

    assert 1_000 < calls < 80_000, "calls of functions: some ten milliseconds"
