"""Standard input, output and error of a command, whatever it was started with."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

STANDARD = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""In the order of their descriptors."""


class _Forgiving(io.FileIO):
    """Forgets what cannot be written."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data).cast("B"))


def secure_descriptors() -> None:
    """See to it that the three standard descriptors are open, and that a message to stderr never fails.

    A closed one is the null device from now on, for our children too. Else the next file to be opened would get its
    number: after `2>&-` that is the league, and messages of ours or of a referee would be written into it. And
    nobody loses a tournament because its log is on a full disk. Call it before any file is opened.
    """
    for number, (name, mode) in enumerate(STANDARD):
        if not _is_open(number):
            assert os.open(os.devnull, os.O_RDWR) == number  # the lowest that is free: those below are open
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good
            setattr(sys, f"__{name}__", getattr(sys, name))
    if (said := sys.stderr) is sys.__stderr__ and said is not None:  # and nobody listens instead of it
        forgiving = io.BufferedWriter(_Forgiving(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(forgiving, said.encoding, "backslashreplace", line_buffering=True)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
