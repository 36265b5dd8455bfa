"""A real terminal with a command in it, whose output is read as it comes."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import subprocess
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.runs import MALICE

PATIENCE_S = 60


class Terminal:
    """The other end of a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self._process = process
        self._descriptor = descriptor
        self.text = ""

    def until(self, wanted: str) -> str:
        """Read until the text that was not read yet holds `wanted`; return it up to there, and go on behind it."""
        while wanted not in self.text:
            assert self._read(), f"the end came before {wanted!r}: {self.text}"
        found, _, self.text = self.text.partition(wanted)
        return found + wanted

    def until_one_of(self, *wanted: str) -> str:
        """Read until one of these has come; return the first that stands there, and go on before it."""
        while not (found := [text for text in wanted if text in self.text]):
            assert self._read(), f"the end came before any of {wanted}: {self.text}"
        return min(found, key=self.text.index)

    def rest(self) -> str:
        """Read to the end."""
        while self._read():
            pass
        return self.text

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._descriptor, text.encode())

    def status(self) -> int:
        """Wait for the end, and return how it ended."""
        self.rest()
        return self._process.wait()

    def _read(self) -> bool:
        assert select.select([self._descriptor], [], [], PATIENCE_S)[0], f"nothing more came after: {self.text}"
        try:
            data = os.read(self._descriptor, 65_536)
        except OSError:
            return False  # EIO: nobody holds the terminal open any more
        self.text += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


@contextmanager
def malice(folder: Path, environment: Mapping[str, str], words: Sequence[str]) -> Iterator[Terminal]:
    """Start a command in a terminal of 80 columns, at home in a folder."""
    descriptor, its = pty.openpty()
    try:
        with subprocess.Popen(
            [*MALICE, *words],
            cwd=folder,
            env={**environment, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
        ) as process:
            os.close(its)
            try:
                yield Terminal(process, descriptor)
            finally:
                process.kill()
    finally:
        os.close(descriptor)
