"""A table in the browser, without one: who may come in, what each of them hears, and what a kill leaves."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import msgspec
import pytest
import trio
import trio.testing

from malice.protocol.messages import Out
from malice.referee.families import load_family
from malice.referee.game import Game
from malice.referee.records import Record
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.store import Store
from malice.tournaments.running.orders import MatchOrder
from malice.tournaments.web.kept import KeptTable
from malice.tournaments.web.server import MOST_BODY, MOST_CONNECTIONS, Rate, Refused
from malice.tournaments.web.table import RETURN_S, LiveTable, open_table
from tests.command_line import malice
from tests.processes import PATIENCE_S
from tests.web_tables import SHORT, Client, Server, find_free_port, play, serving

pytestmark = pytest.mark.slow

CARD = re.compile(rb"\b[A2-9TJQKW][CDHSX]\b")


def write_short(folder: Path) -> Path:
    path = folder / "short.toml"
    path.write_text(SHORT)
    return path


def read_record(path: Path) -> Record:
    with Store(path) as store:
        (record,) = store.records()
        return record


def list_told(client: Client) -> list[bytes]:
    """The steps that a client has heard, each in the bytes that came."""
    told: list[bytes] = []
    for kind, data in client.heard:
        steps = json.loads(data)["steps"] if kind == "game" else json.loads(data) if kind == "steps" else []
        told += [json.dumps(step, ensure_ascii=False).encode() for step in steps]
    return told


def list_cards(data: bytes) -> set[bytes]:
    return {*CARD.findall(data)}


def replay(record: Record) -> Iterator[Game]:
    """The game after the deal, and after each of its actions."""
    game = Game(Ruleset(record.ruleset, record.family, "", "", record.rules), 2, record.deal_seed)
    yield game
    for seat, action in record.actions:
        game.play({seat: action})
        yield game


def test_no_stream_holds_a_card_that_who_reads_it_may_not_see(tmp_path: Path) -> None:
    words = "you", "you", "--invite", "--ruleset", str(write_short(tmp_path)), "--db", str(tmp_path / "people.db")
    with serving(tmp_path, *words) as server:
        seats = [Client(server, address) for address in server.addresses[:2]]
        watcher = Client(server, server.addresses[2])
        for client in (*seats, watcher):
            client.listen()
        threads = [Thread(target=play, args=(client,)) for client in seats]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        watcher.await_state(lambda state: state["over"])
        server.end()

    record = read_record(tmp_path / "people.db")
    family = load_family(record.family)
    everybody = {client: list_told(client) for client in (*seats, watcher)}
    assert {len(told) for told in everybody.values()} == {len(record.actions) + 1}
    heard = [0, 0]
    views: list[set[bytes]] = [set(), set()]  # what each saw before: its own action is told in words
    hands = 0
    for index, game in enumerate(replay(record)):
        for seat, client in enumerate(seats):
            events = game.events(seat, heard[seat])
            heard[seat] += len(events)
            told = everybody[client][index]
            assert json.loads(told)["events"] == json.loads(msgspec.json.encode(events))
            assert list_cards(told) <= list_cards(msgspec.json.encode(events)) | views[seat]
            hands += len(json.loads(told)["events"])
        views = [list_cards(msgspec.json.encode(game.view(seat))) for seat in (0, 1)]
        watched = json.loads(everybody[watcher][index])["events"]
        for event in watched:
            assert msgspec.convert(event, family.event | Out)
            assert event["type"] != "draw" or {*event["cards"]} == {"??"}
            assert event["type"] != "deal" or {card for hand in event["hands"] for card in hand} == {"??"}
    assert hands
    for seat, client in enumerate(seats):
        states = [json.loads(data) for kind, data in client.heard if kind == "state"]
        offers = {state["choice"]["ask"] for state in states if state["choice"]}
        assert len(offers) == sum(who == seat for who, _ in record.actions)
    assert all(json.loads(data)["choice"] is None for kind, data in watcher.heard if kind == "state")


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A table of two people of which nobody has sat down."""
    folder = tmp_path_factory.mktemp("door")
    with serving(folder, "you", "you", "--invite", "--ruleset", str(write_short(folder))) as server:
        yield server
        assert server.process.poll() is None, "nothing that came in has ended it"


