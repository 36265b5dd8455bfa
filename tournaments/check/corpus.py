"""Finds the situations of `corpus.jsonl`, and writes it anew: `python -m tournaments.check.corpus`.

Plays games at random under all rulesets, and keeps of each feature the shortest beginning of a game that has it.
The first request of every ruleset is kept too, with as many seats as it allows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from random import Random

import msgspec
from msgspec.structs import replace

from protocol.codec import encode
from referee.ruleset import list_rulesets, load_ruleset
from tournaments.check.features import FEATURES
from tournaments.check.situations import FILE, LINE_BYTES, OUT, Position, Situation

DEALS = 20
"""Games for each ruleset and number of seats."""
MOST_ACTIONS = 500
LEAVES = 0.01
"""The chance that a seat leaves instead of an action, in games where that happens at all."""


def find(rulesets: Sequence[str], deals: int = DEALS) -> list[Situation]:
    """Play so many deals with each number of seats, and return what is worth to be kept."""
    opened: list[Situation] = []
    shortest: dict[str, Situation] = {}
    for name in rulesets:
        least, most = load_ruleset(name).rules.players
        for seats in range(least, most + 1):
            for deal in range(deals):
                for feature, situation in _game(name, seats, deal, shortest):
                    shortest[feature] = situation
        opened.append(Situation(name, most, 0, ""))
        print(f"{name}: {len(shortest)} of {len(FEATURES)} features", file=sys.stderr)
    return _merge(opened, shortest)


def _merge(opened: list[Situation], shortest: dict[str, Situation]) -> list[Situation]:
    """Return each situation once, with the features that it stands for; the shortest first."""
    named: dict[Situation, list[str]] = {situation: [] for situation in opened}
    for feature, situation in shortest.items():
        named.setdefault(situation, []).append(feature)
    found = (replace(situation, features=tuple(names)) for situation, names in named.items())
    return sorted(found, key=lambda situation: (len(situation.actions), situation.ruleset, situation.seats))


def _game(name: str, seats: int, deal: int, shortest: dict[str, Situation]) -> Iterator[tuple[str, Situation]]:
    """Play one game at random; yield each feature that comes sooner than it was found before, and where."""
    random = Random(f"{name} {seats} {deal}")
    style = random.choice((_uniform, _lively, _hoarding))
    leaves = random.random() < 0.2
    played = Position(name, seats, deal)
    actions: list[str] = []
    while played.seat is not None and len(actions) < MOST_ACTIONS:
        if seats > 2 and leaves and random.random() < LEAVES:
            playing = [seat for seat in range(seats) if seat not in played.state.out]
            action = OUT + str(random.choice(playing))
        else:
            told = " ".join(actions)
            wanted = [each for each in FEATURES if each not in shortest or len(told) < len(shortest[each].actions)]
            if wanted:
                request = played.request(1)
                if len(encode(request)) > LINE_BYTES:
                    return
                new = [each for each in wanted if FEATURES[each](request)]
                yield from ((each, Situation(name, seats, deal, told)) for each in new)
            action = style(played.rules.legal(played.state), random)
        played.play(action)
        actions.append(action)


def _uniform(legal: tuple[str, ...], random: Random) -> str:
    return random.choice(legal)


def _lively(legal: tuple[str, ...], random: Random) -> str:
    """Play so that much happens: mostly cards to the centre, pay-off cards first."""
    payoff = [action for action in legal if action.partition("-")[0].endswith("p")]
    centre = [action for action in legal if "-c" in action]
    for wanted, chance in ((payoff, 0.95), (centre, 0.9)):
        if wanted and random.random() < chance:
            return random.choice(wanted)
    return random.choice(legal)


def _hoarding(legal: tuple[str, ...], random: Random) -> str:
    """Pass or discard wherever that is legal, so that piles grow and stalemates come."""
    quiet = [action for action in legal if action == "pass" or "-s" in action]
    return random.choice(quiet if quiet and random.random() < 0.95 else legal)


def main() -> None:
    """Write the corpus anew, and tell what it has no example of."""
    found = find(list_rulesets())
    FILE.write_bytes(b"".join(msgspec.json.encode(situation) + b"\n" for situation in found))
    missing = set(FEATURES) - {feature for situation in found for feature in situation.features}
    print(f"{len(found)} situations; no example of: {', '.join(sorted(missing)) or 'nothing'}", file=sys.stderr)


if __name__ == "__main__":
    main()
