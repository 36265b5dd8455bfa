"""`malice new` and `build`: what they make, what they print, and how they end."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest

from malice.referee.errors import DataError
from malice.referee.families import list_shipped
from malice.referee.games import DEFAULT_RULESET
from malice.referee.rulesets import load_ruleset
from malice.tournaments.cli import MODULES
from malice.tournaments.entries import bots
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.kits import copy_kit, list_kits, rename_kit
from malice.tournaments.entries.plain_programs import PROGRAMS
from malice.tournaments.league.config import read_config
from tests.command_line import malice

SHIPPED = bots.SHIPPED

MANIFEST = """\
# A kit for tests.
name = "starter-{language}"  # how standings call it
version = "1"
author = "The malice authors"
language = "{language}"
run = ["{{python}}", "-I", "src/bot.py"]
ignore = ["build", "*.lock"]
"""

PLAYS = """\
import json, sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
"""

BUILD = """build = ["sh", "-c", "mkdir -p build && cp src/bot.py build"]\n"""
FILES = [".gitignore", "AGENTS.md", "README.md", "bot.schema.json", "bot.toml", "src/bot.py"]


def kit(shelf: Path, language: str, *, more: str = "", program: str = PLAYS) -> Path:
    folder = shelf / language / "starter"
    (folder / "src").mkdir(parents=True)
    (folder / "bot.toml").write_text(MANIFEST.format(language=language) + more)
    (folder / "src/bot.py").write_text(program)
    (folder / "README.md").write_text("Change choose.\n")
    return folder


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kits of our own in the place of those that ship; we stand in an empty folder."""
    shelf, here = tmp_path / "shelf", tmp_path / "here"
    here.mkdir()
    kit(shelf, "python")
    kit(shelf, "cpp", more=BUILD)
    kit(shelf, "rust", more='needs = ["no-such-cargo", "sh"]\n')
    for name in ("greedy", "uniform"):
        (shelf / "python" / name).symlink_to(SHIPPED / "python" / name)
    monkeypatch.setattr(bots, "SHIPPED", shelf)
    monkeypatch.chdir(here)
    return shelf


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_new_copies_the_kit_and_gives_it_the_name_of_the_folder(shelf: Path) -> None:
    result = malice("new", "mine")

    assert result.exit_code == 0, result.output
    assert files(Path("mine")) == FILES
    bot = find_bot("mine")
    assert (bot.manifest.name, bot.manifest.author, bot.manifest.language) == ("mine", "", "python")
    text = MANIFEST.format(language="python").replace("starter-python", "mine").replace("The malice authors", "")
    assert Path("mine/bot.toml").read_text() == f"#:schema ./bot.schema.json\n{text}"


