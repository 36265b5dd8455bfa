"""The pages of the documentation as tests read them: their blocks of code, their links, their commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from malice.tournaments.cli import main
from tests.processes import Mark

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "protocol/PROTOCOL.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("referee/games/*/rules.md")),
)

FENCED = re.compile(r"^```(\w*)\n(.*?)^```\n(?:\nSave it as `([^`]+)`)?", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w./-]+\.\w+)\n")

EXEMPT = {
    r"make\b": "builds an environment of its own; the tests run in it",
    r"\.venv/bin/": "runs what this test is part of",
    r"malice play you\b": "waits for somebody at the keyboard",
}
"""Commands that are not run, and why."""

ELSEWHERE = {"docs/many-machines.md": "tests/test_many_machines.py reads it, and goes on with its cluster"}
"""Pages that another test reads from top to bottom, and which."""

PLAIN = re.compile(r"malice ([^|&;<>()$`*~#]*?)(?:\s+# .*)?")
"""A command of malice that a shell would take word by word, and its comment."""
NEVER = re.compile(r"(?!)")
PATIENCE_S = 300
"""A command that takes longer hangs."""


class Block(NamedTuple):
    """A fenced block."""

    language: str
    text: str
    file: str | None
    """What it is saved as: its first line says so, or the words below it."""


class Command(NamedTuple):
    """What is typed, and what the page shows of its output."""

    typed: str
    shown: list[str]


def source(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(page: str) -> Iterator[Block]:
    for found in FENCED.finditer(source(page)):
        language, text, below = found.groups()
        first = NAMED.match(text)
        yield Block(language, text, below or (first[1] if first else None))


def commands(text: str) -> Iterator[Command]:
    """Cut a console block into its commands."""
    command: Command | None = None
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command
            command = Command(line.removeprefix("$ "), [])
        else:
            assert command, f"a line before the first command: {line}"
            command.shown.append(line)
    if command:
        yield command


def exempt(command: str) -> bool:
    return any(re.match(pattern, command) for pattern in EXEMPT)


def fits(shown: list[str], printed: str) -> bool:
    """Tell whether a page shows what was printed: ... is anything, and columns may be wider or narrower."""
    lines = [" ".join(line.split()) for line in shown]
    while lines and not lines[-1]:
        lines.pop()
    said = "".join(" ".join(line.split()) + "\n" for line in printed.rstrip().splitlines())
    return re.fullmatch("".join(map(_pattern, lines)), said) is not None


def _pattern(line: str) -> str:
    """Return the expression for a line of a page; one that is ... alone stands for any number of lines."""
    if line == "...":
        return r"(?:.*\n)*"
    return re.escape(line).replace(r"\ \.\.\.", r"(?:\ .*)?").replace(r"\.\.\.", ".*") + r"\n"


def protocol_section(title: str) -> str:
    """Return what stands under a heading of the protocol's page, up to the next one."""
    page = source("protocol/PROTOCOL.md")
    found = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def protocol_rows(title: str) -> list[list[str]]:
    """Return the cells of the tables of a section of the protocol's page, without their heads."""
    lines = [line for line in protocol_section(title).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rules = [index for index, row in enumerate(cells) if set("".join(row)) == {"-"}]
    return [row for index, row in enumerate(cells) if index not in rules and index + 1 not in rules]


class Reader:
    """Somebody who reads a page from its top, saves what is to be saved, and types what is to be typed.

    Args:
        folder: where; a home of its own is made beside it.
        programs: the folder of the programs of an environment, if not of the one that the tests run in.
        here: whether commands of malice that need no shell run in this process, which has imported it already.
    """

    def __init__(self, folder: Path, programs: Path | None = None, *, here: bool = False) -> None:
        self.folder = folder
        self._plain = PLAIN if here else NEVER
        self._here = folder
        self._home = folder.with_name(f"{folder.name}-home")
        self._home.mkdir()
        programs = programs or Path(sys.executable).parent
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP", "MALICE"))}
        self.mark = Mark()
        """Everything that is typed here carries it, and what it leaves in the background."""
        self._environment = (
            kept
            | self.mark.variable()
            | {
                "HOME": str(self._home),
                "PATH": f"{programs}:{os.environ['PATH']}",
                "TERM": "dumb",
                "PIP_NO_INDEX": "1",
                "PIP_NO_BUILD_ISOLATION": "false",  # pip reads it so: there is no build isolation
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            }
        )

    def read(self, page: str) -> None:
        for block in blocks(page):
            if block.file:
                path = self._here / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, "utf-8")
            elif block.language == "console":
                for command in commands(block.text):
                    if not exempt(command.typed):
                        self._try(command)

    def _try(self, command: Command) -> None:
        printed = self.type(command.typed)
        assert not re.search(r"\b[1-9]\d* faults\b", printed), f"{command.typed}\n{printed}"
        if any(command.shown):
            told = "\n".join(command.shown)
            assert fits(command.shown, printed), f"{command.typed}\n\nshown:\n{told}\n\nprinted:\n{printed}"

    def _call(self, words: list[str]) -> str:
        with chdir(self._here), pytest.MonkeyPatch.context() as environment:
            for name in os.environ.keys() - self._environment.keys():
                environment.delenv(name)
            for name, value in self._environment.items():
                environment.setenv(name, value)
            done = CliRunner().invoke(main, words, prog_name="malice")
        assert done.exit_code == 0, f"malice {shlex.join(words)}\nended with {done.exit_code}:\n{done.output}"
        return done.output

    def type(self, line: str) -> str:
        """Run a line where the last one left off, in a shell unless it needs none; return what it printed."""
        if plain := self._plain.fullmatch(line):
            return self._call(shlex.split(plain[1]))
        where = self._home / "where"
        done = subprocess.run(
            ["bash", "-c", f'{line}\nstatus=$?; pwd > "{where}"; exit $status'],
            cwd=self._here,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{line}\nended with {done.returncode}:\n{done.stdout}"
        self._here = Path(where.read_text().strip())
        return done.stdout
