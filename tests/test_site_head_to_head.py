"""What the head-to-head page reads: each meeting once, with figures that its games bear out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from malice import site_pages
from malice.tournaments.league.contents import GameSummary
from tests.site_files import data
from tests.site_league import League

LABELS = ("greedy", "careful", "bold")


@pytest.fixture(scope="module")
def league() -> League:
    """Games of two and of three, some of which end by a verdict."""
    return League(LABELS, deals=4, rulesets=("standard", "multi"), faulty=7)


@pytest.fixture(scope="module")
def folder(league: League, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    site_pages.render(league, out)
    return out


def list_meetings(folder: Path) -> list[tuple[str, str, dict[str, Any]]]:
    """Every stored meeting, with the labels of the two."""
    index = data(folder / "data/meetings.js")
    labels = [bot[0] for bot in index["bots"]]
    return [
        (labels[place], labels[stored["other"]], stored | {"seated": index["rankings"][stored["ranking"]]["seats"]})
        for place in index["files"]
        for stored in data(folder / f"data/meetings-{place}.js")
    ]


def list_games(league: League, one: str, other: str, seats: int) -> list[GameSummary]:
    return [game for game in league.games() if {one, other} <= set(game.labels) and len(game.labels) == seats]


def test_each_meeting_is_stored_once_and_its_games_bear_it_out(league: League, folder: Path) -> None:
    found = list_meetings(folder)

    assert len(found) == len({(one, other, stored["seated"]) for one, other, stored in found}) == 3 + 3
    for one, other, stored in found:
        games = list_games(league, one, other, stored["seated"])
        results = Counter(
            (places[one] > places[other]) - (places[one] < places[other])
            for game in games
            for places in (dict(zip(game.labels, game.places, strict=True)),)
        )
        assert stored["games"] == [results[-1], results[0], results[1]]
        for label, side, place in ((one, stored["sides"][0], 0), (other, stored["sides"][1], 2)):
            assert [sum(column) for column in zip(*side["seats"], strict=True)][:2] == [
                len(games),
                stored["games"][place],
            ]
            verdicts = [game.verdicts[game.labels.index(label)] for game in games]
            assert side.get("failed", 0) == sum(map(bool, verdicts))
        assert stored["longest"][1] == max(game.actions for game in games)


def test_a_deal_counts_as_decided_if_one_won_it_from_both_seats(league: League, folder: Path) -> None:
    first = {str(game.key): game for game in league.games()}
    duels = [(stored, stored["duel"]["deals"]) for _, _, stored in list_meetings(folder) if stored["seated"] == 2]

    assert all("duel" not in stored for _, _, stored in list_meetings(folder) if stored["seated"] == 3)
    assert [sum(deals) for _, deals in duels] == [4, 4, 4]
    for stored, deals in duels:
        swept = [side.get("swept", []) for side in stored["sides"]]
        assert [len(keys) for keys in swept] == [deals[4], deals[0]]
        assert all(first[key].key.rotation == 0 for keys in swept for key in keys)
