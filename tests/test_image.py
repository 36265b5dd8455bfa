"""The image: what is in it, and that its steps can be read; `make soak` builds it, without a container engine."""

from __future__ import annotations

import json
import re
import subprocess

from malice.tournaments.entries.programs import list_packages
from tests.command_line import malice
from tests.image import DOCKERFILE, ROOT, SUITE, Stage, read_stages
from tests.toolchains import KITS, needs

STAGES = read_stages(DOCKERFILE.read_text())


def list_steps(name: str) -> list[tuple[str, str]]:
    """The steps of a stage, those of the stages below it first."""
    if name not in STAGES:
        return []
    return [*list_steps(STAGES[name].parent), *STAGES[name].steps]


def list_installed(steps: tuple[tuple[str, str], ...]) -> list[str]:
    installs = [step for word, step in steps if word == "RUN" and "apt-get install" in step]
    return [
        package
        for step in installs
        for package in re.findall(r"--no-install-recommends (.+?)(?:&&|$)", step)[0].split()
    ]


def test_the_larger_image_holds_what_the_kits_need() -> None:
    assert list_installed(STAGES["kits"].steps) == list_packages(need for kit in KITS for need in needs(kit))
    assert "bubblewrap" in list_installed(STAGES["base"].steps)


def test_both_images_run_malice_and_not_as_root() -> None:
    assert [*STAGES][-1] == "malice", "a build without a target makes the last stage"
    for name in ("malice", "kits"):
        steps = list_steps(name)
        assert [rest for word, rest in steps if word == "USER"][-1] == "malice"
        assert [json.loads(rest) for word, rest in steps if word == "ENTRYPOINT"] == [["malice"]]
        for word, rest in steps:
            assert word != "RUN" or subprocess.run(["sh", "-n", "-c", rest], check=False).returncode == 0
    assert {stage.parent for stage in STAGES.values()} - {*STAGES} == {f"debian:{SUITE}-slim"}


def test_a_step_over_several_lines_is_one_script() -> None:
    text = "# one\nFROM x AS a\nRUN first \\\n    && second\n\nFROM a AS b\nUSER y\n"
    assert read_stages(text) == {
        "a": Stage("x", (("RUN", "first     && second"),)),
        "b": Stage("a", (("USER", "y"),)),
    }


def test_the_pages_show_the_images_with_options_that_they_have() -> None:
    text = "".join((ROOT / "docs" / name).read_text() for name in ("desk.md", "many-machines.md"))
    targets = re.findall(r"docker build --tag (\S+)(?: --target (\S+))? -", text)
    assert targets == [("malice", ""), ("malice-kits", "kits")]
    (words,) = re.findall(r"malice-kits (worker .*)", text)
    assert malice(*words.split(), "--help", code=0).output
    cache = re.findall(r"--volume malice:(\S+)", text)
    assert f"mkdir -p {cache[0]}" in [rest for word, rest in STAGES["base"].steps if word == "RUN"]
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert container["build"]["target"] == "kits"
    assert container["remoteUser"] == "malice"
