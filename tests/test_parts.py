"""A part: which games it has, in which order, and which cards its seed deals."""

from __future__ import annotations

import hashlib
import hmac
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from malice.referee.records import Key
from malice.tournaments.league.formats.draw import list_pairs
from malice.tournaments.league.parts import (
    BATCH_DEALS,
    ROUNDS,
    Part,
    PartTable,
    Schedule,
    Seeds,
    VersionKey,
    derive_part_seed,
    draw_order,
    list_chain,
)

SECRET = bytes(range(32))


def make_part(
    tables: list[tuple[int, ...]],
    deals: int = 1,
    *,
    number: int = 0,
    first: int = 0,
    after: tuple[int, int] | None = None,
) -> Part:
    """A part whose tables seat entries of these numbers."""
    seated = [PartTable("standard", tuple(VersionKey(f"e{entry}", 1) for entry in table), after) for table in tables]
    return Part("a part", deals, tuple(seated), number=number, first=first)


def make_schedule(part: Part) -> Schedule:
    """The games of a part in which the tables of even number have one game a deal."""
    tables = tuple(
        replace(table, ruleset=("alone", "standard")[number % 2]) for number, table in enumerate(part.tables)
    )
    return Schedule(replace(part, tables=tables), ["alone"])


def make_round_robin(entries: int, deals: int) -> Schedule:
    return Schedule(make_part([tuple(sorted(pair)) for pair in list_pairs(entries)], deals))


def games(schedule: Schedule) -> list[Key]:
    return [key for batch in schedule.batches() for key in batch.games()]


parts = st.builds(
    make_part,
    tables=st.lists(st.integers(1, 6).map(lambda seats: tuple(range(seats))), min_size=1, max_size=7),
    deals=st.integers(1, 120),
    number=st.integers(0, 9),
    first=st.integers(0, 10**6),
)


@given(parts)
def test_every_deal_of_every_table_is_played_once_in_each_rotation_or_once_alone(part: Part) -> None:
    schedule = make_schedule(part)

    found = games(schedule)
    assert len(found) == len(set(found)) == schedule.total
    assert set(found) == {
        Key(part.number, table, deal, rotation)
        for table, seated in enumerate(part.tables)
        for deal in range(part.deals)
        for rotation in range(len(seated.versions) if table % 2 else 1)
    }


@given(parts)
def test_numbers_follow_playing_order_from_the_first_number_of_the_part(part: Part) -> None:
    schedule = make_schedule(part)

    numbers = [schedule.number(key) for key in games(schedule)]
    assert list(map(schedule.key, numbers)) == list(games(schedule))
    assert numbers == list(range(part.first, part.first + schedule.total))


@given(parts)
def test_a_part_has_its_games_and_no_others(part: Part) -> None:
    schedule = make_schedule(part)
    seats = max(len(table.versions) for table in part.tables)
    around = itertools.product(
        {part.number - 1, part.number, part.number + 1},
        range(-1, len(part.tables) + 1),
        (-1, 0, part.deals - 1, part.deals),
        range(-1, seats + 1),
    )

    found = set(games(schedule))
    assert all(schedule.has(key) == (key in found) for key in itertools.starmap(Key, around))


@given(parts)
def test_a_batch_holds_one_rotation_of_a_table_and_never_two_games_of_one_deal(part: Part) -> None:
    schedule = make_schedule(part)
    batches = list(schedule.batches())

    for batch in batches:
        keys = list(batch.games())
        assert 1 <= len({key.deal for key in keys}) == len(keys) <= BATCH_DEALS
        assert {(key.part, key.table, key.rotation) for key in keys} == {(part.number, batch.table, batch.rotation)}


def test_bots_are_started_for_25_deals_at_most_and_for_a_quarter_of_a_short_part() -> None:
    lengths = [make_round_robin(2, deals).batch_deals for deals in (1, 7, 8, 50, 100, 1000)]

    assert lengths == [1, 1, 2, 12, 25, 25]


def test_every_table_has_played_its_first_batch_in_all_seats_before_any_plays_its_second() -> None:
    batches = list(Schedule(make_part([(0, 1), (2, 3, 4)], 2 * ROUNDS)).batches())

    one_round = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    assert [(batch.table, batch.rotation) for batch in batches] == ROUNDS * one_round
    assert [batch.first for batch in batches] == [first for first in range(0, 2 * ROUNDS, 2) for _ in one_round]


@pytest.mark.parametrize("entries", range(2, 12))
def test_no_entry_of_a_round_robin_sits_twice_more_than_another(entries: int) -> None:
    schedule = make_round_robin(entries, 8)
    sat = {f"e{entry}": 0 for entry in range(entries)}

    for batch in schedule.batches():
        if batch.rotation == 0:
            for label in schedule.labels[batch.table]:
                sat[label] += 1
        assert max(sat.values()) - min(sat.values()) <= 1
    assert len(set(sat.values())) == 1


