"""What a row tells of the time of a game's actions."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from malice.referee import rulesets
from malice.referee.records import Key
from malice.tournaments.league.contents import ActionTimes, parse_times, summarize_record
from tests.site_league import play

RECORD = play(rulesets.load_ruleset("standard").rules, ("a", "b"), Key(0, 0, 0, 0), (20, "crash"))


def count(micros: tuple[int, ...]) -> list[ActionTimes]:
    actions = RECORD.actions[: len(micros)]
    record = msgspec.structs.replace(RECORD, actions=actions, micros=micros)
    return parse_times(summarize_record(record, 0, (0, 1), (1, 1)).thinking)


@given(st.lists(st.integers(0, 2**53), max_size=20).map(tuple))
def test_every_action_is_in_the_bucket_of_its_seat_and_time(micros: tuple[int, ...]) -> None:
    for seat, thinking in enumerate(count(micros)):
        mine = [time for (own, _), time in zip(RECORD.actions, micros, strict=False) if own == seat]
        for place, found in enumerate(thinking.counts):
            least, most = (1 << thinking.first + place) >> 1, 1 << thinking.first + place
            assert found == sum(least <= time < most for time in mine)
        assert sum(thinking.counts) == len(mine)
        assert not thinking.counts or thinking.counts[0] > 0 < thinking.counts[-1]


def test_the_time_until_a_verdict_is_not_that_of_an_action() -> None:
    assert RECORD.actions[20][1] == "!crash"

    assert sum(sum(each.counts) for each in count((5,) * 20 + (10**9,))) == 20
