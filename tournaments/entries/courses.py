"""A course in a folder: its files lie in `course/`, and people change their copies."""

from __future__ import annotations

from pathlib import Path
from shutil import copymode

from malice.referee.errors import DataError
from malice.tournaments.entries.schemas import name_schema

FOLDER = Path(__file__).parent / "course"
HIDDEN = "dot-"
"""Begins the name of a file or folder that begins with a dot in a course."""


def write_course(folder: Path) -> None:
    """Write the files of a new course.

    Raises:
        DataError: the folder holds something already, or cannot be written.
    """
    try:
        if folder.exists() and any(folder.iterdir()):
            raise DataError(where=folder, expected="a new or an empty folder", got="one that holds something")
        for source in sorted(FOLDER.rglob("*")):
            names = [name.replace(HIDDEN, ".", 1) for name in source.relative_to(FOLDER).parts]
            target = folder.joinpath(*names)
            if source.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
                copymode(source, target)
        name_schema(folder / "tournament.toml", "tournament")
    except OSError as error:
        raise DataError(f"{folder}: {error.strerror}") from None
