"""`malice init`: a course in a folder, whose nights and checks run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from malice.tournaments.entries import courses
from tests.command_line import malice
from tests.documents import ROOT

PROGRAMS = Path(sys.executable).parent


def run(folder: Path, words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", **environment}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course, whose nights are short."""
    folder = tmp_path / "course"
    malice("init", folder, code=0)
    file = folder / "tournament.toml"
    file.write_text(file.read_text().replace("deals = 10 ", "deals = 1 "))
    return folder


@pytest.mark.whole
@pytest.mark.slow
def test_a_night_plays_what_is_missing_and_writes_site_and_report(course: Path) -> None:
    summary = course / "summary.md"
    empty = run(course, ["./nightly", "--for", "5h"])
    assert (empty.returncode, "submissions/*: no bot is there yet" in empty.stderr) == (0, True), empty.stderr
    for name in ("ann", "cem"):  # both as the page on a first bot calls it
        malice("new", course / "mybot", code=0)
        (course / "mybot/bot.py").write_text((course / "mybot/bot.py").read_text() + f"# {name}\n")
        (course / "mybot").rename(course / "submissions" / name)
    first = run(course, ["./nightly", "--for", "5h"], GITHUB_STEP_SUMMARY=str(summary))
    assert first.returncode == 0, first.stderr
    assert "ann" in summary.read_text()
    assert all(name in (course / "site/index.html").read_text() for name in ("ann", "cem"))
    malice("new", course / "submissions/bob", code=0)
    (course / "submissions/broken").mkdir()
    (course / "submissions/broken/bot.toml").write_text("name = 7\n")
    second = run(course, ["./nightly", "--for", "5h"])
    assert "broken" in second.stdout + second.stderr
    assert "bob" in (course / "site/index.html").read_text()
    assert malice("status", course / "league.db", code=0).stdout


@pytest.mark.whole
@pytest.mark.slow
def test_a_pull_request_has_the_bots_that_it_changes_checked(course: Path) -> None:
    steps = yaml.safe_load((course / ".github/workflows/check.yml").read_text())["jobs"]["check"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("shell") == "bash"]

    def git(*words: str) -> None:
        done = run(course, ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words])
        assert done.returncode == 0, done.stderr

    git("init", "--quiet", "--initial-branch", "main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "begin")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    bot = course / "submissions/bob"
    malice("new", bot, code=0)
    git("add", "--all")
    git("commit", "--quiet", "--message", "hand in bob")
    script = script.replace("--fuzz 200", "--fuzz 5")
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    good = run(course, words, GITHUB_BASE_REF="main")
    assert good.returncode == 0, good.stdout
    assert "submissions/bob" not in good.stderr
    assert "passed  keeps to the clock" in good.stdout
    (bot / "bot.py").write_text("print('hello')\n")
    git("commit", "--quiet", "--all", "--message", "break it")
    assert run(course, words, GITHUB_BASE_REF="main").returncode == 10


@pytest.mark.slow
def test_the_crontab_of_the_page_runs_as_cron_runs_it(tmp_path: Path) -> None:
    page = (ROOT / "docs/desk.md").read_text().replace("/srv/course", str(tmp_path))
    (crontab,) = [block for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if "m h dom mon dow" in block]
    path, *lines = [line for line in crontab.splitlines() if not line.startswith("#")]
    environment = {"HOME": "/", "SHELL": "/bin/sh", "PATH": f"{PROGRAMS}:{path.removeprefix('PATH=')}"}
    file = 'name = "course"\nentries = ["first", "uniform"]\ndeals = 1\nuntil = "06:00"\nisolation = "none"\n'
    (tmp_path / "course.toml").write_text(file)

    assert path == "PATH=/usr/local/bin:/usr/bin:/bin", "cron itself looks where no pip installs"
    for line in lines:
        command = line.split(maxsplit=5)[5].replace(r"\%", "%")
        done = subprocess.run(["/bin/sh", "-c", command], cwd="/", env=environment, capture_output=True, timeout=300)
        assert (done.returncode, done.stdout + done.stderr) == (0, b""), "cron would mail it"
    made = ["public/index.html", "report.html", "feedback/first.html", *map(str, tmp_path.glob("backups/*.tar"))]
    assert len(made) == 4
    assert all((tmp_path / each).is_file() for each in made)


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert "expected a new or an empty folder" in malice("init", tmp_path, code=2).stderr


class Noted:
    """A distribution as pip left it."""

    version = "7.1"

    def __init__(self, noted: str | None) -> None:
        self.noted = noted

    def read_text(self, _: str) -> str | None:
        return self.noted


def test_a_course_plays_with_the_malice_that_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(noted: str | None) -> str | None:
        monkeypatch.setattr(courses, "distribution", lambda _: Noted(noted))
        return courses.find_requirement()

    here = f'{{"url": "{tmp_path.as_uri()}", "dir_info": {{"editable": true}}}}'
    git = '{"url": "https://example.org/malice.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}'
    assert find(None) == "malice-arena==7.1"
    assert find(git) == "malice-arena @ git+https://example.org/malice.git@abc"
    assert find(here) is None, "a folder that is no checkout"
    run(tmp_path, ["git", "init", "--quiet"])
    run(tmp_path, ["git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "--allow-empty", "--message", "x"])
    assert find(here) is None, "a checkout that was not cloned"
    run(tmp_path, ["git", "remote", "add", "origin", "https://ann:secret@example.org:8443/malice"])
    commit = run(tmp_path, ["git", "rev-parse", "HEAD"]).stdout.strip()
    assert find(here) == f"malice-arena @ git+https://example.org:8443/malice@{commit}"
    for address in ("git@example.org:ann/malice.git", "ssh://git@example.org/ann/malice.git"):
        run(tmp_path, ["git", "remote", "set-url", "origin", address])
        assert find(here) == f"malice-arena @ git+https://example.org/ann/malice.git@{commit}"


def test_a_course_says_where_malice_comes_from_or_that_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courses, "find_requirement", lambda: None)
    assert "requirements.txt does not say yet" in malice("init", tmp_path / "a", code=0).stderr
    assert "CHANGE THIS" in (tmp_path / "a/requirements.txt").read_text()
    monkeypatch.setattr(courses, "find_requirement", lambda: "malice-arena==7.1")
    assert not malice("init", tmp_path / "b", code=0).stderr
    assert (tmp_path / "b/requirements.txt").read_text().splitlines()[-1] == "malice-arena==7.1"


def test_what_runs_the_bots_of_others_may_publish_nothing(tmp_path: Path) -> None:
    malice("init", tmp_path / "course", code=0)
    night = yaml.safe_load((tmp_path / "course/.github/workflows/nightly.yml").read_text())
    assert night["permissions"] == {"contents": "read"}
    assert "permissions" not in night["jobs"]["play"]
    assert [job for job, what in night["jobs"].items() if "pages" in what.get("permissions", {})] == ["publish"]
    assert night["jobs"]["publish"]["needs"] == "play"
