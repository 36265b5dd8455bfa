"""The league of the benchmark is a real one, and the site's rows are measured in processes of their own."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from malice.referee.families import list_shipped
from malice.tournaments.bench import engines, environments, games, leagues, tables, throughput
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from tests.games.spite.engines import playing


@pytest.mark.whole
def test_games_that_were_really_played_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leagues, "ENTRIES", 3)
    with Store(tmp_path / "bench.db", create=True) as store:
        left_out = list(leagues.fill_league(store, tmp_path, games=7, spare=2))
        assert len(left_out) == 2
        assert verify_league(store).games == 10
        assert len({(record.deal_seed, record.actions) for record in store.records()}) == 10

        for game, record in left_out:
            store.add(game, record)

        assert verify_league(store).games == 12


@pytest.mark.whole
@pytest.mark.slow
def test_every_row_of_the_site_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leagues, "ENTRIES", 5)

    rows = list(leagues.measure_pages(games=40))

    assert [row.unit for row in rows] == ["games/s", "games/s", "MB", "bytes/game", "s", "s"]
    assert "site of 20 different games" in rows[1].what
    assert all(row.value > 0 for row in rows)


@pytest.mark.slow
def test_every_row_of_a_league_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((leagues, "ENTRIES", 3), (leagues, "ALONE", 2), (leagues, "TOGETHER", 2)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(leagues, "count_processors", lambda: 2)
    monkeypatch.setattr(leagues, "ProcessPoolExecutor", lambda mp_context: ThreadPoolExecutor(1))

    rows = list(leagues.measure_leagues(games=18))

    assert [row.what.split(",")[0] for row in rows[::2]] == ["store", "verify of 18 games", "export of 18 games"]
    assert all(row.value > 0 for row in rows)
    assert all(row.ratio for row in rows[1::2])


@pytest.mark.slow
def test_a_league_of_made_up_games_is_resumed_rated_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MANY", 4), ("SAMPLES", 3), ("BURST", 7)):
        monkeypatch.setattr(leagues, name, value)
    monkeypatch.setattr(leagues, "ProcessPoolExecutor", lambda count, context: ThreadPoolExecutor(count))

    rows = list(leagues.measure_growth(games=240))

    assert [row.what.split(",")[0] for row in rows[::2]] == ["resume", "standings", "merge without new games"]
    assert all(row.value > 0 and row.ratio for row in rows)


@pytest.mark.slow
def test_every_coordinator_plays_its_share_and_the_league_takes_all_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "COORDINATORS", 3)
    monkeypatch.setattr(throughput, "SHARE", 4)

    together, memory, merged = throughput.measure_shares()

    assert together.ratio
    assert "merge of their 12 games" in merged.what
    assert memory.unit == "MB"


def test_a_game_of_python_is_compared_with_the_bare_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "ROUNDS", 1)
    monkeypatch.setattr(games, "STEPPED", 2)

    (row,) = games.measure_stepping()

    assert row.value > 0
    assert row.ratio


def test_every_other_game_is_compared_with_the_default_ruleset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "ROUNDS", 1)
    monkeypatch.setattr(games, "GAMES", 1)

    rows = list(games.measure_each_game())

    assert len(rows) == len(list_shipped()) - 1
    assert all(row.ratio and row.ratio > 0 for row in rows)


def test_what_environments_need_and_lack_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(environments, "ROUNDS", 1)
    monkeypatch.setattr(environments, "STEPS", 100)
    monkeypatch.setitem(sys.modules, environments.PETTINGZOO, None)

    rows = list(environments.measure_environments(said.append))

    assert [row.what.split(", ")[1] for row in rows] == ["raw", "wrapped"]
    assert all(row.ratio and row.ratio > 0 for row in rows)
    assert said == [
        "PettingZoo's own environment is left out: "
        f"no module {environments.PETTINGZOO!r}, which pettingzoo[classic] brings"
    ]

    monkeypatch.setitem(sys.modules, "malice.rl", None)
    monkeypatch.delattr("malice.rl")
    assert list(environments.measure_environments(said.append)) == []
    assert said[1].startswith("environments for learning are left out: ")


@pytest.mark.whole
@pytest.mark.slow
def test_an_action_at_a_table_in_the_browser_is_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(tables, "ACTIONS", 2)

    (row,) = tables.measure_tables()

    assert row.value > 0
    assert row.ratio == row.value / tables.SOON_MS


@pytest.mark.core
@pytest.mark.slow
def test_the_core_has_the_figures_of_python_and_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PLAYOUTS", "RECORDS", "INSIDE", "ENVS", "STEPS"):
        monkeypatch.setattr(engines, name, 2)

    told = {}
    for engine in ("python", "core"):
        with playing(engine):
            told[engine] = engines.measure_here("")

    assert told["core"].keys() > told["python"].keys()
    assert all(rate > 0 for rates in told.values() for rate in rates.values())


def test_without_the_core_engines_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    with playing("python"):
        assert list(engines.measure_engines(said.append)) == []

    assert said == ["the compiled rules are left out: MALICE_ENGINE=python"]
