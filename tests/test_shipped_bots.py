"""The bots that ship, as processes: they keep the protocol, need nothing else, and leave when they should."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from malice.protocol.messages import ClockRules
from malice.referee.course import Course, Dealer
from malice.referee.families import make_rules
from malice.referee.rules import Ask
from malice.referee.rulesets import load_ruleset
from tests.processes import PATIENCE_S

SHIPPED = Path(__file__).parents[1] / "bots"
FOLDERS = sorted(manifest.parent for manifest in SHIPPED.glob("python/*/bot.toml"))
C_FIRST = SHIPPED / "c/first"
KIT = SHIPPED / "python/starter"  # a kit has more tests, in test_kits.py

every_python_bot = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def manifest(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "bot.toml").read_text("utf-8"))


# What is in the folders


@every_python_bot
def test_a_python_bot_introduces_itself_and_runs_on_the_python_of_malice(folder: Path) -> None:
    told = manifest(folder)

    assert told["name"] == ("starter-python" if folder == KIT else folder.name)
    assert told["language"] == "python"
    # Where a module lies beside the bot, -I would hide it.
    alone = len(list(folder.glob("*.py"))) == 1
    assert told["run"][:-1] == ["{python}", *(["-I"] if alone else [])]
    assert (folder / told["run"][-1]).suffix == ".py"
    assert told["version"]
    assert told["author"]


@every_python_bot
def test_a_python_bot_needs_the_standard_library_only(folder: Path) -> None:
    modules = {path.stem: ast.parse(path.read_text("utf-8")) for path in folder.glob("*.py")}

    nodes = [node for tree in modules.values() for node in ast.walk(tree)]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names | set(modules)
    assert all(map(ast.get_docstring, modules.values()))


def test_no_bot_is_named_after_a_standard_module() -> None:
    assert not {folder.name for folder in FOLDERS} & sys.stdlib_module_names


# The protocol, spoken by the process


class Dialogue:
    """A bot as a process: one line to it, one line back."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, **request: Any) -> dict[str, Any]:
        self.send(json.dumps(request).encode() + b"\n")
        return self.receive()


@contextmanager
def started(folder: Path, command: Sequence[str] = ()) -> Iterator[Dialogue]:
    """Start the bot of `folder`, and see to it that it ends."""
    words = [sys.executable if word == "{python}" else word for word in command or manifest(folder)["run"]]
    process = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        try:
            yield Dialogue(process)
        finally:
            process.kill()


def goes_by_itself(bot: Dialogue) -> bool:
    """Tell whether the process ended well and said nothing else on its pipes."""
    rest, errors = bot.process.communicate(timeout=PATIENCE_S)
    return (bot.process.returncode, rest, errors) == (0, b"", b"")


