"""What must not be published: a league and bots that tell all they know, and how to search a site for it."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from malice.referee import rulesets as ruleset
from malice.referee.records import Key
from malice.tournaments.league.contents import Contents
from tests.site_league import League, play

HOST = "vault-17.example.org"
HOME = "/home/mallory/my bots"
TRACEBACK = f'Traceback (most recent call last):\n  File "{HOME}/lea.py", line 7, in <module>\nKeyError: 17\n'
PACKED = re.compile(rb'malice\.receive\("[a-z0-9-]+","([A-Za-z0-9+/=]+)"\);')
SECRETS = ("mallory", "my bots", "vault-17", "most recent call", "KeyError: 17", "I run on")
LEAKY = """
import getpass, json, os, platform, sys

name = {name!r}
story = f"{{name}} is {{getpass.getuser()}} on {{platform.node()}} in {{os.path.abspath(__file__)}}"
print("to stderr:", story, file=sys.stderr)
moves = 0
for line in sys.stdin:
    message = json.loads(line)
    answer = {{"id": message.get("id")}}
    if message["type"] == "hello":
        answer |= {{"name": f"hello-{{name}}", "version": f"version-{{name}}"}}
    if message["type"] == "move":
        moves += 1
        if moves == 9:
            print(story, flush=True)
        answer |= {{"move": story if moves == 12 else message["legal"][0], "note": f"note: {{story}}"}}
    if message["type"] != "bye":
        print(json.dumps(answer), flush=True)
"""
NAMES = ("adalind", "berthold", "cunegund")


def read_site(folder: Path) -> bytes:
    """Return the bytes of every file of a site, and what its data files hold."""
    files = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    unpacked = [gzip.decompress(base64.b64decode(found[1])) for file in files for found in PACKED.finditer(file)]
    assert len(unpacked) >= 2, "an index and a shard"
    return b"\n".join([*files, *unpacked, *(str(path.relative_to(folder)).encode() for path in folder.rglob("*"))])


def find_words(whole: bytes, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.encode() in whole]


class Indiscreet(League):
    """A league of two bots that tell all they know about the machine."""

    def __init__(self) -> None:
        super().__init__(("lea", "max"), deals=0)
        rules = ruleset.load_ruleset("standard").rules
        sentences = (
            f"the bot cannot be started: No such file or directory: '{HOME}/lea'",
            f"not a JSON object: {TRACEBACK!a}",
            f"expected one of p-c0, hKS-s2, ...; got: '{HOST}'",
            "expected one of p-c0, hKS-s2, ...; got: 'hQS-c9'",
        )
        for number, sentence in enumerate(sentences):
            record = play(rules, ("lea", "max"), Key(0, 0, number, 0), (9, "crash"))
            lines = ('> {"id":7,"type":"move"}', f"< I run on {HOST} as mallory")
            fault = replace(
                record.faults[0], sentence=sentence, exit=f"killed in {HOME}", lines=lines, stderr=TRACEBACK
            )
            notes = {
                0: f"reading {HOME.split()[0]}/book on {HOST}",
                1: f"I am on {HOST.split('.')[0]}",
                2: "mallory: 3/4 sure",
            }
            self.add(number, "standard", replace(record, host=HOST, faults=(fault,), notes=notes))

    def read(self) -> Contents:
        command = ("/usr/bin/python3", "/home/mallory/lea.py", "--book=/home/mallory/book", "{python}")
        contents = super().read()
        entries = tuple(replace(each, version=replace(each.version, command=command)) for each in contents.entries)
        return dataclasses.replace(contents, entries=entries)


def write_bots(folder: Path) -> Path:
    """Write three bots and a tournament of them, and return its file."""
    for name in NAMES:
        (folder / name).mkdir(parents=True)
        (folder / name / "bot.py").write_text(LEAKY.format(name=name))
        lines = [f'name = "{name}"', f'author = "author-{name}"', 'version = "v-1-2-3"', 'language = "Pythonesque"']
        (folder / name / "bot.toml").write_text("\n".join([*lines, 'run = ["{python}", "bot.py"]', ""]))
    path = folder / "cup.toml"
    entries = ", ".join(f'"{name}"' for name in NAMES)
    path.write_text(f'entries = [{entries}]\nseed = "cup"\ndeals = 1\nname = "cup"\n')
    return path
