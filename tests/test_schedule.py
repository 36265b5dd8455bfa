"""The schedule is a pure function of the configuration, and fair at every prefix."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math

import pytest

from referee.records import Key
from referee.rulesets import load_ruleset
from tournaments.league.schedule import BATCH_DEALS, ROUNDS, Schedule, Seeds

STANDARD = ((load_ruleset("standard"), 2),)


def games(schedule: Schedule) -> list[Key]:
    return [key for batch in schedule.batches() for key in batch.games()]


@pytest.mark.parametrize(("entries", "deals"), [(2, 1), (3, 25), (4, 26), (5, 60)])
def test_every_deal_of_every_table_is_played_once_in_each_rotation(entries: int, deals: int) -> None:
    schedule = Schedule(STANDARD, entries, deals)

    tables = entries * (entries - 1) // 2
    expected = {Key(table, deal, rotation) for table in range(tables) for deal in range(deals) for rotation in range(2)}
    assert set(games(schedule)) == expected
    assert len(games(schedule)) == len(expected) == schedule.total


@pytest.mark.parametrize(("entries", "deals"), [(2, 1), (3, 25), (4, 26), (5, 60)])
def test_the_number_of_a_game_is_its_place_in_playing_order(entries: int, deals: int) -> None:
    schedule = Schedule(STANDARD, entries, deals)

    assert [schedule.number(key) for key in games(schedule)] == list(range(schedule.total))
    assert sum(1 for _ in schedule.batches()) == schedule.batch_count()


def test_a_batch_never_holds_two_games_of_one_deal() -> None:
    for batch in Schedule(STANDARD, 4, 70).batches():
        deals = [key.deal for key in batch.games()]

        assert len(deals) == len(set(deals)) <= BATCH_DEALS


def test_bots_are_started_for_25_deals_at_most_and_for_a_quarter_of_a_short_tournament() -> None:
    assert [Schedule(STANDARD, 2, deals).batch_deals for deals in (1, 7, 8, 50, 100, 1000)] == [1, 1, 2, 12, 25, 25]


def test_every_table_has_played_its_first_batch_in_both_seats_before_any_plays_its_second() -> None:
    schedule = Schedule(STANDARD, 4, 2 * ROUNDS)

    first = [(batch.table, batch.rotation) for batch in schedule.batches() if batch.first == 0]
    assert first[::2] == [(table, 0) for table, _ in first[::2]]
    assert first[1::2] == [(table, 1) for table, _ in first[::2]]
    assert sorted(first) == [(table, rotation) for table in range(6) for rotation in range(2)]
    assert [batch.first for batch in schedule.batches()] == [
        first for first in range(0, 2 * ROUNDS, 2) for _ in range(12)
    ]


@pytest.mark.parametrize("entries", range(2, 12))
def test_no_entry_of_a_round_robin_sits_twice_more_than_another(entries: int) -> None:
    schedule = Schedule((*STANDARD, (load_ruleset("classic"), 2)), entries, 8)
    sat = dict.fromkeys(range(entries), 0)

    for batch in schedule.batches():
        if batch.rotation == 0:
            for entry in schedule.tables[batch.table].entries:
                sat[entry] += 1
        assert max(sat.values()) - min(sat.values()) <= 1
    assert len(set(sat.values())) == 1


def test_several_rulesets_give_every_pair_a_table_of_each() -> None:
    schedule = Schedule(((load_ruleset("standard"), 2), (load_ruleset("classic"), 2)), 3, 1)

    assert [(table.ruleset.name, table.entries) for table in schedule.tables] == [
        ("standard", (0, 1)),
        ("standard", (0, 2)),
        ("standard", (1, 2)),
        ("classic", (0, 1)),
        ("classic", (0, 2)),
        ("classic", (1, 2)),
    ]


def test_the_deal_seed_is_the_hmac_of_table_and_deal_whatever_the_rotation() -> None:
    seeds = Seeds(bytes(range(32)))

    expected = hmac.new(bytes(range(32)), b"deal\x003\x0017", hashlib.sha256).digest()
    assert seeds.deal_seed(Key(3, 17, 0)) == seeds.deal_seed(Key(3, 17, 1)) == expected


def test_a_seat_gets_31_bits_of_its_own_in_every_game() -> None:
    seeds = Seeds(b"x" * 32)

    orders = [seeds.order(Key(0, deal, rotation), 2) for deal in range(50) for rotation in range(2)]
    rngs = [rng for order in orders for rng in order.rngs]
    assert len(set(rngs)) == 200
    assert all(0 <= rng < 2**31 for rng in rngs)
    expected = hmac.new(b"x" * 32, b"rng\x000.7.1\x001", hashlib.sha256).digest()
    assert seeds.order(Key(0, 7, 1), 2).rngs[1] == int.from_bytes(expected[:4], "big") >> 1


def test_rotation_k_moves_every_player_by_k_seats() -> None:
    seeds = Seeds(b"x" * 32)

    assert seeds.order(Key(0, 0, 0), 2).seating == (0, 1)
    assert seeds.order(Key(0, 0, 1), 2).seating == (1, 0)


def test_the_commit_is_the_digest_of_the_seed() -> None:
    assert Seeds(b"x" * 32).commit == "sha256:" + hashlib.sha256(b"x" * 32).hexdigest()


@pytest.mark.parametrize(("entries", "seats", "deals"), [(4, 3, 26), (5, 4, 2), (6, 6, 1)])
def test_tables_of_more_seats_play_every_deal_in_every_rotation(entries: int, seats: int, deals: int) -> None:
    schedule = Schedule([(load_ruleset("standard"), seats)], entries, deals)

    found = games(schedule)
    assert len(schedule.tables) == math.comb(entries, seats)
    assert len(set(found)) == len(found) == schedule.total == len(schedule.tables) * deals * seats
    assert [schedule.number(key) for key in found] == list(range(schedule.total))


def test_rulesets_with_different_numbers_of_seats_share_one_schedule() -> None:
    schedule = Schedule([(load_ruleset("standard"), 2), (load_ruleset("classic"), 3)], 3, 30)

    assert [schedule.number(key) for key in games(schedule)] == list(range(schedule.total))
    assert schedule.total == 30 * (3 * 2 + 1 * 3)


def test_each_rotation_of_a_deal_moves_everybody_to_the_next_seat() -> None:
    seeds = Seeds(b"x" * 32)

    for deal in range(20):
        seatings = [seeds.seating(Key(0, deal, rotation), 4) for rotation in range(4)]
        assert [sorted(seating) for seating in seatings] == [[0, 1, 2, 3]] * 4
        for before, after in itertools.pairwise(seatings):
            assert after == (*before[1:], before[0])


def test_with_three_seats_and_more_the_order_around_the_table_changes_from_deal_to_deal() -> None:
    seeds = Seeds(b"x" * 32)

    assert len({seeds.seating(Key(0, deal, 0), 4) for deal in range(50)}) > 10


def test_tables_are_drawn_by_label_and_ruleset_wherever_in_the_file_an_entry_stands() -> None:
    seeds = Seeds(b"x" * 32)
    labels = ["a", "b", "c", "d", "e"]

    order = [labels[entry] for entry in seeds.draw_order("standard", labels)]

    assert order == sorted(
        labels, key=lambda label: hmac.new(b"x" * 32, f"draw\0standard\0{label}".encode(), "sha256").digest()
    )
    backwards = labels[::-1]
    assert [backwards[entry] for entry in seeds.draw_order("standard", backwards)] == order
    assert any(
        seeds.draw_order(ruleset, labels) != seeds.draw_order("standard", labels) for ruleset in ("pure", "duel")
    )
