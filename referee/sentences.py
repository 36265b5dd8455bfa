"""The sentences of a game, from `page/words.json` in its folder: its page in the browser fills the same ones."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct


class Sentences(Struct, frozen=True, forbid_unknown_fields=True):
    """Texts with named holes such as `{seat}`; a game has what it needs of them."""

    events: dict[str, str]
    reasons: dict[str, str]
    piles: dict[str, str] = {}
    actions: dict[str, str] = {}
    counts: dict[str, str] = {}
    parts: dict[str, str] = {}

    def fill(self, event: str, **holes: object) -> str:
        """Put values into the holes of the sentence on a kind of event."""
        return self.events[event].format_map(holes)


def read_sentences(folder: Path) -> Sentences:
    """Read the sentences of the game in a folder."""
    return msgspec.json.decode((folder / "page" / "words.json").read_bytes(), type=Sentences)
