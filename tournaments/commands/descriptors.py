"""Standard input, output and error of a command, usable even if it was started without them."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

STANDARD = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""In the order of their descriptors."""


class _Forgiving(io.FileIO):
    """Drops what cannot be written, and raises no error."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data).cast("B"))


def secure_descriptors() -> None:
    """Make sure that the three standard descriptors are open, and that a message to stderr never fails.

    A closed one becomes the null device, for our children too. Otherwise the next file that we open would get its
    number: after `2>&-` that is the league, and our messages or a referee's would go into it. A log on a full disk
    does not end a tournament either. Call this before any file is opened.
    """
    for number, (name, mode) in enumerate(STANDARD):
        if not _is_open(number):
            assert os.open(os.devnull, os.O_RDWR) == number  # the lowest free number: all below it are open
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good
            setattr(sys, f"__{name}__", getattr(sys, name))
    if (stderr := sys.stderr) is sys.__stderr__ and stderr is not None:  # nothing has replaced it
        forgiving = io.BufferedWriter(_Forgiving(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(forgiving, stderr.encoding, "backslashreplace", line_buffering=True)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
