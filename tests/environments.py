"""Virtual environments of their own for tests, in which malice runs from a tree of its sources."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

SOURCES = (
    "malice",
    "protocol",
    "referee",
    "tournaments",
    "bots",
    "site/site_pages",
    "docs",
    "SECURITY.md",
    "pyproject.toml",
)
"""What malice needs to run."""

COMMAND = """\
#!{python} -P
import sys
from malice.tournaments.cli import main
sys.exit(main())
"""


def make_environment(home: Path, root: Path) -> Path:
    """Make a virtual environment with the malice of a source tree, and the libraries of this one.

    Args:
        home: where.
        root: the source tree.

    Returns:
        The folder of its programs.
    """
    venv.create(home, with_pip=False, symlinks=True)
    packages = next((home / "lib").glob("python3.*")) / "site-packages"
    # A .pth file in a folder that this one names, such as that of an editable install, is not followed.
    (packages / "malice.pth").write_text(f"{root}\n{sysconfig.get_path('purelib')}\n")
    program = home / "bin" / "malice"
    program.write_text(COMMAND.format(python=home / "bin" / "python"))
    program.chmod(0o755)
    return program.parent


def copy_sources(root: Path, folder: Path, *without: str) -> None:
    """Copy what malice needs, as far as git knows of it, except for the folders `without`."""
    tracked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *SOURCES]
    for name in subprocess.run(tracked, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines():
        source, copy = root / name, folder / name
        if (source.is_file() or source.is_symlink()) and not name.startswith(tuple(f"{each}/" for each in without)):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy, follow_symlinks=False)
