"""Tables in the browser for tests: a server in a process of its own, and clients that speak plain HTTP with it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.processes import PATIENCE_S, Mark
from tests.runs import MALICE

SHORT = 'family = "spite"\nextends = "standard"\n[rules]\npayoff_size = 2\n'
"""A game that is soon over."""


class Server:
    """`malice play ... --web`, until it is ended."""

    def __init__(self, folder: Path, *words: str, port: int = 0) -> None:
        self.mark = Mark()
        command = [*MALICE, "play", *words, "--web", "--no-browser", "--port", str(port)]
        if "--daily" not in words:
            command += ["--isolation", "none", *([] if "--seed" in words else ["--seed", "3"])]
        environment = self.mark.environ() | {"XDG_DATA_HOME": str(folder / "data")}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        assert self.process.stderr
        self.addresses = [self.process.stdout.readline().strip()]
        if "--invite" in words:
            people = words.count("you")
            self.addresses += [self.process.stdout.readline().strip() for _ in range(people)]
        assert self.addresses[0], self.process.stderr.read()
        self.port = urlsplit(self.addresses[0]).port or 0
        self.host = f"127.0.0.1:{self.port}"

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal, and return the exit status."""
        self.process.send_signal(number)
        self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode

    def ask(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """Send one request with just these headers, and a `Host` if none is among them."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer, answer.read()


@contextmanager
def serving(folder: Path, *words: str, port: int = 0) -> Iterator[Server]:
    server = Server(folder, *words, port=port)
    try:
        yield server
    finally:
        server.end(signal.SIGKILL)
        server.mark.end()


class Client:
    """Somebody at a table, without a browser.

    Args:
        server: the server.
        address: the one that leads to the seat.
    """

    def __init__(self, server: Server, address: str) -> None:
        self.server = server
        answer, page = server.ask("GET", urlsplit(address).path)
        assert answer.status == 200, page
        self.cookies = "; ".join(each.partition(";")[0] for each in answer.msg.get_all("Set-Cookie", []))
        self.base = page.decode().partition("url=")[2].partition('"')[0]
        self.heard: list[tuple[str, bytes]] = []
        """All that its stream said: what kind, and the bytes."""
        self.state: dict[str, Any] = {}
        self.game: dict[str, Any] = {}
        self._stream: HTTPResponse

    def headers(self) -> dict[str, str]:
        return {"Cookie": self.cookies, "Content-Type": "application/json", "Origin": f"http://{self.server.host}"}

    def post(self, what: str, content: object) -> tuple[int, bytes]:
        answer, body = self.server.ask("POST", f"{self.base}/{what}", json.dumps(content), self.headers())
        return answer.status, body

    def listen(self) -> None:
        """Open the stream."""
        connection = HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_S)
        connection.request("GET", f"{self.base}/stream", headers={"Cookie": self.cookies})
        self._stream = connection.getresponse()
        assert self._stream.status == 200

    def hear(self) -> dict[str, Any]:
        """Wait for the next state, and return it."""
        while True:
            line = self._stream.readline()
            assert line, "the stream has ended"
            if line.startswith(b"event: "):
                kind = line[7:].strip().decode()
                data = self._stream.readline()[6:].strip()
                self.heard.append((kind, data))
                if kind == "game":
                    self.game = json.loads(data)
                if kind == "state":
                    self.state = json.loads(data)
                    assert not self.state["trouble"], self.state["trouble"]
                    return self.state

    def await_state(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        while not self.state or not holds(self.state):
            self.hear()
        return self.state

    def act(self, action: str | None = None) -> None:
        """Play an action, by default the first that is legal."""
        offer = self.state["choice"]
        content = {
            "game": self.state["game"],
            "ask": offer["ask"],
            "action": action or offer["actions"][0][0],
        }
        status, body = self.post("act", content)
        assert status == 200, body
        self.state = {}


def play(client: Client, most: int | None = None) -> None:
    """Play the first legal action again and again, until the game is over, or so many of them."""
    played = 0
    while not client.await_state(lambda state: state["choice"] or state["over"])["over"] and played != most:
        client.act()
        played += 1


def find_free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
