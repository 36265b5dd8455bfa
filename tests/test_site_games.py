"""The page of all games and its data files, without a browser."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from malice import site_pages
from malice.referee.records import Key
from malice.referee.rulesets import load_ruleset
from malice.site_pages import game_list, shards, text
from malice.site_pages.game_list import ListedGames
from malice.site_pages.rankings import Marks
from malice.tournaments.league.contents import GameSummary
from tests.listed_games import REASONS, make_games
from tests.site_files import Page, data
from tests.site_league import HOSTILE, LABELS, League, play

PAIR = LABELS[:2]


def read_keys(keys: dict[str, Any]) -> Iterator[Key]:
    for part, table, rotation, deal, count in zip(
        *(keys[name] for name in ("parts", "tables", "rotations", "deals", "counts")), strict=True
    ):
        yield from (Key(part, table, deal + step, rotation) for step in range(count))


def read_list(listed: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """Read a data file as the page does."""
    columns = listed["columns"]
    minute = 0
    for row, key in enumerate(read_keys(listed["keys"])):
        ruleset, teams, seats = listed["lineups"][columns["lineup"][row]]
        places, scores = listed["outcomes"][columns["outcome"][row]]
        reason, words, verdicts = listed["endings"][columns["ending"][row]]
        minute += columns["minutes"][row]
        names = [listed["names"][seat] for seat in seats]
        yield (
            key,
            listed["rulesets"][ruleset][0],
            tuple(label for label, *_ in names),
            tuple(version for _, version, *_ in names),
            tuple(teams),
            (tuple(places), tuple(scores)),
            (reason, words, tuple(verdicts)),
            columns["actions"][row],
            minute,
            listed["standings"][columns["standing"][row]],
        )


def tell(game: GameSummary, standing: str) -> tuple[object, ...]:
    return (
        game.key,
        game.ruleset,
        game.labels,
        game.versions,
        game.teams,
        (game.places, game.scores),
        (game.reason, REASONS.describe(game), game.verdicts),
        game.actions,
        int(game.started // 60),
        standing,
    )


@settings(max_examples=15)
@given(st.integers(0, 99), st.sampled_from((2, 3)), st.lists(st.sampled_from(("", "series 0: 8 – 9")), min_size=90))
def test_a_data_file_holds_all_that_was_added(seed: int, seats: int, standings: list[str]) -> None:
    ruleset = {2: "standard", 3: "multi-3"}[seats]
    games = list(make_games((*LABELS, "d"), 3, seats, ruleset, seed))[:90]
    games = [replace(game, versions=(1 + number % 2,) * seats, started=0.0) for number, game in enumerate(games)]
    listed = ListedGames(REASONS, Marks(()))

    for game, standing in zip(games, standings, strict=False):
        listed.add(game, standing)

    assert list(read_list(json.loads(gzip.decompress(base64.b64decode(listed.pack()))))) == list(
        map(tell, games, standings)
    )


def test_without_a_script_the_latest_games_are_listed_and_link_to_their_replays_and_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_list, "LATEST", 5)
    league = League((LABELS[0], HOSTILE), deals=4, faulty=3)

    site_pages.render(league, tmp_path)

    page = Page(tmp_path / "games.html")
    latest = list(league.games())[:-6:-1]
    linked = [game.key for game in latest for _ in ("game", *filter(None, game.verdicts))]
    assert [link for link in page.links if "replay.html#" in link] == [f"replay.html#{key}" for key in linked]
    assert "The latest 5 games of 8." in page.words
    assert latest[0].started == 1.7e9
    assert page.rows[1][-1] == "2023-11-14 22:13"


def make_league(*numbers: int) -> League:
    """Play the games with these numbers, and none between them."""
    league = League(PAIR, deals=0, planned=150)
    for number in numbers:
        add_game(league, number)
    return league


def add_game(league: League, number: int) -> None:
    rules = load_ruleset("standard").rules
    league.add(number, "standard", play(rules, PAIR, Key(0, 0, number // 2, number % 2)))


def test_new_games_change_the_last_data_file_alone_and_all_are_as_in_a_fresh_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_list, "SIZE", shards.SIZE)
    league = make_league(0, 1, 120, 121, 240)
    site_pages.render(league, tmp_path / "old")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "old/data").glob("list-*")}

    add_game(league, 241)
    site_pages.render(league, tmp_path / "old")
    site_pages.render(league, tmp_path / "new")

    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "old/data").glob("list-*")}
    assert {name for name, time in after.items() if before[name] != time} == {"list-2.js"}
    for name in ("games.html", "data/list-0.js", "data/list-1.js", "data/list-2.js"):
        assert (tmp_path / "old" / name).read_bytes() == (tmp_path / "new" / name).read_bytes()
    assert 'data-blocks="0 1 2"' in (tmp_path / "old/games.html").read_text()


def test_lists_that_the_site_no_longer_has_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_list, "SIZE", shards.SIZE)
    league = make_league(0, 120)
    site_pages.render(league, tmp_path)
    (tmp_path / "data/list-mine.js").write_text("not ours")

    league.keep(1)
    site_pages.render(league, tmp_path)

    assert sorted(path.name for path in (tmp_path / "data").glob("list-*")) == ["list-0.js", "list-mine.js"]


def test_a_bot_page_leads_to_all_its_games_under_its_exact_label(tmp_path: Path) -> None:
    site_pages.render(League((LABELS[0], HOSTILE), deals=1), tmp_path)

    address = text.make_games_address(bot=HOSTILE)
    links = Page(tmp_path / f"bots/{text.make_slug(HOSTILE)}.html").links
    assert {f"../{address}", f"../{address}&view=deals"} <= set(links)
    assert data(tmp_path / "data/list-0.js")["names"][1][0] == HOSTILE


def test_an_address_leaves_out_what_is_empty() -> None:
    assert text.make_games_address(bot="", page="") == "games.html"
    assert text.make_games_address(bot="a&b=c/d", seats=2) == "games.html#bot=a%26b%3Dc%2Fd&seats=2"
