"""Which malice this is, so that machines that play one tournament can tell whether they have the same one."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from msgspec import Struct

from malice.referee.compiled import find_core
from malice.referee.errors import FamilyError

PACKAGES = ("protocol", "referee", "tournaments")
"""What plays games, and hands them out."""
HEX = 12


class Identity(Struct, frozen=True, forbid_unknown_fields=True):
    """What a malice consists of."""

    version: str
    code: str
    """The hash of its modules, the first digits."""
    core: str
    """The hash of the sources of the compiled rules; empty where Python plays, which plays the same."""

    def explain_difference(self, expected: Identity) -> str | None:
        """Say why this is another malice than was expected; None if it is the same."""
        if self.version != expected.version:
            return f"expected malice {expected.version}, it has {self.version}"
        if self.code != expected.code:
            return f"expected malice {expected.version} with the code {expected.code}, its code is {self.code}"
        if self.core and expected.core and self.core != expected.core:
            return f"expected malice-core of the sources {expected.core}, its core is of {self.core}"
        return None


@cache
def read_identity() -> Identity:
    """What the malice of this process consists of."""
    whole = hashlib.sha256()
    for package in PACKAGES:
        folder = Path(import_module(f"malice.{package}").__path__[0])
        for path in sorted(folder.rglob("*.py")):
            whole.update(f"{package}/{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    try:
        core = str(getattr(find_core(), "__source__", ""))
    except FamilyError:  # each game that needs it says so
        core = ""
    return Identity(version("malice-arena"), whole.hexdigest()[:HEX], core)
