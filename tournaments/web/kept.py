"""A table as it is kept on the disk: who sits there, and the game that goes on, answer by answer.

A server that was killed goes on from it: the first line says all but the answers, and each line after it what came of
an ask.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import DataError
from malice.referee.seat import Played
from malice.tournaments.web.messages import PlayedTogether, TableOrder, encode

FORMAT = 1


class InvitedPerson(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody at the table."""

    token: str
    """In the address that leads to the seat."""
    secret: str
    """In the cookie of who sits there."""
    taken: bool = False
    """Whether somebody does."""


class OpenedTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    format: int
    table: TableOrder
    """Its key is empty when no game goes on."""
    people: tuple[InvitedPerson, ...]
    watch: str
    """The token and secret of those who watch."""


_decode_opened = msgspec.json.Decoder(OpenedTable).decode
_decode_played = msgspec.json.Decoder(PlayedTogether).decode


class KeptTable:
    """Keeps a table in a file that only its owner may read.

    Args:
        path: the file; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def read(self) -> OpenedTable | None:
        """Read the table with all that was played; None if nothing is kept.

        A last line without its end was being written when the power went; what it tells is asked again.

        Raises:
            DataError: the file is damaged.
        """
        if self.path is None or not self.path.exists():
            return None
        head, *lines = self.path.read_bytes().split(b"\n")[:-1] or [b""]
        try:
            opened = _decode_opened(head)
            played = tuple(_decode_played(line).news for line in lines)
        except msgspec.MsgspecError as error:
            raise DataError(
                where=self.path, expected="a table that malice keeps", got=error, hint="remove the file"
            ) from None
        if opened.format != FORMAT:
            return None
        return replace(opened, table=replace(opened.table, played=played))

    def write(self, opened: OpenedTable, played: Iterable[tuple[Played, ...]]) -> None:
        """Replace all that is kept."""
        if self.path is None:
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = replace(opened, table=replace(opened.table, played=()))
        draft = self.path.with_suffix(".tmp")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(b"".join(encode(line) + b"\n" for line in (opened, *map(PlayedTogether, played))))
        os.replace(draft, self.path)

    def add(self, news: tuple[Played, ...]) -> None:
        """Keep what came of an ask."""
        if self.path is not None:
            with open(self.path, "ab") as file:
                file.write(encode(PlayedTogether(news)) + b"\n")
