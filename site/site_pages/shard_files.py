"""The shards of a site as files: kept while their input is the same, else made anew."""

from __future__ import annotations

from collections.abc import Sequence

from malice.site_pages import shards
from malice.site_pages.files import SHARD, Folder
from malice.site_pages.packing import Packers
from malice.site_pages.reasons import Reasons
from malice.site_pages.series import describe_standing
from malice.site_pages.source import PublishedContents
from malice.site_pages.survey import Survey
from malice.tournaments.league.contents import GameSummary


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
