"""What the folder of a stranger's bot may name: what lies in it, and programs of the organiser's PATH."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.errors import MaliceError
from malice.referee.errors import BotError
from malice.referee.isolation import boxes, installations
from malice.referee.isolation.bwrap import SandboxView
from malice.referee.isolation.installations import list_allowed_program
from malice.referee.records import Isolation, Player
from malice.referee.seat import BotSeat
from malice.referee.verdicts import Verdict
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.farm.work import place_player
from malice.tournaments.running.isolation import describe_shortcomings
from tests.kept.folders import keep, open_place, write_bot
from tests.tables import PATIENCE_MS

READER = """\
import json, os, sys
sys.argv[1:] = [os.path.abspath(word) for word in sys.argv[1:]]
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if request["type"] == "hello":
        answer["version"] = str([open(word).read()[:16] if os.path.exists(word) else None for word in sys.argv[1:]])
    print(json.dumps(answer), flush=True)
"""
REFUSED = r"mine/bot\.toml: {}: expected a file in this folder, or the bare name of a program on the PATH, got '{}'{}$"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may enter, with a bot of a stranger's, and what it must not see."""
    with open_place() as place:
        place = place.resolve()
        write_bot(place / "mine")
        (place / "secret").write_text("the secret seed")
        (place / "x" / "bin").mkdir(parents=True)
        (place / "x" / "password").write_text("the password")
        (place / "x" / "bin" / "wrap").write_text('#!/bin/sh\nexec "$@"\n')
        (place / "x" / "bin" / "wrap").chmod(0o755)
        yield place


def write_manifest(folder: Path, more: str, run: list[str] | None = None) -> None:
    words = run or ["{python}", "-I", "bot.py"]
    (folder / "bot.toml").write_text(f'name = "mine"\nrun = {words}\n{more}\n'.replace("'", '"'))


