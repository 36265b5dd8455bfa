"""`malice serve`: a site over HTTP, with the right headers, and nothing else of the disk, whatever is asked for."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import BoundedSemaphore, Thread, active_count

import pytest

from malice.site_pages import server as module
from malice.site_pages.files import GENERATOR
from malice.site_pages.server import POLICY, SiteServer
from tests.command_line import malice
from tests.processes import PATIENCE_S
from tests.runs import MALICE

SECRET = b"not for you"


def write_pages(folder: Path) -> Path:
    """Write what looks like a site, with things in and beside it that nobody may read."""
    site = folder / "site"
    (site / "data").mkdir(parents=True)
    (site / "index.html").write_text(f"<!doctype html><head>{GENERATOR}")
    (site / "data/games-0.js").write_text("malice.receive('games-0', '')")
    (folder / "secret.txt").write_bytes(SECRET)
    (site / "card.png").write_bytes(b"a picture")
    for hidden in (".git", "data/.live.js.123.tmp", "data/.live.js"):
        (site / hidden).write_bytes(SECRET)
    (site / "out.txt").symlink_to(folder / "secret.txt")
    (site / "up").symlink_to(folder)
    os.mkfifo(site / "pipe.txt")
    return site


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteServer]:
    with SiteServer(write_pages(tmp_path_factory.mktemp("served")), "127.0.0.1", 0) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: SiteServer, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    with closing(HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE_S)) as connection:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer, answer.read()


def ask_raw(server: SiteServer, request: bytes) -> bytes:
    """Send bytes, and nothing more; return everything that comes back."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=PATIENCE_S) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def test_every_answer_has_the_headers_that_guard_its_reader(server: SiteServer) -> None:
    types = {"/": "text/html; charset=utf-8", "/data/games-0.js?1": "text/javascript; charset=utf-8"}
    for path, kind in (types | {"/nothing": "text/plain; charset=utf-8"}).items():
        answer, _ = ask(server, path)

        assert answer.status == (200 if path in types else 404)
        assert answer.getheader("Content-Type") == kind
        assert answer.getheader("Content-Security-Policy") == POLICY
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Referrer-Policy") == "no-referrer"
        assert answer.getheader("Cross-Origin-Resource-Policy") == "same-origin"
        assert answer.getheader("Cross-Origin-Opener-Policy") == "same-origin"
        assert answer.getheader("Cache-Control") == "no-cache"
        assert answer.getheader("Server") == "malice"


def test_the_documented_policy_is_the_one_that_is_sent() -> None:
    page = Path(__file__).parents[1] / "docs/tournaments.md"

    assert f"Content-Security-Policy: {POLICY}\n" in page.read_text()


def test_a_page_is_sent_again_only_once_it_has_changed(server: SiteServer, tmp_path: Path) -> None:
    with SiteServer(write_pages(tmp_path), "127.0.0.1", 0) as own:
        Thread(target=own.serve_forever, daemon=True, kwargs={"poll_interval": 0.01}).start()
        first, body = ask(own, "/")
        tag = first.getheader("ETag") or ""
        head, nothing = ask(own, "/", "HEAD")
        same, empty = ask(own, "/", If_None_Match=f'"old", W/{tag}')
        (tmp_path / "site/index.html").write_text("new")
        changed, new = ask(own, "/", If_None_Match=tag)
        own.shutdown()

    assert head.getheader("Content-Length") == str(len(body)) == first.getheader("Content-Length")
    assert (same.status, changed.status) == (304, 200)
    assert (nothing, empty, new) == (b"", b"", b"new")


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("", False),
        ("br", False),
        ("gzip;q=0, br", False),
        ("gzip; q=0.0", False),
    ],
)
def test_text_is_compressed_for_those_who_take_it(server: SiteServer, accepted: str, packed: bool) -> None:
    plain, body = ask(server, "/data/games-0.js")
    answer, sent = ask(server, "/data/games-0.js", Accept_Encoding=accepted)
    head, _ = ask(server, "/data/games-0.js", "HEAD", Accept_Encoding=accepted)
    again, _ = ask(server, "/data/games-0.js", Accept_Encoding=accepted, If_None_Match=answer.getheader("ETag") or "")

    assert answer.getheader("Content-Encoding") == ("gzip" if packed else None)
    assert (gzip.decompress(sent) if packed else sent) == body
    assert len(sent) == int(answer.getheader("Content-Length") or -1) == int(head.getheader("Content-Length") or -1)
    assert (answer.getheader("ETag") == plain.getheader("ETag")) is not packed
    assert plain.getheader("Vary") == answer.getheader("Vary") == again.getheader("Vary") == "Accept-Encoding"
    assert again.status == 304


