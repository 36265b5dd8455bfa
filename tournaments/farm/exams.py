"""Lets the workers of a cluster examine bots: `malice check`, as their authors would type it."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import msgspec

from malice.protocol.errors import MaliceError
from malice.referee.records import Isolation
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.manifests import format_query
from malice.tournaments.errors import Stopped
from malice.tournaments.farm.bot_cache import BotCache, Lacking
from malice.tournaments.farm.crew import quote
from malice.tournaments.farm.station import find_station, make_abandonment
from malice.tournaments.farm.work import (
    Exam,
    ExamAnswer,
    Introduction,
    Need,
    Ticket,
    make_ticket,
    pack,
    read_identity,
    unpack,
)
from malice.tournaments.sanitizer import sanitize

if TYPE_CHECKING:
    from malice.tournaments.farm.dask_cluster import DaskCluster

PASSED, FAILED = 0, 10
"""The exit codes of an examination that has a report."""
ASK_EVERY_S = 0.2
LOOK_EVERY_S = 1.0
SHOWN = 1000
"""Most characters of an error."""


class ExamSender:
    """Sends bots to workers, and returns what they found.

    Args:
        kept: where the bots are kept while that lasts.
        isolation: that of every bot; a worker that lacks it is refused if it is required.
        words: the options of `malice check`.
        say: receives a line on each worker that is refused.
    """

    def __init__(self, kept: KeptBots, isolation: Isolation, words: Sequence[str], say: Callable[[str], None]) -> None:
        self._kept = kept
        self._isolation = isolation
        self._words = tuple(words)
        self._say = say

    def examine(self, scheduler: str, bots: Mapping[str, Bot]) -> dict[str, ExamAnswer]:
        """Let workers examine bots, and say by label what became of each.

        Args:
            scheduler: its address or its file.
            bots: by label.

        Raises:
            BotError: one cannot be kept.
            Stopped: no scheduler answers, there is no worker that can examine them, or all of them are gone.
        """
        from malice.tournaments.farm.dask_cluster import DaskCluster

        tickets = {label: make_ticket(self._kept.keep(bot)) for label, bot in bots.items()}
        tars = {each.content: self._kept.tar(each.content) for each in tickets.values() if not each.command}
        need = Need(read_identity(), (), self._isolation, 1, tuple(tars))
        with DaskCluster(scheduler) as cluster:
            fit = self._choose_workers(cluster, need, tars)
            asked = {
                label: cluster.call(examine, pack(Exam(ticket, self._words)), fit) for label, ticket in tickets.items()
            }
            return {label: _await_answer(answer, cluster, fit) for label, answer in asked.items()}

    def _choose_workers(self, cluster: DaskCluster, need: Need, tars: Mapping[str, Path]) -> list[str]:
        fit = []
        for address, reply in cluster.await_introductions(need, tars).items():
            if isinstance(reply, Introduction):
                fit.append(address)
            else:
                name = cluster.list_workers().get(address, reply.host)
                self._say(f"{sanitize(name)} is refused: {quote(reply.why)}")
        if not fit:
            raise Stopped("no worker can examine these bots")
        return fit


def _await_answer(asked: Future[bytes | None], cluster: DaskCluster, fit: Sequence[str]) -> ExamAnswer:
    while not wait([asked], LOOK_EVERY_S).done:
        if not cluster.list_workers().keys() & set(fit):
            raise Stopped("all workers are gone")
    if asked.cancelled() or asked.exception() or (raw := asked.result()) is None:  # the scheduler is gone, or gave up
        raise Stopped("an examination was lost")
    try:
        return msgspec.json.decode(unpack(raw), type=ExamAnswer)
    except (ValueError, RecursionError) as error:
        return ExamAnswer(trouble=f"the worker sent no report: {error}")


def examine(exam: bytes) -> bytes:
    """Carry out a packed `Exam` on this worker; pack the `ExamAnswer`. Dask finds this function by its name."""
    return pack(_examine(find_station().bots, msgspec.json.decode(unpack(exam), type=Exam), make_abandonment()))


def _examine(bots: BotCache, exam: Exam, is_abandoned: Callable[[], bool]) -> ExamAnswer:
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
