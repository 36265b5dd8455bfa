"""`malice standings`: which games, versions and tournaments it rates."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from malice.tournaments.league.config import ClockLines
from malice.tournaments.league.desk import decide
from malice.tournaments.league.notes import Ruling
from malice.tournaments.league.ranking import Choice, compute_league_standings, explain_table
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.growing_leagues import DAY, MONDAY, GrowingLeague, make_short
from tests.rounds import make_swiss
from tests.site_league import LABELS, League

FIRST = {"ann": 1, "bob": 1, "cem": 1}


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GrowingLeague:
    """A tournament of 6 games between every two of three, on Monday, and as many against a new version on Wednesday."""
    league = GrowingLeague(tmp_path / "course.db", monkeypatch, slips={"ann": 0.0, "bob": 0.3, "cem": 0.7})
    league.play(FIRST, 3)
    league.play({"ann": 1, "bob": 1, "cem": 2}, 3, MONDAY + 2 * DAY)
    return league


def rate(league: GrowingLeague, *words: str) -> tuple[dict[str, int], Any]:
    """Return the games of each row, and the standings."""
    result = malice("standings", league.path, *words, "--json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)
    return {row["label"]: row["games"] for row in found["rows"]}, found


def test_rows_are_of_the_newest_versions_and_all_games_count(league: GrowingLeague) -> None:
    games, found = rate(league)

    assert games == {"ann": 18, "bob": 18, "cem": 12}
    assert found["games"] == 30


def test_older_versions_can_have_rows_of_their_own(league: GrowingLeague) -> None:
    games, found = rate(league, "--versions", "all")
    _, newest = rate(league)

    assert games == {"ann": 18, "bob": 18, "cem": 12, "cem@1": 12}
    assert [row["rank"] for row in found["rows"]] == [1, 2, 2, 2], "equal ratings share a rank"
    elos, alone = ({row["label"]: row["rating"]["elo"] for row in each["rows"]} for each in (found, newest))
    assert {label: elos[label] for label in alone} == pytest.approx(alone)


def test_a_day_leaves_out_the_games_before_it(league: GrowingLeague) -> None:
    day = datetime.fromtimestamp(MONDAY + DAY).isoformat(timespec="minutes")

    games, found = rate(league, "--since", day)

    assert games == {"ann": 6, "bob": 6, "cem": 12}
    assert found["games"] == 12
    assert rate(league, "--since", "2001-01-31") == rate(league)


def test_a_day_without_games_after_it_rates_none(league: GrowingLeague) -> None:
    result = malice("standings", league.path, "--since", "yesterday", "--json")

    assert (result.exit_code, json.loads(result.stdout)) == (0, [])


def test_a_day_that_is_none_is_usage(league: GrowingLeague) -> None:
    assert malice("standings", league.path, "--since", "someday").exit_code == 2


def test_an_entry_can_be_left_out(league: GrowingLeague) -> None:
    games, found = rate(league, "--without", "cem")

    assert games == {"ann": 6, "bob": 6}
    assert found["games"] == 6
    both = malice("standings", league.path, "--without", "cem", "--without", "bob", "--json")
    assert json.loads(both.stdout) == []


def test_only_an_entry_can_be_left_out(league: GrowingLeague) -> None:
    result = malice("standings", league.path, "--without", "zoe")

    assert result.exit_code == 2
    assert "'zoe'" in result.stderr


def test_all_tournaments_can_be_rated_together(league: GrowingLeague, monkeypatch: pytest.MonkeyPatch) -> None:
    GrowingLeague(league.path, monkeypatch, "next").play({"ann": 1, "dan": 1}, 2, MONDAY + 4 * DAY)

    assert rate(league, "--tournament", "next")[0] == {"ann": 4, "dan": 4}
    assert rate(league, "--tournament", "course")[0] == {"ann": 18, "bob": 18, "cem": 12}
    together, found = rate(league, "--all")
    assert together == {"ann": 22, "bob": 18, "cem": 12, "dan": 4}
    assert found["games"] == 34


def test_all_tournaments_can_be_verified(league: GrowingLeague, monkeypatch: pytest.MonkeyPatch) -> None:
    GrowingLeague(league.path, monkeypatch, "next").play({"ann": 1, "dan": 1}, 2, MONDAY + 4 * DAY)

    found = json.loads(malice("verify", league.path, "--all", "--json").stdout)

    assert [each["games"] for each in found] == [30, 4]
    assert [line for line in malice("verify", league.path, "--all").stdout.splitlines() if "tournament  " in line] == [
        "tournament      course",
        "tournament      next",
    ]
    assert malice("verify", league.path, "--all", "--tournament", "next").exit_code == 2


def test_tournaments_of_another_clock_are_rated_apart(league: GrowingLeague, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = GrowingLeague(league.path, monkeypatch, "quick", clock=ClockLines(move_ms=20))
    quick.play({"ann": 1, "dan": 1}, 2, MONDAY + 4 * DAY)

    slow, fast = json.loads(malice("standings", league.path, "--all", "--json").stdout)
    text = malice("standings", league.path, "--all").stdout

    assert [(each["games"], each["clock"]["move_ms"]) for each in (slow, fast)] == [(30, 1000), (4, 20)]
    assert [row["label"] for row in fast["rows"] if row["games"]] == ["ann", "dan"]
    assert [line.split(" ms ")[0] for line in text.splitlines() if "games, Elo" in line] == [
        "short, 2 seats, clock 1000",
        "short, 2 seats, clock 20",
    ]


def test_other_rules_of_the_same_name_are_rated_apart(league: GrowingLeague, monkeypatch: pytest.MonkeyPatch) -> None:
    short = make_short()
    longer = replace(short, rules=replace(short.rules, payoff_size=2))
    GrowingLeague(league.path, monkeypatch, "again").play({"ann": 1, "dan": 1}, 2, MONDAY + 4 * DAY)
    GrowingLeague(league.path, monkeypatch, "next", (longer,)).play({"ann": 1, "dan": 1}, 2, MONDAY + 5 * DAY)

    found = json.loads(malice("standings", league.path, "--all", "--json").stdout)

    assert [(each["ruleset"], each["games"]) for each in found] == [("short of again", 34), ("short", 4)]


def test_ranks_count_only_the_rows_that_are_shown(league: GrowingLeague) -> None:
    league.play({"ann": 1, "bob": 1, "cem": 3}, 3, MONDAY + 3 * DAY)
    league.play({"ann": 1, "bob": 1, "cem": 4}, 3, MONDAY + 4 * DAY)

    _, found = rate(league)

    assert len(found["rows"]) == 3
    for row in found["rows"]:
        assert 1 <= row["rating"]["rank_low"] <= row["rank"] <= row["rating"]["rank_high"] <= 3
    assert found["unlisted"] == 3
    assert found["los"].keys() == {"ann", "bob", "cem"} == {*found["los"]["ann"], "ann"}


def test_the_heading_tells_whose_mean_is_zero(league: GrowingLeague) -> None:
    newest, every = (
        malice("standings", league.path, *words).stdout.splitlines()[0] for words in ((), ("--versions", "all"))
    )

    assert newest.endswith("relative to the mean, older versions included")
    assert every.endswith("relative to the mean")


def test_a_disqualification_counts_in_its_tournament_alone(
    league: GrowingLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(league.path, create=True) as store:
        decide(store, Ruling("disqualify", "bob"))
    GrowingLeague(league.path, monkeypatch, "next").play({"ann": 1, "bob": 1}, 2, MONDAY + 4 * DAY)

    assert rate(league, "--tournament", "course")[1]["games"] == 12
    games, found = rate(league, "--all")
    assert found["games"] == 12 + 4
    assert games["bob"] == 4


def test_one_tournament_and_all_contradict_each_other(league: GrowingLeague) -> None:
    assert malice("standings", league.path, "--all", "--tournament", "course").exit_code == 2


def play_final(league: GrowingLeague) -> None:
    """Play a final, and then a comparison, in the league of a course."""
    GrowingLeague(league.path, league.monkeypatch, "final").play({"ann": 1, "bob": 1})
    GrowingLeague(league.path, league.monkeypatch, "ann v cem", format="comparison").play({"ann": 1, "cem": 2})


def test_a_league_of_several_tournaments_shows_all_but_comparisons(league: GrowingLeague) -> None:
    one = malice("standings", league.path).stdout
    play_final(league)
    shown = {name: malice("standings", league.path, f"--{name}").stdout for name in ("json", "csv", "all")}
    plain = malice("standings", league.path).stdout.splitlines()
    chosen = {
        name: malice("standings", league.path, "--tournament", name).stdout for name in ("course", "final", "ann v cem")
    }

    assert "tournament" not in one
    assert [line for line in plain if line.startswith("tournament")] == [
        "tournament course; the league also has final, ann v cem",
        "tournament final; the league also has course, ann v cem",
    ]
    assert "\n".join(plain) + "\n" == f"{chosen['course']}\n{chosen['final']}"
    assert [each["tournament"] for each in json.loads(shown["json"])] == ["course", "final"]
    assert [line.partition(",")[0] for line in shown["csv"].splitlines()] == [
        "tournament",
        *3 * ["course"],
        *2 * ["final"],
    ]
    assert shown["all"].splitlines()[0] == "all tournaments: course, final, ann v cem"
    assert malice("standings", league.path, "--without", "nobody").stdout == ""


@pytest.mark.parametrize(
    ("words", "several"),
    [
        ("export DB", ["course", "final"]),
        ("verify DB --json", [30, 2]),
        ("entry list DB --json", ["course", "final"]),
        ("standings DB --luck", None),
        ("export DB --views", None),
        ("feedback DB --out OUT", None),
        ("replay DB 0.0.0.0", None),
        ("site DB --game 0.0.0.0 --out OUT", None),
        ("run --shard 1/2 --db DB", None),
    ],
)
def test_no_command_chooses_among_tournaments_by_itself(
    words: str, several: list[object] | None, league: GrowingLeague, tmp_path: Path
) -> None:
    play_final(league)
    places = {"DB": str(league.path), "OUT": str(tmp_path / "out")}

    found = malice(*(places.get(word, word) for word in words.split()))

    if several is None:
        assert (found.exit_code, found.stdout) == (2, "")
        assert "course, final" in found.stderr
        return
    rows = json.loads(found.stdout) if "--json" in words else map(json.loads, found.stdout.splitlines())
    told = (row["games"] if "verify" in words else row["tournament"] for row in rows)
    assert list(dict.fromkeys(told)) == several


def test_one_tournament_is_meant_whatever_is_compared_in_its_league(league: GrowingLeague, tmp_path: Path) -> None:
    GrowingLeague(league.path, league.monkeypatch, "ann v cem", format="comparison").play({"ann": 1, "cem": 2})

    assert malice("entry", "disqualify", league.path, "ann").stderr == "ann: disqualified in course\n"
    assert malice("site", league.path, "--out", tmp_path / "pub").exit_code == 0
    assert json.loads((tmp_path / "pub/data/tournament.json").read_text())["tournament"] == "course"


def test_a_decision_holds_in_every_tournament_that_has_the_entry(league: GrowingLeague) -> None:
    play_final(league)

    said = [
        malice("entry", *words.split()[:1], league.path, *words.split()[1:])
        for words in ("disqualify ann", "disqualify ann", "withdraw cem", "reinstate ann --tournament final")
    ]
    entries = json.loads(malice("entry", "list", league.path, "--json").stdout)

    assert [each.stderr.splitlines() for each in said] == [
        ["ann: disqualified in course", "ann: disqualified in final"],
        ["Error: ann: is disqualified already"],
        ["cem: withdrawn from course"],
        ["ann: plays again in final"],
    ]
    assert {(each["tournament"], each["label"]): each["state"] for each in entries if each["label"] != "bob"} == {
        ("course", "ann"): "disqualified",
        ("course", "cem"): "withdrawn",
        ("final", "ann"): "playing",
    }


def test_a_site_is_written_over_by_its_own_tournament_alone(league: GrowingLeague, tmp_path: Path) -> None:
    site, mark = ("site", league.path, "--out", tmp_path / "pub"), tmp_path / "pub/data/tournament.json"
    assert malice(*site).exit_code == 0
    play_final(league)

    def read() -> str:
        return (tmp_path / "pub/index.html").read_text()

    assert malice(*site).exit_code == 0
    again = read()
    refused = malice(*site, "--tournament", "final")
    kept = read()
    told = malice(*site, "--tournament", "final", "--replace-site")
    mark.write_text(mark.read_text().replace("sha256:", "sha256:of another seed "))
    strange = malice(*site, "--tournament", "final")

    assert "<title>course" in again
    assert (refused.exit_code, kept) == (2, again)
    assert "pub: holds the site of 'course', not of 'final': name another folder" in refused.stderr
    assert told.exit_code == 0
    assert "<title>final" in read()
    assert (strange.exit_code, "holds the site of 'final' of another league" in strange.stderr) == (2, True)


def test_without_an_entry_a_swiss_keeps_its_points_and_its_ranks_have_no_gap() -> None:
    house = make_swiss(LABELS, rounds=1)
    house.finish(house.create())
    league = League(LABELS, deals=1)
    league.follow(house.look())
    first = league.read().table[0].label
    choice = Choice(without=(first,))

    (found,) = compute_league_standings(league.read(), choice)

    figures = [(row.points, row.buchholz) for row in found.rows]
    assert [row.rank for row in found.rows] == [1 + figures.index(own) for own in figures]
    points = {place.label: place.points for place in league.read().table if place.label != first}
    assert {row.label: row.points for row in found.rows} == points
    assert f"matches against {first} count" in explain_table(league.read(), choice)
