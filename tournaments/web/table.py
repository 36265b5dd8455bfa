"""A table in the browser: the game that a process plays for it, the people who sit there, and those who look."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from malice.tournaments.league.people import PeopleList, call_people
from malice.tournaments.league.store import Store
from malice.tournaments.running.orders import MatchOrder
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.remarks import Remark
from malice.tournaments.web.following import GameOver, LiveGame, Offer
from malice.tournaments.web.kept import FORMAT, InvitedPerson, KeptTable, OpenedTable
from malice.tournaments.web.link import END_WAIT_S, ProcessLink, start_process
from malice.tournaments.web.messages import (
    BotHint,
    GameDealt,
    GameEnded,
    GoAhead,
    HintWanted,
    NextGame,
    PersonAnswer,
    PersonAsked,
    PersonResigns,
    PlayedTogether,
    PlayFailed,
    Reply,
    TableOrder,
    Told,
)
from malice.tournaments.web.server import Refused

HEARTBEAT_S = 15.0
"""How often a silent stream says that it is there."""
RETURN_S = 600.0
"""How long the seat of somebody who has left waits for them."""


class Present(Struct, frozen=True):
    """Somebody at the table, as all others see them."""

    name: str
    taken: bool
    here: bool


class ShownHint(Struct, frozen=True):
    """A hint that somebody asked for."""

    bot: str
    action: str = ""
    """Empty while the bot thinks, and if there is none."""
    note: str = ""
    thinks: bool = True


class TableState(Struct, frozen=True):
    """What a page shows beside the steps of a game."""

    game: int
    steps: int
    """How many steps go before it."""
    acting: tuple[int, ...]
    choice: Offer | None
    over: GameOver | None
    people: tuple[Present, ...]
    swaps: bool
    """Whether the same deal can be played again with the seats swapped."""
    trouble: str
    """Why nothing goes on."""
    hint: ShownHint | None = None
    remarks: tuple[Remark, ...] = ()
    """When the game is over: where it turned."""


def make_table(order: MatchOrder, league: str = "") -> TableOrder:
    """Make a table with a deal of its own, under the name that a sitting at the terminal would have.

    Raises:
        LeagueError: the league cannot be read.
    """
    path, number = Path(league), 1
    if league and path.exists():
        with Store(path) as store:
            number += len(store.league().tournaments)
    name = "play" if number == 1 else f"play-{number}"
    # The seed is ours to keep: a game that has not ended when its server does has the same cards again.
    return TableOrder(replace(order, seed=order.seed or secrets.token_hex(16), name=name), league)


def open_table(order: MatchOrder, people: int, league: str = "") -> OpenedTable:
    """Make a table that nobody has sat down at."""
    invited = tuple(InvitedPerson(_draw(), _draw()) for _ in range(people))
    return OpenedTable(FORMAT, make_table(order, league), invited, _draw())


def _draw() -> str:
    return secrets.token_urlsafe(18)


class LiveTable:
    """A table; `run` plays its games, one after the other, as its people want them.

    Args:
        opened: what is played, and who may sit there.
        kept: keeps it.
        invites: whether a seat is for whoever opens its address first; otherwise all are for the owner.
    """

    alone = ""
    """What a deal is called that one person plays, and nothing else here; empty for all other tables."""

    def __init__(self, opened: OpenedTable, kept: KeptTable, *, invites: bool = False) -> None:
        self.opened = opened
        self.invites = invites
        self.game: LiveGame | None = None
        self._kept = kept
        self._number = 0
        """Counts the games of this server."""
        self._given: dict[tuple[int, int, int], str] = {}
        """By game, ask and seat: the action."""
        self._hints: dict[tuple[int, int, int], ShownHint] = {}
        """By game, ask and seat, too."""
        self._resigned: set[tuple[int, int]] = set()
        """Games and seats."""
        self._nexts: dict[int, str] = {}
        """By game, what was wanted after it."""
        self._since = 0.0
        """When the newest ask began."""
        self._here: Counter[int] = Counter()
        self._left_at: dict[int, float] = {}
        self._unkept = False
        """Whether the process has not kept the newest game yet."""
        self._repeated = 0
        """How many asks of the game are still told again to its bots."""
        self._began = 0.0
        self._swaps = False
        self._trouble = ""
        self._news = trio.Event()
        self._playing = trio.CancelScope()
        self._kept.write(opened, opened.table.played)

    # What people do.

    def find_seat(self, person: int) -> int | None:
        """Where a person sits in this game."""
        return self.game.begun.people[person] if self.game else None

    def act(self, person: int, game: int, ask: int, action: str) -> str:
        """Take an action; return the one that counts, which is the first for its ask.

        Raises:
            Refused: nobody asked for it, or it is not legal.
        """
        seat = self._require_seat(person)
        if first := self._given.get((game, ask, seat)):
            return first
        choice = self._choice(seat) if game == self._number else None
        if choice is None or choice.ask != ask:
            raise Refused(HTTPStatus.CONFLICT, "the table has changed since")
        if action not in (each for each, _ in choice.actions):
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "this is not a legal action")
        self._given[game, ask, seat] = action
        self._tell()
        return action

    def hint(self, person: int, game: int, ask: int, bot: str) -> None:
        """Have a bot asked what it would play.

        Raises:
            Refused: nobody asked the person for an action there.
        """
        seat = self._require_seat(person)
        choice = self._choice(seat) if game == self._number else None
        if choice is None or choice.ask != ask:
            raise Refused(HTTPStatus.CONFLICT, "the table has changed since")
        shown = self._hints.get((game, ask, seat))
        if shown is None or (shown.bot != bot and not shown.thinks):
            self._hints[game, ask, seat] = ShownHint(bot)
            self._tell()

    def resign(self, person: int, game: int) -> None:
        """Give up a game; it counts when the seat is asked next."""
        if game != self._number or self.game is None or self.game.over:
            return
        self._resigned.add((game, self._require_seat(person)))
        self._tell()

    def go_on(self, game: int, what: Literal["again", "swapped"], ruleset: str = "") -> None:
        """Begin another game after this one: of a new deal, or of the same with the seats swapped."""
        if game != self._number or game in self._nexts:
            return
        if self.game and not self.game.over and not self._trouble:
            raise Refused(HTTPStatus.CONFLICT, "this game is not over")
        if what == "swapped" and not self._swaps:
            raise Refused(HTTPStatus.CONFLICT, "every seat has played this deal")
        self._nexts[game] = what
        if what == "again":
            order = self.opened.table.order
            # Whoever began in a position goes on from it; whoever gave a seed has had its deal.
            order = replace(order, seed=None, rulesets=(ruleset,) if ruleset else order.rulesets)
            self._keep(make_table(order, self.opened.table.league))
            self._playing.cancel()
        self._tell()

    @contextmanager
    def attend(self, person: int | None) -> Iterator[None]:
        """Count somebody as here."""
        if person is None:
            yield
            return
        self._here[person] += 1
        self._tell()
        try:
            yield
        finally:
            self._here[person] -= 1
            self._left_at[person] = trio.current_time()
            self._tell()

    def take_seat(self, person: int, secret: str) -> str | None:
        """Give the secret of a seat to who opens its address and may sit there; None if it is taken.

        Args:
            person: whose seat.
            secret: what the cookie says that they bring.
        """
        own = self.opened.people[person]
        if not self.invites or not own.taken or secrets.compare_digest(own.secret, secret):
            fresh = own
        elif not self._here[person] and trio.current_time() - self._left_at.get(person, self._began) > RETURN_S:
            fresh = replace(own, secret=_draw())  # who sat there before has gone for good
        else:
            return None
        if (fresh := replace(fresh, taken=True)) != own:
            people = tuple(fresh if each is own else each for each in self.opened.people)
            self.opened = replace(self.opened, people=people)
            self._keep(self.opened.table)
            self._tell()
        return fresh.secret

    # What those who look are told.

    async def stream(self, person: int | None, *, notes: bool = False) -> AsyncIterator[bytes]:
        """Yield what happens, as events for a page; without end.

        Args:
            person: who looks; None for somebody who watches.
            notes: whether what bots note is shown, as far as nobody sits there whom it would help.
        """
        notes = notes and len(self.opened.people) == 1
        number, steps, last = 0, 0, b""
        with self.attend(person):
            while True:
                news, game = self._news, self.game
                seat = None if person is None else self.find_seat(person)
                state = _make_event("state", self._describe(seat))
                fresh = b""  # what is told is of one moment: while it is sent, the game goes on
                if game and number != self._number:
                    number, steps = self._number, 0
                    told = {"number": number, "viewer": seat, **game.describe()}
                    told["steps"] = list(game.steps(seat, notes=notes))
                    fresh = _make_event("game", told)
                elif game and len(game) > steps:
                    fresh = _make_event("steps", list(game.steps(seat, steps, notes=notes)))
                steps = len(game) if game else 0
                if fresh or state != last:
                    last = state
                    yield fresh + state
                with trio.move_on_after(HEARTBEAT_S) as silence:
                    await news.wait()
                if silence.cancelled_caught:
                    yield b": here\n\n"

    def _describe(self, seat: int | None) -> TableState:
        game = self.game
        count = len(self.opened.people)
        names = [game.names[seat] for seat in game.begun.people] if game else [f"player {n + 1}" for n in range(count)]
        people = tuple(
            Present(name, person.taken, self._here[number] > 0)
            for number, (name, person) in enumerate(zip(names, self.opened.people, strict=True))
        )
        return TableState(
            self._number,
            len(game) if game else 0,
            game.to_act if game else (),
            None if seat is None else self._choice(seat),
            game.over if game else None,
            people,
            self._swaps,
            self._trouble,
            None if seat is None or not game else self._hints.get((self._number, len(game), seat)),
            game.remarks.get(seat, ()) if game and game.over and seat is not None else (),
        )

    def _choice(self, seat: int) -> Offer | None:
        if self.game is None or (self._number, seat) in self._resigned:
            return None
        given = (self._number, len(self.game), seat) in self._given
        return None if given else self.game.choice(seat)

    def _require_seat(self, person: int) -> int:
        seat = self.find_seat(person)
        if seat is None:
            raise Refused(HTTPStatus.CONFLICT, "no game is played")
        return seat

    def _tell(self) -> None:
        self._news.set()
        self._news = trio.Event()

    # How it is played.

    async def await_game(self) -> str:
        """Wait until the first game begins; return why it does not, or nothing."""
        while not self._number and not self._trouble:
            await self._news.wait()
        return "" if self._number else self._trouble

    async def run(self) -> None:
        """Play, until cancelled."""
        self._began = trio.current_time()
        while True:
            with trio.CancelScope() as self._playing:
                await self._play(self.opened.table)
                # It has ended by itself: somebody begins another table.
                await trio.sleep_forever()

    async def _play(self, table: TableOrder) -> None:
        """Let a process play a table."""
        self._trouble, self._swaps = "", False
        async with start_process() as link:
            with suppress(trio.BrokenResourceError):
                try:
                    await link.send(table)
                    while (told := await link.read()) is not None:
                        reply = await self._hear(told, table)
                        if reply is not None:
                            await link.send(reply)
                finally:
                    if self._unkept and self.game and self.game.over:
                        with trio.move_on_after(END_WAIT_S, shield=True):
                            await self._await_record(link)
            if not self._trouble and (self.game is None or not self.game.over):
                self._trouble = "the process that plays has ended"
            self._swaps = False
            self._tell()

    async def _await_record(self, link: ProcessLink) -> None:
        """Wait until the process has kept a game that is over: only then it asks for the next, or ends."""
        told = await link.read()
        while told is not None and not isinstance(told, NextGame):
            told = await link.read()
        self._end_game()

    def _end_game(self) -> None:
        """Forget what was played in a game that is kept."""
        self._unkept = False
        self._keep(replace(self.opened.table, key=""))

    async def _hear(self, told: Told, table: TableOrder) -> Reply | None:
        game = self.game
        match told:
            case NextGame(key):
                if self._unkept:
                    self._end_game()
                await self._await_wish(key, table)
                return GoAhead()
            case GameDealt():
                self._begin(told, table)
            case PersonAsked(seat):
                return await self._await_answer(seat)
            case BotHint(seat, bot, action, note):
                assert game
                self._hints[self._number, len(game), seat] = ShownHint(bot, action, note, thinks=False)
                self._tell()
                return await self._await_answer(seat)
            case PlayedTogether(news):
                assert game
                if self._repeated:
                    self._repeated -= 1
                    return None
                self._kept.add(news)
                game.play(news)
                self._since = trio.current_time()
            case GameEnded():
                assert game
                game.end(told)
            case PlayFailed(sentence):
                self._trouble = sanitize(sentence, lines=True)
        self._tell()
        return None

    async def _await_wish(self, key: str, table: TableOrder) -> None:
        """Wait until a game is wanted: the first of a table is."""
        if key in (table.key, _first(table)):
            return
        self._swaps = True
        self._tell()
        number = self._number
        while self._nexts.get(number) != "swapped":
            await self._news.wait()
        self._swaps = False

    def _begin(self, begun: GameDealt, table: TableOrder) -> None:
        self._number += 1
        self._unkept = True
        people = [begun.labels[seat] for seat in begun.people]
        names = PeopleList(Path(table.league)).names if table.league else {}
        self.game = LiveGame(begun, call_people(people, names))
        self._repeated = 0
        played = table.played if begun.key == table.key else ()
        for news in played:
            self.game.play(news)
            self._repeated += 1
        self._since = trio.current_time()
        self._keep(replace(self.opened.table, key=begun.key), played)

    async def _await_answer(self, seat: int) -> PersonAnswer | PersonResigns | HintWanted:
        assert self.game
        key = self._number, len(self.game), seat
        while key not in self._given and (self._number, seat) not in self._resigned:
            if (hint := self._hints.get(key)) and hint.thinks:
                return HintWanted(hint.bot)
            await self._news.wait()
        wall = max(0, round((trio.current_time() - self._since) * 1e9))
        return PersonResigns(wall) if (self._number, seat) in self._resigned else PersonAnswer(self._given[key], wall)

    def _keep(self, table: TableOrder, played: Sequence[Any] | None = None) -> None:
        self.opened = replace(self.opened, table=table)
        if played is None:
            played = self.game.played if table.key and self.game else ()
        self._kept.write(self.opened, played)


def _first(table: TableOrder) -> str:
    return table.key or "0.0.0.0"


def _make_event(name: str, content: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(content))
