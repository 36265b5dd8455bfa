"""Finds the situations of `corpus.jsonl`, and rewrites it: `python -m tests.games.spite.corpus`.

It plays random games of all rulesets, and keeps for each feature the shortest beginning of a game that has it, and
for each ruleset the first request with its most seats.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from random import Random

import msgspec
from msgspec.structs import replace

from malice.protocol.codec import encode
from malice.protocol.messages import Move
from malice.referee.games.spite import FAMILY
from malice.referee.games.spite.features import FEATURES
from malice.referee.rulesets import list_rulesets, load_ruleset
from malice.tournaments.check.fuzz import OUT, REQUEST_BYTES, RareGame, RarePosition

DEALS = 20
"""Games for each ruleset and number of seats."""
MOST_ACTIONS = 500
LEAVES = 0.01
"""The chance that a seat leaves instead of acting, in games where seats leave."""


def list_features(request: Move) -> list[str]:
    """Return the names of the features that a request has."""
    return [name for name, test in FEATURES.items() if test(request)]


def find_situations(rulesets: Sequence[str], deals: int = DEALS) -> list[RarePosition]:
    """Play this many deals with each number of seats, and return the situations to keep."""
    starts: list[RarePosition] = []
    shortest: dict[str, RarePosition] = {}
    for name in rulesets:
        least, most = load_ruleset(name).rules.players
        for seats in range(least, most + 1):
            for deal in range(deals):
                for feature, situation in _play_game(name, seats, deal, shortest):
                    shortest[feature] = situation
        starts.append(RarePosition(name, most, 0, ""))
        print(f"{name}: {len(shortest)} of {len(FEATURES)} features", file=sys.stderr)
    return _merge(starts, shortest)


def _merge(starts: list[RarePosition], shortest: dict[str, RarePosition]) -> list[RarePosition]:
    """Return each situation once, with all features that it represents; the shortest first."""
    features: dict[RarePosition, list[str]] = {situation: [] for situation in starts}
    for feature, situation in shortest.items():
        features.setdefault(situation, []).append(feature)
    merged = (replace(situation, features=tuple(names)) for situation, names in features.items())
    return sorted(merged, key=lambda situation: (len(situation.actions), situation.ruleset, situation.seats))


def _play_game(
    name: str, seats: int, deal: int, shortest: dict[str, RarePosition]
) -> Iterator[tuple[str, RarePosition]]:
    """Play a random game; yield each feature that comes sooner than in `shortest`, with its situation."""
    random = Random(f"{name} {seats} {deal}")
    style = random.choice((_play_uniform, _play_lively, _hoard))
    leaves = random.random() < 0.2
    position = RareGame(name, seats, deal)
    actions: list[str] = []
    while position.seat is not None and len(actions) < MOST_ACTIONS:
        if seats > 2 and leaves and random.random() < LEAVES:
            playing = position.list_playing()
            action = OUT + str(random.choice(playing))
        else:
            so_far = " ".join(actions)
            wanted = [each for each in FEATURES if each not in shortest or len(so_far) < len(shortest[each].actions)]
            if wanted:
                request = position.request(1)
                if len(encode(request)) > REQUEST_BYTES:
                    return
                new = [each for each in wanted if FEATURES[each](request)]
                yield from ((each, RarePosition(name, seats, deal, so_far)) for each in new)
            action = style(position.legal(), random)
        position.play(action)
        actions.append(action)


def _play_uniform(legal: tuple[str, ...], random: Random) -> str:
    return random.choice(legal)


def _play_lively(legal: tuple[str, ...], random: Random) -> str:
    """Choose an action that makes much happen: mostly cards to the centre, pay-off cards first."""
    payoff = [action for action in legal if action.partition("-")[0].endswith("p")]
    centre = [action for action in legal if "-c" in action]
    for wanted, chance in ((payoff, 0.95), (centre, 0.9)):
        if wanted and random.random() < chance:
            return random.choice(wanted)
    return random.choice(legal)


def _hoard(legal: tuple[str, ...], random: Random) -> str:
    """Pass or discard where that is legal, so that piles grow and stalemates arise."""
    quiet = [action for action in legal if action == "pass" or "-s" in action]
    return random.choice(quiet if quiet and random.random() < 0.95 else legal)


def main() -> None:
    """Rewrite the corpus, and print the features that it lacks."""
    situations = find_situations(list_rulesets("spite"))
    (FAMILY.folder / "corpus.jsonl").write_bytes(
        b"".join(msgspec.json.encode(situation) + b"\n" for situation in situations)
    )
    missing = set(FEATURES) - {feature for situation in situations for feature in situation.features}
    print(f"{len(situations)} situations; no example of: {', '.join(sorted(missing)) or 'nothing'}", file=sys.stderr)


if __name__ == "__main__":
    main()
