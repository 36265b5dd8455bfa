"""One exchange with a bot of `tests/bots`, and the verdict that ends it."""

from __future__ import annotations

import msgspec
import pytest

from malice.protocol.messages import BareAnswer, GameEnd
from malice.referee.clock import MS
from malice.referee.connection import BotConnection
from malice.referee.verdicts import Verdict
from tests.tables import PATIENCE_MS, move_request, seated

SHORT_MS = 250
"""For an answer that never comes."""


def move_verdict(name: str, *arguments: str, limit_ms: int = PATIENCE_MS) -> tuple[str, str]:
    """Ask a bot for a move; return the code and the sentence of the verdict."""
    with seated(name, *arguments) as seat:
        seat.begin()
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), limit_ms * MS)
    return caught.value.code, caught.value.sentence


def ask(line: BotConnection, id: int, *, size: int = 0, limit_ms: int | None = None) -> BareAnswer:
    """Send a request of a type that nobody knows, with so many letters in it."""
    text = b'{"id":%d,"type":"hello","x":"%s"}\n' % (id, b"x" * size)
    answer, _, _ = line.ask(text, "hello", id, msgspec.json.Decoder(BareAnswer), limit_ms and limit_ms * MS)
    return answer


def game_end(id: int) -> GameEnd:
    return GameEnd(id, 1, (1, 2), (0, 0), "forfeit", "0.0.0")
