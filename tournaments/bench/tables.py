"""What a table in the browser costs: how long somebody waits to see their own action."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import msgspec

from malice.tournaments.bench import BenchRow

ACTIONS = 40
SOON_MS = 100.0
"""What people take for at once."""
PATIENCE_S = 60.0
PROGRAM = "from malice.tournaments.launch import main; main()"


def measure_tables() -> Iterator[BenchRow]:
    """Play against a bot by the requests of a page, and time each of them until the stream shows its step."""
    command = [sys.executable, "-P", "-c", PROGRAM, "play", "you", "first", "--web"]
    with TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [*command, "--no-browser", "--port", "0", "--isolation", "none"],
            cwd=Path(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert process.stdout
            address = urlsplit(process.stdout.readline().strip())
            waits = list(_play(address.netloc, address.path))
        finally:
            process.terminate()
            process.communicate()
    wait = median(waits)
    what = "table in the browser, from the request for an action to its step in the stream"
    yield BenchRow(what, wait, "ms", f"what people take for at once ({SOON_MS:.0f} ms)", wait / SOON_MS)


def _play(host: str, path: str) -> Iterator[float]:
    """Yield how long each action took, in ms."""
    port = int(host.rpartition(":")[2])
    with (
        closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as asking,
        closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as listening,
    ):
        asking.request("GET", path)
        answer = asking.getresponse()
        answer.read()
        cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]
        listening.request("GET", "/seat/0/stream", headers={"Cookie": cookie})
        stream = listening.getresponse()
        headers = {"Cookie": cookie, "Origin": f"http://{host}", "Content-Type": "application/json"}
        state: Any = {}
        for _ in range(ACTIONS):
            while not state.get("choice") and not state.get("over"):
                state = _hear(stream, "state")
            if state["over"]:
                return
            offer = state["choice"]
            body = msgspec.json.encode({"game": state["game"], "ask": offer["ask"], "action": offer["actions"][0][0]})
            begin = time.perf_counter()
            asking.request("POST", "/seat/0/act", body, headers)
            asking.getresponse().read()
            _hear(stream, "steps")
            yield (time.perf_counter() - begin) * 1000
            state = {}


def _hear(stream: HTTPResponse, kind: str) -> Any:
    """Wait for the next event of a kind."""
    heard = ""
    while line := stream.readline():
        if line.startswith(b"event: "):
            heard = line[7:].strip().decode()
        elif line.startswith(b"data: ") and heard == kind:
            return msgspec.json.decode(line[6:])
    raise RuntimeError("the table in the browser has ended")
