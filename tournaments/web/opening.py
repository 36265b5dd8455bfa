"""Opens a table in the browser, and says where it is."""

from __future__ import annotations

import hashlib
import ipaddress
import signal
import sys
import webbrowser
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import trio
from msgspec import Struct

from malice.referee.errors import BotError, DataError
from malice.tournaments.running.orders import MatchOrder
from malice.tournaments.terminal.daily import DailyDeal
from malice.tournaments.web.app import App
from malice.tournaments.web.daily import DailyTable
from malice.tournaments.web.doors import Doors
from malice.tournaments.web.kept import KeptTable
from malice.tournaments.web.server import open_listeners, serve
from malice.tournaments.web.table import LiveTable, open_table


class Place(Struct, frozen=True):
    """Where a table is to be found."""

    host: str = "127.0.0.1"
    port: int = 8750
    invites: bool = False
    """Whether each seat gets an address of its own, for whoever opens it."""
    browser: bool = True
    """Whether to open a browser."""
    hint: str = ""
    """Names the bot that gives hints, if one was chosen."""


def play_in_browser(
    order: MatchOrder, people: int, place: Place, folder: Path, league: str = "", sequel: str = ""
) -> None:
    """Serve a table until Ctrl-C.

    Args:
        order: what is played first.
        people: how many of its players are people.
        place: where.
        folder: keeps tables, so that the same command goes on after whatever ended it.
        league: the file that keeps the games; empty if nobody does.
        sequel: how the game went on that this one begins in, if it does.

    Raises:
        DataError: nobody can listen there, or what is kept is damaged.
        BotError: the first game cannot begin; the message says why.
    """
    kept = KeptTable(_name_file(folder, order, place, league) if place.port else None)
    opened = kept.read() or open_table(order, people, league)
    try:
        trio.run(_serve, LiveTable(opened, kept, invites=place.invites), place, sequel)
    except BotError as error:
        if not opened.table.key:
            raise
        raise error.advise(f"to begin anew, remove {kept.path}, which keeps a game of this table") from None


def play_daily_in_browser(deal: DailyDeal, label: str, place: Place, league: str = "") -> None:
    """Serve the table of a daily deal until Ctrl-C.

    Args:
        deal: the deal.
        label: of its player.
        place: where.
        league: the league of people beside which it is kept; empty for none.

    Raises:
        DataError: nobody can listen there.
    """
    trio.run(_serve, DailyTable(deal, label, league), place)


def _name_file(folder: Path, order: MatchOrder, place: Place, league: str) -> Path:
    words = msgspec.json.encode((order, place.port, place.invites, league))
    return folder / f"{hashlib.sha256(words).hexdigest()[:16]}.jsonl"


async def _serve(table: LiveTable, place: Place, sequel: str = "") -> None:
    if place.host in ("0.0.0.0", "::", ""):
        raise DataError(where=f"--host {place.host}", expected="one address of this machine, such as 192.168.1.5")
    listeners = await open_listeners(place.host, place.port)
    port = listeners[0].socket.getsockname()[1]
    trouble = ""
    doors = Doors(table, frozenset(f"{name}:{port}" for name in _list_names(place.host)), port)
    app = App(table, doors, place.hint, sequel)
    base = f"http://{_bracket(place.host)}:{port}"
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_on_signal, signals, nursery.cancel_scope)
            nursery.start_soon(table.run)
            nursery.start_soon(serve, listeners, app.answer)
            trouble = await table.await_game()
            if trouble:
                nursery.cancel_scope.cancel()
            else:
                _announce(table, base, place)
                if place.browser:
                    await trio.to_thread.run_sync(webbrowser.open, f"{base}/join/{table.opened.people[0].token}")
    if trouble:
        raise BotError(trouble)


async def _cancel_on_signal(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    async for _ in signals:
        scope.cancel()


def _list_names(host: str) -> set[str]:
    """The names under which a browser may ask us, as it writes them."""
    names = {_bracket(host).lower()}
    if _is_loopback(host):
        names |= {"localhost", "127.0.0.1", "[::1]"}
    return names


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _announce(table: LiveTable, base: str, place: Place) -> None:
    """Print the addresses on stdout, each alone on its line, and all else on stderr."""
    if not _is_loopback(place.host):
        print(f"{place.host} is not this machine alone: whoever has an address below can play", file=sys.stderr)
    people = table.opened.people if place.invites else table.opened.people[:1]
    for number, person in enumerate(people):
        if place.invites:
            print(f"seat of player {number + 1}, for whoever opens it first:", file=sys.stderr)
        _print_address(f"{base}/join/{person.token}", place)
    if place.invites:
        print("to watch:", file=sys.stderr)
        _print_address(f"{base}/join/{table.opened.watch}", place)
    print("Ctrl-C ends it; the same command goes on", file=sys.stderr)


def _print_address(address: str, place: Place) -> None:
    print(address, flush=True)
    if place.invites:
        import segno

        segno.make(address, micro=False).terminal(out=sys.stderr, compact=True)
