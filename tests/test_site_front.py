"""The first screen of the front page: who leads, a game at its turn, and the tables to download."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice import site_pages
from malice.referee.families import load_family
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.replay import replay_asks
from malice.referee.rulesets import load_ruleset
from malice.site_pages.sections import list_leaders
from malice.site_pages.turning_point import find_front_game
from malice.tournaments.league.race import Turn, find_turn
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.standings import compute_standings
from tests.site_files import Page
from tests.site_league import LABELS, League
from tests.summaries import islands, pair, rename

A, B, BOTH = frozenset({0}), frozenset({1}), frozenset({0, 1})


@pytest.mark.parametrize(
    ("leads", "turn"),
    [
        ([BOTH, A, B, B, BOTH, A, A], Turn(4, True)),
        ([BOTH, BOTH, A, BOTH, A], Turn(1, False)),
        ([A, A], Turn(0, False)),
        ([A, BOTH], None),
        ([], None),
    ],
)
def test_a_game_turns_where_the_last_leader_takes_the_lead_for_good(
    leads: list[frozenset[int]], turn: Turn | None
) -> None:
    assert find_turn(leads, (0, 1)) == turn


def test_partners_lead_together() -> None:
    sides = [frozenset({0, 1, 2, 3}), frozenset({1, 3}), frozenset({0, 2})]

    assert find_turn(sides, (0, 1, 0, 1)) == Turn(1, True)


def test_partners_have_left_what_both_of_them_have() -> None:
    family, ruleset = load_family(DEFAULT_FAMILY), load_ruleset("partners-4")
    assert family.race is not None
    game = family.rules(ruleset.rules, 4)
    record = next(League(LABELS[:4], deals=1, rulesets=("partners-4",), seats=4).records())
    *_, last = replay_asks(record)
    piles = [len(pile) for pile in last.after.payoffs]

    left = family.race(game.view(last.after, None))

    assert list(left) == [sum(piles[own] for own in (0, 1, 2, 3) if game.teams[own] == team) for team in game.teams]


def test_the_front_page_opens_a_game_of_the_best_where_replays_find_it(tmp_path: Path) -> None:
    league = League(LABELS[:3], deals=2)
    (standings,) = compute_league_standings(league.read())

    found = find_front_game(league.read(), league.read_records, [standings])
    site_pages.render(league, tmp_path)

    assert found is not None
    assert found.turn is not None
    assert set(found.game.labels) == {row.label for row in standings.rows[:2]}
    assert f"replay.html#{found.game.key}/{found.turn.action}" in Page(tmp_path / "index.html").links
    page = (tmp_path / "index.html").read_text()
    assert f'src="replay.html?embed#{found.place}"' in page
    assert "whoever first plays the last card of their own pay-off pile wins" in page
    assert ("Same cards, other seat, other winner" in page) == (found.mirror is not None)
    assert f"malice play you BOT --web --ruleset {found.game.ruleset}" in (tmp_path / "index.html").read_text()
    (record,) = league.read_records([found.game.key])
    asks = [ask.after for ask in replay_asks(record)]
    assert found.last == len(asks) - 2 >= found.turn.action
    winner = found.game.places.index(1)
    left = [len(asks[found.turn.action + 1].payoffs[seat]) for seat in (winner, 1 - winner)]
    assert left[0] < left[1]


def test_a_game_whose_family_knows_no_race_opens_right_before_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    league = League(LABELS[:2], deals=1)
    family = replace(load_family(DEFAULT_FAMILY), race=None)
    monkeypatch.setattr("malice.tournaments.league.race.load_family", lambda name: family)

    found = find_front_game(league.read(), league.read_records, compute_league_standings(league.read()))

    assert found is not None
    assert (found.turn, found.last, found.action) == (None, found.game.actions - 1, found.last - 1)
    assert replace(found, turn=Turn(found.last, True)).action == found.last - 1


def test_each_group_has_a_leader_and_a_shared_lead_has_several() -> None:
    (apart,) = compute_standings(islands(), ["a", "b", "c", "d", "e"])
    (drawn,) = compute_standings([*pair(0, (1, 1), (1, 1))], ["a", "b"])

    leaders = list_leaders(apart)
    (shared,) = list_leaders(drawn)

    assert [(each.group, each.first[0].exact, each.second and each.second.exact) for each in leaders] == [
        ("Group 1", "c", "e"),
        ("Group 2", "a", "b"),
    ]
    assert ([each.exact for each in shared.first], shared.second) == (["a", "b"], None)


def test_who_does_not_play_leads_nothing() -> None:
    games = [*pair(0, (1, 2), (1, 2)), *(rename(game, {"a": "c", "b": "b"}) for game in pair(0, (2, 1), (2, 1)))]

    (found,) = compute_standings(games, ["a", "b", "c"], shown={"a": "suspended", "b": "playing", "c": "playing"})
    (leader,) = list_leaders(found)

    assert leader.first[0].exact == "b"


def test_every_table_has_its_figures_beside_it(tmp_path: Path) -> None:
    league = League(LABELS, deals=1, rulesets=("standard", "skipbo-short"))
    league.suspend("careful")

    site_pages.render(league, tmp_path)

    links = [link for link in Page(tmp_path / "index.html").links if link.startswith("data/")]
    assert links
    assert all((tmp_path / link).is_file() for link in links)
    standings = compute_league_standings(league.read())[0]
    rows = json.loads((tmp_path / "data/ranking-standard-2.json").read_bytes())
    assert [(row["bot"], row["rank"], row["elo"], row["state"]) for row in rows] == [
        (row.label, row.rank, row.rating.elo, row.state) for row in standings.rows
    ]
    assert rows[-1]["state"] == "suspended"
    with (tmp_path / "data/overall.csv").open(encoding="utf-8", newline="") as file:
        overall = {row["bot"]: row for row in csv.DictReader(file)}
    assert overall["careful"]["rank"] == ""
    assert sum(bool(row["rank"]) for row in overall.values()) == len(LABELS) - 1
