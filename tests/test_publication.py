"""What a site gives away: the bytes of every file, data files unpacked, searched for what must not be published."""

from __future__ import annotations

import getpass
import platform
import sys
from pathlib import Path

import pytest

from malice import site_pages
from malice.tournaments.errors import LeagueError
from malice.tournaments.league import publication
from malice.tournaments.league.publication import Publication, choose_publication, redact
from tests.command_line import malice
from tests.indiscretions import HOST, NAMES, SECRETS, TRACEBACK, Indiscreet, find_words, read_site, write_bots
from tests.site_files import contents, data


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
        ("write to /tmp, not to /tmp/x", "write to /tmp, not to (path)"),
        ("<b>bold</b> in </home/mallory>", "<b>bold</b> in <(path)>"),
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
