"""`malice compare` with real bots: its answer, its exit code, and what it keeps."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from malice.referee.records import Record
from malice.tournaments.commands.exit_codes import FINDINGS
from malice.tournaments.league import comparison
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.store import Store
from malice.tournaments.running.run import Deadline
from tests.command_line import malice
from tests.kept.folders import commit, start_repository
from tests.processes import PATIENCE_S
from tests.runs import MALICE, Run, read_until
from tests.tables import BOTS
from tests.variants import MANIFEST, write_variable_bot

pytestmark = pytest.mark.slow

SHIPPED = Path(__file__).parents[1] / "bots/python"
QUICK = ("--isolation", "none", "--seed", "compare", "--elo1", "200")
"""A test that a few deals decide."""


def compare(*words: str | Path, code: int) -> dict[str, object]:
    result = malice("compare", *words, "--json")
    assert result.exit_code == code, result.stderr
    found: dict[str, object] = json.loads(result.stdout)
    assert FINDINGS[str(found["finding"])] == code
    return found


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A league with a comparison that is over, by one job."""
    path = tmp_path_factory.mktemp("league") / "c.db"
    compare("planner", "greedy", *QUICK, "--db", path, "--jobs", "1", code=0)
    return path


def test_the_better_bot_is_better(db: Path) -> None:
    result = malice("compare", "planner", "greedy", *QUICK, "--db", db)

    first, second, _, title, *bars = result.stdout.splitlines()
    assert result.exit_code == 0
    assert first.startswith("better: +")
    assert " Elo (" in first
    assert ", H1 accepted after " in first
    assert second == "the test chose when to stop: the estimate and its 95 % interval are corrected for that"
    assert title.startswith("planner against greedy, standard: ")
    assert [line.split("  ")[0] for line in bars[:3]] == ["lost both", "one each", "won both"]


def test_ctrl_c_while_games_are_played_again_for_their_luck_leaves_the_answer(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "adjust_deals", interrupt)

    assert malice("compare", "planner", "greedy", *QUICK, "--db", db).stdout.startswith("better: +")


@pytest.mark.whole
def test_the_worse_bot_is_not_better() -> None:
    compare("first", "greedy", *QUICK, code=10)


@pytest.mark.whole
def test_twins_are_not_better_long_before_the_last_deal() -> None:
    found = compare("greedy", "greedy", *QUICK, code=10)

    advantage = found["advantage"]
    assert isinstance(advantage, dict)
    assert advantage["deals"] < 100
    assert (advantage["elo"], advantage["los"], advantage["p"]) == (0, None, None)


def test_too_few_deals_decide_nothing() -> None:
    assert compare("greedy", "first", *QUICK, "--max-deals", "2", code=11)["exact"] is True


@pytest.mark.whole
def test_a_fixed_number_of_deals_is_played_without_a_test() -> None:
    found = compare("greedy", "first", "--isolation", "none", "--seed", "s", "--deals", "12", code=0)

    assert (found["answer"], found["exact"]) == (None, True)
    assert str(found["sentence"]).endswith(" after 12 deals")


def test_a_broken_bot_is_refused_and_leaves_no_league(tmp_path: Path) -> None:
    result = malice("compare", "false", "greedy", "--db", tmp_path / "c.db")

    assert result.exit_code == 2
    assert "no game can be played without it" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_contradicts_itself_is_refused() -> None:
    assert malice("compare", "greedy", "first", "--deals", "3", "--elo1", "5").exit_code == 2
    for words in (["--elo1", "-5"], ["--elo1", "500"]):
        assert malice("compare", "greedy", "first", *words).exit_code == 2
    assert malice("compare", "greedy", "first", "--ruleset", "multi").exit_code == 2


@pytest.mark.whole
def test_the_answer_does_not_depend_on_jobs(db: Path, tmp_path: Path) -> None:
    words = ("planner", "greedy", *QUICK, "--db")
    found = compare(*words, tmp_path / "c.db", "--jobs", "3", code=0)

    ours, theirs = (json.loads(malice("verify", path, "--json").stdout) for path in (tmp_path / "c.db", db))
    assert found["sentence"] == compare(*words, db, code=0)["sentence"]
    assert (ours["sha"], ours["games"], ours["complete"]) == (theirs["sha"], theirs["games"], True)


