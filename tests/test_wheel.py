"""What people install is the wheel: everything is in it, and it works from an empty folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from malice.referee.families import list_shipped, load_family
from malice.referee.games import DEFAULT_FAMILY

ROOT = Path(__file__).parents[1]
PACKAGES = {"protocol": ROOT, "referee": ROOT, "bots": ROOT, "tournaments": ROOT, "site_pages": ROOT / "site"}
"""The folders that lie in `malice` once it is packed, and where each lies in the tree."""

DOCS = {"SECURITY.md", *(path.name for path in (ROOT / "docs").glob("*.md"))}
"""What lies at the top, and is packed where the pages are made from it."""

MAKE = """
import sys
from malice.tournaments.cli import main
for kit in sys.argv[1:]:
    game, language = kit.split(":")
    options = ["--family", game, "--language", language]
    main(["new", f"my-{game}-{language}", *options], standalone_mode=False)
"""
"""Makes a bot from each of these kits, named by game and language."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("malice_arena-*.whl"))


def tracked(package: str, root: Path) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", package],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in listed.stdout.splitlines() if (root / name).is_file()}


def test_the_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}

    files = set().union(*(tracked(package, root) for package, root in PACKAGES.items()))
    inside = {
        *files,
        *tracked("rl", ROOT / "malice"),
        *(f"site_pages/docs/{name}" for name in DOCS),
        "__init__.py",
        "py.typed",
        "rules.py",
        "testing.py",
    }
    assert packed == {f"malice/{name}" for name in inside}


@pytest.mark.whole
def test_the_sources_that_people_download_build_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    # Where nothing says what to build, the wheel is built from the sdist, of nothing but its files.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, capture_output=True, check=True)

    (again,) = tmp_path.glob("malice_arena-*.whl")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert {each.filename: each.CRC for each in one.infolist()} == {
            each.filename: each.CRC for each in other.infolist()
        }


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel in an environment of its own."""
    home = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(home, with_pip=False)
    python = str(home / "bin" / "python")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", str(wheel)],
        check=True,
        capture_output=True,
    )
    # The libraries come from here; a .pth file that this folder holds, such as our own, is not followed.
    theirs = next((home / "lib").glob("python3.*")) / "site-packages"
    (theirs / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home


def malice(home: Path, where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(home / "bin" / "malice"), *words],
        cwd=where,
        env={key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP"))},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_installed_wheel_runs_a_tournament_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('entries = ["greedy", "uniform"]\ndeals = 2\nseed = "x"\n')
    # Folders of the user that are called like ours must not get in the way.
    for name in ("bots", "referee", "protocol"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('the wrong one')\n")

    done = malice(installed, tmp_path, "run", "t.toml", "--site", "pages")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == (tmp_path / "pages" / "index.html").as_uri()
    assert (tmp_path / "pages" / "replay.html").is_file()
    assert "Spite &amp; Malice is a race" in (tmp_path / "pages" / "docs" / "rules.html").read_text("utf-8")
    python, where = str(installed / "bin" / "python"), "from malice import referee; print(referee.__file__)"
    found = subprocess.run([python, "-P", "-c", where], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout.startswith(str(installed))


@pytest.mark.whole
def test_an_installed_wheel_makes_a_bot_in_every_language_that_has_a_kit(installed: Path, tmp_path: Path) -> None:
    told = json.loads(malice(installed, tmp_path, "new", "--list", "--json").stdout)

    assert [each["language"] for each in told if each["game"] == DEFAULT_FAMILY] == sorted(
        path.parts[-3] for path in (ROOT / "bots").glob("*/starter/bot.toml")
    )
    assert {each["game"] for each in told} == set(list_shipped())
    kits = [(each["game"], each["language"]) for each in told]
    made = subprocess.run(
        [str(installed / "bin" / "python"), "-P", "-c", MAKE, *map(":".join, kits)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    for game, language in kits:
        name = f"my-{game}-{language}"
        assert f"malice play {name} {load_family(game).opponent}" in made.stdout
        assert f'name = "{name}"' in (tmp_path / name / "bot.toml").read_text()


def list_needs(name: str) -> set[str]:
    """The distributions that one needs here, directly or not."""
    needs: set[str] = set()
    for each in map(Requirement, requires(name) or ()):
        if not each.marker or each.marker.evaluate({"extra": ""}):
            needs |= {each.name, *list_needs(each.name)}
    return needs


def pack_again(name: str, folder: Path) -> None:
    """Write the wheel of an installed distribution."""
    found = distribution(name)
    (*_, tag) = re.findall(r"^Tag: (\S+)", str(found.read_text("WHEEL")), re.MULTILINE)
    with zipfile.ZipFile(folder / f"{found.name.replace('-', '_')}-{found.version}-{tag}.whl", "w") as wheel:
        for file in found.files or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                wheel.write(file.locate(), str(file))


@pytest.mark.whole
def test_one_line_plays_a_game_with_nothing_but_the_wheel_and_uv(wheel: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "wheels"
    shelf.mkdir()
    for name in list_needs("malice-arena"):
        pack_again(name, shelf)
    uvx = [str(Path(sys.executable).with_name("uvx")), "--offline", "--no-index", "--find-links", str(shelf)]
    line = ["--python", sys.executable, "--from", str(wheel), "malice", "play", "greedy", "planner", "--watch"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "UV_NO_CONFIG": "1", "UV_LINK_MODE": "copy"}

    done = subprocess.run([*uvx, *line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "standard, 2 seats: 2 games" in done.stdout
    assert "uvx --from . malice play greedy planner --watch" in (ROOT / "README.md").read_text()
