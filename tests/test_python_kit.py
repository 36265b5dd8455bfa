"""What the client module of the Python kit tells a bot, and what it takes from it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from malice.protocol import messages
from malice.referee.games.spite import messages as spite
from tests.toolchains import KITS

CLIENT = KITS["python"] / "malice_bot.py"
TELLER = '''
from malice_bot import *

class Teller(Bot):
    """Tells all it knows in its notes, and plays what comes last."""

    def __init__(self, game):
        super().__init__(game)
        self.told = []

    def watch(self, event):
        self.told.append(event)

    def choose(self, view, legal, clock):
        return legal[-1], {expression}

    def end(self, result):
        print(result, file=sys.stderr)

import sys
play(Teller, name="teller", version="9")
'''
SEAT = {"payoff": {"top": "9D", "left": 3}, "hand": 5, "side": [["QD", "JC"], []], "team": 0, "out": False}
PARTNER = {"payoff": {"top": None, "left": None}, "hand": 4, "side": [[], ["??", "2H"]], "team": 0, "out": True}
VIEW = {
    "turn": 12,
    "seat": 0,
    "hand": ["7C", "KS"],
    "stock": 54,
    "aside": 2,
    "centre": [{"cards": ["AC", "KD"], "height": 2, "needs": "3"}],
    "seats": [SEAT, PARTNER],
}
CLOCK = {"move_ms": 1000, "bank_ms": None, "increment_ms": 50, "margin_ms": 100, "kind": "wall", "cap_ms": None}
START: dict[str, Any] = {
    "type": "game_start",
    "game": 1,
    "family": "spite",
    "ruleset": "standard",
    "rules": {"wild_kings": True},
    "seat": 0,
    "seats": [{"name": "a", "team": 0}, {"name": "b", "team": 1}],
    "rng": 7,
    "commit": "sha256:",
    "clock": CLOCK,
}
END = {"type": "game_end", "place": 1, "places": [1, 2], "scores": [12, 0], "reason": "payoff_empty", "key": "0.1.0"}
BYE = {"type": "bye"}


def move(legal: str = "p-c0", events: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    clock = {"bank_ms": 29990.5, "last_ms": None, "last_cpu_ms": None}
    return {"type": "move", "view": VIEW, "events": events, "legal": legal.split(), "clock": clock}


def told(folder: Path, expression: str, *requests: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return what a bot answers whose notes are `expression`, and what it printed to stderr."""
    shutil.copy(CLIENT, folder)
    (folder / "bot.py").write_text(TELLER.replace("{expression}", expression), "utf-8")
    lines = "".join(json.dumps({"id": id} | request) + "\n" for id, request in enumerate(requests, 1))
    done = subprocess.run(
        [sys.executable, "bot.py"], cwd=folder, input=lines, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def note(folder: Path, expression: str, *requests: dict[str, Any]) -> str:
    """Return the note of the answer to the last request."""
    answers, _ = told(folder, expression, START, *requests)
    said: str = answers[-1]["note"]
    return said


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("Game", messages.GameStart),
        ("Clock", messages.ClockRules),
        ("Player", messages.SeatName),
        ("View", spite.View),
        ("CentreStack", spite.CentreStack),
        ("SeatView", spite.SeatView),
        ("Payoff", spite.Payoff),
        ("SeatClock", messages.SeatClock),
        ("Dealt", spite.Deal),
        ("Flipped", spite.Flip),
        ("TurnBegun", spite.TurnBegins),
        ("Drawn", spite.Draw),
        ("Moved", spite.CardMoved),
        ("Shuffled", spite.Shuffled),
        ("Counted", spite.Count),
        ("Passed", spite.Pass),
        ("Left", messages.Out),
        ("Result", messages.GameEnd),
    ],
)
def test_the_client_knows_every_field_of_the_protocol(theirs: str, ours: type[Any]) -> None:
    names: dict[str, Any] = {"__name__": "malice_bot"}
    exec(compile(CLIENT.read_text("utf-8"), CLIENT, "exec"), names)

    known = {"count" if theirs == "Shuffled" and name == "cards" else name for name in names[theirs]._fields}

    # `from` is for bots that remember; this client hands them the events that it stands for.
    assert known == set(ours.__struct_fields__) - {"id", "begun"}


