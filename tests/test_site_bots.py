"""What a bot's page makes of its games: seats, times, versions, parts, special games, notes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from malice import site_pages
from malice.referee.records import Key
from malice.site_pages import text
from malice.site_pages.bot_details import GAMES, SHOWN
from malice.site_pages.chart import TIMES_WIDTH, format_micros, make_histogram
from malice.site_pages.deals import BUCKETS, BotGames
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.publication import Publication
from tests.site_files import Page
from tests.site_league import LABELS, League
from tests.summaries import game


def collect(*games: GameSummary) -> BotGames:
    found = BotGames()
    for each in games:
        found.add(each)
    return found


def page(folder: Path, label: str) -> Page:
    return Page(folder / "bots" / f"{text.make_slug(label)}.html")


def read_row(found: Page, *start: str) -> list[str]:
    return next(row for row in found.rows if row[: len(start)] == list(start))


def test_results_are_counted_by_seat_and_a_shared_first_place_is_a_draw() -> None:
    found = collect(
        game(("a", "b"), (1, 2), Key(0, 0, 0, 0)),
        game(("a", "b"), (1, 1), Key(0, 0, 1, 0)),
        game(("b", "a"), (1, 2), Key(0, 0, 0, 1)),
        game(("a", "b"), (2, 1), Key(0, 0, 2, 0), reason="void"),
        game(("a", "b", "c"), (2, 1, 3), Key(0, 1, 0, 0)),
        game(("a", "b", "c", "a2"), (1, 2, 1, 2), Key(0, 2, 0, 0), teams=(0, 1, 0, 1)),
    ).count_seats()

    first, second = found["a"]["standard", 2]
    assert (first.games, first.wins, first.draws, first.losses, first.points) == (2, 1, 1, 0, 1.5)
    assert (second.games, second.losses, second.points) == (1, 1, 0.0)
    assert found["a"]["standard", 3][0].points == 0.5
    assert [each.wins for each in found["c"]["standard", 4]] == [0, 0, 1, 0]


def test_the_widest_win_of_every_pair_is_kept_and_the_longest_game() -> None:
    found = collect(
        replace(game(("a", "b"), (1, 2), Key(0, 0, 0, 0)), scores=(3, 0), actions=9),
        replace(game(("b", "a"), (2, 1), Key(0, 0, 0, 1)), scores=(0, 7)),
        replace(game(("a", "b"), (1, 1), Key(0, 0, 1, 0)), scores=(50, 0)),
    )

    assert {pair: (win.margin, win.key) for pair, win in found.list_wins().items()} == {
        ("standard", 2, "a", "b"): (7, Key(0, 0, 0, 1))
    }
    assert found.list_longest()["standard", 2, "b"].key == Key(0, 0, 0, 0)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=50))
def test_a_histogram_draws_every_action_once_and_within_its_width(buckets: list[int]) -> None:
    times = [buckets.count(bucket) for bucket in range(BUCKETS)]
    drawn = make_histogram(times)

    assert drawn is not None
    assert [(bar.most, bar.count) for bar in drawn.bars] == [
        (1 << bucket, times[bucket]) for bucket in range(min(buckets), max(buckets) + 1)
    ]
    assert all(0 <= bar.x <= bar.x + bar.width <= TIMES_WIDTH and bar.height >= 0 for bar in drawn.bars)
    assert all(0 <= tick.at <= TIMES_WIDTH for tick in drawn.ticks)
    median = sorted(buckets)[math.ceil(len(buckets) / 2) - 1]
    assert f"half took less than {format_micros(2**median)}" in drawn.summary


def test_times_of_all_games_add_up_and_nothing_is_drawn_without_any() -> None:
    one = replace(game(("a", "b"), (1, 2), Key(0, 0, 0, 0)), thinking="3:1,0,2 0:")

    found = collect(one, replace(one, key=Key(0, 0, 1, 0)))

    assert found.count_times("a")[3:7] == [2, 0, 4, 0]
    assert make_histogram(found.count_times("b")) is make_histogram(found.count_times("nobody")) is None


@pytest.mark.parametrize(("micros", "words"), [(0, "0 µs"), (999, "999 µs"), (1024, "1.0 ms"), (2**20, "1.0 s")])
def test_times_have_two_digits(micros: int, words: str) -> None:
    assert format_micros(micros) == words


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    league = League(LABELS[:3], deals=2, rulesets=("standard", "skipbo-short"), parts=2)
    league.renew(LABELS[2])
    folder = tmp_path_factory.mktemp("bots")
    site_pages.render(league, folder)
    return folder


def test_a_page_has_results_by_ruleset_seat_and_part(out: Path) -> None:
    found = page(out, LABELS[0])

    assert {"rulesets", "standard-2", "skipbo-short-2", "times", "notes"} <= set(found.ids)
    assert read_row(found, "standard")[4] == "16"
    assert [read_row(found, f"Seat {seat}")[1] for seat in (0, 1)] == ["8", "8"]
    assert read_row(found, "Part 1 2 more deals")[3] == "24 games"
    assert (out / "bots" / f"{LABELS[0]}.html").read_text().count('<figure class="elo-chart">') == 2
    for name in ("Best", "Worst", "Longest"):
        assert name in found.words
    assert "Versions" not in found.words


def test_older_versions_have_rows_where_there_are_several(out: Path) -> None:
    found = page(out, LABELS[2])

    assert read_row(found, "newest")[3] == "0"
    assert read_row(found, "version 1")[3] == "16"


def test_tables_can_be_downloaded(out: Path) -> None:
    found = page(out, LABELS[0])

    against = json.loads((out / "data" / f"bot-{LABELS[0]}.standard-2.json").read_bytes())
    times = json.loads((out / "data" / f"bot-{LABELS[0]}.times.json").read_bytes())
    assert [(row["opponent"], row["games"], row["wins"] + row["draws"] + row["losses"]) for row in against] == [
        (LABELS[1], 8, 8)
    ]
    assert sum(row["actions"] for row in times) > 500
    assert f"../data/bot-{LABELS[0]}.times.csv" in found.links


def test_notes_of_the_latest_games_link_to_their_actions(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=4)
    records = list(league.records())

    site_pages.render(league, tmp_path / "open")
    site_pages.render(league, tmp_path / "anonymous", site_pages.SiteOptions(publication=Publication(anonymous=True)))

    links = [link for link in page(tmp_path / "open", LABELS[0]).links if "replay.html#" in link and "/" in link[12:]]
    for record in records[-GAMES:]:
        seat = [label for label, _ in record.entries].index(LABELS[0])
        mine = [place for place in sorted(record.notes) if record.actions[place][0] == seat]
        assert [f"../replay.html#{record.key}/{place}" for place in mine[:SHOWN]] == [
            link for link in links if f"#{record.key}/" in link and not link.endswith("/turn")
        ]
    assert "notes" in page(tmp_path / "open", LABELS[0]).ids
    assert "notes" not in page(tmp_path / "anonymous", LABELS[0]).ids


def test_a_bot_without_games_has_a_page_that_says_so(tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:2], deals=0), tmp_path)

    found = page(tmp_path, LABELS[0])
    assert "None yet." in found.words
    assert not {"times", "notes", "rulesets", "figures"} & set(found.ids)
