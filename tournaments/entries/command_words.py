"""Commands of bots that are played from a copy of their folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from malice.referee.isolation.installations import LONGEST_PATH


def place_command(command: Sequence[str], home: Path, copy: Path) -> tuple[str, ...]:
    """Return a command for a copy of a bot's folder.

    A word that names something in the folder names it in the copy. What was not copied, such as an interpreter in a
    dot-folder, stays where it is: its word becomes an absolute path. Nothing outside may be named, so other words stay.

    Args:
        command: as it is in the original folder, where it starts.
        home: the original folder.
        copy: the folder in which it will start.
    """
    return tuple(_place_word(word, str(home), copy, first=not number) for number, word in enumerate(command))


def needs_home(command: Sequence[str], placed: Sequence[str], home: Path) -> bool:
    """Tell whether a command that `place_command` returned still needs the original folder."""
    return any(
        os.path.isabs(new) and (not os.path.isabs(old) or Path(new).is_relative_to(home))
        for old, new in zip(command, placed, strict=True)
    )


def _place_word(word: str, home: str, copy: Path, *, first: bool) -> str:
    if not word or "\0" in word or len(word) > LONGEST_PATH or (first and "/" not in word):
        return word  # without a slash, a program is looked up on the PATH
    path = os.path.normpath(os.path.join(home, word))
    inside = os.path.relpath(path, home)
    if inside == os.pardir or inside.startswith(os.path.join(os.pardir, "")):
        return word
    if os.path.lexists(copy / inside):
        return str(copy / inside) if os.path.isabs(word) else word
    return path if not os.path.isabs(word) and os.path.lexists(path) else word