def test_new_leaves_behind_what_a_build_and_an_editor_left(shelf: Path) -> None:
    folder = shelf / "python" / "starter"
    for name in ("build/out", "some.lock", "src/__pycache__/bot.pyc", ".malice-build", ".editor/state"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")

    malice("new", "mine")

    assert files(Path("mine")) == FILES
    assert Path("mine/.gitignore").read_text().split() == ["__pycache__", ".malice-build", "build", "*.lock"]


def test_a_copy_may_be_changed_and_run_though_the_kit_is_read_only(shelf: Path) -> None:
    source = shelf / "python" / "starter" / "src" / "bot.py"
    source.chmod(0o555)

    malice("new", "mine")

    assert Path("mine/src/bot.py").stat().st_mode & 0o700 == 0o700
    assert Path("mine/README.md").stat().st_mode & 0o700 == 0o600


@pytest.mark.slow
def test_the_commands_that_new_prints_work_as_they_stand(shelf: Path) -> None:
    folder = "my folder/the.best_bot-1"
    with (shelf / "cpp/starter/bot.toml").open("a") as manifest:
        manifest.write('rulesets = ["standard"]\n')  # each further one is another game of the examination
    result = malice("new", folder, "--language", "cpp")

    commands = [shlex.split(line) for line in result.stdout.splitlines()]
    steps = ("build", "check", "play", "rate")
    assert [words[:3] for words in commands] == [["malice", what, folder] for what in steps]
    commands[-1].append("--list")  # which reads the words, and plays no minute
    for words in commands:
        if words[1] in MODULES:
            done = malice(*("1" if word == "20" else word for word in words[1:]))
            assert done.exit_code == 0, done.output


def test_new_prints_commands_alone_and_says_the_rest_on_stderr(shelf: Path) -> None:
    result = malice("new", "mine", "--language", "rust")

    assert result.exit_code == 0
    assert result.stdout == "malice check mine\nmalice play mine greedy --deals 20\nmalice rate mine\n"
    assert result.stderr.splitlines() == [
        f"mine: made from {shelf}/rust/starter; its README.md says where to begin",
        "warning: mine needs no-such-cargo, not on the PATH",
    ]


@pytest.mark.parametrize(
    ("family", "last"),
    [
        ("klondike", "malice rate mine --ladder klondike-3-v1"),
        ("nuts", "malice play mine uniform --ruleset nuts-2 --deals 20"),
    ],
)
def test_new_names_the_ladder_of_the_game_if_there_is_one(
    family: str, last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert malice("new", "mine", "--family", family, code=0).stdout.splitlines()[-1] == last


def test_new_fills_an_empty_folder_that_is_there_already(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine").mkdir()
    monkeypatch.chdir("mine")

    assert malice("new", ".").exit_code == 0
    assert find_bot(".").manifest.name == "mine"


@pytest.mark.parametrize("language", ["cpp", "C++", "CPP"])
def test_a_language_has_the_names_that_people_give_it(shelf: Path, language: str) -> None:
    malice("new", "mine", "--language", language)

    assert find_bot("mine").manifest.language == "cpp"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mine", "--language", "pyton"], "no kit for 'pyton' (did you mean 'python'?); languages: cpp, python, rust"),
        (["mine", "--language", "cobol"], "no kit for 'cobol'; languages: cpp, python, rust"),
        (["full"], "full: expected a new or an empty folder, got one with files in it"),
        (["full/file"], "full/file: expected a new or an empty folder, got a file"),
        (["my bot"], "'my bot' is not a name for a bot: expected at most 100 letters"),
        (["-- "], "'-- ' is not a name"),
        ([".hidden"], "'.hidden' is not a name"),
        (['a"b'], "'a\"b' is not a name"),
        (["a" * 101], "is not a name"),
        (["/"], "'' is not a name"),
        (["deep/greedy"], "'greedy' is taken by malice itself; choose another folder name"),
        (["you"], "'you' is taken by malice itself; choose another folder name"),
    ],
)
def test_new_refuses_what_it_cannot_make_in_one_line_and_makes_nothing(
    shelf: Path, words: list[str], said: str
) -> None:
    Path("full").mkdir()
    Path("full/file").write_text("precious")

    result = malice("new", "--", *words) if words[0].startswith("--") else malice("new", *words)

    assert result.exit_code == 2
    assert said in result.stderr
    assert (result.stdout, len(result.stderr.splitlines())) == ("", 1)
    assert files(Path.cwd()) == ["full/file"]
    assert Path("full/file").read_text() == "precious"


def test_a_manifest_without_a_name_to_replace_is_an_error() -> None:
    for text in ('run = ["x"]\n', "name = 'x'\n", 'about = """\nname = "x"\n"""\nname = \'y\'\n'):
        with pytest.raises(DataError, match=r'kit/bot\.toml: expected a line that begins with name = "'):
            rename_kit(text, "mine", "kit/bot.toml")


def test_build_says_what_it_did(shelf: Path, capfd: pytest.CaptureFixture[str]) -> None:
    malice("new", "mine", "--language", "cpp")
    mine = Path("mine").resolve()
    manifest = (mine / "bot.toml").read_text()
    (mine / "bot.toml").write_text(manifest.replace("mkdir", "echo compiling; mkdir"))

    results = [malice("build", "mine"), malice("build", "mine"), malice("build", "mine", "--force")]

    assert [(result.exit_code, result.stdout) for result in results] == [
        (0, f"mine: built in {mine}\n"),
        (0, f"mine: up to date in {mine}\n"),
        (0, f"mine: built in {mine}\n"),
    ]
    command = "sh -c 'echo compiling; mkdir -p build && cp src/bot.py build'"
    assert [result.stderr for result in results] == [f"mine: building: {command}\n", "", f"mine: building: {command}\n"]
    assert capfd.readouterr() == ("", "compiling\ncompiling\n")


@pytest.mark.parametrize("bot", ["greedy", "sh -c true"])
def test_build_has_nothing_to_do_for_most_bots(bot: str) -> None:
    result = malice("build", bot)

    assert result.exit_code == 0
    assert result.stdout == f"{find_bot(bot).manifest.name}: nothing to build\n"
    assert result.stderr == ""


def test_a_build_that_fails_ends_with_2_and_its_own_words_come_first(
    shelf: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kit(shelf, "c", more='build = ["sh", "-c", "echo no luck; exit 3"]\n')

    result = malice("build", "c/starter")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert capfd.readouterr().err == "no luck\n"
    assert result.stderr.splitlines()[-1] == (
        "Error: starter-c: the build sh -c 'echo no luck; exit 3' exited with status 3"
    )


@pytest.mark.slow
def test_play_builds_and_says_so(shelf: Path) -> None:
    result = malice("play", "cpp/starter", "uniform", "--isolation", "none")

    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[0].startswith("starter-cpp: building: sh -c ")
    assert "building" not in malice("play", "cpp/starter", "uniform", "--isolation", "none").stderr


def test_languages_tells_what_is_ready_and_what_is_missing(shelf: Path) -> None:
    kit(shelf, "c", more='needs = ["cc", "cjson"]\n')
    kit(shelf, "go", more='needs = ["go"]\n')

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PATH", "/nowhere")
        result = malice("new", "--list", "--family", "spite")

    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["ready", "game", "language", "missing", "how", "to", "get", "it", "kit"],
        [
            "no",
            "spite",
            "c",
            "cc",
            "cjson",
            *["Debian:", "apt-get", "install", "gcc", "libc6-dev", "libcjson-dev"],
            f"{shelf}/c/starter",
        ],
        ["yes", "spite", "cpp", f"{shelf}/cpp/starter"],
        ["no", "spite", "go", "go", "Debian:", "apt-get", "install", "golang-go", f"{shelf}/go/starter"],
        ["yes", "spite", "python", f"{shelf}/python/starter"],
        ["no", "spite", "rust", "no-such-cargo", "sh", f"{shelf}/rust/starter"],
    ]


def test_languages_prints_json_for_scripts(shelf: Path) -> None:
    told = {
        each.pop("language"): each for each in json.loads(malice("new", "--list", "--json", "--family", "spite").stdout)
    }

    assert list(told) == ["cpp", "python", "rust"]
    assert told["rust"] == {
        "ready": False,
        "needs": ["no-such-cargo", "sh"],
        "missing": ["no-such-cargo"],
        "how_to_get": "",
        "bot": "rust/starter",
        "kit": f"{shelf}/rust/starter",
        "game": "spite",
    }
    assert told["cpp"]["ready"]


def test_languages_of_a_game_are_all_that_new_writes_a_bot_in() -> None:
    rows = [line.split(maxsplit=3) for line in malice("new", "--list", "--family", "klondike").stdout.splitlines()[1:]]
    told = {language: kit for _, _, language, kit in rows}

    assert told.pop("python").endswith("klondike/starter/python")
    assert set(told) == set(PROGRAMS) - {"python"}
    assert all("any legal action" in kit for kit in told.values())


@pytest.mark.whole
@pytest.mark.slow
def test_the_tournament_of_the_languages_holds_what_plays_here_and_says_what_does_not(shelf: Path) -> None:
    kit(shelf, "c", more='build = ["sh", "-c", "echo no header; exit 1"]\n')
    kit(shelf, "lua", program="import no_such_library\n")

    result = malice("new", "--list", "--tournament")

    assert result.exit_code == 0
    assert tomllib.loads(result.stdout)["entries"] == ["cpp/starter", "python/starter", "greedy", "uniform"]
    left_out = [line for line in result.stderr.splitlines() if line.startswith("left out")]
    assert [line.split(":")[0] for line in left_out] == [f"left out {name}/starter" for name in ("c", "lua", "rust")]
    assert "No module named 'no_such_library'" in result.stderr
    assert left_out[2] == "left out rust/starter: starter-rust: needs no-such-cargo, not on the PATH"
    Path("t.toml").write_text(result.stdout.replace("deals = 10", "deals = 1"))
    assert read_config(Path("t.toml")).seed == "languages"
    assert malice("run", "t.toml", "--db", "t.db").exit_code == 0


def test_without_a_kit_that_plays_there_is_no_tournament(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots, "SHIPPED", shelf / "rust")

    result = malice("new", "--list", "--tournament")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "no starter kit plays on this machine" in result.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--list", "--json", "--tournament"], "--json and --tournament print different things"),
        (["--list", "mine"], "--list makes no bot: expected no DIR and no --language"),
        (["--list", "--language", "rust"], "--list makes no bot: expected no DIR and no --language"),
        (["mine", "--json"], "--json needs --list"),
        (["mine", "--tournament"], "--tournament needs --list"),
        ([], "expected DIR, or --list"),
    ],
)
def test_options_that_do_not_fit_are_refused(words: list[str], sentence: str, shelf: Path) -> None:
    result = malice("new", *words)

    assert result.exit_code == 2
    assert bool(result.stdout) is ("--json" in words)
    assert sentence in result.stderr
    assert not Path("mine").exists()


@pytest.mark.parametrize("language", list_kits())
def test_every_kit_that_ships_can_be_copied(language: str, tmp_path: Path) -> None:
    shipped = find_bot(f"{language}/starter")

    copy = copy_kit(shipped, tmp_path / "mine")

    assert shipped.manifest.name == f"starter-{language}"
    assert shipped.manifest.language == language
    assert (copy.manifest.name, copy.manifest.author) == ("mine", "")
    assert "README.md" in files(tmp_path / "mine")


@pytest.mark.parametrize("family", list_shipped())
def test_the_first_games_of_a_new_bot_are_games_of_two(family: str, tmp_path: Path) -> None:
    *_, play = malice("new", tmp_path / "mine", "--family", family).stdout.splitlines()
    words = shlex.split(play)

    name = words[words.index("--ruleset") + 1] if "--ruleset" in words else DEFAULT_RULESET
    assert load_ruleset(name).match.players[0] <= 2
