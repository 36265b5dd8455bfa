"""Decodes bytes to messages and back: one JSON object per line, UTF-8, LF, at most `LINE_BYTES` long."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from malice.protocol import LINE_BYTES
from malice.protocol.errors import ProtocolError, StrayLine
from malice.protocol.messages import Answer, Request

_encoder = msgspec.json.Encoder()
_request_decoder: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)

A = TypeVar("A", bound=Answer)

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What msgspec raises on lines from other programs."""

BACKLOG_BYTES = 1 << 20
"""The most that a `LineBuffer` holds while nobody pops lines from it."""


def encode(message: Request | Answer) -> bytes:
    """Encode `message` as one line, LF included."""
    return _encoder.encode(message) + b"\n"


def decode_request(line: bytes) -> Request:
    """Decode a request of the referee; ignore unknown fields, and accept 7.0 or 70e-1 for 7.

    Raises:
        ProtocolError: the line is not a request of this protocol version.
    """
    try:
        with suppress(msgspec.ValidationError):
            return _request_decoder.decode(line)
        request: Request = msgspec.convert(_with_integers(msgspec.json.decode(line)), Request)
        return request
    except UNREADABLE as error:
        raise ProtocolError(f"expected a message of the referee, got: {excerpt(line)} ({error})") from None


def decode_answer(line: bytes, decoder: msgspec.json.Decoder[A], id: int) -> A:
    """Decode the bot's answer to request `id`; ignore unknown fields, but require UTF-8 in the whole line.

    Args:
        line: one line, with or without its LF.
        decoder: made for the expected struct.
        id: the request that waits for its answer.

    Raises:
        StrayLine: the line is not a JSON object.
        ProtocolError: the object is not in UTF-8, or is not an answer to `id`.
    """
    if not line.isascii():
        _refuse_other_encodings(line)  # the decoder does not check strings that it skips
    try:
        answer = decoder.decode(line)
    except UNREADABLE as error:
        return _explain_refusal(line, decoder, id, error)
    if answer.id != id:
        raise _describe_wrong_id(answer.id, id)
    return answer


def is_object(line: bytes) -> bool:
    """Whether a line is a JSON object, in UTF-8 or another encoding."""
    try:
        return isinstance(msgspec.json.decode(line.decode("utf-8", "replace")), dict)
    except UNREADABLE:
        return False


def excerpt(line: bytes, most: int = 200) -> str:
    """The start of `line` for people: quoted, escaped to ASCII, cut at `most` characters."""
    # A character has at most four bytes, so a character that this splits lies beyond the cut below.
    text = line[: 4 * most + 4].decode("utf-8", "backslashreplace").rstrip("\r\n")
    return ascii(text[:most]) + ("..." if len(text) > most else "")


def _refuse_other_encodings(line: bytes) -> None:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        if is_object(line):
            raise _describe_wrong_byte(line, error.start) from None


def _describe_wrong_byte(line: bytes, place: int) -> ProtocolError:
    return ProtocolError(
        f"expected UTF-8, got the byte {line[place]:#04x} as number {place + 1} of the line: {excerpt(line)}"
    )


def _explain_refusal(line: bytes, decoder: msgspec.json.Decoder[A], id: int, error: Exception) -> A:
    """Raise the error in a refused line, or return the answer if only a number is written differently."""
    try:
        value: Any = msgspec.json.decode(line)
    except UNREADABLE as reason:
        raise StrayLine(f"not JSON: {excerpt(line)} ({reason})") from None
    if not isinstance(value, dict):
        raise StrayLine(f"not a JSON object: {excerpt(line)}")
    if "id" not in value:
        raise ProtocolError(f"expected the id {id}, got an answer without id: {excerpt(line)}")
    got = value["id"]
    if isinstance(got, bool) or not isinstance(got, int | float):
        raise ProtocolError(f"expected the number {id} as id, got: {excerpt(line)}")
    if got != id:
        raise _describe_wrong_id(got, id)
    if any(isinstance(field, float) for field in value.values()):
        # Languages without integers write 3.0.
        try:
            return msgspec.convert({name: _as_integer(field) for name, field in value.items()}, decoder.type)
        except msgspec.ValidationError as remaining:
            error = remaining
    raise ProtocolError(f"{_lower_first(str(error))}, got: {excerpt(line)}") from None


def _as_integer(value: object) -> object:
    """Convert a number without a fraction to an integer; leave any other value as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _with_integers(value: object) -> object:
    """Convert every number without a fraction in the value to an integer."""
    if isinstance(value, dict):
        return {name: _with_integers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_integers(inner) for inner in value]
    return _as_integer(value)


def _describe_wrong_id(got: float, id: int) -> ProtocolError:
    digits = str(got)
    digits = digits if len(digits) <= 20 else f"{digits[:20]}..."
    used = ", which was answered or ran out before" if 0 < got < id else ""
    return ProtocolError(f"expected the id {id}, got {digits}{used}")


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


class LineBuffer:
    """Splits the bytes from a pipe into lines, with a cap on the length of each.

    `feed` bytes as they come, `pop` whole lines. A line over the cap raises at the `feed` that shows it, or at its
    `pop`. If the caller pops all lines before each `feed`, the buffer holds less than the cap plus the last bytes fed;
    if not, `feed` raises above `BACKLOG_BYTES`.
    """

    def __init__(self, cap: int = LINE_BYTES) -> None:
        self.cap = cap
        self._pending = b""
        self._start = 0

    def __bool__(self) -> bool:
        """Whether any bytes wait, even if they are not a whole line."""
        return len(self) > 0

    def __len__(self) -> int:
        """How many bytes wait."""
        return len(self._pending) - self._start

    def feed(self, data: bytes) -> None:
        """Add bytes as read from the pipe.

        Raises:
            ProtocolError: a line is longer than the cap, or more than `BACKLOG_BYTES` wait.
        """
        self._pending = self._pending[self._start :] + data if self._start < len(self._pending) else data
        self._start = 0
        waiting = len(self._pending)
        if waiting > self.cap and self._pending.find(b"\n", 0, self.cap) < 0:
            raise self._too_long("a longer one")
        if waiting > BACKLOG_BYTES:
            raise ProtocolError(f"expected one line for each request, got {waiting} bytes at once: {self._excerpt()}")

    def pop(self) -> bytes | None:
        """Take out the oldest whole line, without its LF; None while there is none.

        Raises:
            ProtocolError: the line is longer than the cap.
        """
        start = self._start
        end = self._pending.find(b"\n", start)
        if end < 0:
            return None
        if end - start >= self.cap:
            raise self._too_long(str(end - start + 1))
        self._start = end + 1
        return self._pending[start:end]

    def _too_long(self, got: str) -> ProtocolError:
        return ProtocolError(f"expected lines of at most {self.cap} bytes, got {got}: {self._excerpt()}")

    def _excerpt(self) -> str:
        return excerpt(self._pending[self._start : self._start + 1000], 80)
