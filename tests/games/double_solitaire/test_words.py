"""Double Solitaire in words: golden games for a spectator, actions and events for a person at the table."""

import pytest

from malice.referee.games.double_solitaire import FAMILY
from malice.referee.games.double_solitaire.messages import CardsMoved, Draw, End, Exchanged, TurnedOver
from malice.referee.rulesets import list_rulesets

from .playthroughs import FOLDER, NAMES, render_playthrough
from .tables import game, lay

YOU = 0


@pytest.mark.parametrize("name", list_rulesets("double-solitaire"))
def test_the_golden_game_is_played_again_line_by_line(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text("utf-8")

    assert render_playthrough(name).splitlines() == golden.splitlines(), (
        "if that is intended: python -m tests.games.double_solitaire.playthroughs"
    )


def test_every_golden_game_belongs_to_a_ruleset() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(list_rulesets("double-solitaire"))


def test_a_person_reads_what_each_action_does() -> None:
    engine = game(table_moves="run")
    state = lay("8H 7S", "9C", "", "2D", card="AD", discards=("KH 8C", "7C"), heights=(0, 0, 0, 0))
    view = engine.view(state, YOU)

    assert {action: FAMILY.describe_action(action, view, NAMES) for action in engine.legal(state, YOU)} == {
        "h-f": "AD to its foundation",
        "h-t2": "AD to t2, empty",
        "d-t2": "8C of your discard pile to t2, empty",
        "d-o": "8C of your discard pile to the discard pile of Bob, on 7C",
        "t0x2-t1": "8H 7S of t0 to t1, on 9C",
        "t0-t2": "7S of t0 to t2, empty",
        "h-d": "discard AD, which ends the turn",
    }
    assert FAMILY.describe_action("end", view, NAMES) == "end the turn"
    assert FAMILY.describe_action("exchange", view, NAMES) == "exchange the two stocks, unseen"


def test_a_person_reads_what_the_other_does_and_what_the_own_stock_gives() -> None:
    events = (
        Exchanged(1),
        CardsMoved(1, "h", "0d", ("7C",)),
        CardsMoved(1, "t0", "t1", ("8H", "7S")),
        End(1),
        TurnedOver(0, 1),
        Draw(0, "KH"),
        CardsMoved(0, "h", "0d", ("KH",)),
    )

    assert [FAMILY.describe_event(event, NAMES, YOU) for event in events] == [
        "Bob exchanges the two stocks, unseen",
        "Bob loads 7C from hand onto your discard pile",
        "Bob moves 2 cards, up to 7S, from table pile 0 to table pile 1",
        "Bob ends the turn",
        "you turn your discard pile over: 1 card",
        "you take KH from your stock",
        "",
    ]


def test_a_long_discard_pile_is_cut_and_the_race_counts_the_card_in_hand() -> None:
    state = lay("8H", card="AD", discards=("KH 8C 2C 3C 4C 5C 6C 7C 9C TC", "7C"))
    view = game().view(state, None)

    assert any(line.endswith("discard (2 more) 2C 3C 4C 5C 6C 7C 9C TC") for line in FAMILY.sketch(view, NAMES))
    assert FAMILY.race
    assert FAMILY.race(view) == (2 + 10 + 1, 2 + 1)
