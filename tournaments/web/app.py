"""What the server answers: the page of a seat, its stream, what people do, and the files that the page loads."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from functools import cached_property, partial
from http import HTTPStatus
from pathlib import Path
from typing import Literal

import msgspec
from jinja2 import Environment, FileSystemLoader
from msgspec import Struct

from malice.referee.errors import DataError, FamilyError
from malice.referee.families import load_family
from malice.referee.rulesets import find_ruleset, list_family_rulesets, load_ruleset
from malice.site_pages.game_pages import STATIC, read_game_files
from malice.site_pages.pages import make_template_environment
from malice.site_pages.server import TYPES
from malice.tournaments.entries.lookup import list_players
from malice.tournaments.league.journal import YOU
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.web.doors import JSON, MOST_STREAMS, Doors
from malice.tournaments.web.server import Refused, WebRequest, WebResponse
from malice.tournaments.web.table import LiveTable

HERE = Path(__file__).parent
STYLES = ("site.css", "colours.css", "cards.css", "tableau.css", "replay.css")
SCRIPTS = ("elements", "cards", "faces", "tableau", "families", "game", "words", "table")
"""Those of a replay that draw and tell."""
OWN_STYLES = ("play.css",)
OWN_SCRIPTS = ("choose.js", "live.js", "play.js")


class Act(Struct, frozen=True, forbid_unknown_fields=True):
    """An action, as the answer to a request."""

    game: int
    ask: int
    action: str


class AskHint(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody wants to know what a bot would play."""

    game: int
    ask: int
    bot: str


