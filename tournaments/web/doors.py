"""Who may come in: names of this server, origins, cookies of seats, and how often somebody may ask."""

from __future__ import annotations

import secrets
from http import HTTPStatus

from malice.tournaments.web.server import Rate, Refused, WebRequest
from malice.tournaments.web.table import LiveTable

JSON = "application/json"
BURST, PER_SECOND = 200, 40
"""How many requests that change something a seat may send at once, and in the long run."""
MOST_STREAMS = 8
"""Of one seat, and of all who watch together times four."""


class Doors:
    """Lets in who may come.

    Args:
        table: says who sits where.
        names: those under which browsers may reach us, each with its port, as `Host` says them.
    """

    def __init__(self, table: LiveTable, names: frozenset[str], port: int) -> None:
        self._table = table
        self._names = names
        self._port = port
        self._rates: dict[int, Rate] = {}
        self._joins = Rate(BURST, PER_SECOND)

    def check_origin(self, request: WebRequest) -> None:
        """Refuse a name that is not ours, as a rebound one, and a page of another origin.

        Each is held against our own list, never against the other.
        """
        if request.headers.get("host", "").lower() not in self._names:
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST)
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in self._names}:
            raise Refused(HTTPStatus.FORBIDDEN)

    def check_post(self, request: WebRequest, person: int) -> None:
        """Refuse what no page of ours sends: a form, a request without an origin, too many of them."""
        if request.headers.get("content-type", "").partition(";")[0].strip() != JSON:
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        if "origin" not in request.headers:
            raise Refused(HTTPStatus.FORBIDDEN)
        self._rates.setdefault(person, Rate(BURST, PER_SECOND)).take()

    def name_cookie(self, person: int | None) -> str:
        """Name the cookie of a seat, or of who watches; cookies do not tell ports apart."""
        return f"malice-{self._port}-{'watch' if person is None else person}"

    def make_cookie(self, person: int | None, secret: str) -> str:
        return f"{self.name_cookie(person)}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"

    def has_seat(self, request: WebRequest, person: int) -> bool:
        """Whether the cookie of a seat came with a request."""
        people = self._table.opened.people
        if not 0 <= person < len(people):
            return False
        return _equal(request.cookie(self.name_cookie(person)), people[person].secret)

    def watches(self, request: WebRequest) -> bool:
        """Whether a request comes from somebody who may watch: who has a seat may, too."""
        watch = _equal(request.cookie(self.name_cookie(None)), self._table.opened.watch)
        return watch or any(self.has_seat(request, person) for person in range(len(self._table.opened.people)))

    def find_token(self, token: str) -> int | None:
        """Find whose seat a token leads to; None if it is for those who watch.

        Raises:
            Refused: it leads nowhere.
        """
        self._joins.take()
        for number, person in enumerate(self._table.opened.people):
            if _equal(token, person.token):
                return number
        if _equal(token, self._table.opened.watch):
            return None
        raise Refused(HTTPStatus.FORBIDDEN, "this address leads to no seat of this table")


def _equal(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())
