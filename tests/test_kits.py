"""The starter kits: the same play in every language, on whatever JSON, and an orderly end."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import tomllib
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from malice.referee.records import Isolation
from malice.tournaments.check.examination import Examination
from malice.tournaments.check.games import Syllabus
from malice.tournaments.check.seat import Times
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.builds import ensure_built
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.entries.programs import DEBIAN, LIBRARIES
from tests.check.examined import FEW, STANDARD
from tests.command_line import malice
from tests.streams import Request, from_the_future, recorded, written
from tests.toolchains import KITS

PATIENCE_S = 120
"""For a whole conversation, on however slow a machine."""
STEP = 5
"""Of so many moves one is asked for in odd JSON."""
RARE = 24
"""Of the rare situations: what a kit makes of odd tables, the recorded games tell, too."""
GAMES = 1
"""Of the main ruleset in an examination: partners, and all that is rare, come on top."""
SYLLABUS = Syllabus(STANDARD, FEW[-1:])
"""Under all rulesets the kit in Python is examined on the page of the docs about it; the others play what it plays."""
SCREEN = 60
"""Lines of a page to be read at a glance."""
Answer = dict[str, Any]

COMPILED = {"cpp", "csharp", "go", "java", "rust", "typescript"}
"""Kits that take long to build, the first one in Go with its whole library: make soak builds them."""
EXAMINED = {"c", "python"}
"""Kits that are examined even so; the others play what the one in Python plays, move by move."""
every_kit = pytest.mark.parametrize("language", KITS)


QUICKLY = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "MAVEN_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""What makes a build cheaper, and the bot the same: compilers that optimise less, in the bot or in themselves."""


def copied(folder: Path, home: Path) -> Bot:
    """Return the bot of a copy of `folder`, built by its own command, quickly."""
    told = tomllib.loads((folder / "bot.toml").read_text("utf-8"))
    shutil.copytree(folder, home, ignore=shutil.ignore_patterns("__pycache__", ".*", *told.get("ignore", ())))
    (home / "bot.toml").write_text((home / "bot.toml").read_text("utf-8").replace("-O2", "-O0"), "utf-8")
    with pytest.MonkeyPatch.context() as environment:
        for name, value in QUICKLY.items():
            environment.setenv(name, value)
        return ensure_built(find_bot(str(home)))


def make_params(quick: Set[str]) -> list[Any]:
    """Return the kits as parameters of a test that `make test` runs with some of them."""
    return [
        pytest.param(name, marks=[pytest.mark.kit(name), pytest.mark.slow if name in quick else pytest.mark.whole])
        for name in KITS
    ]


@pytest.fixture(scope="session", params=make_params(KITS.keys() - COMPILED), ids=str)
def kit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bot:
    """Every kit in turn, built once."""
    return copied(KITS[request.param], tmp_path_factory.mktemp("kits") / request.param)


class Conversation:
    """A bot as a process that is asked one thing after the other; its stderr is shown if the test fails."""

    def __init__(self, bot: Bot) -> None:
        self.process = subprocess.Popen(
            bot.command, cwd=bot.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )

    def tell(self, line: bytes) -> None:
        assert self.process.stdin
        with suppress(BrokenPipeError):  # it is gone: what it said before tells more
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def ask(self, line: bytes) -> Answer:
        assert self.process.stdout
        self.tell(line)
        said = self.process.stdout.readline()
        assert said, f"no answer to {line[:500]!r}: it is gone, or never flushed what it said"
        answer: Answer = json.loads(said)
        return answer

    def status(self) -> int:
        """Return how it exits, and see to it that it says nothing more."""
        assert self.process.stdout
        assert self.process.stdout.read() == b""
        return self.process.wait()


@contextmanager
def conversation(bot: Bot) -> Iterator[Conversation]:
    """Start the bot, and end it: when all is said, or when it takes too long."""
    talk = Conversation(bot)
    alarm = threading.Timer(PATIENCE_S, talk.process.kill)
    alarm.start()
    with talk.process:
        try:
            yield talk
        finally:
            alarm.cancel()
            talk.process.kill()