def test_a_chain_leads_from_the_first_table_to_the_last() -> None:
    first = make_part([(0, 2), (0, 1)])
    second = make_part([(0, 1)], number=1, after=(0, 1))
    third = make_part([(1, 2), (0, 1)], number=2, after=(1, 0))

    assert list_chain([first, second, third], 2, 1) == [(0, 1), (1, 0), (2, 1)]
    assert list_chain([first, second, third], 0, 0) == [(0, 0)]


# Seeds


def test_the_seed_of_a_part_is_the_hmac_of_tournament_and_number() -> None:
    expected = hmac.new(SECRET, b"part\0friday\x007", hashlib.sha256).digest()

    assert derive_part_seed(SECRET, "friday", 7) == expected
    assert len({derive_part_seed(SECRET, name, number) for name in ("a", "b") for number in range(50)}) == 100


def test_the_commit_is_the_digest_of_the_seed() -> None:
    assert Seeds(SECRET).commit == "sha256:" + hashlib.sha256(SECRET).hexdigest()


def test_the_deal_seed_is_the_hmac_of_table_and_deal_whatever_the_rotation() -> None:
    seeds = Seeds(SECRET)

    expected = hmac.new(SECRET, b"deal\x003\x0017", hashlib.sha256).digest()
    assert seeds.deal_seed(Key(0, 3, 17, 0)) == seeds.deal_seed(Key(0, 3, 17, 1)) == expected


def test_tables_share_no_deal() -> None:
    seeds = Seeds(SECRET)

    assert len({seeds.deal_seed(Key(0, table, deal, 0)) for table in range(30) for deal in range(30)}) == 900


def test_common_deals_leave_the_table_out_of_cards_and_seating_but_not_of_the_seeds_of_bots() -> None:
    seeds = Seeds(SECRET, common=True)

    expected = hmac.new(SECRET, b"deal\x0017", hashlib.sha256).digest()
    assert {seeds.deal_seed(Key(0, table, 17, 0)) for table in range(9)} == {expected}
    assert len({seeds.seating(Key(0, table, 17, 1), 4) for table in range(9)}) == 1
    assert len({seeds.order(Key(0, table, 17, 0), 2).rngs for table in range(9)}) == 9


def test_a_seat_gets_31_bits_of_its_own_in_every_game() -> None:
    seeds = Seeds(SECRET)

    orders = [seeds.order(Key(0, 0, deal, rotation), 2) for deal in range(50) for rotation in range(2)]
    rngs = [rng for order in orders for rng in order.rngs]
    assert len(set(rngs)) == 200
    assert all(0 <= rng < 2**31 for rng in rngs)
    expected = hmac.new(SECRET, b"rng\x004.0.7.1\x001", hashlib.sha256).digest()
    assert seeds.order(Key(4, 0, 7, 1), 2).rngs[1] == int.from_bytes(expected[:4], "big") >> 1


def test_rotation_k_moves_every_player_by_k_seats() -> None:
    seeds = Seeds(SECRET)

    assert seeds.order(Key(0, 0, 0, 0), 2).seating == (0, 1)
    assert seeds.order(Key(0, 0, 0, 1), 2).seating == (1, 0)
    for deal in range(20):
        seatings = [seeds.seating(Key(0, 0, deal, rotation), 4) for rotation in range(4)]
        assert [sorted(seating) for seating in seatings] == [[0, 1, 2, 3]] * 4
        for before, after in itertools.pairwise(seatings):
            assert after == (*before[1:], before[0])


def test_with_three_seats_and_more_the_order_around_the_table_changes_from_deal_to_deal() -> None:
    seeds = Seeds(SECRET)

    assert len({seeds.seating(Key(0, 0, deal, 0), 4) for deal in range(50)}) > 10


def test_tables_are_drawn_by_label_and_ruleset_wherever_in_the_file_an_entry_stands() -> None:
    labels = ["a", "b", "c", "d", "e"]

    order = [labels[entry] for entry in draw_order(SECRET, "standard", labels)]

    assert order == sorted(
        labels, key=lambda label: hmac.new(SECRET, f"draw\0standard\0{label}".encode(), "sha256").digest()
    )
    backwards = labels[::-1]
    assert [backwards[entry] for entry in draw_order(SECRET, "standard", backwards)] == order
    assert any(
        draw_order(SECRET, ruleset, labels) != draw_order(SECRET, "standard", labels) for ruleset in ("pure", "duel")
    )
