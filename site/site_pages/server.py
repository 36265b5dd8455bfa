"""Serves the folder of a site over HTTP, for reading, and nothing else."""

from __future__ import annotations

import errno
import gzip
import http.client
import io
import ipaddress
import os
import re
import socket
import stat
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any, BinaryIO
from urllib.parse import unquote_to_bytes, urlsplit

from malice.protocol.errors import MaliceError
from malice.referee.errors import DataError
from malice.site_pages.files import is_page

OpenTable = Callable[[str, bytes], str]
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
"""Content types by suffix; anything else is bytes."""
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Sent with every answer."""
ISOLATION = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
"""Sent on loopback, also to a proxy there; over plain HTTP from elsewhere, browsers only complain about these."""
IDLE_S = 30.0
"""How long a connection may be silent."""
BACKLOG = 512
"""How many connections may wait until they are taken; the kernel may allow fewer, but not less than 128."""
TEXTS = frozenset(TYPES) - {".png"}
"""The suffixes of what becomes smaller when it is compressed."""
MOST_PACKED = 1 << 24
"""Larger files go out as they are: a compressed answer is made in memory."""
PACKING = threading.BoundedSemaphore(8)
"""So many answers at a time are held in memory; others go out as they are meanwhile."""
MOST_CONNECTIONS = 256
"""Each takes a thread and up to three descriptors, of which a process often has no more than 1,024."""
MOST_ASKED = 1 << 16
"""The bytes of a request and all of its headers."""
MOST_BODY = 1000
"""The bytes of what a page asks for."""
PIECE = 1 << 16
"""How much of a file is read at a time."""


class SiteServer(ThreadingHTTPServer):
    """Serves a site; `serve_forever` does so until `shutdown` or an exception.

    Args:
        folder: the site.
        host: the name or address to listen on.
        port: the port; 0 for any that is free.
        open_table: takes the folder of a replay below that of the site, and what its page asks for as JSON; returns the
            address of a table that goes on from there. Without it, the site can only be read. It needs loopback.

    Raises:
        DataError: the folder is no site of ours, or nobody can listen there.
    """

    daemon_threads = True
    request_queue_size = BACKLOG

    def __init__(self, folder: Path, host: str, port: int, open_table: OpenTable | None = None) -> None:
        if not is_page(folder / "index.html"):
            raise DataError(where=folder, expected="a folder that `malice site` wrote, with its index.html")
        with _explain_failure(host, port):
            self.address_family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self.loopback = ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
            """Whether only this machine can connect."""
            self.names = {"localhost", host.lower()}
            """What it is called on loopback, beside its addresses."""
            self.open_table = open_table
            super().__init__((str(address[0]), port), partial(SiteHandler, folder=folder))

    def server_bind(self) -> None:
        """Bind the socket, without a question about our name to a name server."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread; hang up if there are too many."""
        if threading.active_count() > MOST_CONNECTIONS:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that goes away in the middle of an answer is no news."""

    @property
    def origins(self) -> set[str]:
        """The origins of its pages, as browsers name them."""
        return {f"http://{name}:{self.server_port}" for name in (*self.names, "127.0.0.1", "[::1]")}

    @property
    def url(self) -> str:
        """The address of the front page."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}/"