def answers(bot: Bot, lines: Sequence[bytes]) -> list[Answer]:
    """Return what the bot answers to all lines but the last, which is `bye`; it has to leave by itself."""
    with conversation(bot) as talk:
        said = [talk.ask(line) for line in lines[:-1]]
        talk.tell(lines[-1])
        assert talk.status() == 0
    return said


def plain(requests: Sequence[Request]) -> list[bytes]:
    return [json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode() for request in requests]


def moves(requests: Sequence[Request], said: Sequence[Answer]) -> list[str]:
    """Return the actions that were chosen, once everything about the answers is as it should be."""
    chosen = []
    for request, answer in zip(requests[:-1], said, strict=True):
        assert type(answer["id"]) in (int, float)
        assert answer["id"] == request["id"]
        if request["type"] == "move":
            assert answer.keys() == {"id", "move"}
            assert answer["move"] in request["legal"]
            chosen.append(answer["move"])
        elif request["type"] != "hello":
            assert answer.keys() == {"id"}
    return chosen


@pytest.fixture(scope="session")
def requests() -> list[Request]:
    """What a bot hears in games of many rulesets, `bye` last."""
    return recorded()


@pytest.fixture(scope="session")
def wanted(requests: list[Request], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the kit in Python plays then."""
    bot = copied(KITS["python"], tmp_path_factory.mktemp("reference") / "python")
    return moves(requests, answers(bot, plain(requests)))


class Later(NamedTuple):
    """What a later referee says, and how it writes that."""

    requests: list[Request]
    lines: list[bytes]


@pytest.fixture(scope="session")
def later(requests: list[Request]) -> Later:
    """Some of the same requests, for these are long."""
    chance = Random(1)
    asked = [request for request in requests if request["type"] == "move"]
    left_out = {request["id"] for number, request in enumerate(asked) if number % STEP}
    told = from_the_future([request for request in requests if request.get("id") not in left_out], chance)
    return Later(told, [f" {written(request, chance)}\r".encode() for request in told])


# What a kit plays


@pytest.mark.slow
def test_the_recorded_games_show_all_that_can_happen(requests: list[Request]) -> None:
    asked = [request for request in requests if request["type"] == "move"]
    events = {event["type"] for request in asked for event in request["events"]}
    legal = {action for request in asked for action in request["legal"]}

    assert events == {"deal", "flip", "turn", "draw", "move", "shuffle", "count", "pass", "out"}
    assert {"pass", "count"} <= legal
    assert any(action[-1] == "p" for action in legal), "no loading"
    assert any(action[0].isdigit() for action in legal), "no partner's card"
    assert any(request["view"]["seats"][1]["payoff"]["left"] is None for request in asked), "no hidden count"
    assert any("??" in pile for request in asked for pile in request["view"]["seats"][1]["side"]), "no hidden card"
    assert [request["type"] for request in requests].count("game_end") == 10


@pytest.mark.slow
def test_pay_off_cards_go_first_then_cards_to_the_centre_then_the_last_discard_on_a_shortest_stack(
    requests: list[Request], wanted: list[str]
) -> None:
    rules = []
    for request, chosen in zip((each for each in requests if each["type"] == "move"), wanted, strict=True):
        legal, view = request["legal"], request["view"]
        side = view["seats"][view["seat"]]["side"]
        own = [action for action in legal if action.startswith("p-")]
        centre = [action for action in legal if "-c" in action]
        discards = [action for action in legal if action[0] == "h" and action[3:5] == "-s"]
        shortest = min((len(side[int(action[5:])]) for action in discards), default=0)
        short = [action for action in discards if len(side[int(action[5:])]) == shortest]
        rule = next(number for number, found in enumerate((own, centre, short, legal)) if found)
        rules.append(rule)

        assert chosen == (own[:1], centre[:1], short[-1:], legal[:1])[rule][0]

    assert set(rules) == {0, 1, 2, 3}


def test_a_kit_plays_move_by_move_what_the_kit_in_python_plays(
    kit: Bot, requests: list[Request], wanted: list[str]
) -> None:
    assert moves(requests, answers(kit, plain(requests))) == wanted


def test_a_kit_plays_the_same_however_the_json_is_written_and_whatever_a_later_referee_adds(
    kit: Bot, later: Later, wanted: list[str]
) -> None:
    assert moves(later.requests, answers(kit, later.lines)) == wanted[::STEP]


# How it ends


def test_a_kit_leaves_at_bye_though_its_input_stays_open(kit: Bot, requests: list[Request]) -> None:
    with conversation(kit) as talk:
        talk.ask(plain(requests)[0])
        talk.tell(b'{"type":"bye"}')

        assert talk.status() == 0


@pytest.mark.parametrize("heard", [0, 1, 3])
def test_a_kit_leaves_at_the_end_of_its_input(kit: Bot, requests: list[Request], heard: int) -> None:
    with conversation(kit) as talk:
        for line in plain(requests)[:heard]:
            talk.ask(line)
        assert talk.process.stdin
        talk.process.stdin.close()

        assert talk.status() == 0


# What is in its folder


@pytest.mark.parametrize("kit", make_params(EXAMINED), indirect=True)
def test_a_kit_passes_the_examination(kit: Bot) -> None:
    patient = Times(move_ms=PATIENCE_S * 1000, init_ms=PATIENCE_S * 1000)

    report = Examination(kit, patient, Isolation("auto"), rare=RARE, games=GAMES, syllabus=SYLLABUS).run()

    assert [step for step in report.steps if step.result != "passed"] == []


@pytest.mark.whole
@pytest.mark.slow
def test_the_kit_in_python_beats_uniform_and_so_do_all_that_play_the_same() -> None:
    words = ["play", str(KITS["python"]), "uniform", "--deals", "5", "--seed", "kits", "--json"]
    played = malice(*words)

    assert played.exit_code == 0, played.output
    games = json.loads(played.stdout)["games"]
    better = sum(game["places"][seat] < game["places"][1 - seat] for seat, game in seated(games))
    worse = sum(game["places"][seat] > game["places"][1 - seat] for seat, game in seated(games))
    assert len(games) == 10
    assert better >= 7 * worse + 3


def seated(games: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each game with the seat of the kit."""
    for game in games:
        yield 1 - game["labels"].index("uniform"), game


def manifest(language: str) -> Manifest:
    return find_bot(str(KITS[language])).manifest


@every_kit
def test_a_kit_says_what_it_is_and_which_programs_it_takes(language: str) -> None:
    told = manifest(language)

    assert told.name == f"starter-{language}"
    assert told.language == language
    assert told.version
    assert told.author
    assert set(told.needs) <= DEBIAN.keys() | LIBRARIES.keys()
    assert told.needs or not told.build
    # `{python}` is there already, so is a shell, and a path is what the build leaves.
    programs = {words[0] for words in (told.build, told.run) if words and "/" not in words[0]}
    assert programs - {manifest("python").run[0], "{python}", "sh"} <= set(told.needs)


@every_kit
def test_a_build_leaves_nothing_that_makes_it_another_bot(language: str) -> None:
    told = manifest(language)

    assert bool(told.build) == bool(told.ignore)


@every_kit
def test_the_readme_of_a_kit_is_one_screen_with_the_three_commands(language: str) -> None:
    page = (KITS[language] / "README.md").read_text("utf-8")

    assert len(page.splitlines()) <= SCREEN
    assert max(map(len, page.splitlines())) <= 120
    for command in ("malice build .", "malice check .", "malice play . greedy --deals 20"):
        assert command in page
    assert "http" not in page
