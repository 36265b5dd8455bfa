"""The sentences of Double Solitaire; its page fills the same ones."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct


class Sentences(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `page/words.json`: texts with named holes such as `{seat}`."""

    events: dict[str, str]
    piles: dict[str, str]
    counts: dict[str, str]
    reasons: dict[str, str]


SENTENCES = msgspec.json.decode((Path(__file__).parent / "page" / "words.json").read_bytes(), type=Sentences)
