"""Golden games, one for each ruleset, in a form that people can read.

`python -m tests.games.double_solitaire.playthroughs` from the top of the checkout rewrites them; review the diff.
"""

from collections.abc import Iterator
from pathlib import Path

from malice.referee.games.double_solitaire import FAMILY, DoubleSolitaire
from malice.referee.rules import Result
from malice.referee.rulesets import list_rulesets, load_ruleset

from .tables import make_lively_chooser, play_moments

FOLDER = Path(__file__).parent / "golden"
NAMES = ("Ann", "Bob")
SEEDS = {"double-solitaire": 6}
"""The number of a game in which much happens, found by trying; any other will do."""
SHOWN = 10
"""Turns from one picture of the table to the next."""


def render_playthrough(name: str) -> str:
    """Return the text of the golden game of a ruleset."""
    return "\n".join(_render_lines(name)) + "\n"


def _render_lines(name: str) -> Iterator[str]:
    ruleset = load_ruleset(name)
    engine = DoubleSolitaire(ruleset.rules, 2)
    seed = f"{name} {SEEDS.get(name, 0)}"
    yield f"{name}: {ruleset.about}"
    yield f'Cards: SHA-256 of "{seed}" is the deal seed. Actions: the chooser "lively" with the same seed.'
    for moment in play_moments(engine, seed, make_lively_chooser(seed)):
        state = moment.state
        if moment.before:
            yield f"> {NAMES[moment.before.seat]} {moment.action}"
        told = [FAMILY.describe_event(event, NAMES, None) for event in moment.events]
        yield from (f"    {words}" for words in told)
        if not moment.before or (state.turn != moment.before.turn and state.turn % SHOWN == 1):
            yield from FAMILY.sketch(engine.view(state, None), NAMES)
        if not isinstance(moment.step, Result):
            yield f"    legal: {' '.join(engine.legal(state, state.seat))}"
        else:
            yield from FAMILY.sketch(engine.view(state, None), NAMES)
            places, scores = (" ".join(map(str, figures)) for figures in (moment.step.places, moment.step.scores))
            yield f"places {places}, scores {scores}, reason {moment.step.reason}"


def main() -> None:
    """Rewrite every playthrough."""
    for name in list_rulesets(FAMILY.name):
        (FOLDER / f"{name}.txt").write_text(render_playthrough(name), encoding="utf-8")


if __name__ == "__main__":
    main()
