"""Golden games, one for each ruleset, in a form that people can read.

`python -m tests.games.nuts.playthroughs` from the top of the checkout rewrites them; review the diff like code.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import to_builtins

from malice.referee.games.nuts import words
from malice.referee.rules import Ask, Result
from malice.referee.rulesets import list_rulesets, load_ruleset

from .tables import Moment, choose_lively, game, play_moments

FOLDER = Path(__file__).parent / "golden"
OPENING = 8
"""Ticks at the beginning that are shown."""
SEEDS = {"nuts": 10, "nuts-2": 1, "nuts-at-once": 6}
"""The number of a game in which much happens, found by trying."""


def render_playthrough(name: str) -> str:
    """Return the text of the golden game of a ruleset."""
    return "\n".join(_render_lines(name)) + "\n"


def _render_lines(name: str) -> Iterator[str]:
    text = f"{name} {SEEDS[name]}"
    seed = sha256(text.encode()).digest()
    engine = game(name)
    names = [f"seat {seat}" for seat in range(engine.seats)]
    yield f"{name}, {engine.seats} seats: {load_ruleset(name).about}"
    yield f'Cards: SHA-256 of "{text}" is the deal seed. Actions: the chooser "lively" with the same seed.'

    story = sha256()
    kinds: set[str] = set()
    hidden = 0
    asked: Moment | None = None
    for moment in play_moments(engine, seed, choose_lively(seed)):
        lines = [f"> {seat} {action}" for seat, action in sorted(moment.actions.items())]
        lines += [f"    {_write(event)}" for event in moment.events]
        story.update("\n".join(lines).encode())
        new = {to_builtins(event)["type"] for event in moment.events} - kinds
        kinds |= new
        if new or moment.state.tick <= OPENING or isinstance(moment.step, Result):
            if asked and moment.actions:
                yield ""
                if hidden:
                    yield f"... {hidden} ticks ..."
                    yield ""
                hidden = 0
                yield from words.sketch(engine.view(asked.state, None), names)
            yield from lines
        elif moment.actions:
            hidden += 1
        asked = moment if isinstance(moment.step, Ask) else None
    assert isinstance(moment.step, Result)
    yield ""
    yield from words.sketch(engine.view(moment.state, None), names)
    step = moment.step
    yield f"places {step.places}, scores {step.scores}, reason {step.reason}"
    yield f"SHA-256 of every action and event, also of those that are not shown: {story.hexdigest()}"


def _write(event: object) -> str:
    fields = to_builtins(event)
    if fields["type"] == "deal":
        sides = [" | ".join(" ".join(pile) for pile in (s["nuts"], *s["columns"], s["stock"])) for s in fields["sides"]]
        return "deal " + " || ".join(sides)
    values = (" ".join(map(str, value)) if isinstance(value, tuple) else value for value in fields.values())
    return " ".join(map(str, values))


def main() -> None:
    """Rewrite every playthrough."""
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name in list_rulesets("nuts"):
        (FOLDER / f"{name}.txt").write_text(render_playthrough(name), encoding="utf-8")


if __name__ == "__main__":
    main()
