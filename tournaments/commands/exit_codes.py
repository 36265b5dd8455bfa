"""How a command ends: each of our errors becomes a line on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
from typing import Any

import click

from protocol.errors import MaliceError
from referee.errors import BotError, ChangedRules, DataError, RecordError
from tournaments.commands.descriptors import secure_descriptors
from tournaments.errors import IsolationError, LeagueError, LockedLeague, Stopped, UnverifiedError

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
FINDINGS = {"better": 0, "not better": 10, "undecided": 11}
"""By what `malice compare` found."""
INTERRUPTED = 130
RUN = "run"
"""The command that an interrupt stops as if a game was played, however early it comes."""
STOPPED = dict(EXIT_CODES)[Stopped]
NO_READER = 128 + signal.SIGPIPE
"""The reader of our output has closed it, such as `head`: a shell reports other programs so too."""


class ExitCodeGroup(click.Group):
    """Turns our errors into one line on stderr and an exit code."""

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
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
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
            from referee.families import explain_failure

            sentence = None if isinstance(error, click.ClickException | RuntimeError) else explain_failure(error)
            if sentence is None:
                raise
            _report_error(sentence)
            ctx.exit(2)


def find_exit_code(error: BaseException) -> int:
    """Return the exit code of a command that an exception ends."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        return NO_READER
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), 1)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it is gone; the code that needs it reports that
        return ""


def _report_error(text: str) -> None:
    try:
        from tournaments.sanitizer import sanitize

        click.echo("Error: " + "\n".join(map(sanitize, text.split("\n"))), err=True)
    except OSError:
        _drop_output()


def _drop_output() -> None:
    """Send what is still buffered nowhere: nobody reads it any more, and it must not change our exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())


def take_interrupts() -> None:
    """Let SIGINT interrupt us again, which `launch` holds back; one that came meanwhile does so at once."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def interrupt_on_signals() -> None:
    """Let SIGTERM and SIGHUP end us as Ctrl-C does: in order, and with no process left behind."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
