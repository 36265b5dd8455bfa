"""Finds and builds the bots of all entries, side by side; a broken one does not keep the others from it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from malice.protocol.errors import MaliceError
from malice.referee.failures import Abandoned
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.builds import Say, build, print_progress
from malice.tournaments.entries.games import list_games
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.entries.parameters import ParameterError
from malice.tournaments.entries.side_by_side import run_concurrently
from malice.tournaments.league.config import LABEL_LENGTH
from malice.tournaments.league.journal import Absence

Find = Callable[[str, Path], Bot]


class FoundBot(Struct, frozen=True):
    """The bot of an entry, ready to start, or else what is known of it and why it is broken."""

    bot: Bot
    absence: Absence | None = None


def find_and_build_bots(words: Sequence[str], base: Path, find: Find, say: Say = print_progress) -> list[FoundBot]:
    """Find and build the bots that entries name, as many at a time as there are processors; twins and variants in turn.

    Whatever goes wrong with one bot keeps only that one from playing: strangers wrote what is read here.

    Args:
        words: what each entry names.
        base: the folder that paths are relative to.
        find: returns the bot that an entry names.
        say: receives whole lines on the builds; what a build prints is quoted only if it fails.

    Raises:
        ParameterError: words give a bot a parameter that it does not have; whoever wrote them must mend them.
    """
    lock = threading.Lock()

    def say_alone(text: str) -> None:
        with lock:
            say(text)

    folders: dict[Path | None, threading.Lock] = {}

    def lock_folder(bot: Bot) -> threading.Lock:
        with lock:
            return folders.setdefault(bot.folder, threading.Lock())

    return run_concurrently([partial(_find_and_build, each, base, find, say_alone, lock_folder) for each in words])


def _find_and_build(
    words: str, base: Path, find: Find, say: Say, lock_folder: Callable[[Bot], threading.Lock], guard: int
) -> FoundBot:
    try:
        bot = find(words, base)
        list_games(bot)
    except (ParameterError, Abandoned):
        raise
    except Exception as error:
        return FoundBot(make_unknown_bot(words), Absence("bot", describe_trouble(error), ""))
    try:
        with lock_folder(bot):
            return FoundBot(build(bot, say, guard=guard).bot)
    except Abandoned:
        raise
    except Exception as error:
        sentence, _, output = describe_trouble(error).partition("\n")
        sentence = sentence.removeprefix(f"{bot.manifest.name}: ").removesuffix(":")
        return FoundBot(bot, Absence("build", sentence, output))


def describe_trouble(error: Exception) -> str:
    """Return what kept a bot from being read, built, copied or started."""
    if isinstance(error, MaliceError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    return f"{type(error).__name__}: {error}"


def make_unknown_bot(words: str) -> Bot:
    """Return what stands for a bot of which nothing is known but the words that name it."""
    name = (Path(words).name or words or "unknown")[:LABEL_LENGTH]
    return Bot(Manifest(name, (words,)), (words,), None, hashlib.sha256(b"").hexdigest())
