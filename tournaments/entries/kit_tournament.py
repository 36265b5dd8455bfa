"""A tournament of the starter kits: a file with all kits that play on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from malice.referee.bot_seat import greet_bot
from malice.referee.errors import BotError
from malice.referee.records import Isolation
from malice.referee.verdicts import Verdict
from malice.tournaments.entries.bots import load_bot_folder
from malice.tournaments.entries.builds import Say, ensure_built, print_progress
from malice.tournaments.entries.kits import list_languages
from malice.tournaments.league.config import Config

OTHERS = ("greedy", "uniform")
"""Bots to compare the kits with: one far above them, one far below."""

START_MS = 20_000
"""Time to start: on a busy computer a virtual machine needs more than the default."""

TOURNAMENT = """\
# Written by malice new --list --tournament: the starter kits that play on this machine, and bots to compare them with.
name = "languages"
seed = "languages" # a fixed seed: everybody gets the same cards
deals = 10
anchor = "uniform"
init_ms = {start}
entries = [
{entries}
]

[clock]
move_ms = 1000
bank_ms = 30_000
increment_ms = 50
"""


def make_kit_tournament(say: Say = print_progress) -> str:
    """Return a tournament file with every kit that can be built and answers `hello` on this machine.

    Args:
        say: receives a line on each build, and on each kit that is left out, with the reason.

    Raises:
        BotError: none of them can play.
    """
    entries = list(_list_players(say))
    if not entries:
        raise BotError("no starter kit plays on this machine; malice new --list says what they need")
    lines = "\n".join(f'    "{entry}",' for entry in (*entries, *OTHERS))
    return TOURNAMENT.format(start=START_MS, entries=lines)


def _list_players(say: Say) -> Iterator[str]:
    defaults = Config(entries=())
    isolation = Isolation(defaults.isolation, defaults.memory_mb, defaults.freeze)
    for language in list_languages():
        try:
            bot = ensure_built(load_bot_folder(Path(language.kit)), say)
            greet_bot(bot.make_player(bot.manifest.name), START_MS, isolation)
        except BotError as error:
            say(f"left out {language.bot}: {error}")
        except Verdict as verdict:
            say(f"left out {language.bot}: {verdict.quote_stderr()}")
        else:
            yield language.bot
