"""The deal of the day in the browser: a table for one, without a process, as no bot plays at it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal, NoReturn

import trio

from malice.referee.seat import Played
from malice.tournaments.running.orders import MatchOrder
from malice.tournaments.terminal.daily import DailyDeal, describe_daily_end
from malice.tournaments.terminal.remarks import Remark
from malice.tournaments.web.kept import KeptTable
from malice.tournaments.web.messages import GameDealt, PersonAnswer, TableOrder
from malice.tournaments.web.server import Refused
from malice.tournaments.web.table import LiveTable, open_table

KEY = "0.0.0.0"


class DailyTable(LiveTable):
    """The table of a daily deal, which keeps itself.

    Args:
        deal: the deal.
        label: of its player.
        league: the league of people beside which it is kept; empty for none.
    """

    def __init__(self, deal: DailyDeal, label: str, league: str = "") -> None:
        order = MatchOrder(bots=(label,), rulesets=(deal.ruleset.name,), deals=1)
        super().__init__(open_table(order, 1, league), KeptTable(None))
        self.alone = f"The deal of {deal.day}"
        self._deal = deal
        self._label = label

    def resign(self, person: int, game: int) -> NoReturn:
        """Refuse: who leaves goes on later."""
        raise Refused(HTTPStatus.CONFLICT, "a daily deal stays as it is until you go on")

    def go_on(self, game: int, what: Literal["again", "swapped"], ruleset: str = "") -> NoReturn:
        """Refuse: there is one deal a day."""
        raise Refused(HTTPStatus.CONFLICT, "there is one deal a day")

    async def _play(self, table: TableOrder) -> None:
        """Play the deal on from where it was left."""
        deal, ruleset = self._deal, self._deal.ruleset
        seed = deal.seed.hex()
        self._begin(GameDealt(KEY, ruleset.family, ruleset.name, ruleset.rules, (self._label,), (0,), seed), table)
        assert self.game
        for action in deal.actions:
            self.game.play((Played(0, action, 0, 0, ""),))
        self._tell()
        while not deal.result:
            self._since = trio.current_time()
            answer = await self._await_answer(0)
            assert isinstance(answer, PersonAnswer)
            deal.play(answer.action, answer.wall // 1_000_000)
            self.game.play((Played(0, answer.action, answer.wall // 1000, 0, ""),))
            if not deal.result:
                self._tell()
        self.game.remarks = {0: tuple(map(Remark, describe_daily_end(deal)))}
        self._tell()
