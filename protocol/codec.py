"""Bytes to messages and back: one JSON object a line, UTF-8, LF, at most `LINE_BYTES` long."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from protocol import LINE_BYTES
from protocol.errors import ProtocolError, StrayLine
from protocol.messages import Answer, Request

_encoder = msgspec.json.Encoder()
_request_decoder: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)

A = TypeVar("A", bound=Answer)


def encode(message: Request | Answer) -> bytes:
    """Return `message` as one line, LF included."""
    return _encoder.encode(message) + b"\n"


def decode_request(line: bytes) -> Request:
    """Return the referee's message in `line`; unknown fields are ignored.

    Raises:
        ProtocolError: the line is no request of this protocol version.
    """
    try:
        return _request_decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"expected a message of the referee, got: {excerpt(line)} ({error})") from None


def decode_answer(line: bytes, decoder: msgspec.json.Decoder[A], id: int) -> A:
    """Return the bot's answer to request `id`; unknown fields are ignored.

    Args:
        line: one line, with or without its LF.
        decoder: made for the struct that is expected.
        id: the request that waits for its answer.

    Raises:
        StrayLine: the line is no JSON object.
        ProtocolError: it is one, but not an answer to `id`.
    """
    try:
        answer = decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _diagnosis(line, id, error) from None
    if answer.id != id:
        raise _wrong_id(answer.id, id)
    return answer


def excerpt(line: bytes, most: int = 200) -> str:
    """Return the start of `line` for people: quoted, escaped, cut at `most` characters."""
    text = line[: 4 * most].decode("utf-8", "backslashreplace").rstrip("\r\n")
    return ascii(text[:most]) + ("..." if len(text) > most else "")


def _diagnosis(line: bytes, id: int, error: Exception) -> ProtocolError:
    try:
        value: Any = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return StrayLine(f"no JSON: {excerpt(line)}")
    if not isinstance(value, dict):
        return StrayLine(f"no JSON object: {excerpt(line)}")
    if "id" not in value:
        return ProtocolError(f"expected the id {id}, got an answer without id: {excerpt(line)}")
    if isinstance(value["id"], bool) or not isinstance(value["id"], int | float):
        return ProtocolError(f"expected the number {id} as id, got: {excerpt(line)}")
    if value["id"] != id:
        return _wrong_id(value["id"], id)
    return ProtocolError(f"{_lower(str(error))}, got: {excerpt(line)}")


def _wrong_id(got: float, id: int) -> ProtocolError:
    if 0 < got < id:
        return ProtocolError(f"expected the id {id}, got {got}, which was answered or ran out before")
    return ProtocolError(f"expected the id {id}, got {got}")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


class LineBuffer:
    """Splits what a pipe delivers into lines, with a cap on the length of each.

    `feed` bytes as they come, `pop` whole lines. A line that outgrows the cap raises at the `feed` that
    shows it, so that memory stays bounded whatever the other side sends.
    """

    def __init__(self, cap: int = LINE_BYTES) -> None:
        self.cap = cap
        self._pending = b""

    def __bool__(self) -> bool:
        """Tell whether bytes wait here, a whole line or not."""
        return bool(self._pending)

    def feed(self, data: bytes) -> None:
        """Add bytes as read from the pipe.

        Raises:
            ProtocolError: a line is longer than the cap.
        """
        self._pending = self._pending + data if self._pending else data
        if len(self._pending) > self.cap:
            end = self._pending.find(b"\n", 0, self.cap)
            if end < 0:
                start = excerpt(self._pending, 80)
                raise ProtocolError(f"expected lines of at most {self.cap} bytes, got a longer one: {start}")

    def pop(self) -> bytes | None:
        """Return the oldest whole line without its LF, or None while there is none.

        Raises:
            ProtocolError: the line is longer than the cap.
        """
        end = self._pending.find(b"\n")
        if end < 0:
            return None
        if end >= self.cap:
            start = excerpt(self._pending, 80)
            raise ProtocolError(f"expected lines of at most {self.cap} bytes, got {end + 1}: {start}")
        line = self._pending[:end]
        self._pending = self._pending[end + 1 :]
        return line
