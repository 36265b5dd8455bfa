"""Elo by part: the fit of the ranking, after each part of a tournament."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.tournaments.league import progression
from malice.tournaments.league.progression import GameRatings, PartRatings, compute_part_ratings
from malice.tournaments.league.ranking import Choice, Picker, compute_league_standings
from malice.tournaments.league.standings import Standings, compute_standings
from malice.tournaments.league.store import Store
from tests.growing_leagues import GrowingLeague, make_short


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GrowingLeague:
    return GrowingLeague(tmp_path / "course.db", monkeypatch, slips={"ann": 0.0, "bob": 0.3, "cem": 0.6, "eve": 0.2})


@pytest.fixture
def grown(league: GrowingLeague) -> GrowingLeague:
    """Three parts: the round-robin, a late entry, and a new version."""
    league.play({"ann": 1, "bob": 1, "cem": 1}, 3)
    league.play({"ann": 1, "bob": 1, "cem": 1, "eve": 1}, 3)
    league.play({"ann": 1, "bob": 1, "cem": 2, "eve": 1}, 3)
    return league


def list_elos(standings: Standings) -> dict[str, tuple[float | None, ...]]:
    ratings = {row.label: row.rating for row in standings.rows if row.rating.elo is not None}
    return {label: (each.elo, each.low, each.high) for label, each in ratings.items()}


def list_steps(found: PartRatings) -> list[dict[str, tuple[float | None, ...]]]:
    return [{label: (each.elo, each.low, each.high) for label, each in step.ratings.items()} for step in found.steps]


def test_a_step_is_the_fit_of_all_games_up_to_its_part(grown: GrowingLeague) -> None:
    with Store(grown.path) as store:
        (found,) = compute_part_ratings(store.read())
        picker = Picker(store.read())
        games = list(picker.list_games())
        fits = []
        for part in store.parts():
            (standings,) = compute_standings(
                (game for game in games if game.key.part <= part.number), picker.names, None, picker.common
            )
            fits.append({label: elo for label, elo in list_elos(standings).items() if label in picker.shown})

    assert [step.parts for step in found.steps] == [(0,), (1,), (2,)]
    assert [step.games for step in found.steps] == [18, 36, 54]
    for step, fit in zip(list_steps(found), fits, strict=True):
        assert step.keys() == fit.keys()
        assert all(step[label] == pytest.approx(fit[label]) for label in fit)


def test_the_last_step_agrees_with_the_ranking(grown: GrowingLeague) -> None:
    with Store(grown.path) as store:
        (found,) = compute_part_ratings(store.read())
        (standings,) = compute_league_standings(store.read())

    last, ranking = list_steps(found)[-1], list_elos(standings)
    assert last.keys() == ranking.keys() == {"ann", "bob", "cem", "eve"}
    assert all(last[label] == pytest.approx(ranking[label]) for label in ranking)


def test_who_was_not_there_yet_begins_later(grown: GrowingLeague) -> None:
    with Store(grown.path) as store:
        (found,) = compute_part_ratings(store.read())
        (with_old,) = compute_part_ratings(store.read(), Choice(versions="all"))

    assert [sorted(step.ratings) for step in found.steps] == [
        ["ann", "bob"],
        ["ann", "bob", "eve"],
        ["ann", "bob", "cem", "eve"],
    ]
    assert "cem@1" in with_old.steps[0].ratings


def test_the_choice_of_games_is_that_of_the_ranking(grown: GrowingLeague) -> None:
    with Store(grown.path) as store:
        (found,) = compute_part_ratings(store.read(), Choice(without=("ann",)))

    assert [step.games for step in found.steps] == [6, 18, 30]
    assert not any("ann" in step.ratings for step in found.steps)


def test_one_part_has_no_curve(league: GrowingLeague) -> None:
    league.play({"ann": 1, "bob": 1}, 2)

    with Store(league.path) as store:
        assert compute_part_ratings(store.read()) == ()


def test_one_part_has_a_curve_by_games_and_rates_a_beginning_once(
    league: GrowingLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = GameRatings()
    league.play({"ann": 1, "bob": 1}, 12)
    with Store(league.path) as store:
        contents = store.read()
    (found,) = rates.compute(contents, compute_league_standings(contents))

    games = [game for game in contents.games if game.key.deal < 8]
    (first,) = compute_league_standings(dataclasses.replace(contents, games=games))
    (now,) = compute_league_standings(contents)
    assert [step.games for step in found.steps] == [16, 24]
    assert list_steps(found) == [list_elos(first), list_elos(now)]
    monkeypatch.setattr(progression, "fit_beginnings", None)
    assert rates.compute(contents, (now,)) == (found,)
    few = dataclasses.replace(contents, games=games)
    assert rates.compute(few, (first,)) == (), "16 of 16 games would be the same figure twice"


def test_games_that_do_not_count_make_no_step(grown: GrowingLeague) -> None:
    with Store(grown.path) as store:
        contents = store.read()
    halved = [game for game in contents.games if game.key.part != 1 or not game.key.rotation]
    void = [replace(game, reason="void") if game.key.part == 2 else game for game in contents.games]

    for games, parts in ((halved, [(0,), (2,)]), (void, [(0,), (1,)])):
        (found,) = compute_part_ratings(dataclasses.replace(contents, games=games))
        assert [step.parts for step in found.steps] == parts


def test_blocks_of_a_series_belong_to_the_part_before_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = make_short()
    series = replace(short, rules=replace(short.rules, match_target=25))
    league = GrowingLeague(tmp_path / "series.db", monkeypatch, rulesets=(series,))
    league.play({"ann": 1, "bob": 1}, 1)
    with Store(league.path) as store:
        blocks = [part.number for part in store.parts() if part.block]
        assert blocks
        assert compute_part_ratings(store.read()) == ()

    league.play({"ann": 1, "bob": 1, "cem": 1}, 1)

    with Store(league.path) as store:
        (found,) = compute_part_ratings(store.read())
        parts = [part.number for part in store.parts() if not part.block]
    assert [step.parts[0] for step in found.steps] == parts
    assert found.steps[0].parts == (0, *blocks)


def test_old_parts_are_merged_into_the_first_step(league: GrowingLeague, monkeypatch: pytest.MonkeyPatch) -> None:
    for deals in range(1, 6):
        league.play({"ann": 1, "bob": 1}, deals)
    with Store(league.path) as store:
        (whole,) = compute_part_ratings(store.read())

        monkeypatch.setattr(progression, "MOST_STEPS", 3)

        (merged,) = compute_part_ratings(store.read())
    assert [step.parts for step in merged.steps] == [(0, 1, 2), (3,), (4,)]
    assert merged.steps[0].titles == tuple(title for step in whole.steps[:3] for title in step.titles)
    assert list_steps(merged) == list_steps(whole)[2:]