class GiveUp(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody resigns."""

    game: int


class GoOn(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody wants another game."""

    game: int
    what: Literal["again", "swapped"]
    ruleset: str = ""


class App:
    """Answers requests.

    Args:
        table: the table.
        doors: say who may come in.
        hint: names the bot that gives hints unless another is chosen; empty for the first that can.
        sequel: told when a game is over.
    """

    def __init__(self, table: LiveTable, doors: Doors, hint: str = "", sequel: str = "") -> None:
        self._table = table
        self._sequel = sanitize(sequel)
        self._hint = hint
        self._doors = doors
        self._streams: dict[int | None, int] = {}
        self._files: dict[str, bytes] = {}

    async def answer(self, request: WebRequest) -> WebResponse:
        """Answer a request; raise `Refused`."""
        self._doors.check_origin(request)
        match request.method, request.path.split("/")[1:]:
            case "GET", [""]:
                return WebResponse(HTTPStatus.OK, self._render("closed.html"), TYPES[".html"])
            case "GET", ["join", token]:
                return self._join(request, token)
            case "GET", ["static" | "web" | "games", *_]:
                return self._send_file(request.path)
            case "GET", ["watch"]:
                self._require_watcher(request)
                return self._show_page(None)
            case "GET", ["watch", "stream"]:
                self._require_watcher(request)
                return self._open_stream(None, request)
            case "GET", ["seat", number]:
                return self._show_page(self._require_seat(request, number))
            case "GET", ["seat", number, "stream"]:
                return self._open_stream(self._require_seat(request, number), request)
            case "POST", ["seat", number, what]:
                person = self._require_seat(request, number)
                self._doors.check_post(request, person)
                return self._take(person, what, request.body)
            case "GET", _:
                raise Refused(HTTPStatus.NOT_FOUND)
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED)

    def _require_seat(self, request: WebRequest, number: str) -> int:
        if not re.fullmatch("[0-9]{1,2}", number) or not self._doors.has_seat(request, int(number)):
            raise Refused(HTTPStatus.FORBIDDEN, "this seat is not yours: open the address that malice printed for it")
        return int(number)

    def _require_watcher(self, request: WebRequest) -> None:
        if not self._doors.watches(request):
            raise Refused(HTTPStatus.FORBIDDEN, "open the address that malice printed for those who watch")

    def _join(self, request: WebRequest, token: str) -> WebResponse:
        """Exchange the token of an address for a cookie, and go on to the page.

        Not by a redirect: a browser that came from a page elsewhere would not bring the cookie there.
        """
        person = self._doors.find_token(token)
        own = None
        if person is not None:
            own = self._table.take_seat(person, request.cookie(self._doors.name_cookie(person)))
        if person is None or own is None:
            cookies, target = [self._doors.make_cookie(None, self._table.opened.watch)], "/watch"
        else:
            cookies, target = [self._doors.make_cookie(person, own)], f"/seat/{person}"
            if not self._table.invites:
                # One screen for all of them: who opens one seat has all.
                others = [number for number in range(len(self._table.opened.people)) if number != person]
                cookies += [self._doors.make_cookie(each, self._table.take_seat(each, "") or "") for each in others]
        page = self._render("join.html", target=target)
        headers = tuple(("Set-Cookie", cookie) for cookie in cookies)
        return WebResponse(HTTPStatus.OK, page, TYPES[".html"], headers)

    def _show_page(self, person: int | None) -> WebResponse:
        people = len(self._table.opened.people)
        page = self._render(
            "play.html",
            person=person,
            shared=not self._table.invites and people > 1,
            people=people,
            notes=person is not None and people == 1,
            styles=[f"/static/{name}" for name in STYLES] + [f"/web/{name}" for name in OWN_STYLES],
            scripts=[f"/static/{name}.js" for name in SCRIPTS] + [f"/web/{name}" for name in OWN_SCRIPTS],
            families=self._list_family_files(),
            rulesets=self._rulesets,
            sequel=self._sequel,
            ruleset=self._table.opened.table.order.rulesets[0],
            hint_bots=self._hint_bots,
            alone=self._table.alone,
        )
        return WebResponse(HTTPStatus.OK, page, TYPES[".html"])

    @cached_property
    def _rulesets(self) -> list[str]:
        """The rulesets that this table may play instead: all of the same game for as many seats."""
        order = self._table.opened.table.order
        if order.positions or self._table.alone:
            return []  # they say what is played
        try:
            own = find_ruleset(order.rulesets[0], Path())
        except DataError:
            return []
        seats = len(order.bots)
        found = [] if own.name in list_family_rulesets(own.family) else [order.rulesets[0]]
        for name in list_family_rulesets(own.family):
            least, most = load_ruleset(name).match.players
            if least <= seats <= most:
                found.append(name)
        return found

    @cached_property
    def _hint_bots(self) -> list[str]:
        """What names the bots that may give hints: one that was chosen, those of the table, and all that ship."""
        order = self._table.opened.table.order
        if self._table.alone:
            return []  # a bot could work the deal out
        family = (
            order.positions[0].find_ruleset() if order.positions else find_ruleset(order.rulesets[0], Path())
        ).family
        own = [words for words in (self._hint, *order.bots) if words and words != YOU]
        return list(dict.fromkeys([*own, *list_players(family)]))

    def _list_family_files(self) -> dict[str, dict[str, list[str]]]:
        """By family, the addresses of what it brings for the page."""
        if self._table.game is None:
            from malice.referee.families import list_shipped

            names = list(list_shipped())
        else:
            names = [self._table.game.begun.family]
        listed = {}
        for name in names:
            files = read_game_files(name)
            listed[name] = {
                "scripts": [f"/games/{name}/{file}" for file in files.scripts],
                "styles": [f"/games/{name}/{file}" for file in files.styles],
            }
        return listed

    def _send_file(self, path: str) -> WebResponse:
        if path not in self._files:
            self._files[path] = _read_file(path)
        return WebResponse(HTTPStatus.OK, self._files[path], TYPES[Path(path).suffix])

    def _open_stream(self, person: int | None, request: WebRequest) -> WebResponse:
        most = MOST_STREAMS * (4 if person is None else 1)
        if self._streams.get(person, 0) >= most:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS)
        body = partial(self._stream, person, notes=request.query == "notes=1")
        return WebResponse(HTTPStatus.OK, body, "text/event-stream")

    async def _stream(self, person: int | None, *, notes: bool) -> AsyncIterator[bytes]:
        self._streams[person] = self._streams.get(person, 0) + 1
        try:
            async for piece in self._table.stream(person, notes=notes):
                yield piece
        finally:
            self._streams[person] -= 1

    def _take(self, person: int, what: str, body: bytes) -> WebResponse:
        table = self._table
        answer: object = {}
        try:
            if what == "act":
                act = msgspec.json.decode(body, type=Act)
                answer = {"action": table.act(person, act.game, act.ask, act.action)}
            elif what == "hint":
                wanted = msgspec.json.decode(body, type=AskHint)
                if wanted.bot not in self._hint_bots:
                    raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "this bot gives no hints here")
                table.hint(person, wanted.game, wanted.ask, wanted.bot)
            elif what == "resign":
                table.resign(person, msgspec.json.decode(body, type=GiveUp).game)
            elif what == "next":
                wish = msgspec.json.decode(body, type=GoOn)
                if wish.ruleset and wish.ruleset not in self._rulesets:
                    raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "this table cannot play that ruleset")
                table.go_on(wish.game, wish.what, wish.ruleset)
            else:
                raise Refused(HTTPStatus.NOT_FOUND)
        except msgspec.MsgspecError as error:
            raise Refused(HTTPStatus.BAD_REQUEST, sanitize(str(error), 200)) from None
        return WebResponse(HTTPStatus.OK, msgspec.json.encode(answer), JSON)

    def _render(self, name: str, **values: object) -> bytes:
        page: str = self._environment.get_template(name).render(values)
        return page.encode()

    @cached_property
    def _environment(self) -> Environment:
        environment = make_template_environment()
        environment.loader = FileSystemLoader(HERE / "templates")
        return environment


def _read_file(path: str) -> bytes:
    """Read one of the files that pages load; no address leads to another.

    Raises:
        Refused: there is no such file.
    """
    match path.split("/")[1:]:
        case ["static", name] if (STATIC / name).suffix in TYPES and _is_plain(name) and (STATIC / name).is_file():
            return (STATIC / name).read_bytes()
        case ["web", name] if _is_plain(name) and (HERE / "static" / name).is_file():
            return (HERE / "static" / name).read_bytes()
        case ["games", family, name]:
            try:
                files = read_game_files(load_family(family).name)
            except FamilyError:
                raise Refused(HTTPStatus.NOT_FOUND) from None
            if content := (files.scripts | files.styles).get(name):
                return content
    raise Refused(HTTPStatus.NOT_FOUND)


def _is_plain(name: str) -> bool:
    return re.fullmatch(r"[a-z0-9_-]+\.(js|css|svg)", name) is not None
