"""Actions and events of Spite & Malice in words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from malice.referee.games.spite.messages import CardMoved, Count, Draw, Event, Flip, Pass, TurnBegins
from malice.referee.games.spite.words import describe_action, describe_event
from tests.tables import Script, move_request

NAMES = ("you", "ann", "bob", "eve")


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("pass", "end the turn without a discard"),
        ("count", "ask how many pay-off cards are left"),
        ("p-c1", "pay-off 6H to centre 1"),
        ("hTX-c0", "TX to centre 0"),
        ("h7C-s0", "7C to side 0, on QS"),
        ("h7C-s1", "7C to side 1, empty"),
        ("s0-c2", "side 0, QS, to centre 2"),
        ("1p-c0", "pay-off 2C of ann to centre 0"),
        ("1s0-c0", "side 0 of ann, 3D, to centre 0"),
        ("p-1p", "pay-off 6H to the pay-off pile of ann, on 2C"),
    ],
)
def test_an_action_is_told_in_words(action: str, words: str) -> None:
    view = move_request(Script()).view
    tops, sides = ("6H", "2C"), ((("4S", "QS"), ()), (("3D",), ()))
    seats = tuple(
        replace(seat, payoff=replace(seat.payoff, top=top), side=side)
        for seat, top, side in zip(view.seats, tops, sides, strict=True)
    )

    assert describe_action(action, replace(view, seats=seats), NAMES) == words


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (TurnBegins(1), ""),
        (CardMoved(0, "0h", "0s0", "4S"), ""),
        (CardMoved(1, "1p", "c0", "4S"), "ann plays 4S from the pay-off pile to centre stack 0"),
        (CardMoved(1, "1h", "1s2", "4S"), "ann discards 4S from hand to side stack 2"),
        (CardMoved(1, "3s1", "c2", "4S"), "ann plays 4S from eve’s side stack 1 to centre stack 2"),
        (CardMoved(1, "1h", "0p", "4S"), "ann loads 4S from hand onto your pay-off pile"),
        (Draw(0, ("4S", "5S")), "you draw 4S 5S"),
        (Draw(1, ("??", "??")), "ann draws 2 cards"),
        (Draw(1, ("??",)), "ann draws 1 card"),
        (Flip(0, "4S"), "you turn up 4S"),
        (Flip(2, "4S"), "bob turns up 4S"),
        (Count(0, (20, 19)), ""),
        (Count(1, None), "ann asks how many pay-off cards are left"),
        (Count(1, (20, 7)), "ann asks how many pay-off cards are left: 20, 7"),
        (Pass(1), "ann ends the turn without a discard"),
    ],
)
def test_an_event_is_told_in_words(event: Event, words: str) -> None:
    assert describe_event(event, NAMES, 0) == words
