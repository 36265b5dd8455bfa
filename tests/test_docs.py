"""The documentation is true: its commands print what it shows, examples decode, tables and links are right."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from malice.protocol import messages
from malice.protocol.messages import ClockRules
from malice.referee import rules_text
from malice.referee.games.spite.parameters import Compulsory, Parameters
from malice.referee.rulesets import RulesetFile, list_rulesets, load_ruleset, read_ruleset
from malice.referee.toml_files import convert
from malice.site_pages import docs
from malice.tournaments.check.report import Report
from malice.tournaments.commands.exit_codes import EXIT_CODES, FINDINGS, INTERRUPTED
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.ladder.report import RateReport
from malice.tournaments.league.comparison import Comparison
from malice.tournaments.league.config import Config, check_config
from tests.command_line import malice
from tests.documents import ELSEWHERE, EXEMPT, PAGES, ROOT, Block, Reader, blocks, commands, exempt, fits, source
from tests.environments import make_environment

LONG = {
    "docs/adding-a-game.md",
    "docs/comparing.md",
    "docs/desk.md",
    "docs/events.md",
    "docs/first-bot.md",
    "docs/formats.md",
    "docs/inside.md",
    "docs/league.md",
    "docs/learning.md",
    "docs/python.md",
    "docs/queries.md",
    "docs/standings.md",
    "docs/tools.md",
    "docs/tournaments.md",
    "referee/games/double_solitaire/rules.md",
    "referee/games/klondike/rules.md",
    "referee/games/nuts/rules.md",
}
"""Pages whose commands play too much for `make test`."""
FILES = ("bot.py", "bot.toml")
WALK = ("A tournament file", "An answer of a bot", "A record")
"""Sections of docs/inside.md, each a table of what happens, in which module, in which function."""


def example(language: str) -> Iterator[Any]:
    for page in PAGES:
        for number, block in enumerate(block for block in blocks(page) if block.language == language):
            yield pytest.param(block, id=f"{page}-{block.file or number}")


def tables(page: str, title: str = "") -> list[list[str]]:
    """Return the cells of all tables of a page, or of one section, without their heads."""
    text = source(page)
    if title:
        section = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
        assert section, title
        text = section[1]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\|.*\|$", text, re.MULTILINE)]
    rules = [index for index, row in enumerate(rows) if not set("".join(row)) - set("-: ")]
    return [row for index, row in enumerate(rows) if index not in rules and index + 1 not in rules]


# Commands


def has_commands(page: str) -> bool:
    lines = [command.typed for block in blocks(page) if block.language == "console" for command in commands(block.text)]
    return not all(map(exempt, lines))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.whole] if page in LONG else [])
        for page in PAGES
        if has_commands(page) and page not in ELSEWHERE
    ],
)
def test_every_command_runs_and_prints_what_the_page_shows(page: str, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    installs = any(block.file == "pyproject.toml" for block in blocks(page))

    environment = make_environment(tmp_path / "environment", ROOT) if installs else None
    Reader(folder, environment, here=not installs).read(page)


def test_every_program_on_the_page_on_python_is_run() -> None:
    found = list(blocks("docs/python.md"))
    typed = " ".join(
        command.typed for block in found if block.language == "console" for command in commands(block.text)
    )
    # The test of the searching bot runs what goes into it.
    programs = [block for block in found if block.language == "python" and "def try_lines" not in block.text]

    assert all(
        block.file
        and (
            block.file.removesuffix("/bot.py") in typed
            or f"from {block.file.removesuffix('.py')} import" in source("docs/python.md")
        )
        for block in programs
    )


@pytest.mark.parametrize("pattern", EXEMPT)
def test_every_exempt_command_occurs(pattern: str) -> None:
    typed = [
        command.typed
        for page in PAGES
        for block in blocks(page)
        if block.language == "console"
        for command in commands(block.text)
    ]

    assert any(re.match(pattern, line) for line in typed)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a  b"], "a b\n", True),
        (["a", "", ""], "a\n", True),
        (["a"], "a\nb\n", False),
        (["a", "..."], "a\nb\nc\n", True),
        (["...", "c"], "a\nb\nc\n", True),
        (["...", "a"], "a\n", True),
        (["a ... c"], "a b c\n", True),
        (["a ... c"], "a b\nc\n", False),
        (["(1-2)"], "12\n", False),
    ],
)
def test_output_is_compared_line_by_line(shown: list[str], printed: str, same: bool) -> None:
    assert fits(shown, printed) is same


# Examples


@pytest.mark.parametrize("block", [*example("toml")])
def test_every_toml_block_is_a_valid_file(block: Block, tmp_path: Path) -> None:
    content = tomllib.loads(block.text)
    if "run" in content:
        assert convert(content, Manifest, "bot.toml").run
    elif "project" in content:
        assert content["project"]["entry-points"]["malice.games"]
    elif block.file and "/rulesets/" in block.file:  # of a game that is not installed here
        assert convert(content, RulesetFile, block.file).about
    elif "rules" in content:
        (tmp_path / "mine.toml").write_text(block.text)
        assert read_ruleset(tmp_path / "mine.toml").about == content["about"]
    else:
        assert check_config(convert({"entries": ["greedy"]} | content, Config, "tournament.toml"), "tournament.toml")


@pytest.mark.core
@pytest.mark.slow
@pytest.mark.whole
def test_the_searching_bot_tries_its_lines_in_worlds_as_its_page_says(tmp_path: Path) -> None:
    page = [block for block in blocks("docs/python.md") if block.language in ("python", "toml")]
    bot, manifest = (next(each.text for each in page if each.file == f"searcher/{name}") for name in FILES)
    (rollouts,) = [each.text for each in page if "def try_lines" in each.text]
    found = re.search(r"last line of `search` becomes `(return .+?)`", source("docs/python.md"))
    assert found
    before, last, after = bot.partition("    return max(lines)[1]\n")
    assert last
    head, loop, rest = after.partition("for text in sys.stdin:\n")
    folder = tmp_path / "searcher"
    folder.mkdir()
    (folder / "bot.py").write_text(f"{before}    {found[1]}\n{head}{rollouts}\n\n{loop}{rest}")
    (folder / "bot.toml").write_text(manifest)

    words = ("--deals", "1", "--seed", "docs", "--no-clock", "--json")
    told = json.loads(malice("play", folder, "first", *words, code=0).stdout)

    assert [game["verdicts"] for game in told["games"]] == [["", ""]] * 2
    assert all("searcher" in game["labels"][game["places"].index(1)] for game in told["games"])


@pytest.mark.parametrize("block", [*example("python")])
def test_every_python_block_is_python(block: Block) -> None:
    ast.parse(block.text)


def json_texts() -> Iterator[Any]:
    for page in (page for page in PAGES if page != "docs/events.md"):  # whose lines are no messages
        for number, block in enumerate(blocks(page)):
            if block.language == "json" and block.file:
                continue  # a file of somebody's own
            lines = [block.text] if block.language == "json" else re.findall(r"^(?:[<>] )?(\{.*\})$", block.text, re.M)
            for index, text in enumerate(line for line in lines if "…" not in line and block.language != "python"):
                yield pytest.param(text, id=f"{page}-{number}-{index}")


@pytest.mark.parametrize("text", [*json_texts()])
def test_every_line_of_json_is_a_message(text: str) -> None:
    message = json.loads(text)
    if "type" in message:
        msgspec.convert(message, messages.Request)
    else:
        kinds = (messages.MoveAnswer, messages.HelloAnswer)
        msgspec.convert(message, kinds["move" not in message], strict=True)


# Links


@cache
def anchors(path: Path) -> set[str]:
    return {heading.anchor for heading in docs.render_markdown(path.read_text("utf-8"), lambda link: link).headings}


@pytest.mark.parametrize("page", [*PAGES, "docs/llms.txt"])
def test_every_link_leads_somewhere(page: str) -> None:
    for link in re.findall(r"\]\((?!https:)([^)\s]+)\)", source(page)):
        path, _, fragment = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        assert not fragment or fragment in anchors(target), link


@pytest.mark.parametrize("page", ["docs/README.md", "docs/llms.txt"])
def test_the_list_of_pages_has_all_of_them(page: str) -> None:
    listed = re.findall(r"\]\(([^)]+\.md)\)", source(page))

    assert {f"{page}.md" for page in ("first-bot", "tournaments", "standings", "inside", "adding-a-game")} < {*listed}
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"} < {*listed}


@pytest.mark.parametrize("page", PAGES)
def test_a_list_at_the_top_has_every_section_in_order(page: str) -> None:
    text = source(page)
    top = re.findall(r"^(?:- |  ).*$", text.partition("\n## ")[0], re.MULTILINE)
    listed = re.findall(r"\]\(#([^)]+)\)", "\n".join(top))
    sections = [each.anchor for each in docs.render_markdown(text, lambda link: link).headings if each.level == 2]

    assert not listed or [anchor for anchor in listed if anchor in sections] == sections


# The walk


@pytest.mark.parametrize("page", PAGES)
def test_every_module_that_a_page_names_exists(page: str) -> None:
    named = set(re.findall(r"`((?:protocol|referee|tournaments|site|bots|tests)/[\w/.-]+\.py)`", source(page)))

    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_every_function_of_the_walk_exists() -> None:
    walk = [row for title in WALK for row in tables("docs/inside.md", title)]

    assert [row for row in walk if row[2].strip("`") not in functions(row[1].strip("`"))] == []


def functions(path: str) -> set[str]:
    """Return the functions, classes and methods of a module by their qualified names."""
    body = ast.parse(source(path)).body
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {
        name
        for node in body
        if isinstance(node, kinds)
        for name in (node.name, *(f"{node.name}.{part.name}" for part in node.body if isinstance(part, kinds)))
    }


# The rules


def test_the_tables_of_rulesets_agree_with_the_rulesets() -> None:
    sections = ("Two seats, kings wild", "Two seats, jokers", "More seats and partners", "Skip-Bo")
    rows = [row for title in sections for row in tables("referee/games/spite/rules.md", title)]

    assert sorted(rows) == sorted(ruleset_row(name) for name in list_rulesets("spite"))


def ruleset_row(name: str) -> list[str]:
    ruleset = load_ruleset(name)
    least, most = ruleset.rules.players
    seats = str(least) if least == most else f"{least}–{most}"
    _, payoff, centre, stock = rules_text.make_ruleset_text(ruleset).seats[0].figures.values()
    slots = "∞" if centre == "unlimited" else centre
    return [f"`{name}`", ruleset.about, seats, payoff, slots, stock.removeprefix("only ")]


@pytest.mark.parametrize("parameter", Parameters.__struct_fields__)
def test_every_parameter_is_described(parameter: str) -> None:
    assert f"`{parameter}`" in source("referee/games/spite/rules.md")


def test_zones_of_compulsory_cards_are_described() -> None:
    assert "separately for the hand, the pay-off pile and the side stacks" in source(
        "referee/games/spite/rules.md"
    ).replace("\n", " ")
    assert Compulsory.__struct_fields__ == ("hand", "payoff", "side")


def test_the_reasons_are_those_of_the_protocol() -> None:
    listed = {row[0].strip("`") for row in tables("referee/games/spite/rules.md", "The end")}
    (reasons,) = re.findall(r"^\| `reason` \|.*$", source("protocol/PROTOCOL.md"), re.MULTILINE)

    assert listed == set(re.findall("`([a-z_]+)`", reasons)) - {"reason"}


# Tournaments and standings


@pytest.mark.parametrize(
    ("command", "answer"), [("check", Report), ("compare", Comparison), ("rate", RateReport)], ids=str
)
def test_every_field_of_an_answer_for_programs_is_in_its_table(command: str, answer: type[msgspec.Struct]) -> None:
    rows = tables("docs/tools.md", command)

    assert [row[0].strip("`") for row in rows] == list(answer.__struct_encode_fields__)
    parts = {name for part in _list_structs(inspect.type_info(answer)) for name in part.__struct_encode_fields__}
    section = source("docs/tools.md").partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    words = set(re.findall(r"`([a-z_]+)`", section)) - {"passed", "failed", "better", "worse", "undecided", "null"}
    assert words <= parts


def _list_structs(kind: inspect.Type) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs that a type is made of."""
    if isinstance(kind, inspect.StructType):
        yield kind.cls
        for field in kind.fields:
            yield from _list_structs(field.type)
    for name in ("types", "item_types"):
        for part in getattr(kind, name, ()):
            yield from _list_structs(part)
    if item := getattr(kind, "item_type", None):
        yield from _list_structs(item)


