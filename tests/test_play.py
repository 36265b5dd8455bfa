"""`malice play`: what its options change, and what it tells of bots that play on in spite of what they do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.command_line import malice

pytestmark = pytest.mark.slow

BOTS = Path(__file__).parent / "bots"
SHORT = 'extends = "standard"\n[rules]\npayoff_size = 1\n'
SLEEPER = """
import json, signal, sys
actions = 0
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if request["type"] == "move":
        actions += 1
        if actions == 11:
            signal.pause()
        answer["move"] = request["legal"][-1]
    print(json.dumps(answer), flush=True)
"""
TALKER = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    if request["type"] == "game_start":
        print("seat", request["seat"], "\\x1b[2J", file=sys.stderr, flush=True)
        print("a\\x1bb", flush=True)
        print("another", flush=True)
    print(json.dumps({"id": request["id"], "move": request.get("legal", [""])[0]}), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with bots, and with rulesets of short games and of series."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.toml").write_text(SHORT)
    (tmp_path / "series.toml").write_text(SHORT + "match_target = 12\n")
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    (tmp_path / "talker.py").write_text(TALKER)
    return tmp_path


def bot(name: str) -> str:
    return f"{sys.executable} -I {name}.py"


def test_the_time_until_a_bot_was_cut_off_is_told_everywhere(folder: Path) -> None:
    played = malice("play", bot("sleeper"), "first", "--move-ms", "900", "--seed", "x", "--db", "t.db")

    assert played.exit_code == 0, played.output
    assert "no answer to move within 1000 ms (it had answered 12 requests before, the slowest move in " in played.stdout
    game = json.loads(malice("export", "t.db").stdout.splitlines()[0])
    assert game["actions"][-1]["action"] == "!timeout"
    assert game["actions"][-1]["ms"] >= 1000
    told = f"{game['actions'][-1]['ms']:.1f} ms"
    (line,) = (line for line in malice("replay", "t.db", "0.0.0").stdout.splitlines() if " !timeout " in line)
    assert line.endswith(told)
    assert f"# the verdict came after {told}, CPU " in malice("log", "t.db", "0.0.0", "--seat", "0").stdout
    (standings,) = json.loads(malice("standings", "t.db", "--json").stdout)
    (mean,) = (row["mean_ms"] for row in standings["rows"] if row["label"] == "sleeper")
    assert mean >= 1000 / 11


def test_stray_lines_of_a_healthy_game_are_told_with_the_first(folder: Path) -> None:
    words = ("play", bot("talker"), "first", "--ruleset", "./short.toml", "--seed", "x")

    text, told = malice(*words), json.loads(malice(*words, "--json").stdout)

    line = r"talker: 2 lines on stdout that are not JSON, the first: 'a\x1bb'; line 101 of a game forfeits it"
    assert text.stdout.count(line) == 2
    assert [sorted(game["stray_lines"]) for game in told["games"]] == [[0, 2], [0, 2]]


def test_one_stray_line_is_told_as_one(folder: Path) -> None:
    (folder / "talker.py").write_text(TALKER.replace('        print("another", flush=True)\n', ""))

    told = malice("play", bot("talker"), "first", "--ruleset", "./short.toml", "--seed", "x").stdout

    assert told.count(r"talker: a line on stdout that is not JSON: 'a\x1bb'; line 101 ") == 2


def test_stderr_is_passed_on_with_the_label_and_does_nothing_to_the_terminal(folder: Path) -> None:
    words = ("play", bot("talker"), "first", "--ruleset", "./short.toml", "--seed", "x")

    silent, shown = malice(*words), malice(*words, "--stderr", "--jobs", "1")

    assert "talker |" not in silent.stderr
    lines = [line for line in shown.stderr.splitlines() if line.startswith("talker | ")]
    assert lines == [rf"talker | seat {seat} \x1b[2J" for seat in (0, 1)]
    assert shown.stdout.splitlines()[:4] == silent.stdout.splitlines()[:4]


def test_who_plays_reads_stderr_too(folder: Path) -> None:
    result = malice("play", "you", bot("talker"), "--ruleset", "./short.toml", "--stderr", input="q\n")

    assert r"talker | seat 1 \x1b[2J" in result.stderr


@pytest.mark.whole
def test_rerun_passes_stderr_on(folder: Path) -> None:
    malice("play", "greedy", "first", "--ruleset", "./short.toml", "--seed", "x", "--db", "t.db")

    silent, shown = (malice("rerun", "t.db", "0.0.0", bot("talker"), *more) for more in ((), ("--stderr",)))

    assert silent.exit_code == shown.exit_code == 0
    assert "talker |" not in silent.stderr
    assert r"talker | seat 0 \x1b[2J" in shown.stderr
    assert shown.stdout == silent.stdout


@pytest.mark.whole
def test_as_many_deals_are_played_as_were_asked_for_but_for_series(folder: Path) -> None:
    words = ("play", "greedy", "first", "--ruleset", "./series.toml", "--deals", "1", "--seed", "x", "--json")

    exact, more = (json.loads(malice(*words, *series).stdout) for series in ((), ("--series",)))

    assert len(exact["games"]) == 2
    assert len(more["games"]) > 2


@pytest.mark.whole
def test_a_series_is_told_with_its_rotation_and_whether_it_is_open(folder: Path) -> None:
    words = ("play", "greedy", "first", "--ruleset", "./series.toml", "--deals", "1", "--seed", "x")

    opened, decided = (malice(*words, *series).stdout.splitlines() for series in ((), ("--series",)))

    assert [line.partition("; rotation ")[2].partition(":")[0] for line in opened[:2]] == ["0, series 0", "1, series 0"]
    assert [line.partition(", series 0: ")[0] for line in opened[2:4]] == [
        "not decided: rotation 0",
        "not decided: rotation 1",
    ]
    assert all(line.endswith("; 12 points to win") for line in opened[2:4])
    assert opened[4] == "--series plays on until every series is decided"
    assert {line.partition("; rotation ")[2][:10] for line in decided if ", series 0 decided: " in line} == {
        "0, series ",
        "1, series ",
    }
    assert not any(line.startswith("not decided") for line in decided)


def clock(db: str) -> dict[str, object]:
    """Return the clock that the bots of the first game were told."""
    lines = [
        json.loads(line)["line"] for line in malice("log", db, "0.0.0", "--seat", "0", "--json").stdout.splitlines()
    ]
    (start,) = (json.loads(line) for line in lines if '"game_start"' in line)
    told: dict[str, object] = start["clock"]
    return told


@pytest.mark.parametrize(
    ("words", "move_ms", "limit"),
    [
        (["--move-ms", "70000"], 70_000, "70000 ms for each action, plus 100 ms margin"),
        (["--no-clock"], None, "no time limit"),
    ],
)
def test_a_time_for_each_action_or_none_leaves_no_bank(
    words: list[str], move_ms: int | None, limit: str, folder: Path
) -> None:
    result = malice("play", "greedy", "first", "--ruleset", "./short.toml", "--db", "t.db", *words)

    assert result.exit_code == 0, result.output
    assert (clock("t.db")["move_ms"], clock("t.db")["bank_ms"]) == (move_ms, None)
    plan = result.stderr.splitlines()[0]
    assert plan.startswith("play: 2 entries, 1 table, 1 deal in every rotation of seats: 2 games in 2 batches,")
    assert plan.endswith(f" at a time, {limit}")


def test_quiet_leaves_the_ranking(folder: Path) -> None:
    result = malice("play", "greedy", "first", "--ruleset", "./short.toml", "--seed", "x", "--quiet")

    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.splitlines()[0].startswith("short, 2 seats: 2 games")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--no-clock", "--move-ms", "5"], "--no-clock and --move-ms contradict each other"),
        (["--watch", "--jobs", "2"], "--jobs: games that you watch or play in are played one at a time"),
        (["--quiet", "--replay"], "--quiet and --replay contradict each other"),
        (["--delay", "5"], "--delay needs --watch"),
        (["--move-ms", "2147483648"], "clock.move_ms: expected at most 2147483647"),
    ],
)
def test_what_contradicts_itself_is_refused(words: list[str], said: str) -> None:
    result = malice("play", "greedy", "first", *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_games_that_do_not_belong_together_are_refused_in_the_words_of_the_command(folder: Path) -> None:
    words = ("play", "first", f"{sys.executable} talker.py", "--ruleset", "./short.toml")
    assert malice(*words, "--db", "x.db").exit_code == 0

    strange = malice("play", "first", "uniform", "--ruleset", "./short.toml", "--db", "x.db")
    (folder / "talker.py").write_text(TALKER + "# better\n")
    changed = malice(*words, "--db", "x.db")
    (folder / "talker.py").write_text("raise SystemExit(7)\n")
    broken = malice(*words)

    assert [each.exit_code for each in (strange, changed, broken)] == [2, 2, 2]
    assert "is not among these bots: keep these games in another --db than x.db" in strange.stderr
    assert "keep the games of the new version in another --db than x.db" in changed.stderr
    assert "1 of 2 entries is broken; no game can be played without it:" in broken.stderr