@pytest.fixture(scope="module")
def seated(door: Server) -> Client:
    client = Client(door, door.addresses[0])
    client.listen()
    client.await_state(lambda state: state["game"])
    return client


def test_a_page_of_ours_has_a_strict_policy_and_a_cookie_that_no_script_reads(door: Server, seated: Client) -> None:
    answer, page = door.ask("GET", "/seat/0", headers={"Cookie": seated.cookies})

    assert answer.status == 200
    assert b"<script>" not in page
    assert "default-src 'self'" in (answer.getheader("Content-Security-Policy") or "")
    again, _ = door.ask(
        "GET", door.addresses[0].removeprefix(f"http://{door.host}"), headers={"Cookie": seated.cookies}
    )
    cookie = again.getheader("Set-Cookie") or ""
    assert cookie.startswith(f"malice-{door.port}-0=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {*cookie.split("; ")}


@pytest.mark.parametrize(
    ("method", "path", "changed", "status"),
    [
        ("GET", "/seat/0", {"Host": "evil.example"}, 421),
        ("GET", "/seat/0", {"Host": "127.0.0.1:1"}, 421),
        ("GET", "/seat/0", {"Cookie": ""}, 403),
        ("GET", "/seat/1", {}, 403),
        ("GET", "/seat/01x", {}, 403),
        ("GET", "/seat/1/stream", {}, 403),
        ("GET", "/watch/stream", {"Cookie": ""}, 403),
        ("GET", "/join/guess", {}, 403),
        ("GET", "/static/../app.py", {}, 404),
        ("GET", "/web/%2e%2e/app.py", {}, 404),
        ("GET", "/games/spite/../replay.js", {}, 404),
        ("GET", "/games/nothing/replay.js", {}, 404),
        ("GET", "/nothing", {}, 404),
        ("DELETE", "/seat/0", {}, 405),
        ("POST", "/seat/0/act", {"Origin": "http://evil.example"}, 403),
        ("POST", "/seat/0/act", {"Origin": "null"}, 403),
        ("POST", "/seat/0/act", {"Origin": ""}, 403),
        ("POST", "/seat/0/act", {"Host": "evil.example", "Origin": "http://evil.example"}, 421),
        ("POST", "/seat/0/act", {"Content-Type": "text/plain"}, 415),
        ("POST", "/seat/0/act", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", "/seat/0/act", {"Cookie": ""}, 403),
        ("POST", "/seat/1/act", {}, 403),
        ("POST", "/seat/0/other", {}, 404),
    ],
)
def test_who_may_not_come_in_is_refused(
    door: Server, seated: Client, method: str, path: str, changed: dict[str, str], status: int
) -> None:
    answer, body = door.ask(method, path, "{}" if method == "POST" else None, seated.headers() | changed)

    assert answer.status == status
    assert b"Traceback" not in body


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("{", 400),
        ('{"game": 1}', 400),
        ('{"game": 1, "ask": 1, "action": "h5S-s0", "more": 1}', 400),
        ('{"game": 1, "ask": 99, "action": "h5S-s0"}', 409),
        ('{"game": 7, "ask": 1, "action": "h5S-s0"}', 409),
        (json.dumps({"game": 1, "ask": 1, "action": "x" * MOST_BODY}), 413),
    ],
)
def test_what_no_page_of_ours_sends_is_refused(door: Server, seated: Client, content: str, status: int) -> None:
    answer, _ = door.ask("POST", "/seat/0/act", content, seated.headers())

    assert answer.status == status


def test_an_illegal_action_is_refused_and_one_that_comes_twice_counts_once(door: Server, seated: Client) -> None:
    other = Client(door, door.addresses[1])
    other.listen()
    other.await_state(lambda state: state["game"])
    first = next(client for client in (seated, other) if client.state["choice"])
    offer = first.state["choice"]
    legal = [action for action, _ in offer["actions"]]
    act = {"game": 1, "ask": offer["ask"]}

    assert first.post("act", act | {"action": "h5S-c9"})[0] == 422
    one = first.post("act", act | {"action": legal[0]})
    again = first.post("act", act | {"action": legal[0]})
    changed = first.post("act", act | {"action": legal[-1]})

    assert one == again == changed == (200, json.dumps({"action": legal[0]}, separators=(",", ":")).encode())
    state = first.await_state(lambda state: state["steps"] > offer["ask"])
    assert state["steps"] == offer["ask"] + 1
    second = next(client for client in (seated, other) if client is not first)
    if not state["choice"]:
        status, _ = first.post("act", {"game": 1, "ask": state["steps"], "action": legal[0]})
        assert status == 409, "it is not their turn"
    assert second.post("next", {"game": 1, "what": "again"})[0] == 409, "the game goes on"


