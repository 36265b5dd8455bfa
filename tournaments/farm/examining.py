"""Examines a bot on a worker, in a process of its own: `malice check`, as its author would type it."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

from malice.protocol.errors import MaliceError
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.manifests import format_query
from malice.tournaments.farm.bot_cache import BotCache, Lacking
from malice.tournaments.farm.work import Exam, ExamAnswer, Ticket

PASSED, FAILED = 0, 10
"""The exit codes of an examination that has a report."""
ASK_EVERY_S = 0.2
SHOWN = 1000
"""Most characters of an error."""


def examine(bots: BotCache, exam: Exam, is_abandoned: Callable[[], bool]) -> ExamAnswer:
    """Examine a bot that is here; return its report.

    Args:
        bots: those of this worker.
        exam: what to examine.
        is_abandoned: asked now and then; once it is true, nobody waits for the report.
    """
    try:
        with bots.hold(exam.ticket) as bot:
            return _run(_name(bot, exam.ticket), exam, is_abandoned)
    except Lacking:
        return ExamAnswer(trouble="the worker no longer has the bot")
    except (MaliceError, OSError) as error:
        return ExamAnswer(trouble=str(error))


def _name(bot: Bot, ticket: Ticket) -> str:
    """The words that name a bot on this machine."""
    name = shlex.join(ticket.command) or str(bot.folder)
    return f"{name}?{format_query(ticket.given)}" if ticket.given else name


def _run(name: str, exam: Exam, is_abandoned: Callable[[], bool]) -> ExamAnswer:
    words = [sys.executable, "-P", "-m", "malice.tournaments.cli", "check", name, "--json", *exam.words]
    with TemporaryFile() as out, TemporaryFile() as err:
        where = Path(exam.ticket.folder) if exam.ticket.folder else None
        process = subprocess.Popen(words, cwd=where, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            while process.poll() is None and not is_abandoned():
                time.sleep(ASK_EVERY_S)
        finally:
            process.terminate()
            process.wait()
        out.seek(0)
        err.seek(0)
        if process.returncode in (PASSED, FAILED):
            return ExamAnswer(out.read().decode())
        return ExamAnswer(trouble=err.read().decode("utf-8", "replace").strip()[-SHOWN:])
