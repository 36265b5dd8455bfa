"""Watching games in a terminal, action by action."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TextIO

from malice.protocol.messages import Out
from malice.referee.course import Course, choose_dealer
from malice.referee.errors import Abandoned
from malice.referee.families import make_rules
from malice.referee.game import start_course
from malice.referee.records import Batch, GameOrder, Record
from malice.referee.replay import VERDICT, is_void
from malice.referee.seat import Played, Watch
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.transcript import Narrator, describe_begun, format_ending, format_heading

DELAY_MS = 300
"""How long a terminal shows an action before the next one."""


def write_now(out: TextIO, text: str) -> None:
    """Write and flush a text.

    Raises:
        Abandoned: nobody reads any more; all later output is dropped.
    """
    try:
        out.write(text)
        out.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())
        os.close(nowhere)
        raise Abandoned("a reader that went away") from None


class Screen:
    """Shows blocks of lines: in a terminal each block replaces the last one, elsewhere it follows it.

    Args:
        out: the output.
        environment: `TERM=dumb` turns replacing off, `NO_COLOR` bold type.
        delay_ms: how long to show a block; None means `DELAY_MS` in a terminal, and 0 elsewhere.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        out: TextIO,
        environment: Mapping[str, str],
        delay_ms: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._out = out
        self._live = out.isatty() and environment.get("TERM", "dumb") != "dumb"
        self._bold = self._live and not environment.get("NO_COLOR")
        self._delay = (DELAY_MS if self._live else 0) if delay_ms is None else delay_ms
        self._sleep = sleep
        self._height = 0

    def show(self, head: Sequence[str], news: Sequence[str], rest: Sequence[str], *, last: bool = False) -> None:
        """Show a block, and wait.

        Args:
            head: lines above the block, the same for all blocks of a game; outside a terminal written once.
            news: the first lines of the block.
            rest: the lines below them.
            last: whether this block stays, and the next one begins below it.

        Raises:
            Abandoned: nobody watches any more.
        """
        first = not self._height
        if self._bold:
            news = [f"\x1b[1m{line}\x1b[0m" for line in news]
        lines = [*(head if first or self._live else ()), *news, *rest, *([""] if last or not self._live else [])]
        text = self._place_lines(lines) if self._live else "\n".join(lines)
        self._height = 0 if last else len(lines)
        write_now(self._out, text + "\n")
        if self._delay:
            self._sleep(self._delay / 1000)

    def _place_lines(self, lines: Sequence[str]) -> str:
        """The lines with control codes that move the cursor back and clear the last block."""
        up = f"\x1b[{self._height}F" if 0 < self._height < self._rows() else ""
        # The terminal cuts long lines (?7l): if it wrapped them, they would take more rows than we count.
        return f"{up}\x1b[?7l" + "\n".join(f"{line}\x1b[K" for line in lines) + "\x1b[?7h\x1b[J"

    def _rows(self) -> int:
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(self._out.fileno()).lines or 24
        return 24


class Watcher:
    """Replays every game as it is played, and shows a spectator's view after each action.

    Args:
        screen: shows the table.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._head: list[str] = []
        self._names: list[str] = []
        self._news: list[str] = []

    def begin(self, batch: Batch, order: GameOrder) -> Watch:
        """Show the deal; return the function to call after every ask."""
        self._news = []
        self._names = names = [sanitize(batch.players[player].label) for player in order.seating]
        self._head = [format_heading(order.key, batch.ruleset, names)]
        rules = make_rules(batch.family, batch.rules, len(names))
        course = start_course(rules, choose_dealer(bytes.fromhex(order.deal_seed)), order.position or None)
        narrator = Narrator(batch.family, rules, names)
        actions: list[tuple[int, str]] = []
        begun = order.position
        news = [describe_begun(begun)] if begun else narrator.describe_ask(0, (), course.dealt)
        self._show(news, narrator, course)

        def watch(news: Sequence[Played]) -> None:
            first = len(actions)
            actions.extend((each.seat, each.action) for each in news)
            if is_void(actions, rules.teams):
                for index, each in enumerate(news, start=first):
                    self._news += narrator.describe_ask(index, [each], (Out(each.seat, each.action[1:]),))
                return  # the table stays as it was
            codes = {each.seat: each.action[1:] for each in news if each.action.startswith(VERDICT)}
            moves = {each.seat: each.action for each in news if each.seat not in codes}
            events = course.withdraw(codes) if codes else ()
            events += course.play(moves) if moves else ()
            self._show(narrator.describe_ask(first, news, events), narrator, course)

        return watch

    def end(self, record: Record) -> None:
        """Show how the game ended."""
        self._screen.show(self._head, self._news, ["", *format_ending(record, self._names)], last=True)

    def _show(self, news: Iterable[str], narrator: Narrator, course: Course) -> None:
        self._news += news
        if narrator.is_over(course.state):
            return  # `end` shows the rest: the result, perhaps after more verdicts
        self._screen.show(self._head, self._news, narrator.sketch(course.state))
        self._news = []
