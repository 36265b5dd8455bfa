"""Families that are installed for a test: in this process, and in every process that it starts."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from malice.referee import families, rulesets

CACHED = (
    families.load_family,
    families.make_rules,
    rulesets._find_files,
    rulesets.list_rulesets,
    rulesets.load_ruleset,
)
"""The functions that remember which packages are installed."""


class Package(NamedTuple):
    """A distribution that brings a family."""

    name: str
    """Of the family."""
    source: Path
    """The folder of the Python package."""


def write_package(package: Package, target: Path) -> None:
    """Install a package below `target`, as an installer does, with the family as its only entry point."""
    module = f"malice_{package.name}"
    if not (target / module).exists():
        shutil.copytree(package.source, target / module, ignore=shutil.ignore_patterns("__pycache__"))
    info = target / f"{module}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: malice-{package.name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[malice.games]\n{package.name} = {module}:FAMILY\n")


@contextmanager
def installed(target: Path) -> Iterator[None]:
    """Let this process, and those that it starts, find the packages below `target`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(target))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(target), os.environ.get("PYTHONPATH", "")))))
        forget_families()
        try:
            yield
        finally:
            for name in [name for name, module in sys.modules.items() if _lies_in(module, target)]:
                del sys.modules[name]
            forget_families()


def _lies_in(module: object, target: Path) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).is_relative_to(target)


def forget_families() -> None:
    """Look for installed packages anew."""
    for function in CACHED:
        function.cache_clear()
