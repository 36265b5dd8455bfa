"""The rules of Klondike: cards are conserved, every game ends, nobody learns of the others."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.json import encode
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN
from malice.protocol.messages import ClockRules
from malice.referee.course import list_asked
from malice.referee.errors import IllegalAction, RulesetError
from malice.referee.games.klondike import Klondike
from malice.referee.games.klondike.engine import State, open_table
from malice.referee.games.klondike.messages import Dealt, Ended, Flip, Moved, Turned, Undone
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.plays import change_layout, list_legal
from malice.referee.games.klondike.table import NUMBER, RANK, RED, Layout, Table, rank_tables
from malice.referee.records import Batch, Key
from malice.referee.requests import Requests
from malice.referee.rules import Ask, Events, Result

from .playouts import lay_out, list_cards, make_choosers, make_course, number_cards, play_out

parameters = st.builds(
    Parameters,
    draw=st.sampled_from([1, 3]),
    redeals=st.sampled_from([0, 2, "unlimited"]),
    foundation_back=st.booleans(),
    undo=st.sampled_from(["free", "counted", "none"]),
    idle=st.sampled_from([5, 40, 200]),
    max_actions=st.sampled_from([30, 150]),
)


@given(parameters, st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_every_game_ends_and_keeps_its_cards_whoever_plays(rules: Parameters, seats: int, seed: int) -> None:
    course, choosers = make_course(rules, seats, seed), make_choosers(seed)
    Random(seed).shuffle(choosers)
    for _ in play_out(course, choosers):
        for seat, table in enumerate(course.state.tables):
            legal = course.rules.legal(course.state, seat)
            assert bool(legal) == (seat in list_asked(course.step)) == (not table.end)
            assert len(set(legal)) == len(legal)
            assert list_cards(table.layout) == list(range(52))
            assert all(_is_run(run) for run in table.layout.ups)
            if legal:
                with pytest.raises(IllegalAction):
                    course.rules.play(course.state, {seat: "t0-t9"})

    tables, result = course.state.tables, course.step
    assert isinstance(result, Result)
    assert all(table.actions <= rules.max_actions and table.idle <= rules.idle for table in tables)
    assert result.scores == tuple(table.cards for table in tables)
    assert min(result.places) == 1


def _is_run(run: tuple[int, ...]) -> bool:
    return all(RANK[low] + 1 == RANK[high] and RED[low] != RED[high] for high, low in pairwise(run))


@given(parameters, st.integers(0, 10**6), st.integers(0, 60), st.sets(st.integers(0, 3), min_size=1))
@settings(max_examples=20, deadline=None)
def test_seats_leave_at_any_moment_together_and_come_last(
    rules: Parameters, seed: int, moment: int, leaving: set[int]
) -> None:
    course, choosers = make_course(rules, 4, seed), make_choosers(seed)
    for number, _ in enumerate(play_out(course, choosers)):
        if number == moment and isinstance(course.step, Ask) and leaving <= set(course.step.seats):
            course.withdraw(dict.fromkeys(sorted(leaving), "timeout"))
            break
    else:
        return
    for _ in play_out(course, choosers):
        assert not leaving & set(course.step.seats)

    assert isinstance(course.step, Result)
    assert {course.step.places[seat] for seat in leaving} == {5 - len(leaving)}
    assert (course.step.reason == "forfeit") <= (len(leaving) >= 3)


def list_requests(rules: Parameters, seed: int, rival: int) -> list[bytes]:
    """All that seat 0 reads, byte for byte, while it plays at random and seat 1 plays in one of several ways."""
    course = make_course(rules, 3, seed)
    terms = Batch(
        family="klondike", ruleset="own", rules=rules, players=(), clock=ClockRules(), init_ms=1, commit="", games=()
    )
    requests = Requests(course.rules, terms, Key(0, 0, 0, 0), (1, 2, 3))
    requests.post(course.dealt)
    mine, others = Random(seed), make_choosers(seed)
    read: list[bytes] = []
    while isinstance(course.step, Ask) and 0 in course.step.seats:
        legal = course.rules.legal(course.state, 0)
        read.append(encode(requests.move(0, len(read), course.state, legal, True)))
        actions = {0: mine.choice(legal[:-1] or legal)}
        for seat in course.step.seats[1:]:
            actions[seat] = others[(seat + rival) % len(others)](course.rules.legal(course.state, seat))
        if rival == 3 and len(read) == 5 and len(actions) == 3:
            requests.post(course.withdraw({2: "crash"}))
            del actions[2]
        requests.post(course.play(actions))
    return read


@given(parameters, st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_a_rival_learns_nothing_byte_for_byte(rules: Parameters, seed: int) -> None:
    rules = replace(rules, max_actions=30)

    first, *others = (list_requests(rules, seed, rival) for rival in range(4))

    assert len(first) > 1
    assert all(read == first for read in others)


@given(parameters, st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_a_card_is_named_only_once_it_has_been_face_up(rules: Parameters, seed: int) -> None:
    course = make_course(rules, 2, seed)
    (dealt,) = course.dealt
    masked = course.rules.mask(dealt, 0)
    assert isinstance(masked, Dealt)
    seen = {column[-1] for column in masked.columns}
    assert {card for column in masked.columns for card in column[:-1]} | set(masked.stock) == {HIDDEN}
    random = Random(seed)
    while isinstance(course.step, Ask) and 0 in course.step.seats:
        named = {card for card in NUMBER if f'"{card}"' in encode(course.rules.view(course.state, 0)).decode()}
        heights = course.state.tables[0].layout.foundations
        buried = {card for card, number in NUMBER.items() if number % 13 < heights[number // 13] - 1}
        assert named == seen - buried
        legal = {seat: course.rules.legal(course.state, seat) for seat in course.step.seats}
        for event in course.play({seat: random.choice(each[:-1] or each) for seat, each in legal.items()}):
            if (shown := course.rules.mask(event, 0)) is not None:
                seen |= set(getattr(shown, "cards", ()) if isinstance(shown, Turned) else ())
                seen |= {shown.card} if isinstance(shown, Flip) else set()


@given(st.sampled_from(["free", "counted"]), st.sampled_from([1, 3]), st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_undo_restores_the_table_all_the_way_and_its_event_says_what_goes_back(undo: str, draw: int, seed: int) -> None:
    rules = Parameters(undo=undo, draw=draw)  # type: ignore[arg-type]
    course, random = make_course(rules, 1, seed), Random(seed)
    layouts, moved = [course.state.tables[0].layout], []
    for _ in range(40):
        legal = [action for action in course.rules.legal(course.state, 0) if action not in ("undo", "done")]
        if not legal:
            break
        events = course.play({0: random.choice(legal)})
        moved.append([event.cards for event in events if isinstance(event, Moved | Turned)])
        layouts.append(course.state.tables[0].layout)
    played, known = course.state.tables[0], course.state.tables[0].seen
    for layout in layouts[-2::-1]:
        (undone,) = course.play({0: "undo"})
        assert isinstance(undone, Undone)
        (cards,) = moved.pop() or [undone.cards]
        assert undone.cards == cards
        assert course.state.tables[0].layout == layout

    table = course.state.tables[0]
    assert "undo" not in table.legal
    assert table.seen == known
    assert (table.moves, table.passes) == ((0, 0) if undo == "free" else (played.moves, played.passes))
    assert table.actions == 2 * (len(layouts) - 1)


def test_undo_is_not_legal_where_the_ruleset_forbids_it() -> None:
    course = make_course(Parameters(undo="none"), 1)
    course.play({0: "turn"})

    assert "undo" not in course.rules.legal(course.state, 0)


# A position


LAYOUT = lay_out(
    {0: ("2C", "KH QS JD"), 1: ("", "QD"), 2: ("", "JS"), 3: ("", "KS"), 5: ("9C", "TC")},
    (0, 3, 0, 1),
    stock="5C 6C",
    waste="8C 4D",
)


def test_runs_and_parts_of_runs_go_where_the_next_card_fits() -> None:
    legal = list_legal(LAYOUT, Parameters(), undoable=False)

    assert legal == (
        *("w-f", "t0-t4", "t1-t3", "t2-t1", "t5-t0"),
        *("turn", "done"),
    )
    assert change(LAYOUT, "t0-t4").ups[4] == number_cards("KH QS JD")
    assert change(LAYOUT, "t0-t4").ups[0] == number_cards("2C")
    assert change(LAYOUT, "t0-t4").downs[0] == ()


def change(layout: Layout, action: str, **fields: object) -> Layout:
    return change_layout(Parameters(**fields), layout, action, 0, [])  # type: ignore[arg-type]


def test_a_king_moves_to_an_empty_column_only_from_something_and_no_other_card_does() -> None:
    legal = list_legal(
        lay_out({0: ("", "KH"), 1: ("", "QD"), 2: ("AC", "KS")}, (0, 0, 0, 0)), Parameters(), undoable=False
    )

    assert legal == ("t1-t2", "t2-t3", "done")


def test_foundation_back_lets_the_top_card_of_a_foundation_go_to_a_column() -> None:
    layout = lay_out({0: ("", "4S")}, (0, 3, 2, 0))

    assert list_legal(layout, Parameters(), undoable=False) == ("fD-t0", "done")
    assert list_legal(layout, Parameters(foundation_back=False), undoable=False) == ("done",)
    assert change(layout, "fD-t0").foundations == (0, 2, 2, 0)


def test_draw_turns_one_card_or_three_and_the_last_of_them_lies_on_top() -> None:
    layout = lay_out({}, (0, 0, 0, 0), stock="AC 2C 3C 4C", waste="5C")

    assert change(layout, "turn").waste == number_cards("5C 4C")
    three = change(layout, "turn", draw=3)
    assert (three.waste, three.stock) == (number_cards("5C 4C 3C 2C"), number_cards("AC"))
    assert change(three, "turn", draw=3).waste == number_cards("5C 4C 3C 2C AC")


def test_redeals_bring_the_stock_back_in_its_order_as_often_as_the_ruleset_allows() -> None:
    layout = lay_out({}, (0, 0, 0, 0), waste="4C 3C 2C AC")

    again = change(layout, "redeal")

    assert (again.stock, again.waste) == (number_cards("AC 2C 3C 4C"), ())
    used = replace(layout, redeals=1)
    assert [
        "redeal" in list_legal(used, Parameters(redeals=redeals), undoable=False) for redeals in (0, 1, 2, "unlimited")
    ] == [False, False, True, True]


# The end


def end(rules: Parameters, layout: Layout, *actions: str) -> tuple[Table, Events]:
    """The table after some actions, and the events of the last of them."""
    game = Klondike(rules, 1)
    state, events = State((open_table(rules, layout),), 1), Events()
    for action in actions:
        state, events = game.play(state, {0: action})
    return state.tables[0], events


def test_a_seat_ends_when_it_has_solved_the_deal() -> None:
    table, events = end(Parameters(), lay_out({0: ("", "KS")}, (13, 13, 13, 12)), "t0-f")

    assert (table.end, table.legal, table.moves, table.cards) == ("solved", (), 1, 52)
    assert events[-1] == Ended(0, "solved", 52)


def test_a_seat_ends_after_idle_actions_and_a_new_card_begins_the_count_again() -> None:
    layout = lay_out({0: ("2H", "5C")}, (0, 0, 0, 0), stock="7C 8C")
    rules = Parameters(idle=3)

    assert end(rules, layout, "turn", "turn", "redeal", "turn")[0].idle == 2
    table, events = end(rules, layout, "turn", "turn", "redeal", "turn", "turn")
    assert (table.end, events[-1]) == ("idle", Ended(0, "idle", 0))


def test_a_seat_ends_after_max_actions_or_when_it_says_so() -> None:
    assert end(Parameters(max_actions=1), LAYOUT, "turn")[0].end == "limit"
    assert end(Parameters(), LAYOUT, "done")[0].end == "done"


def make_table(cards: int, moves: int, passes: int) -> Table:
    heights = tuple(max(0, min(13, cards - 13 * suit)) for suit in range(4))
    layout = lay_out({}, heights)  # type: ignore[arg-type]
    return Table(layout, (), 0, moves=moves, passes=passes, end="solved" if cards == 52 else "done")


def test_solved_comes_first_then_cards_then_few_moves_then_few_passes_and_equals_tie() -> None:
    tables = [(52, 150, 4), (52, 140, 9), (40, 10, 0), (40, 10, 0), (40, 10, 1), (51, 900, 9)]

    result = rank_tables([make_table(*each) for each in tables], (), forfeit=False)

    assert result.places == (2, 1, 4, 4, 6, 3)
    assert (result.scores, result.reason) == ((52, 52, 40, 40, 40, 51), "solved")
    assert rank_tables([make_table(40, 1, 0)], (), forfeit=False).reason == "unsolved"


def test_all_seats_get_the_same_deal_and_are_asked_together_until_their_own_end() -> None:
    course = make_course(seats=3)
    assert len({table.layout for table in course.state.tables}) == 1
    course.play({0: "turn", 1: "done", 2: "turn"})

    assert course.step == Ask((0, 2))
    with pytest.raises(IllegalAction):
        course.rules.play(course.state, {1: "turn"})


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (Parameters(players=(0, 2)), "players"),
        (Parameters(players=(2, 9)), "players"),
        (Parameters(redeals=-1), "redeals"),
        (Parameters(idle=0), "idle"),
        (Parameters(max_actions=0), "max_actions"),
    ],
)
def test_parameters_that_make_no_game_are_refused(wrong: Parameters, name: str) -> None:
    with pytest.raises(RulesetError, match=name):
        Klondike(wrong, 2)
