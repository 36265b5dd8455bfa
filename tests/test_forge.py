"""What a forge runs: the review of a pull request, and releases that agree with the changelog."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from malice.referee.compiled import VERSION
from tests.command_line import malice

ROOT = Path(__file__).parents[1]


def read_yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


class Job:
    """A job of a pull request with a bot in a repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        malice("new", folder / "mybot", code=0)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.commit("begin")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")

    def git(self, *words: str) -> None:
        words = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words)
        subprocess.run(words, cwd=self.folder, check=True, timeout=60)

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def review(self, **inputs: str) -> tuple[int, str, str]:
        """Run the script with the environment of its action; return the exit code, the finding and the summary."""
        defaults = {name: str(given.get("default", "")) for name, given in read_yaml("action.yml")["inputs"].items()}
        given = {"BOT": "mybot", "BASE": "", "TIME": "2s", "RULESET": defaults["ruleset"]} | inputs
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.unlink(missing_ok=True)
        environment = os.environ | given | {name: str(file) for name, file in files.items()}
        environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run([ROOT / ".ci/review"], cwd=self.folder, env=environment, check=False, timeout=300)
        output, summary = (file.read_text() for file in files.values())
        return done.returncode, output.strip(), summary


@pytest.mark.slow
@pytest.mark.whole
def test_a_review_checks_a_bot_and_compares_it_with_its_base(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.review()[:2] == (0, "finding=check passed")
    assert "<testsuite" in (tmp_path / "malice-check.xml").read_text()
    code, finding, summary = job.review(BASE="origin/main")
    assert (code, finding) == (0, "finding=undecided")
    assert summary.startswith("## mybot: undecided")
    assert (tmp_path / "malice-review.md").read_text() == summary
    assert job.review(BASE="origin/nothing")[:2] == (2, "finding=not compared")
    (tmp_path / "mybot/bot.py").write_text("print('hello')\n")
    assert job.review(BASE="origin/main")[:2] == (10, "finding=check failed")


def test_the_action_gives_its_script_what_it_reads() -> None:
    (step,) = [step for step in read_yaml("action.yml")["runs"]["steps"] if step.get("id") == "review"]
    assert {*step["env"]} == {"BOT", "BASE", "TIME", "RULESET"}


def test_a_release_is_built_where_its_wheels_are_named() -> None:
    jobs = read_yaml(".github/workflows/release.yml")["jobs"]
    built = {
        (each["os"].partition("-")[0], each["target"], each["libc"])
        for each in jobs["core"]["strategy"]["matrix"]["include"]
    }
    assert len(built) == 6
    assert "attestations" in jobs["publish"]["permissions"]


@pytest.mark.parametrize(
    ("tag", "heading", "agrees"),
    [
        (f"v{VERSION}", f"## {VERSION} - 2030-01-31", True),
        (f"v{VERSION}", f"## {VERSION} - unreleased", False),
        (f"v{VERSION}.1", f"## {VERSION}.1 - 2030-01-31", False),
    ],
)
def test_a_release_is_of_the_tagged_version_and_stands_in_the_changelog(
    tag: str, heading: str, agrees: bool, tmp_path: Path
) -> None:
    steps = read_yaml(".github/workflows/release.yml")["jobs"]["sources"]["steps"]
    (script,) = (step["run"] for step in steps if "GITHUB_REF_NAME" in step.get("run", ""))
    (tmp_path / "core").mkdir()
    for name in ("pyproject.toml", "core/Cargo.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "CHANGELOG.md").write_text(f"{heading}\n")

    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, env=os.environ | {"GITHUB_REF_NAME": tag}, check=False
    )

    assert (done.returncode == 0) == agrees


def test_the_documents_name_the_tag_of_this_version() -> None:
    assert f"git+ADDRESS@v{VERSION}" in (ROOT / "README.md").read_text("utf-8")
    assert f"OWNER/malice@v{VERSION} " in (ROOT / "docs/comparing.md").read_text("utf-8")


WORKFLOWS = [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("tournaments/entries/course/*/workflows/*.yml")]


@pytest.mark.parametrize("file", [str(path.relative_to(ROOT)) for path in sorted(WORKFLOWS)])
def test_a_workflow_says_nothing_that_a_forge_does_not_know(file: str) -> None:
    jobs = read_yaml(file)["jobs"]
    for job in jobs.values():
        needs = job.get("needs", [])
        assert {*([needs] if isinstance(needs, str) else needs)} <= {*jobs}
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert step.keys() <= {"name", "id", "if", "uses", "run", "with", "env", "shell"}, step
            script = re.sub(r"\$\{\{.*?\}\}", "x", step.get("run", ""))
            assert subprocess.run(["bash", "-n", "-c", script], check=False).returncode == 0, script
