"""A small HTTP server on trio: requests with short bodies, answers at once or as a stream, a limit on everything."""

from __future__ import annotations

import math
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from http import HTTPStatus

import h11
import trio
from msgspec import Struct

from malice.referee.errors import DataError
from malice.site_pages.server import HEADERS, ISOLATION, TYPES

MOST_CONNECTIONS = 128
MOST_BODY = 4096
"""Of a request, in bytes; an action and the number of its request are far less."""
MOST_HEAD = 16 * 1024
IDLE_S = 30.0
"""How long a connection may be silent between requests, and may take for one."""
SEND_S = 20.0
"""How long a client may take to receive anything."""


class WebRequest(Struct, frozen=True):
    """A request, read whole."""

    method: str
    path: str
    """Without what follows a question mark."""
    query: str
    headers: Mapping[str, str]
    """By name in lower case; of several the last."""
    body: bytes

    def cookie(self, name: str) -> str:
        """The value of a cookie; empty if there is none."""
        for each in self.headers.get("cookie", "").split(";"):
            own, _, value = each.strip().partition("=")
            if own == name:
                return value
        return ""


class WebResponse(Struct, frozen=True):
    """An answer; the body is bytes, or comes piece by piece for as long as the client listens."""

    status: HTTPStatus = HTTPStatus.OK
    body: bytes | Callable[[], AsyncIterator[bytes]] = b""
    kind: str = TYPES[".txt"]
    headers: tuple[tuple[str, str], ...] = ()


class Refused(Exception):
    """A request is not answered as it asks; the client learns no more than the status.

    Args:
        status: why.
        words: a sentence for people, if any helps.
    """

    def __init__(self, status: HTTPStatus, words: str = "") -> None:
        super().__init__(words)
        self.status = status
        self.words = words

    def respond(self) -> WebResponse:
        return WebResponse(self.status, (self.words or f"{self.status.value} {self.status.phrase}").encode() + b"\n")


Handle = Callable[[WebRequest], Awaitable[WebResponse]]
"""Answers a request; raises `Refused`."""


async def open_listeners(host: str, port: int) -> list[trio.SocketListener]:
    """Listen on a name or address.

    Raises:
        DataError: nobody can listen there.
    """
    try:
        return await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        why = "it is in use; choose another, or 0 for any that is free" if error.errno == 98 else error.strerror
        raise DataError(f"--port {port} on {host}: {why or error}") from None


async def serve(listeners: list[trio.SocketListener], handle: Handle) -> None:
    """Answer requests until cancelled; a connection beyond `MOST_CONNECTIONS` is closed at once."""
    limit = trio.CapacityLimiter(MOST_CONNECTIONS)

    async def talk(stream: trio.SocketStream) -> None:
        async with stream:
            try:
                limit.acquire_nowait()
            except trio.WouldBlock:
                return
            try:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError, h11.LocalProtocolError):
                    await _Connection(stream, handle).talk()
            finally:
                limit.release()

    await trio.serve_listeners(talk, listeners)


class _Connection:
    def __init__(self, stream: trio.SocketStream, handle: Handle) -> None:
        self._stream = stream
        self._handle = handle
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)

    async def talk(self) -> None:
        """Answer one request after the other."""
        while True:
            try:
                with trio.fail_after(IDLE_S):
                    request = await self._read_request()
            except (h11.RemoteProtocolError, trio.TooSlowError):
                if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE) and self._http.their_state is h11.ERROR:
                    await self._send(Refused(HTTPStatus.BAD_REQUEST).respond(), close=True)
                return
            except Refused as refused:
                await self._send(refused.respond(), close=True)
                return
            if request is None:
                return
            try:
                response = await self._handle(request)
            except Refused as refused:
                response = refused.respond()
            except Exception:  # a fault of ours ends one answer, not the game of everybody
                traceback.print_exc()
                response = Refused(HTTPStatus.INTERNAL_SERVER_ERROR).respond()
            await self._send(response, head=request.method == "HEAD")
            if self._http.our_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    async def _read_request(self) -> WebRequest | None:
        head: h11.Request | None = None
        body = b""
        while True:
            match await self._next_event():
                case h11.Request() as event:
                    head = event
                    length = dict(head.headers).get(b"content-length", b"0")
                    if not length.isdigit() or int(length) > MOST_BODY:
                        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                case h11.Data(data=data):
                    body += data
                    if len(body) > MOST_BODY:
                        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                case h11.EndOfMessage():
                    assert head
                    return _make_request(head, body)
                case h11.ConnectionClosed():
                    return None

    async def _next_event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._stream.receive_some(1 << 14))
        return event

    async def _send(self, response: WebResponse, *, head: bool = False, close: bool = False) -> None:
        streams = callable(response.body)
        headers = [*HEADERS.items(), *ISOLATION.items(), *response.headers, ("Content-Type", response.kind)]
        headers += [("Cache-Control", "no-store"), ("Server", "malice")]
        if streams or close:
            headers.append(("Connection", "close"))
        if isinstance(response.body, bytes):
            headers.append(("Content-Length", str(len(response.body))))
        start = h11.Response(status_code=response.status.value, headers=headers, reason=response.status.phrase)
        await self._write(self._http.send(start))
        if isinstance(response.body, bytes):
            if response.body and not head:
                await self._write(self._http.send(h11.Data(response.body)))
        else:
            await self._stream_body(response.body)
        await self._write(self._http.send(h11.EndOfMessage()))

    async def _stream_body(self, pieces: Callable[[], AsyncIterator[bytes]]) -> None:
        """Send pieces until there are no more, or the client has gone."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_when_gone, nursery.cancel_scope)
            async with aclosing(pieces()) as source:  # type: ignore[type-var]
                async for piece in source:
                    await self._write(self._http.send(h11.Data(piece)))
            nursery.cancel_scope.cancel()

    async def _cancel_when_gone(self, scope: trio.CancelScope) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._stream.receive_some(1)
        scope.cancel()

    async def _write(self, data: bytes | None) -> None:
        if data:
            with trio.move_on_after(SEND_S) as scope:
                await self._stream.send_all(data)
            if scope.cancelled_caught:
                raise trio.BrokenResourceError("the client does not receive")


def _make_request(head: h11.Request, body: bytes) -> WebRequest:
    path, _, query = head.target.decode("ascii", "replace").partition("?")
    headers = {name.decode("ascii"): value.decode("latin-1") for name, value in head.headers}
    return WebRequest(head.method.decode("ascii"), path, query, headers, body)


class Rate:
    """Counts requests: so many at once, and so many a second.

    Args:
        burst: at once.
        per_second: in the long run.
    """

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst, self._per_second = burst, per_second
        self._left, self._at = burst, -math.inf

    def take(self) -> None:
        """Count one.

        Raises:
            Refused: there were too many.
        """
        now = trio.current_time()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS)
        self._left -= 1