def make_environment(folder: Path, *options: str) -> Path:
    """Make a virtual environment, and return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", *options, str(folder)], check=True)
    return folder / "bin" / "python"


def greet(player: Player) -> str:
    """Return the version that a bot in a sandbox tells."""
    seat = BotSeat(player, PATIENCE_MS, None, isolation=Isolation("bwrap", required=True))
    try:
        seat.begin()
        return seat.version
    finally:
        seat.dismiss()


# what its words may say


@pytest.mark.parametrize(
    "word", ["{place}/secret", "../secret", "lib/../../secret", "link", ".hidden/link", "/proc/self/environ"]
)
def test_a_word_that_is_a_file_outside_is_refused(place: Path, word: str) -> None:
    word = word.format(place=place)
    for link in ("link", ".hidden/link"):
        (place / "mine" / link).parent.mkdir(exist_ok=True)
        (place / "mine" / link).symlink_to(place / "secret")
    (place / "mine" / "lib").mkdir()
    write_manifest(place / "mine", "ignore = ['link']", ["{python}", "bot.py", word])
    leads = f", which leads to {place / 'secret'}" if "link" in word else ""

    with pytest.raises(BotError, match=REFUSED.format("run", word, leads)):
        find_bot(str(place / "mine"))


@pytest.mark.parametrize(
    "word", ["-", "/", "..", "-Xlog=/etc/passwd", "/dev/null", "/tmp", "nowhere", "--data=../secret", "x" * 9000]
)
def test_a_word_that_is_no_file_is_only_text_and_shows_nothing(place: Path, word: str) -> None:
    write_manifest(place / "mine", "", ["cat", word])
    folder = place / "mine"

    assert find_bot(str(folder)).command == ("cat", word)
    assert SandboxView(["cat", word], Path("/usr/bin/cat"), folder, home=folder).roots == [folder]


@pytest.mark.parametrize(
    "word", ["{place}/x/bin/wrap", "../x/bin/wrap", "./link", "bin/link", "/usr/bin/cat", "./away/../wrap"]
)
def test_a_program_outside_is_named_by_its_bare_name_alone(place: Path, word: str) -> None:
    word = word.format(place=place)
    (place / "mine" / "bin").mkdir()
    for link in ("link", "bin/link"):
        (place / "mine" / link).symlink_to(place / "x" / "bin" / "wrap")
    (place / "x" / "bin" / "deeper").mkdir()
    (place / "mine" / "away").symlink_to(place / "x" / "bin" / "deeper")
    write_manifest(place / "mine", "ignore = ['link', 'bin', 'away']", [word, "bot.py"])
    leads = f", which leads to {place}/x/bin/wrap" if "link" in word else ""

    with pytest.raises(BotError, match=REFUSED.format("run", word, leads)):
        find_bot(str(place / "mine"))


@pytest.mark.parametrize(
    ("python", "leads"),
    [
        ("../env/bin/python", ""),
        ("{place}/env/bin/python", ""),
        ("linked/bin/python", ""),
        (".made/bin/python", ", which leads to {place}/env/bin/python"),
        (".copied/bin/python", ", which leads to {place}/own/bin/python"),
    ],
)
def test_an_interpreter_outside_is_refused(place: Path, python: str, leads: str) -> None:
    environment, folder = make_environment(place / "env"), place / "mine"
    (folder / "linked").symlink_to(place / "env")
    (folder / ".made/bin").mkdir(parents=True)
    (folder / ".made/bin/python").symlink_to(environment)
    (place / "own/lib/python3.13").mkdir(parents=True)
    (place / "own/lib/python3.13/os.py").touch()
    make_environment(folder / ".copied", "--copies")
    (folder / ".copied/pyvenv.cfg").write_text(f"home = {place}/own/bin\n")
    python = python.format(place=place)
    write_manifest(folder, f"python = '{python}'\nignore = ['linked']")

    with pytest.raises(BotError, match=REFUSED.format("python", python, leads.format(place=place))):
        find_bot(str(folder))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("rulesets = ['../mine.toml']", r"rulesets: expected a file in this folder, got '\.\./mine\.toml'"),
        (
            "rulesets = ['/proc/self/status.toml']",
            "rulesets: expected a file in this folder, got '/proc/self/status.toml'",
        ),
        ("rulesets = ['lib.toml']", r".*lib\.toml: expected a regular file in a bot's folder, got a fifo"),
        ("rulesets = ['link.toml']", r".*link\.toml: a symlink that leaves the bot's folder"),
        ("needs = ['../x/bin/wrap']", r"needs: expected the name of a program or a library, got '\.\./x/bin/wrap'"),
    ],
)
def test_what_else_it_lists_names_nothing_outside_either(place: Path, line: str, says: str) -> None:
    (place / "mine.toml").write_text("")
    (place / "mine" / "link.toml").symlink_to(place / "mine.toml")
    os.mkfifo(place / "mine" / "lib.toml")
    write_manifest(place / "mine", f"{line}\nignore = ['*.toml']")

    with pytest.raises(MaliceError, match=says):
        find_bot(str(place / "mine"))


# which interpreters its links may end at


def shows(folder: Path, python: str) -> list[Path]:
    return [*dict.fromkeys(list_allowed_program(folder / python, [folder]))]


@pytest.mark.parametrize("options", [(), ("--copies",)])
def test_a_virtual_environment_shows_itself_and_the_installation_that_it_comes_from(
    place: Path, options: tuple[str, ...]
) -> None:
    folder = place / "mine"
    make_environment(folder / ".venv", *options)

    first, *rest = shows(folder, ".venv/bin/python")

    assert first == folder / ".venv"
    assert set(rest) == {Path(sys.base_prefix)} or all(each.is_relative_to("/usr") for each in rest)


def place_pyenv(place: Path) -> tuple[Path, Path, dict[str, str]]:
    """pyenv: a shim on the PATH, and versions beside it."""
    shim, version = place / "pyenv/shims/python3", place / "pyenv/versions/3.13.1/bin/python3.13"
    (place / "pyenv/libexec").mkdir(parents=True)
    return shim, version, {"PATH": str(shim.parent)}


def place_uv(place: Path) -> tuple[Path, Path, dict[str, str]]:
    """uv: a folder of its own for interpreters, none of them on the PATH."""
    home = place / "data/uv/python/cpython-3.13.1-linux"
    return place / "bin/uv", home / "bin/python3.13", {"PATH": str(place / "bin"), "XDG_DATA_HOME": str(place / "data")}


def place_conda(place: Path) -> tuple[Path, Path, dict[str, str]]:
    """conda: an environment below the one on the PATH."""
    (place / "conda/lib").mkdir(parents=True)
    return place / "conda/bin/python", place / "conda/envs/a/bin/python3.13", {"PATH": str(place / "conda/bin")}


def place_opt(place: Path) -> tuple[Path, Path, dict[str, str]]:
    """A folder of one's own choice on the PATH."""
    program = place / "opt/python-3.13/bin/python3.13"
    return program, program, {"PATH": str(program.parent)}


@pytest.mark.parametrize("make", [place_pyenv, place_uv, place_conda, place_opt])
def test_a_link_may_end_at_an_interpreter_of_the_organisers_and_shows_that_one_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], tuple[Path, Path, dict[str, str]]]
) -> None:
    found, interpreter, environment = make(place)
    for program in {found, interpreter}:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(0o755)
    folder = place / "mine"
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(interpreter)

    with pytest.raises(PermissionError):
        shows(folder, ".venv/bin/python")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert shows(folder, ".venv/bin/python") == [folder / ".venv", interpreter.parents[1]]


