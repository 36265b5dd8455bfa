"""The data files of games: shards, kept while their input is the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType

from msgspec.structs import replace

from malice.referee.records import Record
from malice.site_pages import shards
from malice.site_pages.contents import PublishedContents
from malice.site_pages.files import SHARD, Folder
from malice.site_pages.game_list import Reasons
from malice.site_pages.series import describe_standing
from malice.site_pages.survey import Survey
from malice.tournaments.league import replay_pool
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.replay_pool import ReplayPool, count_processes, count_processors
from malice.tournaments.league.replays import PACK


class Packers:
    """Fills in what records lack; use it as a context manager. Processes start once there were many such games."""

    def __init__(self) -> None:
        self._bare = 0
        self._replayers: ReplayPool[Record] | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Packers:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stack.close()

    def fill(self, records: Sequence[Record]) -> list[Record]:
        """The records with their events; those of which nothing could be packed come as they are."""
        bare = [record for record in records if not record.events]
        self._bare += len(bare)
        if self._replayers is None and self._bare >= replay_pool.MANY:
            # Whoever shows a game that does not replay tells why, and needs what comes before that.
            count = count_processes(self._bare, count_processors())
            processes: ReplayPool[Record] = ReplayPool(lambda record: b"", (PACK,), count)
            self._replayers = self._stack.enter_context(processes)
        if self._replayers is None or not bare:
            return list(records)
        packed = {record.key: events for record, events in self._replayers.replay(bare)}
        return [replace(record, events=record.events or packed[record.key]) for record in records]


class ShardFiles:
    """Writes the shards of all blocks into a folder.

    Args:
        folder: where to.
        source: the league.
        survey: its games.
        reasons: why games end, in words.
        context: what else the shards depend on.
        packers: pack what happened in games of which nobody did.
    """

    def __init__(
        self,
        folder: Folder,
        source: PublishedContents,
        survey: Survey,
        reasons: Reasons,
        context: object,
        packers: Packers,
    ) -> None:
        self.splits: dict[int, list[int]] = {}
        """By block with several shards: the numbers of the games with which the others begin."""
        self._folder = folder
        self._source = source
        self._survey = survey
        self._reasons = reasons
        self._context = context
        self._packers = packers

    def write(self, number: int) -> None:
        """Write the shards of a block; the records of its games are read only if their shards are not there."""
        name = f"games-{number}"
        header = shards.make_header(name, (self._survey.digest(number), self._context, self._source.publication))
        others = _keep_shards(self._folder, name, header)
        if others is None:
            others = self._make_block(self._survey.blocks[number]).write(self._folder, name, header)
        if others:
            self.splits[number] = others

    def _make_block(self, games: Sequence[GameSummary]) -> shards.Block:
        block = shards.Block()
        records = self._packers.fill(list(self._source.read_records([game.key for game in games])))
        for game, record in zip(games, records, strict=True):
            record = self._source.publication.redact_notes(record)
            standing = describe_standing(self._survey.series.get(game.key))
            block.add(game, record, self._reasons.describe(game), standing)
        return block


def _keep_shards(folder: Folder, name: str, header: bytes) -> list[int] | None:
    """Keep the shards of a block; return with which games the others begin, or None if one has to be made anew."""
    first_line = folder.read_first_line(f"data/{name}.js")
    if not first_line.startswith(header) or not SHARD.fullmatch(first_line + b"\n"):
        return None
    others = [int(number) for number in first_line.removeprefix(header).split()]
    names = shards.name_parts(name, len(others))
    headers = [folder.read_first_line(f"data/{part}.js") for part in names[1:]]
    if headers != [header.replace(name.encode(), part.encode(), 1) for part in names[1:]]:
        return None
    for part in names:
        folder.keep(f"data/{part}.js")
    return others