def test_pictures_are_not_compressed_again(server: SiteServer) -> None:
    answer, body = ask(server, "/card.png", Accept_Encoding="gzip")

    assert (answer.getheader("Content-Encoding"), answer.getheader("Vary"), body) == (None, None, b"a picture")


def test_many_browsers_may_connect_at_once(tmp_path: Path) -> None:
    with SiteServer(write_pages(tmp_path), "127.0.0.1", 0) as busy, ExitStack() as stack:  # it takes nobody
        for _ in range(128):
            stack.enter_context(socket.create_connection(("127.0.0.1", busy.server_port), timeout=30))


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/data/..%2f..%2fsecret.txt",
        "/data/../../secret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "http://127.0.0.1/index.html",
        "/out.txt",
        "/up/secret.txt",
        "/up/site/index.html",
        "/.git",
        "/data/.live.js.123.tmp",
        "/data/%2elive.js",
        "/data",
        "/data/",
        "/index.html/",
        "/index.html/x",
        "/index.html%00.js",
        "/pipe.txt",
        "/%ff%fe",
        "/" + 5000 * "a",
        "*",
        "index.html",
    ],
)
def test_nothing_but_the_files_of_the_folder_is_served(server: SiteServer, path: str) -> None:
    answer = ask_raw(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())

    assert answer.startswith(b"HTTP/1.1 404 ")
    assert SECRET not in answer
    assert answer.endswith(b"\r\n\r\n404 Not Found\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"])
def test_the_site_can_only_be_read(server: SiteServer, method: str) -> None:
    answer, _ = ask(server, "/index.html", method, Content_Length="0")

    assert answer.status == 405
    assert answer.getheader("Allow") == "GET, HEAD"


OURS = {"Origin": "http://localhost:{port}", "Content-Type": "application/json", "Content-Length": "2"}
"""The headers that a page of the site sends when it asks for a table."""


@pytest.mark.parametrize(
    ("path", "change", "status"),
    [
        ("/play", {}, 200),
        ("/course/play", {}, 200),
        ("/index.html", {}, 405),
        ("/../play", {}, 405),
        ("/play", {"Origin": "http://evil.example:{port}"}, 403),
        ("/play", {"Origin": "http://localhost:1"}, 403),
        ("/play", {"Origin": "null"}, 403),
        ("/play", {"Host": "evil.example:{port}"}, 403),
        ("/play", {"Content-Type": "text/plain"}, 415),
        ("/play", {"Content-Length": "1001"}, 413),
        ("/play", {"Content-Length": "-1"}, 413),
    ],
)
def test_only_a_page_of_the_site_may_open_a_table(
    tmp_path: Path, path: str, change: dict[str, str], status: int
) -> None:
    asked: list[tuple[str, bytes]] = []

    def open_table(page: str, body: bytes) -> str:
        asked.append((page, body))
        return "http://127.0.0.1:1/join/x"

    with SiteServer(write_pages(tmp_path), "127.0.0.1", 0, open_table) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        headers = {"Host": "127.0.0.1"} | OURS | change
        lines = [f"{name}: {value}".replace("{port}", str(server.server_port)) for name, value in headers.items()]
        answer = ask_raw(server, "\r\n".join([f"POST {path} HTTP/1.1", *lines, "", "{}"]).encode())
        server.shutdown()
        thread.join()

    assert int(answer.split()[1]) == status
    assert asked == ([(path.removeprefix("/").rpartition("/")[0], b"{}")] if status == 200 else [])
    assert answer.endswith(b"/join/x") == (status == 200)


