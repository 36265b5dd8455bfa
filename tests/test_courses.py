"""`malice init`: a course in a folder, whose nights and checks run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from tests.command_line import malice
from tests.documents import ROOT

PROGRAMS = Path(sys.executable).parent


def run(folder: Path, words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", **environment}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with one bot, whose nights are short."""
    folder = tmp_path / "course"
    malice("init", folder, code=0)
    file = folder / "tournament.toml"
    file.write_text(file.read_text().replace("deals = 10 ", "deals = 1 "))
    malice("new", folder / "submissions/ann", code=0)
    return folder


@pytest.mark.slow
def test_a_night_plays_what_is_missing_and_writes_site_and_report(course: Path) -> None:
    summary = course / "summary.md"
    first = run(course, ["./nightly", "--for", "5h"], GITHUB_STEP_SUMMARY=str(summary))
    assert first.returncode == 0, first.stderr
    assert "ann" in summary.read_text()
    assert "ann" in (course / "site/index.html").read_text()
    malice("new", course / "submissions/bob", code=0)
    (course / "submissions/broken").mkdir()
    (course / "submissions/broken/bot.toml").write_text("name = 7\n")
    second = run(course, ["./nightly", "--for", "5h"])
    assert "broken" in second.stdout + second.stderr
    assert "bob" in (course / "site/index.html").read_text()
    assert malice("status", course / "league.db", code=0).stdout


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