@pytest.mark.parametrize("struct", [Config, ClockRules])
def test_every_field_of_a_tournament_file_is_in_the_table_with_its_default(struct: type[msgspec.Struct]) -> None:
    defaults = {
        row[0].strip("`"): row[1].strip("`")
        for row in tables("docs/tournaments.md", "Every field of a tournament file")
    }

    for field in msgspec.structs.fields(struct):
        if field.name == "positions":
            continue  # of `--from`; a file is refused that has it
        if field.name == "clock":
            assert "[clock]" in defaults
        elif field.default is msgspec.NODEFAULT:
            assert defaults[field.name] == ""
        elif field.default is None:
            assert defaults[field.name] in ("drawn", "none")
        else:
            assert defaults[field.name] == json.dumps(field.default)
    assert set(defaults) == {*Config.__struct_fields__, *ClockRules.__struct_fields__, "[clock]"} - {
        "clock",
        "positions",
    }


def test_every_exit_code_is_listed() -> None:
    listed = {int(row[0]) for row in tables("docs/tournaments.md", "Exit codes")}

    assert {0, 1, INTERRUPTED, *FINDINGS.values(), *(code for _, code in EXIT_CODES)} <= listed


def test_expected_scores_follow_from_the_difference() -> None:
    for difference, score in tables("docs/standings.md", "Elo"):
        assert score == f"{100 / (1 + 10 ** (-int(difference) / 400)):.1f} %"
