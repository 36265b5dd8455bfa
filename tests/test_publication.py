"""What a site gives away: the bytes of every file, data files unpacked, searched for what must not be published."""

from __future__ import annotations

import base64
import dataclasses
import getpass
import gzip
import platform
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice import site_pages
from malice.referee import rulesets as ruleset
from malice.referee.records import Key
from malice.tournaments.errors import LeagueError
from malice.tournaments.league import publication
from malice.tournaments.league.contents import Contents
from malice.tournaments.league.publication import Publication, choose_publication, redact
from tests.command_line import malice
from tests.site_files import contents, data
from tests.site_league import League, play

HOST = "vault-17.example.org"
HOME = "/home/mallory/my bots"
TRACEBACK = f'Traceback (most recent call last):\n  File "{HOME}/lea.py", line 7, in <module>\nKeyError: 17\n'
PACKED = re.compile(rb'malice\.receive\("[a-z0-9-]+","([A-Za-z0-9+/=]+)"\);')


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


SECRETS = ("mallory", "my bots", "vault-17", "most recent call", "KeyError: 17", "I run on")


def test_no_path_no_host_and_no_stderr_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publication, "find_user", lambda: "mallory")

    rendered = site_pages.render(Indiscreet(), tmp_path)

    whole = read_site(tmp_path)
    assert find_words(whole, SECRETS) == []
    assert rendered.withheld == 4
    assert b"python3 lea.py --book=(path) {python}" in whole
    assert b"got: &#39;hQS-c9&#39;" in whole
    notes = data(tmp_path / "data/games-0.js")["columns"]["notes"][0]
    assert notes == {"0": "reading (path) on (host)", "1": "I am on (host)", "2": "(user): 3/4 sure"}


def test_evidence_is_published_of_those_who_are_named(tmp_path: Path) -> None:
    league = Indiscreet()
    accused = [record.entries[record.faults[0].seat][0] for record in league.records()]
    assert set(accused) == {"lea", "max"}

    for evidence in (("lea",), ("max",), None, ()):
        rendered = site_pages.render(
            league, tmp_path, site_pages.SiteOptions(publication=Publication(evidence=evidence))
        )

        shown = [evidence is None or label in evidence for label in accused]
        faults = data(tmp_path / "data/games-0.js")["columns"]["faults"]
        assert [fault["stderr"] == TRACEBACK for (fault,) in faults] == shown
        assert rendered.withheld == shown.count(False)
        for label in ("lea", "max"):
            page = (tmp_path / f"bots/{label}.html").read_text()
            assert ("KeyError: 17" in page) is (evidence is None or label in evidence)


def test_another_choice_renders_the_data_files_anew_and_the_same_choice_none(tmp_path: Path) -> None:
    league = Indiscreet()
    site_pages.render(league, tmp_path)
    public = contents(tmp_path)

    site_pages.render(league, tmp_path, site_pages.SiteOptions(publication=Publication(evidence=None)))
    assert contents(tmp_path)["data/games-0.js"] != public["data/games-0.js"]
    assert (
        site_pages.render(league, tmp_path, site_pages.SiteOptions(publication=Publication(evidence=None))).written == 0
    )
    site_pages.render(league, tmp_path)

    assert contents(tmp_path) == public


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/mallory/bot.py:7: oh", "(path):7: oh"),
        ("PATH=/usr/bin:/home/mallory/bin", "PATH=(path):(path)"),
        ('File "/home/my bots/a.py", line 2', 'File "(path)", line 2'),
        (r"b'one\n/home/mallory'", r"b'one\n(path)'"),
        ("~mallory/bots and ~/bots", "(path) and (path)"),
        ("file:///home/mallory", "file:(path)"),
        ("1/2, and/or, ./bots/lea.py, p-c0 / s1", "1/2, and/or, ./bots/lea.py, p-c0 / s1"),
        ("by mallory_ and MALLORY, not mallory2", "by (user)_ and (user), not mallory2"),
        ("VAULT-17 and vault-17.example.org, not vault-170", "(host) and (host), not vault-170"),
    ],
)
def test_paths_hosts_and_users_are_left_out_of_a_text(text: str, shown: str) -> None:
    assert redact(text, HOST, "mallory") == shown


def test_evidence_of_nobody_is_refused() -> None:
    with pytest.raises(LeagueError, match="no entry 'leo'; entries: lea, max"):
        choose_publication(Indiscreet().tournament(), ("lea", "leo"))


# The whole way, with bots that do what they can

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


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tournament that was played by bots that tell all they know."""
    folder = tmp_path_factory.mktemp("cup")
    toml = write_bots(folder)
    result = malice("run", toml, "--db", folder / "cup.db", "--isolation", "none", "--site", folder / "site")
    assert result.exit_code == 0, result.output
    assert "left out: stderr and the last lines of " in result.stderr
    return folder


@pytest.mark.slow
def test_the_site_of_a_run_holds_nothing_of_the_machine(cup: Path) -> None:
    whole = read_site(cup / "site")

    story = f"is {getpass.getuser()} on {platform.node()} in"
    assert find_words(whole, (str(cup), story, "to stderr:", sys.executable)) == []
    assert b"{python} bot.py" in whole
    assert b"hello-adalind" not in whole


@pytest.mark.slow
def test_the_command_line_publishes_what_it_is_told_to(cup: Path, tmp_path: Path) -> None:
    everything = malice("site", cup / "cup.db", "--with-stderr", "--out", tmp_path / "all")
    one = malice("site", cup / "cup.db", "--out", tmp_path / "one", "--with-stderr", "berthold")
    none = malice("site", cup / "cup.db", "--out", tmp_path / "none", "--with-stderr", "nobody")

    assert (everything.exit_code, one.exit_code, none.exit_code) == (0, 0, 2)
    assert "left out" not in everything.stderr
    assert "left out" in one.stderr
    assert none.stderr == "Error: no entry 'nobody'; entries: adalind, berthold, cunegund\n"
    assert not (tmp_path / "none").exists()
    told = [f"to stderr: {name}" for name in NAMES]
    assert find_words(read_site(tmp_path / "all"), told) == told
    assert find_words(read_site(tmp_path / "one"), told) == ["to stderr: berthold"]
