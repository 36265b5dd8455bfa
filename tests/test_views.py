"""What a sandbox shows of the file system beside the bot's folder: the programs that its command names."""

from __future__ import annotations

from pathlib import Path

import pytest

from malice.referee.isolation import bwrap, installations

pytestmark = pytest.mark.slow


def test_a_program_is_shown_with_its_installation_and_a_home_is_not(tmp_path: Path) -> None:
    real = tmp_path / "python" / "bin"
    venv = tmp_path / "venv" / "bin"
    for folder in (real, venv):
        folder.mkdir(parents=True)
    (real / "python3").touch()
    (venv / "python").symlink_to(real / "python3")

    assert list(installations.list_installations(venv / "python"))[:2] == [venv.parent, real.parent]
    assert Path.home() not in installations.list_installations(Path.home() / "bin" / "tool")


def test_a_virtual_environment_of_copies_is_shown_with_the_python_that_it_names_and_with_nothing_else(
    tmp_path: Path,
) -> None:
    base, secret, copied = (tmp_path / name / "bin" for name in ("python", "secret", "venv"))
    for folder in (base, secret, copied, base.parent / "lib/python3.13"):
        folder.mkdir(parents=True)
        (folder / "python").touch()
    (base.parent / "lib/python3.13/os.py").touch()
    config = copied.parent / "pyvenv.cfg"

    config.write_text(f"home = {base}\nversion = 3.13.0\n")
    assert list(installations.list_installations(copied / "python")) == [copied.parent, base.parent]
    for home in (secret, copied, "bin"):
        config.write_text(f"home = {home}\n")
        assert list(installations.list_installations(copied / "python")) == [copied.parent]


def test_a_python_that_another_program_starts_is_shown_with_its_installation(tmp_path: Path) -> None:
    python, other = (tmp_path / name / "bin" / "x" for name in ("python", "other"))
    for program in (python, other):
        program.parent.mkdir(parents=True)
        program.touch()
    (tmp_path / "python/lib/python3.13").mkdir(parents=True)
    (tmp_path / "python/lib/python3.13/os.py").touch()

    view = bwrap.SandboxView(["nice", str(python), str(other)], Path("/usr/bin/nice"), Path("/tmp"))

    assert view.roots == [tmp_path / "python", other]


def test_what_the_sandbox_shows_by_itself_is_not_shown_again() -> None:
    java = Path("/etc/alternatives/java")  # between /usr/bin/java and the real one, on Debian
    assert bwrap.SandboxView(["/usr/bin/true", str(java)], java, Path("/usr")).roots == []
