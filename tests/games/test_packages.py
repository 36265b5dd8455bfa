"""Games of packages: found by their entry points, loaded when they are named, missed in one sentence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from malice.referee.families import list_shipped, load_family
from malice.referee.games import DEFAULT_FAMILY, DEFAULT_RULESET
from malice.referee.records import Isolation
from malice.referee.rulesets import load_ruleset
from malice.tournaments.check.examination import Examination
from malice.tournaments.check.games import choose_syllabus
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.builds import ensure_built
from malice.tournaments.entries.plain_programs import PROGRAMS
from tests.check.examined import PATIENT, failures
from tests.command_line import malice
from tests.games.installed import installed

pytestmark = pytest.mark.slow


def claim(target: Path, package: str, game: str, module: str) -> None:
    """Install a package that claims a game."""
    info = target / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[malice.games]\n{game} = {module}:FAMILY\n")


def break_package(target: Path, game: str) -> None:
    """Install a package whose module cannot be imported."""
    claim(target, f"malice-{game}", game, f"malice_{game}.inner")
    (target / f"malice_{game}" / "inner" / "rulesets").mkdir(parents=True)
    (target / f"malice_{game}" / "__init__.py").write_text("1 / 0\n")
    (target / f"malice_{game}" / "inner" / "__init__.py").write_text("")
    (target / f"malice_{game}" / "inner" / "rulesets" / f"{game}-1.toml").write_text('about = "never read"\n')


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


# Names


def test_no_package_can_take_the_name_of_a_game_that_ships(tmp_path: Path) -> None:
    shipped = DEFAULT_FAMILY
    claim(tmp_path / "thief", "thief", shipped, "thief")
    with installed(tmp_path / "thief"):
        result = malice("rules")
        assert load_family(shipped).package == ""

    assert result.exit_code == 0
    assert "the package 'thief'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_two_packages_that_claim_one_name_are_both_named(stairs: Path) -> None:
    claim(stairs, "ladders", "stairs", "ladders")
    with installed(stairs):
        result = malice("play", "uniform", "uniform", "--ruleset", "stairs", code=2)

        malice("rules", "show", DEFAULT_RULESET, code=0)

    assert "ladders, malice-stairs" in result.output


def test_no_package_can_take_the_name_of_a_ruleset_that_ships(stairs: Path) -> None:
    (own,) = stairs.glob("*/rulesets/stairs.toml")
    shutil.copy(own, own.with_name(f"{DEFAULT_RULESET}.toml"))
    with installed(stairs):
        assert load_ruleset(DEFAULT_RULESET).family == DEFAULT_FAMILY


def test_a_broken_package_matters_only_where_its_game_is_named(stairs: Path) -> None:
    break_package(stairs, "wreck")
    with installed(stairs):
        malice("play", "uniform", "uniform", "--ruleset", "stairs", "--isolation", "none", code=0)
        listed = malice("rules")
        named = malice("rules", "--family", "wreck", code=2)
        shown = malice("rules", "show", "wreck-1", code=2)

    assert listed.exit_code == 0
    assert "stairs-short" in listed.stdout
    assert "'malice-wreck'" in listed.stderr
    for result in (named, shown):
        assert "'malice-wreck'" in result.output
        assert "ZeroDivisionError" in result.output
        assert len(result.output.splitlines()) == 1


# What lists and makes


def test_rulesets_are_listed_with_their_game_where_there_are_several(stairs: Path) -> None:
    with installed(stairs):
        every = malice("rules", code=0).output.splitlines()
        only = malice("rules", "--family", "stairs", code=0).output.splitlines()
        malice("rules", "--family", "chairs", code=2)

    assert every[0].split() == ["seats", "game", "ruleset", "about"]
    assert {line.split()[1] for line in every[1:]} == {*list_shipped(), "prizes", "stairs"}
    assert [line.split()[1] for line in only] == ["ruleset", "stairs", "stairs-short"]


def test_a_new_bot_is_a_copy_of_a_kit_that_the_game_brings(stairs: Path, folder: Path) -> None:
    kit = stairs / "malice_stairs" / "starter" / "perl"
    kit.mkdir(parents=True)
    (kit / "bot.toml").write_text('name = "starter"\nrun = ["perl", "bot.pl"]\n')
    (kit / "bot.pl").write_text("# climbs\n")
    with installed(stairs):
        malice("new", "climber", "--family", "stairs", "--language", "pl", code=0)
        missing = malice("new", "other", "--family", "stairs", "--language", "rust", code=2)

    assert (folder / "climber" / "bot.pl").read_text() == "# climbs\n"
    assert 'name = "climber"' in (folder / "climber" / "bot.toml").read_text()
    assert "perl" in missing.output


def test_without_a_kit_a_language_that_needs_none_is_to_be_had(stairs: Path, folder: Path) -> None:
    with installed(stairs):
        refused = malice("new", "climber", "--family", "stairs", "--language", "rust", code=2)
        malice("new", "climber", "--family", "chairs", code=2)

    assert "languages for 'stairs': go, javascript, lua, perl, python, ruby, shell" in refused.output
    assert not (folder / "climber").exists()


@pytest.mark.parametrize(
    "language",
    [pytest.param(name, marks=[pytest.mark.kit(name), *[pytest.mark.whole] * (name != "python")]) for name in PROGRAMS],
)
@pytest.mark.usefixtures("games")
def test_a_bot_that_knows_no_game_passes_its_examination_in_each_language(language: str) -> None:
    *_, play = malice("new", "bot", "--family", "tricks", "--language", language, code=0).stdout.splitlines()

    bot = ensure_built(find_bot("bot"))
    report = Examination(bot, PATIENT, Isolation("none"), rare=10, games=1, syllabus=choose_syllabus(bot)).run()
    assert failures(report) == {}
    assert play == "malice play bot uniform uniform --ruleset tricks --deals 20"
    if language == "python":  # the examination has played with each
        malice(*play.split()[1:-1], "1", "--isolation", "none", code=0)


@pytest.mark.whole
@pytest.mark.usefixtures("bidding")
def test_a_plain_bot_plays_bids_and_is_examined_by_them(folder: Path) -> None:
    made = malice("new", "bidder", "--family", "bidding", code=0).stdout

    assert made.splitlines() == ["malice check bidder", "malice play bidder uniform --ruleset bidding --deals 20"]
    report = malice("check", "bidder", "--fuzz", "60", "--isolation", "none", code=0).output
    assert "20 games of bidding against uniform" in report
    assert "60 situations of 2 rulesets" in report


@pytest.mark.whole
@pytest.mark.usefixtures("bidding")
def test_an_examination_may_cover_two_games(folder: Path) -> None:
    malice("check", "uniform", "--rulesets", "standard,bidding", "--isolation", "none", code=0)


@pytest.mark.usefixtures("bidding")
def test_a_person_bids_against_a_bot() -> None:
    result = malice(
        "play",
        "you",
        "uniform",
        "--ruleset",
        "bidding-duel",
        "--seed",
        "you",
        "--isolation",
        "none",
        input="1\n" * 40,
        code=0,
    )

    assert "you (bids)" in result.output
    assert "all_done" in result.output


# What is missing


def test_a_league_without_the_package_of_its_game_names_the_package(stairs: Path, folder: Path) -> None:
    (folder / "t.toml").write_text('name = "t"\nentries = ["first", "uniform"]\nrulesets = ["stairs"]\ndeals = 1\n')
    with installed(stairs):
        malice("run", "t.toml", "--isolation", "none", code=0)
    commands = (
        ("standings", "t.db"),
        ("verify", "t.db"),
        ("log", "t.db", "0.0.0"),
        ("replay", "t.db", "0.0.0"),
        ("export", "t.db"),
        ("rerun", "t.db", "0.0.0", "uniform"),
        ("site", "t.db", "--out", "site"),
    )

    for command in commands:
        result = malice(*command, code=2)
        assert "'malice-stairs', which is not installed" in result.output
        assert len(result.output.splitlines()) == 1
    malice("run", "t.toml", code=2)


def test_a_ruleset_or_a_bot_of_an_unknown_game_is_refused(folder: Path) -> None:
    (folder / "mine.toml").write_text('family = "chairs"\n')
    (folder / "bot").mkdir()
    (folder / "bot" / "bot.toml").write_text('name = "bot"\nrun = ["true"]\nrulesets = ["chairs-1"]\n')

    shown = malice("rules", "show", "./mine.toml", code=2)
    checked = malice("check", "bot", code=2)

    assert "mine.toml: unknown game 'chairs'" in shown.output
    assert "chairs-1" in checked.output