@contextmanager
def _explain_failure(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except socket.gaierror as error:
        raise DataError(f"--host {host}: {error.strerror}") from None
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        why = "it is in use; choose another, or 0 for any that is free" if in_use else error.strerror
        raise DataError(f"--port {port} on {host}: {why}") from None


class BoundedReader:
    """What a client sends: a request that goes on beyond so many bytes is broken off."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file
        self.left = 0
        """How much more may come."""

    def readline(self, limit: int) -> bytes:
        """Read a line, or as much of it as there may be."""
        if not self.left:
            raise http.client.LineTooLong("request")
        line = self._file.readline(min(limit, self.left))
        self.left -= len(line)
        return line

    def read(self, size: int) -> bytes:
        """Read so many bytes, or as many as there may be."""
        data = self._file.read(min(size, self.left))
        self.left -= len(data)
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class SiteHandler(BaseHTTPRequestHandler):
    """Answers GET and HEAD with a file of the folder, anything else with an error."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server: SiteServer

    def __init__(self, *args: Any, folder: Path) -> None:
        self._folder = folder
        super().__init__(*args)

    def setup(self) -> None:
        """Take the connection."""
        super().setup()
        self._asked = BoundedReader(self.rfile)
        self.rfile = self._asked  # type: ignore[assignment]

    def handle_one_request(self) -> None:
        """Read a request, and answer it."""
        self._asked.left = MOST_ASKED
        super().handle_one_request()

    def do_GET(self) -> None:
        """Send a file."""
        self._answer()

    def do_HEAD(self) -> None:
        """Send what GET would send, without the file."""
        self._answer()

    def _refuse(self) -> None:
        self.send_error(HTTPStatus.METHOD_NOT_ALLOWED)

    def do_POST(self) -> None:
        """Open a table that goes on from a replay, for a page of this site, and send its address."""
        open_table, page = self.server.open_table, read_address(self.path)
        self.close_connection = True
        if open_table is None or page is None or page[-1] != "play":
            return self._refuse()
        length = self.headers.get("Content-Length", "")
        if not self._is_for_us() or self.headers.get("Origin") not in self.server.origins:
            return self.send_error(HTTPStatus.FORBIDDEN)
        if self.headers.get("Content-Type") != "application/json":
            return self.send_error(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        if not length.isdecimal() or int(length) > MOST_BODY:
            return self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        try:
            address = open_table("/".join(page[:-1]), self._asked.read(int(length)))
        except MaliceError as error:
            return self._send_words(HTTPStatus.CONFLICT, str(error))
        return self._send_words(HTTPStatus.OK, address)

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = _refuse

    def _answer(self) -> None:
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # what follows is a body, and not the next request
        if self.headers.defects:  # whoever forwarded this may have seen another end of it
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        if not self._is_for_us():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return
        if (parts := read_address(self.path)) is None or (file := open_file(self._folder, parts)) is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        with file:
            self._send(file, os.path.splitext(parts[-1])[1])

    def _is_for_us(self) -> bool:
        """A page of others whose name suddenly means this machine could otherwise read what is here."""
        return not self.server.loopback or is_local(self.headers.get("Host", "localhost"), self.server.names)

    def _send(self, file: BinaryIO, suffix: str) -> None:
        status = os.fstat(file.fileno())
        packable = suffix in TEXTS and status.st_size <= MOST_PACKED
        packed = packable and accepts_gzip(self.headers.get("Accept-Encoding", "")) and PACKING.acquire(blocking=False)
        try:
            self._send_open(file, suffix, status, packable=packable, packed=packed)
        finally:
            if packed:
                PACKING.release()

    def _send_open(self, file: BinaryIO, suffix: str, status: os.stat_result, *, packable: bool, packed: bool) -> None:
        tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}{"-gzip" if packed else ""}"'
        known = self.headers.get("If-None-Match", "")
        fresh = tag in (each.strip().removeprefix("W/") for each in known.split(","))
        self.send_response(HTTPStatus.NOT_MODIFIED if fresh else HTTPStatus.OK)
        self.send_header("ETag", tag)
        if packable:
            self.send_header("Vary", "Accept-Encoding")
        if not fresh:
            size = status.st_size
            if packed:
                body = gzip.compress(file.read(status.st_size), mtime=0)
                file, size = io.BytesIO(body), len(body)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(size))
        self.end_headers()
        if not fresh and self.command == "GET":
            self._copy(file, size)

    def _copy(self, file: BinaryIO, size: int) -> None:
        """Send as much as was announced, though the file may have changed since."""
        while size and (piece := file.read(min(size, PIECE))):
            self.wfile.write(piece)
            size -= len(piece)
        if size:
            self.close_connection = True  # or the next answer would be taken for the rest of this one

    def end_headers(self) -> None:
        """End the headers with those that every answer has."""
        for name, value in (HEADERS | (ISOLATION if self.server.loopback else {})).items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache")
        if self.close_connection:
            self.send_header("Connection", "close")
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send a line of plain text: what was asked for is not repeated."""
        status = HTTPStatus(code)
        if status is not HTTPStatus.NOT_FOUND:
            self.close_connection = True  # what follows may be the rest of this request
        self._send_words(status, f"{status.value} {status.phrase}\n")

    def _send_words(self, status: HTTPStatus, words: str) -> None:
        body = words.encode()
        self.send_response(status)
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Type", TYPES[".txt"])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def version_string(self) -> str:
        """The name of the server, without versions."""
        return "malice"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: who reads a site is nobody's business."""


def is_local(host: str, names: Collection[str]) -> bool:
    """Whether a Host header is an address or one of these names, not what a stranger could let mean this machine."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in names or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def accepts_gzip(header: str) -> bool:
    """Whether a client that sends this `Accept-Encoding` takes gzip (RFC 9110, 12.5.3)."""
    for each in header.lower().split(","):
        name, *weights = (word.strip() for word in each.split(";"))
        if name == "gzip":
            return not any(re.fullmatch(r"q=0(\.0*)?", weight) for weight in weights)
    return False


def read_address(address: str) -> list[str] | None:
    """The names on the way to the file that an address names; None if no file can be served under it.

    A folder stands for its index.html if the address ends in a slash. A name that begins with a dot is never served:
    those of drafts do, and so does the folder above.
    """
    path = unquote_to_bytes(address.partition("#")[0].partition("?")[0])
    begin, *parts = os.fsdecode(path).split("/")
    parts[-1:] = [parts[-1] or "index.html"] if parts else []
    if begin or not parts or "\0" in address or b"\0" in path:
        return None
    return None if any(not part or part.startswith(".") for part in parts) else parts


def open_file(folder: Path, parts: list[str]) -> BinaryIO | None:
    """Open a file in a folder; None if there is no such file, or a link leads to it.

    This walks from folder to folder, so that no link is followed even if it is made meanwhile.
    """
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = inner
        # Without O_NONBLOCK a pipe would wait for its writer.
        found = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    except OSError:
        return None
    finally:
        os.close(place)
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        return None
    return open(found, "rb")
