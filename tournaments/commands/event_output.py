"""`--events`: writes what happens in a run as lines of JSON, to a file or to stdout."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from malice.referee.errors import DataError
from malice.tournaments.commands.exit_codes import find_exit_code
from malice.tournaments.errors import Stopped

if TYPE_CHECKING:
    from malice.tournaments.running.events import Events, Reason, RunEvent

STDOUT = "-"
FIRST_LINE_BYTES = 1 << 20
"""The first line of a file of events is shorter than this."""

F = TypeVar("F", bound=Callable[..., Any])


def events_option(command: F) -> F:
    """Add the option that asks for events."""
    return click.option(
        "--events", "events_to", metavar="FILE", help="Append what happens to this file, as JSON Lines; - is stdout."
    )(command)


class EventOutput:
    """The events of a command, and how its run ends.

    Args:
        target: a file, `-` for stdout, or None for nowhere.
        league: the file that is certainly not for events.
    """

    def __init__(self, target: str | None, league: Path | None) -> None:
        from malice.tournaments.running.events import Events

        self.wanted = target is not None
        """Whether anybody reads them."""
        self._name = "stdout" if target == STDOUT else target
        self._out = None if target is None else _open(target, league)
        self.events: Events = Events(self._write)
        self.begun = False
        """Whether a run has begun, so that there is a first line."""
        self.reason: Reason = "complete"
        """How the run ends if it does not fail."""
        self.anonymous = False
        """Whether the end of the run must not say what failed, which may tell names."""

    def tell(self, event: RunEvent) -> None:
        """Tell what a run found, if one has begun."""
        if self.begun:
            self.events.tell(event)

    def end(self, error: BaseException | None = None) -> None:
        """Tell that the run is over, if one has begun, and close the file.

        Args:
            error: what ended it, if it did not come to its own end.
        """
        from malice.tournaments.running.events import RunEnded

        failed = error is not None and not isinstance(error, click.exceptions.Exit)
        reason = _name_reason(error) if error is not None and failed else self.reason
        sentence = str(error) if failed and not self.anonymous else ""
        code = 0 if error is None else find_exit_code(error)
        try:
            self.tell(RunEnded(reason=reason, exit=code, sentence=sentence))
        except (OSError, Stopped):
            if not failed:
                raise
        finally:
            if self._out and self._out is not sys.stdout.buffer:
                with contextlib.suppress(OSError):  # what could not be written was an error before
                    self._out.close()

    def _write(self, event: RunEvent) -> None:
        import msgspec

        self.begun = True
        if self._out is None:
            return
        try:
            self._out.write(msgspec.json.encode(event) + b"\n")
            self._out.flush()
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            raise Stopped(
                f"{self._name}: cannot write events: {error.strerror}; every finished game is stored"
            ) from None


@contextmanager
def tell_events(target: str | None, league: Path | None) -> Iterator[EventOutput]:
    """Write the events of the run inside of this context; if they go to stdout, everything else goes to stderr.

    Args:
        target: a file, `-` for stdout, or None for nowhere.
        league: the file that is certainly not for events.

    Raises:
        DataError: the file cannot be written, or is for something else than events.
        BrokenPipeError: nobody reads the events any more.
        Stopped: they cannot be written any more.
    """
    output = EventOutput(target, league)
    aside = contextlib.redirect_stdout(sys.stderr) if target == STDOUT else contextlib.nullcontext()
    try:
        with aside:
            yield output
    except BaseException as error:
        output.end(error)
        raise
    output.end()


def _name_reason(error: BaseException) -> Reason:
    return "stopped" if isinstance(error, Stopped | KeyboardInterrupt) else "failed"


def _open(target: str, league: Path | None) -> IO[bytes]:
    """Open the target to append to what is there.

    Raises:
        DataError: it cannot be written, or holds something else than events.
    """
    if target == STDOUT:
        return sys.stdout.buffer
    path = Path(target)
    if league and path.resolve() == league.resolve():
        raise DataError(where=f"--events {target}", expected="another file than the league")
    try:
        if path.is_file() and path.stat().st_size:
            _require_events(path)
        out = path.open("ab")
    except OSError as error:
        raise DataError(f"--events {target}: {error.strerror}") from None
    if path.is_file() and _is_torn(path):
        out.write(b"\n")
    return out


def _require_events(path: Path) -> None:
    """Make sure that a file begins with an event: nobody wants lines at the end of a league.

    Raises:
        DataError: it does not.
    """
    import msgspec

    from malice.tournaments.running.events import RunStarted

    with path.open("rb") as file:
        line = file.readline(FIRST_LINE_BYTES)
    try:
        msgspec.json.decode(line, type=RunStarted)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise DataError(
            where=f"--events {path}", expected="a file of events or a new one", got="something else"
        ) from None


def _is_torn(path: Path) -> bool:
    """Whether a file ends in the middle of a line, as after a power cut."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return file.read(1) not in (b"", b"\n")
