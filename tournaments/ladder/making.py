"""Makes the ratings of a ladder again, from games of neighbouring rungs.

`python -m malice.tournaments.ladder.making LADDER [--deals N] [--jobs N] [--bot LABEL=BOT] [--seed WORD]`

LADDER is a file, or the name of a ladder that ships. Each two neighbours play until the file holds N of their deals,
both games of each; without `--deals` none plays. It prints the file with the ratings that follow. Ctrl-C ends it with
the deals that are complete, and what it prints then can be continued. `--bot` freezes a bot for the rung of that label
first, and drops the deals of the bot that was there.
"""

from __future__ import annotations

import hashlib
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from malice.referee.records import Isolation
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.ladder.climb import THOUSAND, Climb, ClimbTerms
from malice.tournaments.ladder.ladders import (
    FOLDER,
    Ladder,
    LadderFile,
    Rung,
    encode_toml,
    freeze_bot,
    load_rung,
    read_ladder,
)
from malice.tournaments.ratings.placement import add_steps

ANCHORED = 1000
"""The rating of the anchor."""


def main(words: Sequence[str] | None = None) -> int:
    """Make a ladder; the exit status is 0."""
    parser = ArgumentParser(prog="python -m malice.tournaments.ladder.making", description=__doc__)
    parser.add_argument("ladder")
    parser.add_argument("--deals", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--bot", action="append", default=[], metavar="LABEL=BOT")
    parser.add_argument("--seed", default="ladder")
    given = parser.parse_args(words)
    path = Path(given.ladder)
    ladder = read_ladder(path if path.suffix == ".toml" else FOLDER / f"{path}.toml")
    for label, _, bot in (each.partition("=") for each in given.bot):
        ladder = _freeze(ladder, label, find_bot(bot))
    with TemporaryDirectory(prefix="malice-") as folder:
        kept = KeptBots(Path(folder, "making.db"))
        terms = ClimbTerms(
            hashlib.sha256((ladder.file.seed or given.seed).encode()).digest(),
            given.deals,
            given.jobs,
            isolation=Isolation("auto"),
        )
        measure = _measure_alone if ladder.alone else _measure_steps
        sys.stdout.write(format_ladder(measure(ladder, kept, terms)))
    return 0


def _freeze(ladder: Ladder, label: str, bot: Bot) -> Ladder:
    hash = freeze_bot(bot)
    rungs = list(ladder.rungs)
    (place,) = (place for place, rung in enumerate(rungs) if rung.label == label)
    rungs[place] = replace(rungs[place], bot=hash, deals=())
    if not ladder.alone and place + 1 < len(rungs):
        rungs[place + 1] = replace(rungs[place + 1], deals=())  # those it played against the bot that was there
    return replace(ladder, file=replace(ladder.file, rungs=tuple(rungs)))


def _measure_steps(ladder: Ladder, kept: KeptBots, terms: ClimbTerms) -> LadderFile:
    """Let each rung meet the one below."""
    rungs = list(ladder.rungs)
    for place in range(1, len(rungs)):
        rungs[place], stopped = _play(ladder, kept, (rungs[place], rungs[place - 1]), terms)
        if stopped:
            break
    return replace(ladder.file, rungs=rate_rungs(rungs, ladder.file.anchor))


def rate_rungs(rungs: Sequence[Rung], anchor: str) -> tuple[Rung, ...]:
    """Rate rungs by their deals, in whole Elo; the anchor has 1,000."""
    ratings = add_steps([rung.deals for rung in rungs[1:]])
    if None in ratings:
        raise ValueError(f"expected that each rung takes points off the next, got {[rung.deals for rung in rungs]}")
    origin = next(rating for rung, rating in zip(rungs, ratings, strict=True) if rung.label == anchor)
    return tuple(
        replace(rung, rating=ANCHORED + round((rating or 0) - (origin or 0)))
        for rung, rating in zip(rungs, ratings, strict=True)
    )


def _measure_alone(ladder: Ladder, kept: KeptBots, terms: ClimbTerms) -> LadderFile:
    """Let each rung play the deals of the ladder."""
    rungs = list(ladder.rungs)
    for place, rung in enumerate(rungs):
        rung, stopped = _play(ladder, kept, (rung, rungs[0]), terms)
        if rung.deals:
            rungs[place] = replace(rung, rating=round(rung.deals[1] / sum(rung.deals) * THOUSAND))
        if stopped:
            break
    return replace(ladder.file, rungs=tuple(sorted(rungs, key=lambda rung: rung.rating)))


def _play(ladder: Ladder, kept: KeptBots, pair: tuple[Rung, Rung], terms: ClimbTerms) -> tuple[Rung, bool]:
    """Let a pair play the deals that are missing; the first with all its deals, and whether a signal came."""
    one, other = pair
    played = sum(one.deals)
    if played >= terms.deals:
        return one, False
    players = [load_rung(rung, kept).make_player(rung.label) for rung in pair]

    def tell(climb: Climb) -> None:
        if climb.deals % 50 == 0:
            print(f"{one.label} v {other.label}: {played + climb.deals} deals", file=sys.stderr, flush=True)

    seed = hashlib.sha256(terms.seed + f"{one.label} {other.label}".encode()).digest()
    missing = replace(terms, seed=terms.seed if ladder.alone else seed, deals=terms.deals - played)
    climb = Climb(ladder, players[0], [(other, players[1])], missing, tell)
    (opposition,) = climb.oppositions
    opposition.begun = played  # the cards of the deals before are known
    climb.play()
    if opposition.faults or opposition.spoilt:
        raise SystemExit(
            f"{one.label} v {other.label}: {opposition.faults + opposition.spoilt} faults; nothing may disturb a ladder"
        )
    counts = (sum(both) for both in zip_longest(one.deals, opposition.counts, fillvalue=0))
    return replace(one, deals=tuple(counts)), climb.stopped


def format_ladder(file: LadderFile) -> str:
    """The file of a ladder."""
    lines = [
        f"{name} = {encode_toml(value)}" for name in ("ruleset", "anchor", "seed") if (value := getattr(file, name))
    ]
    if file.init_ms != LadderFile("", ()).init_ms:
        lines.append(f"init_ms = {file.init_ms}")
    default = LadderFile("", ()).clock
    changed = {
        name: getattr(file.clock, name)
        for name in file.clock.__struct_fields__
        if getattr(file.clock, name) != getattr(default, name)
    }
    if changed:
        lines.append(f"clock = {encode_toml(changed)}")
    for rung in file.rungs:
        lines += ["", "[[rungs]]", f"label = {encode_toml(rung.label)}", f"bot = {encode_toml(rung.bot)}"]
        lines += [f"parameters = {encode_toml(rung.parameters)}"] * bool(rung.parameters)
        lines += [f"rating = {rung.rating:g}"]
        lines += [f"deals = {encode_toml(list(rung.deals))}"] * bool(rung.deals)
    return "\n".join(lines) + os.linesep


if __name__ == "__main__":
    sys.exit(main())