def test_a_seat_is_for_whoever_opens_its_address_first_and_the_others_watch(door: Server, seated: Client) -> None:
    late = Client(door, door.addresses[0])

    assert late.base == "/watch"
    assert door.ask("GET", "/seat/0", headers={"Cookie": late.cookies})[0].status == 403
    assert door.ask("GET", "/watch", headers={"Cookie": late.cookies})[0].status == 200
    path = door.addresses[0].removeprefix(f"http://{door.host}")
    _, page = door.ask("GET", path, headers={"Cookie": seated.cookies})
    assert b"url=/seat/0" in page, "who has the seat comes back to it"


def test_a_seat_that_somebody_left_is_free_after_ten_minutes(autojump_clock: trio.testing.MockClock) -> None:
    order = MatchOrder(bots=("you", "you"), rulesets=("standard",), deals=1)

    async def leave_and_return() -> None:
        table = LiveTable(open_table(order, 2), KeptTable(None), invites=True)
        first = table.take_seat(0, "")
        assert first
        with table.attend(0):
            await trio.sleep(2 * RETURN_S)
            assert table.take_seat(0, "stranger") is None, "they are here"
        await trio.sleep(RETURN_S - 1)
        assert table.take_seat(0, "stranger") is None
        assert table.take_seat(0, first) == first
        await trio.sleep(2)
        other = table.take_seat(0, "stranger")
        assert other not in (None, first)

    trio.run(leave_and_return, clock=autojump_clock)


@pytest.fixture
def autojump_clock() -> trio.testing.MockClock:
    return trio.testing.MockClock(autojump_threshold=0)


def test_who_asks_too_often_waits(autojump_clock: trio.testing.MockClock) -> None:
    async def ask() -> None:
        rate = Rate(burst=3, per_second=2)
        for _ in range(3):
            rate.take()
        with pytest.raises(Refused):
            rate.take()
        await trio.sleep(0.5)
        rate.take()
        with pytest.raises(Refused):
            rate.take()

    trio.run(ask, clock=autojump_clock)


def test_connections_beyond_the_limit_are_closed_and_the_others_go_on(door: Server) -> None:
    idle = [socket.create_connection(("127.0.0.1", door.port), PATIENCE_S) for _ in range(MOST_CONNECTIONS)]
    beyond = socket.create_connection(("127.0.0.1", door.port), PATIENCE_S)

    assert beyond.recv(1) == b"", "closed at once"
    for each in (*idle, beyond):
        each.close()
    while door_is_full(door):
        pass


def door_is_full(server: Server) -> bool:
    try:
        return server.ask("GET", "/")[0].status != 200
    except OSError:
        return True


def test_a_game_goes_on_after_its_server_was_killed(tmp_path: Path) -> None:
    league = tmp_path / "people.db"
    words = "you", "first", "--ruleset", str(write_short(tmp_path)), "--db", str(league)
    port = find_free_port()
    with serving(tmp_path, *words, port=port) as server:
        client = Client(server, server.addresses[0])
        client.listen()
        play(client, most=5)
        before = list_told(client)
        hand = client.state["choice"]["actions"]
        server.end(signal.SIGKILL)
        assert server.mark.await_end() == []

    with serving(tmp_path, *words, port=port) as server:
        client.server = server
        client.heard.clear()
        client.state = {}
        client.listen()  # with the cookie of before
        client.await_state(lambda state: state["choice"])
        assert client.state["choice"]["actions"] == hand
        assert list_told(client) == before
        play(client)
        assert server.end() == 0
        assert server.mark.await_end() == []

    record = read_record(league)
    assert len(record.actions) == len(list_told(client)) - 1
    assert malice("verify", league).exit_code in (0, 3), "3: the same deal with the seats swapped is open"
