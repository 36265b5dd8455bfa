"""Kept bots under every layer of isolation: they play from their copies, and see what each layer lets them see."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.batch import play_batch
from malice.referee.isolation import limits
from malice.referee.records import Isolation, Layer, Player, Record
from malice.referee.seat import BotSeat
from malice.tournaments.entries.bot_files import copy_files
from malice.tournaments.entries.bots import SHIPPED, Bot
from tests.boxes import LANDLOCK, SANDBOX
from tests.kept.folders import find_built, keep, open_place, write_bot
from tests.tables import PATIENCE_MS, batch

LAYERS: list[object] = ["none", "rlimit", SANDBOX]
REPORT = Path(__file__).parents[1] / "isolated_bot.py"

pytestmark = pytest.mark.slow
every_layer = pytest.mark.parametrize("layer", LAYERS)
every_layer_and_landlock = pytest.mark.parametrize("layer", [*LAYERS, LANDLOCK])


@pytest.fixture
def place() -> Iterator[Path]:
    with open_place() as place:
        yield place


def write_reporter(folder: Path, code: str) -> Path:
    """Write a bot that runs `code` at hello and tells the outcome as its version."""
    folder.mkdir()
    (folder / "bot.py").write_text(REPORT.read_text())
    (folder / "bot.toml").write_text(f'name = "reporter"\nrun = ["{{python}}", "-I", "bot.py", {json.dumps(code)}]\n')
    return folder


def greet(bot: Bot, layer: Layer, *hidden: str) -> tuple[str, tuple[str, ...]]:
    """Return the version that a bot tells at hello, and the isolation in force."""
    seat = BotSeat(bot.make_player("greeted"), PATIENCE_MS, None, isolation=Isolation(layer, hidden=hidden))
    try:
        seat.begin()
        return seat.version, seat.isolation
    finally:
        seat.dismiss()


def play(layer: Layer, *players: Player) -> Record:
    reports: list[object] = []
    play_batch(replace(batch(*players), isolation=Isolation(layer)), None, reports.append)
    (record,) = (report for report in reports if isinstance(report, Record))
    return record


@pytest.mark.compiler
@every_layer
def test_a_script_and_a_compiled_bot_play_from_their_copies(place: Path, layer: Layer) -> None:
    kept, greedy = keep(place, SHIPPED / "python" / "greedy")
    copy_files(SHIPPED / "c" / "first", place / "first", ("build",))
    compiled = kept.keep(find_built(place / "first"))

    record = play(layer, greedy.make_player("greedy"), compiled.make_player("first"))

    assert record.faults == ()
    assert record.isolation.split("+")[0] == layer
    assert {greedy.folder, compiled.folder} == {kept.folder / greedy.hash, kept.folder / compiled.hash}


@every_layer
def test_a_bot_starts_in_its_copy_as_a_user_of_its_own_where_there_are_any(place: Path, layer: Layer) -> None:
    folder = write_reporter(place / "bot", "import os; told = os.getcwd()[-64:]")
    for path in (folder, folder / "bot.py"):
        path.chmod(0o700)
    _, bot = keep(place, folder)

    version, isolation = greet(bot, layer)

    assert version == bot.hash
    # Without a sandbox that brings it along, another user may not reach the interpreter, such as one below /root.
    reached = layer == "bwrap" or limits.find_unreadable([Path(sys.executable)]) is None
    assert ("uid" in isolation) == (layer != "none" and limits.explain_missing_uids() is None and reached)


@every_layer
def test_a_sandbox_shows_a_bot_no_copy_but_its_own(place: Path, layer: Layer) -> None:
    _, other = keep(place, write_bot(place / "other"))
    code = "import os; told = len(os.listdir('..'))"
    kept, bot = keep(place, write_reporter(place / "bot", code))

    version, isolation = greet(bot, layer)

    alone, everything = "1", str(2 * len({bot.hash, other.hash}))
    if layer == "bwrap":
        assert version == alone
    else:
        assert version == ("PermissionError" if "uid" in isolation else everything)
    assert len(list(kept.folder.iterdir())) == 4


@every_layer_and_landlock
def test_a_sandbox_hides_another_bots_copy_and_tar_from_one_that_knows_its_hash(place: Path, layer: Layer) -> None:
    kept, other = keep(place, write_bot(place / "other"))
    paths = [str(kept.folder / f"{other.hash}.tar"), str(kept.folder / other.hash / "bot.py")]
    code = (
        "def can_read(path):\n"
        " try: return bool(open(path, 'rb').read(1))\n"
        " except OSError: return False\n"
        f"told = [can_read(path) for path in {paths}]"
    )
    _, bot = keep(place, write_reporter(place / "bot", code))

    version, isolation = greet(bot, layer)

    open_to_it = layer in ("none", "rlimit")
    assert version == str([open_to_it and "uid" not in isolation, open_to_it])


@every_layer_and_landlock
def test_an_interpreter_that_stays_in_a_dot_folder_runs_the_copy(place: Path, layer: Layer) -> None:
    folder = write_bot(place / "bot", "from its environment", 'python = ".venv/bin/python"\n')
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (folder / ".venv" / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    kept, bot = keep(place, folder)

    assert greet(bot, layer)[0] == "from its environment"
    assert greet(kept.load(bot.hash), layer)[0] == "from its environment"
