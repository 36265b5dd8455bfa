"""What standings remember of games that rest, against standings of all games at once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malice.referee.records import Key
from malice.tournaments.league import rating_groups
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.rating_groups import GameMemory, GroupTerms
from malice.tournaments.league.standings import compute_standings, make_standings
from tests.summaries import game

LABELS = ("ann", "bob", "cem")
GAMES = tuple(
    game(seats, (1, 2) if (deal + rotation) % 3 else (2, 1), Key(0, table, deal, rotation))
    for table, pair in enumerate((("ann", "bob"), ("bob", "cem")))
    for deal in range(3)
    for rotation, seats in enumerate((pair, pair[::-1]))
)


@settings(max_examples=40)
@given(order=st.permutations(GAMES), steps=st.lists(st.integers(0, len(GAMES)), max_size=4), recent=st.integers(0, 4))
def test_new_games_change_standings_as_if_all_games_were_new(
    order: list[GameSummary], steps: list[int], recent: int
) -> None:
    """Also where a late game completes a deal whose other game rests, and where games vanish."""
    memory = GameMemory()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rating_groups, "RECENT", recent)
        for count in (*steps, len(order)):
            kinds = memory.collect(order[:count], lambda each: each, None, GroupTerms(LABELS, (), ()))
            found = make_standings(kinds, LABELS, None, dict.fromkeys(LABELS, "playing"))

            assert found == compute_standings(order[:count], LABELS)