def test_the_body_of_a_request_is_not_taken_for_the_next_one(server: SiteServer) -> None:
    inner = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(inner), inner)

    answer = ask_raw(server, request)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"400 Bad Request" in ask_raw(server, b"\0\xff nonsense\r\n\r\n")
    assert b" 501 " in ask_raw(server, b"BREW / HTTP/1.1\r\n\r\n")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("Host: pages.example:80", 421),  # a name that suddenly means this machine
        ("Host: localhost.pages.example", 421),
        ("Host: [", 421),
        ("Host: LOCALHOST:8000", 200),
        ("Host: [::1]:8000", 200),
        ("Host: 10.0.0.1", 200),
        ("X: 1", 200),
        ("Content-Length : 9", 400),  # where does the request end?
        ("X: 1\r\nnonsense\r\nContent-Length: 9", 400),
        ("\r\n".join(f"X-{number}: {2000 * 'x'}" for number in range(40)), 431),
        (f"X: {65_500 * 'x'}", 431),
    ],
)
def test_only_a_short_and_clear_request_to_this_machine_is_answered(
    server: SiteServer, headers: str, status: int
) -> None:
    request = f"GET / HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n".encode()
    answer = ask_raw(server, request[: module.MOST_ASKED])  # what nobody reads would reset the connection

    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("change", [1, -1])
def test_a_file_that_changes_while_it_is_sent_is_not_taken_for_the_next_answer(tmp_path: Path, change: int) -> None:
    size = 1 << 25  # much more than lies between two sockets
    site = write_pages(tmp_path)
    (site / "card.png").write_bytes(bytes(size))
    with SiteServer(site, "127.0.0.1", 0) as own:
        Thread(target=own.serve_forever, daemon=True, kwargs={"poll_interval": 0.01}).start()
        with socket.create_connection(("127.0.0.1", own.server_port), timeout=PATIENCE_S) as connection:
            connection.sendall(b"GET /card.png HTTP/1.1\r\n\r\nGET /nothing HTTP/1.1\r\nConnection: close\r\n\r\n")
            begin = connection.recv(1 << 10)
            os.truncate(site / "card.png", max(0, size * (1 + change)))
            answer = begin + b"".join(iter(lambda: connection.recv(1 << 20), b""))
        own.shutdown()

    _, _, body = answer.partition(b"\r\n\r\n")
    assert body[:size] == bytes(min(size, len(body)))
    assert body[size:].startswith(b"HTTP/1.1 404 ") is (change > 0)


def test_many_at_once_take_neither_the_memory_nor_the_descriptors(
    server: SiteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PACKING", BoundedSemaphore(1))
    with module.PACKING:  # somebody takes an answer slowly
        assert ask(server, "/", Accept_Encoding="gzip")[0].getheader("Content-Encoding") is None
    assert ask(server, "/", Accept_Encoding="gzip")[0].getheader("Content-Encoding") == "gzip"

    monkeypatch.setattr(module, "MOST_CONNECTIONS", active_count() + 1)
    with ExitStack() as stack:
        first, *others = (
            stack.enter_context(socket.create_connection(("127.0.0.1", server.server_port), timeout=PATIENCE_S))
            for _ in range(8)
        )
        assert others[-1].recv(1) == b""
        first.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert first.recv(8) == b"HTTP/1.1"


def test_a_folder_that_is_no_site_is_refused_and_so_is_a_port_in_use(server: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>my own page</p>")

    other = malice("serve", tmp_path)
    busy = malice("serve", write_pages(tmp_path / "site"), "--port", str(server.server_port))

    assert (other.exit_code, busy.exit_code) == (2, 2)
    assert "expected a folder that `malice site` wrote" in other.stderr
    assert "it is in use" in busy.stderr
    assert malice("serve", tmp_path / "site/site", "--host", "no.such.host.invalid").exit_code == 2


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_it_prints_its_address_and_ends_with_ctrl_c(tmp_path: Path, host: str, warned: bool) -> None:
    words = [*MALICE, "serve", str(write_pages(tmp_path)), "--host", host, "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)

    assert url.startswith(f"http://{host}:")
    assert process.returncode == 0
    assert ("whoever can reach it can read these pages" in err) == warned
    assert "Traceback" not in err
