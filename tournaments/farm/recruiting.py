"""Who plays: newcomers are asked who they are, and play or are refused; a run without workers waits a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from malice.referee.nouns import format_count
from malice.tournaments.errors import Stopped
from malice.tournaments.farm.cluster import Cluster
from malice.tournaments.farm.conditions import Conditions
from malice.tournaments.farm.crew import Crew, Worker, describe_speed, describe_worker, quote
from malice.tournaments.farm.work import Introduction, Refusal
from malice.tournaments.sanitizer import sanitize


class Recruiting:
    """Lets workers of a cluster play, or refuses them.

    Args:
        cluster: the workers.
        conditions: what is asked of them.
        crew: those that play.
        say: receives a line on each worker that joins, returns, or is refused.
        describe_limit: returns how long the open games can take with so many at a time, in words, if that is known.
    """

    def __init__(
        self,
        cluster: Cluster,
        conditions: Conditions,
        crew: Crew,
        say: Callable[[str], None],
        describe_limit: Callable[[int], str],
    ) -> None:
        self._cluster = cluster
        self._conditions = conditions
        self._crew = crew
        self._say = say
        self._describe_limit = describe_limit
        self._listed: Mapping[str, str] = {}
        self._alone_since = self._hopeful_at = time.monotonic()

    def look_around(self) -> list[Worker]:
        """Ask newcomers who they are; return the workers that are gone."""
        crew = self._crew
        self._listed = listed = self._cluster.list_workers()
        crew.asked &= listed.keys()
        for address, name in listed.items():
            if crew.is_stranger(address, name):
                crew.asked.add(address)
                self._cluster.introduce(address, self._conditions.need, self._conditions.tars)
        return [worker for address, worker in crew.workers.items() if address not in listed]

    def require_workers(self) -> None:
        """Make sure that somebody plays, or may soon.

        Raises:
            Stopped: there was no worker for too long, or those that are there stay refused.
        """
        now, patience_s, grace_s = time.monotonic(), self._conditions.patience_s, self._conditions.grace_s
        refused = [line for each in self._listed.items() if (line := self._crew.find_refusal(*each))]
        if self._crew.workers:
            self._alone_since = now
        if self._crew.workers or not refused or len(refused) < len(self._listed):
            self._hopeful_at = now
        if now - self._hopeful_at >= grace_s:
            raise Stopped(f"every worker is refused, and no other came within {grace_s:g} s{_list_lines(refused)}")
        if now - self._alone_since >= patience_s:
            raise Stopped(f"no worker for {patience_s:g} s{_list_lines(self._crew.refused.values())}")

    def welcome(self, address: str, reply: Introduction | Refusal) -> None:
        """Let a worker play, or say why it does not."""
        name = self._cluster.list_workers().get(address)
        if name is None or address not in self._crew.asked:
            return
        self._crew.asked.discard(address)
        if isinstance(reply, Refusal):
            self._say(self._crew.refuse(address, describe_worker(name, reply.host), reply.why))
            return
        worker, least = Worker(address, name, reply), self._conditions.min_speed
        speed = reply.choose_speed(by_wall=self._conditions.by_wall)
        if speed < least:
            by_wall = " by wall time" if speed != reply.speed else ""
            self.refuse(worker, f"its factor is {speed:g}{by_wall}, expected at least {least:g}")
        else:
            self._take_on(worker)

    def _take_on(self, worker: Worker) -> None:
        introduction, back = worker.introduction, self._crew.was_here(worker.name)
        self._crew.workers[worker.address] = worker
        games, slots = format_count(introduction.capacity, "game"), self._crew.count_slots()
        limit = self._describe_limit(slots)
        self._say(
            f"{worker.describe()} {'is back, and ' if back else ''}plays {games} at a time,"
            f" {describe_speed(introduction)}; now {slots} at a time{f', {limit}' if limit else ''}"
        )
        for warning in introduction.warnings:
            self._say(f"{worker.describe()}: {quote(warning)}")
        if self._conditions.by_wall and (unfairness := self._crew.describe_unfairness()):
            self._say(unfairness)

    def hear_nothing(self, address: str, why: str) -> None:
        """Let a worker be asked again soon, and say once why it did not answer, unless it is gone."""
        self._crew.asked.discard(address)
        name = self._cluster.list_workers().get(address)
        if name is not None and self._crew.silent.get(address) != why:
            self._crew.silent[address] = why
            self._say(f"{sanitize(name)} does not answer, and is asked again: {quote(why)}")

    def refuse(self, worker: Worker, why: str) -> None:
        """Give a worker no work, and say why."""
        self._say(self._crew.refuse(worker.address, worker.describe(), why))


def _list_lines(lines: Iterable[str]) -> str:
    """Lines as they follow a sentence, each once: a worker that was started again has another address."""
    return "".join(f"\n  {line}" for line in dict.fromkeys(lines))
