"""What is said about a game that is over: where it turned, what the cards did, what a bot would have played."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.families import list_shipped, load_family
from malice.referee.game_runner import GameRunner
from malice.referee.records import Record
from malice.referee.replay import replay_asks
from malice.referee.rulesets import list_family_rulesets, load_ruleset
from malice.referee.verdicts import Verdict
from malice.tournaments.league.race import find_leads, find_turn, list_left
from malice.tournaments.terminal.remarks import SeatOpinion, remark_game
from tests.tables import Script, batch, play, player

NAMES = ("you", "planner", "cid", "dora")


def play_at_random(family: str) -> Record:
    """Play a game of a family in which nobody chooses."""
    ruleset, rng = load_ruleset(list_family_rulesets(family)[0]), Random(7)
    seats = ruleset.match.players[0]

    def choose(request: Move) -> str:
        assert isinstance(request.legal, tuple)
        return rng.choice([action for action in request.legal if action not in load_family(family).final])

    told = batch(*(player(name) for name in NAMES[:seats]), games=2)
    told = replace(told, family=family, ruleset=ruleset.name, rules=ruleset.rules)
    return GameRunner(told, told.games[1], [Script(choose) for _ in range(seats)]).play()


@pytest.mark.parametrize("family", list_shipped())
def test_every_game_that_ships_has_a_place_where_it_turned(family: str) -> None:
    record = play_at_random(family)
    names = NAMES[: len(record.entries)]
    asks = list(replay_asks(record))
    turn = find_turn(find_leads(list_left(record, [ask.after for ask in asks])), range(len(names)))

    remarks = remark_game(record, names)

    if len(names) == 2 and turn:
        assert remarks[0].action == asks[turn.action + 1].first
        assert f"action {remarks[0].action}" in remarks[0].words
    assert all(0 <= remark.action < len(record.actions) for remark in remarks if remark.action is not None)
    assert all("{" not in remark.words for remark in remarks)


def test_a_bot_is_quoted_with_its_last_difference_before_the_game_turned() -> None:
    record = play(Script(), Script())
    own = [index for index, (seat, _) in enumerate(record.actions) if seat == 0]
    choices = [SimpleNamespace(action=index, plays=record.actions[index][1], agrees=index != own[3]) for index in own]

    (*_, differs) = remark_game(record, NAMES[:2], SeatOpinion("sage", 0, choices))
    (*_, agrees) = remark_game(record, NAMES[:2], SeatOpinion("sage", 0, [each for each in choices if each.agrees]))

    assert differs.words.startswith(f"sage would have played otherwise in 1 of your {len(own)} actions; ")
    assert differs.action == own[3]
    assert agrees.words == f"sage would have played every one of your {len(own) - 1} actions."


def test_nothing_is_said_of_a_game_that_nobody_played() -> None:
    failing = {"begin": Verdict("crash", "gone")}

    assert remark_game(play(Script(fails=failing), Script(fails=failing)), NAMES[:2]) == []