def requests(ruleset: str = "standard") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return `game_start` and the first `move` of a real game, without their ids."""
    found = load_ruleset(ruleset)
    rules = make_rules(found.family, found.rules, 2)
    course = Course(rules, Dealer(bytes(32)))
    step = course.step
    assert isinstance(step, Ask)
    seat = step.seats[0]
    masked = [rules.mask(event, seat) for event in course.dealt]
    seats = [{"name": 'tricky "legal":["h1"], "id":7', "team": 0}, {"name": "\\", "team": 1}]
    start = {
        "type": "game_start",
        "game": 1,
        "family": found.family,
        "ruleset": found.name,
        "rules": msgspec.to_builtins(found.rules),
        "seats": seats,
    }
    move = {
        "type": "move",
        "view": msgspec.to_builtins(rules.view(course.state, seat)),
        "events": msgspec.to_builtins([event for event in masked if event is not None]),
        "legal": list(rules.legal(course.state, seat)),
        "clock": {"bank_ms": 1, "last_ms": None, "last_cpu_ms": None},
    }
    clock = msgspec.to_builtins(ClockRules())
    return start | {"seat": seat, "rng": 812734, "commit": "sha256:", "clock": clock}, move


def converse(bot: Dialogue, ruleset: str = "standard") -> None:
    """Hold a whole conversation, with a type from the future, and part."""
    start, move = requests(ruleset)

    assert bot.ask(id=1, type="hello", protocol=[1, 1], referee="malice/0.1", limits={})["id"] == 1
    assert bot.ask(id=2, **start) == {"id": 2}
    answer = bot.ask(id=3, **move)
    assert answer["id"] == 3
    assert answer["move"] in move["legal"]
    assert bot.ask(id=4, type="weather", legal=["rain"], view={"id": 5}) == {"id": 4}
    assert bot.ask(id=2**53 - 1, **move)["id"] == 2**53 - 1
    assert bot.ask(id=6, type="game_end", place=1, places=[1, 2], scores=[12, 0], reason="x", key="k") == {"id": 6}
    bot.send(b'{"type":"bye"}\n')
    assert goes_by_itself(bot)


@every_python_bot
def test_a_python_bot_keeps_the_protocol_and_leaves_at_bye(folder: Path) -> None:
    with started(folder) as bot:
        converse(bot, *manifest(folder).get("rulesets", ())[:1])


@every_python_bot
def test_a_python_bot_leaves_at_the_end_of_its_input(folder: Path) -> None:
    with started(folder) as bot:
        assert goes_by_itself(bot)


def test_the_instant_bot_answers_the_first_legal_action() -> None:
    _, move = requests()

    with started(SHIPPED / "python/first") as bot:
        assert bot.ask(id=1, **move) == {"id": 1, "move": move["legal"][0]}


@pytest.mark.parametrize(("top", "plays"), [("KD", True), ("2C", False)])
def test_squirrel_keeps_a_card_back_on_which_the_other_team_could_put_a_nuts_card(top: str, plays: bool) -> None:
    start, move = requests("nuts-2")
    own, other = (move["view"]["sides"][team] for team in (start["seat"], 1 - start["seat"]))
    own["nuts"], other["nuts"] = "KS", top
    for side, cards in ((own, ["AC", "KC", "KH", "KD", "QD"]), (other, ["9H", "9D", "9S", "9C", "8C"])):
        side["columns"] = [[*pile[:-1], card] for pile, card in zip(side["columns"], cards, strict=True)]
    legal = ["AC-f", "turn", "wait"]

    with started(SHIPPED / "python/squirrel") as bot:
        bot.ask(id=1, **start)
        assert (bot.ask(id=2, **move | {"legal": legal})["move"] == "AC-f") == plays


# The instant bot in C


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the C bot from a copy of its folder, by its own command, with warnings as errors."""
    folder = tmp_path_factory.mktemp("first")
    for path in C_FIRST.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    subprocess.run(manifest(folder)["build"], cwd=folder, check=True)
    return folder


@pytest.mark.compiler
def test_the_c_bot_compiles_without_a_warning(tmp_path: Path) -> None:
    flags = ["-O2", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]

    subprocess.run(["cc", *flags, "-o", tmp_path / "first", C_FIRST / "first.c"], check=True)


@pytest.mark.compiler
def test_the_c_bot_keeps_the_protocol_and_leaves_at_bye(compiled: Path) -> None:
    with started(compiled) as bot:
        converse(bot)


@pytest.mark.compiler
def test_the_c_bot_leaves_at_the_end_of_its_input(compiled: Path) -> None:
    with started(compiled) as bot:
        assert goes_by_itself(bot)


@pytest.mark.compiler
@pytest.mark.parametrize(
    "line",
    [
        rb'{"id":3,"type":"move","legal":["p-c0","h7C-c1"]}',
        rb'{"legal":["p-c0"],"type":"move","id":3}',
        rb' { "type" : "move" , "legal" : [ "p-c0" ] , "id" : 3 } ',
        rb'{"x":"\"id\":9,\"legal\":[\"no\"]","id":3,"type":"move","legal":["p-c0"]}',
        rb'{"x":"\\","id":3,"type":"move","y":"}],\\\"","legal":["p-c0"]}',
        rb'{"view":{"id":9,"legal":["no"],"type":"bye"},"id":3,"type":"move","legal":["p-c0"]}',
        rb'{"events":[{"id":9},["legal"],{}],"id":3,"z":[],"type":"move","legal":["p-c0"],"legally":["no"]}',
        rb'{"id":3,"type":"move","a":null,"b":-1.5e3,"c":true,"legal":["p-c0"],"clock":{"legal":["no"]}}',
    ],
)
def test_the_c_bot_reads_the_outermost_object_only(compiled: Path, line: bytes) -> None:
    with started(compiled) as bot:
        bot.send(line + b"\n")

        assert bot.receive() == {"id": 3, "move": "p-c0"}


@pytest.mark.compiler
def test_the_c_bot_reads_a_line_of_64_kib_however_it_is_cut(compiled: Path) -> None:
    head, tail = b'{"id":1,"type":"move","x":"', b'","legal":["s0-c1"]}\n'
    line = head + b"y" * (65_536 - len(head) - len(tail)) + tail

    with started(compiled) as bot:
        bot.send(line + line[:40_000])
        first = bot.receive()
        bot.send(line[40_000:])

        assert first == bot.receive() == {"id": 1, "move": "s0-c1"}
