"""Which game is the most dramatic, and that each is measured once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from malice.referee.records import Key, Record
from malice.site_pages.turning_point import DRAMA_GAMES, Dramas, measure_drama
from tests.site_league import LABELS, League

EARLY = [(9, 9), (8, 9), (8, 7), (8, 6), (8, 5), (8, 0)]
LATE = [(9, 9), (8, 9), (7, 9), (6, 9), (5, 4), (5, 0)]
CLOSE = [(9, 9), (8, 9), (7, 9), (6, 9), (3, 2), (1, 0)]
NEVER = [(9, 9), (8, 9), (7, 9), (6, 9), (5, 9), (0, 9)]


class Asked(League):
    """A league that counts which records were read."""

    asked: tuple[Key, ...] = ()

    def read_records(self, keys: Iterable[Key]) -> Iterator[Record]:
        told = tuple(keys)
        self.asked += told
        return super().read_records(told)


def test_late_changes_of_the_lead_and_a_close_end_are_dramatic() -> None:
    dramas = [measure_drama(race, (0, 1)) for race in (NEVER, EARLY, LATE, CLOSE)]

    assert dramas == sorted(dramas)
    assert len(set(dramas)) == 4


def test_partners_are_one_side_of_a_drama() -> None:
    doubled = [(one, other, one, other) for one, other in LATE]

    assert measure_drama(doubled, (0, 1, 0, 1)) == measure_drama(LATE, (0, 1))


def test_a_game_alone_has_no_close_end() -> None:
    assert measure_drama([(9,), (0,)], (0,)) == 0


@pytest.mark.parametrize("faulty", [0, 1])
def test_only_the_latest_games_decided_by_play_are_measured_and_each_once(faulty: int) -> None:
    league = Asked(LABELS[:3], deals=3, faulty=faulty)
    latest = [game.key for game in league.games() if not any(game.verdicts)][-DRAMA_GAMES:]
    dramas = Dramas()

    found = [dramas.find(league.read(), league.read_records), dramas.find(league.read(), league.read_records)]

    assert league.asked == tuple(latest)
    assert found[0] == found[1]
    assert found[0] in latest if latest else found[0] is None