@pytest.mark.whole
def test_the_same_command_goes_on_where_the_time_was_up(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.db"
    words = ("planner", "greedy", *QUICK, "--db")
    with monkeypatch.context() as patch:
        pass_time_with_games(patch)
        found = compare(*words, path, "--jobs", "1", "--time", "1s", code=11)
        assert found["answer"]
    with Store(path) as store:
        assert not store.tournament().complete
        played = {game.key: game for game in store.stored_games()}
    found = compare(*words, path, code=0)

    assert found["sentence"] == compare(*words, db, code=0)["sentence"]
    with Store(path) as store:
        assert list(store.league().tournaments) == ["planner v greedy"]
        assert played
        again = {game.key: game for game in store.stored_games()}
        assert played.items() <= again.items(), "times too: none is played again"


def pass_time_with_games(patch: pytest.MonkeyPatch) -> None:
    """Let the time be up as soon as a game is stored, however slow the machine is.

    One job begins with one rotation of the first deals, so no test can have its answer by then.
    """
    stored: list[tuple[GameSummary, Record]] = []
    add_all = Store.add_all

    def add_and_tell(store: Store, games: Iterable[tuple[GameSummary, Record]]) -> None:
        new = list(games)
        add_all(store, new)
        stored.extend(new)

    patch.setattr(Store, "add_all", add_and_tell)
    patch.setattr(Deadline, "latest_begin", lambda deadline, batch: 0.0 if stored else math.inf)


def test_standings_say_the_same_of_stored_games(db: Path) -> None:
    said = malice("compare", "planner", "greedy", *QUICK, "--db", db).stdout
    before = db.read_bytes()

    assert malice("standings", db, "--pair", "planner", "greedy").stdout == said
    assert "so these are not 95 % intervals\n" in malice("standings", db).stdout
    (mirrored,) = json.loads(malice("standings", db, "--pair", "greedy", "planner", "--json").stdout)
    assert (mirrored["finding"], mirrored["answer"], mirrored["exact"]) == ("worse", None, False)
    assert malice("standings", db, "--pair", "greedy", "nobody").exit_code == 2
    assert malice("standings", db, "--pair", "greedy", "planner", "--csv").exit_code == 2
    assert db.read_bytes() == before


@pytest.mark.whole
def test_two_bots_of_a_league_are_compared_by_its_fit_beside_their_own_games(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('entries = ["greedy", "uniform", "first"]\ndeals = 3\nseed = "x"\n')
    assert malice("run", tmp_path / "t.toml", "--db", tmp_path / "t.db", "--isolation", "none").exit_code == 0

    first, second, *_ = malice("standings", tmp_path / "t.db", "--pair", "greedy", "first").stdout.splitlines()
    (found,) = json.loads(malice("standings", tmp_path / "t.db", "--pair", "greedy", "first", "--json").stdout)
    (ranking,) = json.loads(malice("standings", tmp_path / "t.db", "--json").stdout)

    elos = {row["label"]: row["rating"]["elo"] for row in ranking["rows"]}
    lead = found["fit"]["lead"]
    assert first.startswith(found["fit"]["sentence"])
    assert " by the fit of all 18 games, LOS " in first
    assert second == f"the games of the two alone: {found['sentence']}"
    assert lead["elo"] == pytest.approx(elos["greedy"] - elos["first"])
    assert lead["los"] == ranking["los"]["greedy"]["first"]
    assert lead["low"] < lead["elo"] < lead["high"]
    assert found["anytime"] is None, "no deal is missing"


@pytest.mark.whole
def test_a_changed_bot_is_a_new_comparison(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED / "greedy", tmp_path / "mine")
    words = (str(tmp_path / "mine"), "first", *QUICK, "--max-deals", "2", "--db", tmp_path / "c.db")
    compare(*words, code=11)
    with (tmp_path / "mine/bot.py").open("a") as file:
        file.write("# changed\n")
    for _ in range(2):
        compare(*words, code=11)

    with Store(tmp_path / "c.db") as store:
        assert list(store.league().tournaments) == ["greedy v first", "greedy v first #2"]


@pytest.mark.whole
def test_two_bots_of_one_name_get_labels(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED / "greedy", tmp_path / "mine")
    (tmp_path / "mine/bot.py").write_text((SHIPPED / "first/bot.py").read_text())

    found = compare(str(tmp_path / "mine"), "greedy", *QUICK, code=10)

    assert str(found["sentence"]).startswith("not better: at most ")
    assert [found[side]["label"] for side in ("new", "base")] == ["mine", "greedy"]  # type: ignore[index]


def test_two_variants_of_one_name_differ_in_the_name_and_not_in_the_value(tmp_path: Path) -> None:
    for name, share in (("mine", "0.5"), ("old", "0.25")):
        write_variable_bot(tmp_path / name, MANIFEST.replace("0.5", share))
    bots = [f"{tmp_path / name}?weight=300" for name in ("mine", "old")]

    found = compare(*bots, "--isolation", "none", "--deals", "1", code=11)

    assert [found[side]["label"] for side in ("new", "base")] == ["mybot?weight=300", "mybot-2?weight=300"]  # type: ignore[index]


def test_a_working_copy_is_compared_with_its_last_commit(tmp_path: Path) -> None:
    start_repository(tmp_path)
    shutil.copytree(SHIPPED / "first", tmp_path / "mine")
    commit(tmp_path)
    (tmp_path / "mine/bot.py").write_text((SHIPPED / "greedy/bot.py").read_text())

    found = compare(str(tmp_path / "mine"), f"{tmp_path / 'mine'}@HEAD", *QUICK, "--db", tmp_path / "c.db", code=0)

    assert [found[side]["label"] for side in ("new", "base")] == ["first", "mine@HEAD"]  # type: ignore[index]


@pytest.mark.whole
def test_both_meet_the_same_opponents_on_the_same_cards(tmp_path: Path) -> None:
    words = ("--opponents", "uniform,staller", "--model", "logistic", "--max-deals", "2", "--db", tmp_path / "c.db")
    found = compare("greedy", "first", *QUICK, *words, code=11)

    assert found["opponents"] == ["uniform", "staller"]
    with Store(tmp_path / "c.db") as store:
        cards = {(record.key.table, record.key.deal): record.deal_seed for record in store.records()}
    assert len({seed for (_, deal), seed in cards.items() if deal == 0}) == 1
    assert {table for table, _ in cards} == {0, 1, 2, 3}
    assert malice("verify", tmp_path / "c.db").exit_code == 0


@pytest.mark.whole
def test_several_rulesets_give_one_answer() -> None:
    words = ("--max-deals", "2", "--elo1", "150", "--ruleset", "standard", "--ruleset", "aces")
    found = compare("greedy", "first", *QUICK, *words, code=11)

    assert found["rulesets"] == ["standard", "aces"]
    assert len(found["meetings"]) == 2  # type: ignore[arg-type]


@pytest.mark.whole
def test_faults_are_counted_and_nobody_is_suspended() -> None:
    dies = f"{sys.executable} {BOTS / 'dies.py'} move 3 0"
    found = compare("first", dies, "--isolation", "none", "--deals", "6", code=0)

    assert [found[side]["faults"] for side in ("new", "base")] == [0, 12]  # type: ignore[index]


def test_ctrl_c_prints_the_sentence_for_what_there_is(tmp_path: Path) -> None:
    run = Run(tmp_path)
    os.mkfifo(run.fifo)
    teller = f"{sys.executable} {BOTS / 'teller.py'} fifo"
    words = ("compare", teller, "first", "--deals", "12", "--jobs", "1", "--isolation", "none", "--db", "t.db")
    process = subprocess.Popen(
        [*MALICE, *words],
        cwd=tmp_path,
        env=run.mark.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with run.in_the_third_game():
        process.send_signal(signal.SIGINT)
        read_until(process, "finishing")
        run.await_last_order()
    out, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3
    assert out.splitlines()[0] == "undecided: no deal was finished"
    assert "stopped by SIGINT after 3 of 24 games; resume with: malice compare" in err
