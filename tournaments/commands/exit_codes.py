"""How a command ends: each of our errors becomes a line on stderr and an exit code, whatever its standard streams
are.
"""

from __future__ import annotations

import errno
import io
import os
import re
import shlex
import signal
import sys
import time
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NoReturn

import click
import msgspec
from msgspec import Struct

from malice.protocol.errors import MaliceError
from malice.referee.errors import BotError, ChangedRules, DataError, GameFault, RecordError
from malice.tournaments.errors import IsolationError, LeagueError, LockedLeague, Stopped, UnverifiedError

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


EXIT_CODES: tuple[tuple[type[MaliceError], int], ...] = (
    (UnverifiedError, 5),
    (ChangedRules, 2),
    (RecordError, 5),
    (IsolationError, 4),
    (Stopped, 3),
    (LockedLeague, 3),
    (LeagueError, 2),
    (DataError, 2),
    (BotError, 2),
)
ANSWER_IS_NO = 10
"""A check failed: of a bot, of a comparison, of a game."""
FINDINGS = {"better": 0, "not better": ANSWER_IS_NO, "worse": ANSWER_IS_NO, "undecided": 11}
"""By what `malice compare` found."""
INTERRUPTED = 130
RUN = "run"
"""The command that an interrupt stops as if a game was played, however early it comes."""
STOPPED = dict(EXIT_CODES)[Stopped]
NO_READER = 141
"""The reader of our output has closed it, such as `head`: 128 + SIGPIPE, as a shell reports other programs."""


class ExitCodeGroup(click.Group):
    """Turns our errors into one line on stderr and an exit code; with --json they are JSON on stdout, too."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line."""
        secure_descriptors()
        return super().main(*args, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse what is not UTF-8: names and paths go to other processes as JSON, and into the database."""
        for word in (*args, _working_folder()):
            try:
                word.encode()
            except UnicodeEncodeError:
                ctx.fail(f"expected UTF-8, got {word!r}")
        ctx.meta[JSON] = JSON in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (Exception, KeyboardInterrupt) as error:
            if ctx.meta[JSON] and not isinstance(error, click.exceptions.Exit | click.Abort):
                _print_failure(error)
            return self._end(ctx, error)

    def _end(self, ctx: click.Context, failure: Exception | KeyboardInterrupt) -> None:
        """Report an error on stderr, and exit with its code; what is not ours is raised again."""
        try:
            raise failure
        except GameFault as error:
            _report_game(ctx, str(error), error.report)
        except MaliceError as error:
            _report_error(str(error))
            ctx.exit(find_exit_code(error))
        except OSError as error:
            if error.errno == errno.EPIPE:
                _drop_output()
                ctx.exit(NO_READER)
            _report_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            ctx.exit(1)
        except KeyboardInterrupt:
            if ctx.invoked_subcommand != RUN:
                ctx.exit(INTERRUPTED)
            _report_error(f"interrupted; resume with: {shlex.join(['malice', *sys.argv[1:]])}")
            ctx.exit(STOPPED)
        except Exception as error:
            from malice.referee.families import explain_failure
            from malice.referee.game_faults import describe_error

            sentence = None if isinstance(error, click.ClickException | RuntimeError) else explain_failure(error)
            if sentence is None:
                raise
            _report_game(ctx, sentence, describe_error(error))


def find_exit_code(error: BaseException) -> int:
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        return NO_READER
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), 1)


JSON = "--json"


class FailedCommand(Struct, frozen=True):
    """Why a command failed; null is what the error does not carry beside its message."""

    code: str
    """The kind of error, which scripts may rely on: `usage`, `data`, `league`, `locked`, `damaged`, and others."""
    message: str
    where: str | None = None
    expected: str | None = None
    got: str | None = None
    hint: str | None = None


def describe_failure(error: BaseException) -> FailedCommand:
    """An error as scripts read it."""
    kinds = {"LeagueError": "league", "DamagedLeague": "damaged", "LockedLeague": "locked", "DataError": "data"}
    if isinstance(error, KeyboardInterrupt):
        return FailedCommand("interrupted", "interrupted")
    if isinstance(error, click.ClickException):
        parameter = getattr(error, "param", None)
        return FailedCommand("usage", error.format_message(), where=parameter and parameter.opts[-1])
    if isinstance(error, OSError):
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return FailedCommand("system", message, where=str(error.filename) if error.filename else None)
    if not isinstance(error, MaliceError):
        return FailedCommand("internal", f"{type(error).__name__}: {error}")
    name = next((each.__name__ for each in type(error).__mro__ if each.__name__ in kinds), type(error).__name__)
    code = kinds.get(name, re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("Error")).lower())
    return FailedCommand(code, str(error), error.where, error.expected, error.got, error.hint)


def _print_failure(error: BaseException) -> None:
    if find_exit_code(error) != NO_READER:
        click.echo(msgspec.json.encode({"error": describe_failure(error)}))


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it is gone; the code that needs it reports that
        return ""


def _report_error(text: str) -> None:
    try:
        from malice.tournaments.sanitizer import sanitize

        click.echo("Error: " + "\n".join(map(sanitize, text.split("\n"))), err=True)
    except OSError:
        _drop_output()


def _report_game(ctx: click.Context, sentence: str, report: str) -> NoReturn:
    """Report the failure of somebody else's game, and keep what repeats it where the sentence says."""
    command = shlex.join(["malice", *sys.argv[1:]])
    kept = _keep(f"{sentence}\n\ncommand: {command}\n{report}")
    _report_error(f"{sentence}\n{f'what repeats it is kept in {kept}' if kept else 'nothing of it could be kept'}")
    ctx.exit(dict(EXIT_CODES)[DataError])


def _keep(text: str) -> str | None:
    """Write a file that only we may read, since a seed tells cards; return its path, None if it cannot be written."""
    name = f"malice-fault-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    for folder in (Path(), Path(gettempdir())):
        try:
            descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return str(folder / name)
    return None


def _drop_output() -> None:
    """Send what is still buffered nowhere: nobody reads it any more, and it must not change our exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())


def take_interrupts() -> None:
    """Let SIGINT interrupt us again, which `launch` holds back; one that came meanwhile does so at once."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def interrupt_on_signals() -> None:
    """Let SIGTERM, SIGHUP and `malice stop` end us as Ctrl-C does: in order, and with no process left behind."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
