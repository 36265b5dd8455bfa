"""Lets the workers of a cluster examine bots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from malice.referee.records import Isolation
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.farm.identity import read_identity
from malice.tournaments.farm.work import Exam, ExamAnswer, Need, make_ticket


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
            Stopped: no scheduler answers.
            MaliceError: there is no worker.
        """
        from malice.tournaments.farm.dask_cluster import DaskCluster

        tickets = {label: make_ticket(self._kept.keep(bot)) for label, bot in bots.items()}
        tars = {each.content: self._kept.tar(each.content) for each in tickets.values() if not each.command}
        need = Need(read_identity(), (), self._isolation, 1, tuple(tars))
        exams = [Exam(ticket, self._words) for ticket in tickets.values()]
        with DaskCluster(scheduler) as cluster:
            return dict(zip(tickets, cluster.examine(exams, need, tars, self._say), strict=True))
