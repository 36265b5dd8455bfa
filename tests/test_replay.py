"""A record is played again without bots, and whatever was changed in it is seen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from msgspec.structs import replace

from malice.protocol.messages import Out
from malice.referee.errors import RecordError
from malice.referee.games.spite.messages import Deal
from malice.referee.records import Key, Record, compute_digest
from malice.referee.replay import check_record, find_rules, replay_asks
from malice.referee.rules import Ask, Result
from malice.referee.rulesets import load_ruleset
from malice.referee.verdicts import Verdict
from tests.tables import Script, play

CRASH = Verdict("crash", "the bot exited with status 3")


@pytest.fixture(scope="module")
def won() -> Record:
    """A game without a verdict."""
    return replace_key(play(Script(), Script()))


@pytest.fixture(scope="module")
def void() -> Record:
    return replace_key(play(Script(fails={"begin": CRASH}), Script(fails={"begin": CRASH})))


@pytest.fixture(scope="module")
def forfeit() -> Record:
    return replace_key(play(Script(), Script(fails={"begin": CRASH})))


def replace_key(record: Record) -> Record:
    return signed(replace(record, key=Key(0, 3, 14, 1)))


def signed(record: Record) -> Record:
    """Make a digest for what was changed: the replay alone has to see it."""
    return replace(record, digest=compute_digest(record))


def with_action(record: Record, index: int, action: tuple[int, str]) -> Record:
    return replace(record, actions=(*record.actions[:index], action, *record.actions[index + 1 :]))


def test_what_was_played_is_accepted(won: Record, void: Record, forfeit: Record) -> None:
    for record in (won, void, forfeit):
        check_record(record)


def test_the_deal_comes_first_and_then_every_ask_with_what_came_in(won: Record) -> None:
    deal, *asks = replay_asks(won)

    assert (deal.first, deal.moves) == (0, ())
    assert isinstance(deal.events[0], Deal)
    assert [(ask.first, ask.moves) for ask in asks] == [(index, (move,)) for index, move in enumerate(won.actions)]


def test_each_ask_has_the_states_before_and_after_it(won: Record) -> None:
    rules = find_rules(won)
    deal, *asks = replay_asks(won)

    assert deal.before == deal.after
    assert all(earlier.after == later.before for earlier, later in pairwise([deal, *asks]))
    for ask in asks:
        ((seat, action),) = ask.moves
        assert rules.next(ask.before) == Ask((seat,))
        assert action in rules.legal(ask.before, seat)
    assert isinstance(rules.next(asks[-1].after), Result)


def test_a_withdrawal_is_told_as_an_event(void: Record, forfeit: Record) -> None:
    assert [ask.events for ask in replay_asks(void)][1:] == [(Out(0, "crash"),), (Out(1, "crash"),)]
    assert [ask.events[0] for ask in replay_asks(forfeit)][1:] == [Out(1, "crash")]


TAMPERED: dict[str, Callable[[Record], Record]] = {
    "an action": lambda record: with_action(record, 9, (record.actions[9][0], "hAC-c0")),
    "a seat": lambda record: with_action(record, 9, (1 - record.actions[9][0], record.actions[9][1])),
    "a seat that does not exist": lambda record: with_action(record, 0, (-1, "!crash")),
    "a verdict out of turn": lambda record: with_action(record, 9, (1 - record.actions[9][0], "!crash")),
    "a verdict that does not exist": lambda record: with_action(record, 9, (record.actions[9][0], "!boredom")),
    "two verdicts, not void": lambda record: replace(
        record, actions=((0, "!crash"), (1, "!crash")), places=(2, 1), scores=(0, 25), reason="forfeit"
    ),
    "one verdict twice": lambda record: replace(record, actions=((0, "!crash"), (0, "!crash"))),
    "an action too few": lambda record: replace(record, actions=record.actions[:-1]),
    "no actions": lambda record: replace(record, actions=()),
    "an action too many": lambda record: replace(record, actions=(*record.actions, (0, "h2C-s0"))),
    "a verdict too many": lambda record: replace(record, actions=(*record.actions, (0, "!crash"))),
    "places": lambda record: replace(record, places=record.places[::-1]),
    "scores": lambda record: replace(record, scores=(record.scores[0] + 1, record.scores[1])),
    "the reason": lambda record: replace(record, reason="payoff_empty"),
    "the reason, to void": lambda record: replace(record, reason="void"),
    "reason and places, to void": lambda record: replace(record, reason="void", places=(1, 1), scores=(0, 0)),
    "the deal seed": lambda record: replace(record, deal_seed="ab" * 32),
    "a deal seed that is none": lambda record: replace(record, deal_seed="cards"),
    "the rules": lambda record: replace(record, rules=load_ruleset("book").rules),
    "rules that are none": lambda record: replace(record, rules=replace(record.rules, payoff_size=99)),
    "an entry too many": lambda record: replace(record, entries=(*record.entries, ("me", "00"))),
}
OF_A_VOID_GAME: dict[str, Callable[[Record], Record]] = {
    "no actions": lambda record: replace(record, actions=()),
    "one side only": lambda record: replace(record, actions=record.actions[:1]),
    "one side twice": lambda record: replace(record, actions=(record.actions[0],) * 2),
    "a seat that does not exist": lambda record: with_action(record, 0, (2, "!crash")),
    "an action": lambda record: with_action(record, 0, (0, "h8C-s0")),
    "an action at last": lambda record: replace(record, actions=((1, "!crash"), (0, "h8C-s0"))),
    "a winner": lambda record: replace(record, places=(1, 2)),
    "scores": lambda record: replace(record, scores=(5, 0)),
    "the reason": lambda record: replace(record, reason="forfeit"),
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_what_cannot_have_been_played_is_refused_by_its_key_even_with_a_new_digest(
    won: Record, tamper: Callable[[Record], Record]
) -> None:
    with pytest.raises(RecordError, match=r"^game 0\.3\.14\.1: "):
        check_record(signed(tamper(won)))


@pytest.mark.parametrize("tamper", OF_A_VOID_GAME.values(), ids=OF_A_VOID_GAME)
def test_a_void_game_is_one_in_which_every_side_failed_and_nobody_won(
    void: Record, tamper: Callable[[Record], Record]
) -> None:
    with pytest.raises(RecordError, match=r"^game 0\.3\.14\.1: "):
        check_record(signed(tamper(void)))


def test_a_forfeit_is_told_once(forfeit: Record) -> None:
    with pytest.raises(RecordError, match=r"^game 0\.3\.14\.1: action 1 \('!crash' of seat 1\): expected Result"):
        check_record(signed(replace(forfeit, actions=forfeit.actions * 2)))


def test_who_is_not_asked_cannot_forfeit_once_somebody_has_played(won: Record, forfeit: Record) -> None:
    (seat, action), *_ = won.actions
    record = replace(forfeit, actions=((seat, action), (seat, "!crash")))

    with pytest.raises(RecordError, match=r"action 1 \('!crash' of seat 0\): expected Ask\(seats=\(1,\)\)"):
        check_record(signed(record))


SWAPPED: dict[str, Callable[[Record], Record]] = {
    "key": lambda record: replace(record, key=Key(0, 3, 14, 0)),
    "entries": lambda record: replace(record, entries=record.entries[::-1]),
    "hash": lambda record: replace(record, entries=((record.entries[0][0], "01"), record.entries[1])),
    "verdict": lambda record: with_action(record, 0, (1, "!timeout")),
    "digest": lambda record: replace(record, digest="0" * 64),
}


@pytest.mark.parametrize("tamper", SWAPPED.values(), ids=SWAPPED)
def test_what_could_have_been_played_is_refused_by_its_digest(
    forfeit: Record, tamper: Callable[[Record], Record]
) -> None:
    with pytest.raises(RecordError, match=r"^game 0\.3\.14\.\d: the digest does not match"):
        check_record(tamper(forfeit))


def test_another_format_is_refused(won: Record) -> None:
    with pytest.raises(RecordError, match=r"^game 0\.3\.14\.1: expected format 2, got 1"):
        check_record(signed(replace(won, format=1)))