def test_a_bot_says_its_name_and_leaves_a_note_beside_its_action(tmp_path: Path) -> None:
    answers, errors = told(tmp_path, "'why'", {"type": "hello"}, START, move("p-c0 pass"), END, BYE)

    assert answers == [
        {"id": 1, "protocol": 1, "name": "teller", "version": "9"},
        {"id": 2},
        {"id": 3, "move": "pass", "note": "why"},
        {"id": 4},
    ]
    assert errors == "Result(place=1, places=[1, 2], scores=[12, 0], reason='payoff_empty', key='0.1.0')\n"


def test_a_bot_is_told_of_the_game_the_table_and_its_clock(tmp_path: Path) -> None:
    asked = (
        "repr((self.game.rules['wild_kings'], self.game.seats[1].name, view.own.payoff.top, view.seats[1].out, clock))"
    )

    clock = "SeatClock(bank_ms=29990.5, last_ms=None, last_cpu_ms=None)"
    assert note(tmp_path, asked, move()) == f"(True, 'b', '9D', True, {clock})"


@pytest.mark.parametrize(
    ("action", "source", "target", "card"),
    [
        ("p-c0", ("PAYOFF", 0, None), ("CENTRE", None, 0), "9D"),
        ("h7C-s1", ("HAND", 0, None), ("SIDE", 0, 1), "7C"),
        ("hWX-1p", ("HAND", 0, None), ("PAYOFF", 1, None), "WX"),
        ("s0-c12", ("SIDE", 0, 0), ("CENTRE", None, 12), "JC"),
        ("1s1-c0", ("SIDE", 1, 1), ("CENTRE", None, 0), "2H"),
        ("1p-c0", ("PAYOFF", 1, None), ("CENTRE", None, 0), None),
    ],
)
def test_an_action_is_taken_apart(tmp_path: Path, action: str, source: object, target: object, card: object) -> None:
    pile = "lambda pile: (pile.kind.name, pile.seat, pile.slot)"

    said = note(tmp_path, f"repr((*map({pile}, (legal[0].source, legal[0].target)), legal[0].card))", move(action))

    assert said == repr((source, target, card))


def test_a_bot_hears_the_events_in_order_and_nothing_of_those_that_are_not_known(tmp_path: Path) -> None:
    events = (
        {"type": "weather", "seat": 0},
        {"type": "turn", "seat": 1, "wind": "N"},
        {"type": "draw", "seat": 1, "cards": ["??"]},
        {"type": "move", "seat": 1, "from": "1h", "to": "1s0", "card": "2D"},
        {"type": "shuffle", "from": "c0", "to": "stock", "count": 12},
    )

    said = note(tmp_path, "'; '.join(map(str, self.told))", move(), move(events=events))

    assert said == "; ".join(
        (
            "TurnBegun(seat=1)",
            "Drawn(seat=1, cards=['??'])",
            "Moved(seat=1, source=Pile(kind=<Kind.HAND: 'h'>, seat=1, slot=None),"
            " target=Pile(kind=<Kind.SIDE: 's'>, seat=1, slot=0), card='2D')",
            "Shuffled(source=Pile(kind=<Kind.CENTRE: 'c'>, seat=None, slot=0),"
            " target=Pile(kind=<Kind.STOCK: 'stock'>, seat=None, slot=None), cards=12)",
        )
    )


def test_every_game_gets_a_bot_of_its_own(tmp_path: Path) -> None:
    event = {"type": "pass", "seat": 1}

    assert note(tmp_path, "str(len(self.told))", move(events=(event,)), START, move(events=(event,))) == "1"