def test_a_program_in_somebodys_home_is_shown_without_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place))
    for folder in (
        ".cargo/bin",
        "bin",
        ".local/bin",
        ".local/lib",
        ".nvm/versions/v22/bin",
        ".pyenv/shims",
        ".pyenv/libexec",
    ):
        (place / folder).mkdir(parents=True)
    shown = {
        program: next(installations.list_installations(place / program)).relative_to(place)
        for program in (".cargo/bin/x", "bin/x", ".local/bin/x", ".nvm/versions/v22/bin/x", ".pyenv/shims/x")
    }

    assert [str(each) for each in shown.values()] == [
        ".cargo/bin/x", "bin/x", ".local/bin/x", ".nvm/versions/v22", ".pyenv"
    ]  # fmt: skip


# what a sandbox shows, whatever reaches it


def test_a_bots_folder_called_bin_shows_no_other(place: Path) -> None:
    folder = write_bot(place / "bin")
    (folder / "run").touch(0o755)

    view = SandboxView(["./run"], folder / "run", folder, home=folder)

    assert {path for path in view.roots if not path.is_relative_to(folder)} == set()


@pytest.mark.parametrize("layer", ["rlimit", "bwrap"])
def test_a_program_that_became_a_link_to_another_is_not_started(place: Path, layer: str) -> None:
    folder = place / "mine"
    (folder / "run").symlink_to(place / "x/bin/wrap")
    player = Player("mine", "00", ("./run",), str(folder), home=str(folder))

    with pytest.raises(PermissionError) as refused:
        boxes.list_needed(player) if layer == "rlimit" else SandboxView(["./run"], folder / "run", folder, home=folder)

    assert refused.value.filename == str(place / "x/bin/wrap")


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_sandbox_shows_a_bot_no_file_outside_its_folder_and_a_command_line_any(place: Path) -> None:
    folder = place / "mine"
    (folder / "bot.py").write_text(READER)
    (folder / ".data").mkdir()
    (folder / ".data/own").write_text("its own")
    private = place / "private"
    private.write_text("the private key")
    private.chmod(0o600)
    words = (
        sys.executable,
        "-I",
        "bot.py",
        str(place / "secret"),
        "../secret",
        str(private),
        "/etc/passwd",
        ".data/own",
    )
    player = Player("mine", "00", words, str(folder), home=str(folder))

    assert greet(player) == str([None, None, None, None, "its own"])
    assert greet(replace(player, home=None)) == str(
        ["the secret seed", "the secret seed", "the private key", "root:x:0:0:root:", "its own"]
    )


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_kept_bot_sees_no_other_one_whose_hash_it_names(place: Path) -> None:
    _, rival = keep(place, write_bot(place / "rival"))
    (place / "mine/bot.py").write_text(READER)
    write_manifest(place / "mine", "", ["{python}", "-I", "bot.py", f"../{rival.hash}/bot.py", f"../{rival.hash}.tar"])

    kept, mine = keep(place, place / "mine")

    assert greet(mine.make_player("mine")) == str([None, None])
    with pytest.raises(BotError, match=f"got '../{rival.hash}/bot.py'"):
        kept.load(mine.hash)


def test_what_a_command_line_shows_outside_of_its_folder_is_said(place: Path) -> None:
    (place / "mine/own").touch()
    player = find_bot("cat own ../secret", place / "mine").make_player("cat")

    said = f"cat: its command line lets it read {place / 'secret'}, outside of its folder"
    assert said in describe_shortcomings("none", [player])
    assert not any("lets it read" in line for line in describe_shortcomings("none", [replace(player, home="/")]))


def test_a_worker_holds_a_bot_to_its_folder_there(place: Path) -> None:
    _, bot = keep(place, place / "mine")
    player = replace(bot.make_player("mine"), home="/elsewhere", cwd="/elsewhere")

    assert place_player(player, bot, "").home == str(bot.folder)
    assert place_player(player, find_bot("cat secret", place), "").home is None


@pytest.mark.slow
def test_a_start_that_is_refused_is_the_bots_own_fault(place: Path) -> None:
    player = Player("mine", "00", (str(place / "x/bin/wrap"),), str(place / "mine"), home=str(place / "mine"))

    with pytest.raises(Verdict, match="cannot be started: not in the bot's folder, and no program of the PATH"):
        greet(player)
