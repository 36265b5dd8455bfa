"""Golden games of Klondike, one for each ruleset, in a form that people can read.

`python -m tests.games.klondike.playthroughs` from the top of the checkout rewrites them; review the diff like code.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random

from msgspec.json import encode

from malice.referee.course import Course
from malice.referee.games.klondike import FAMILY
from malice.referee.games.klondike.winnable import find_solution
from malice.referee.rules import Result
from malice.referee.rulesets import list_rulesets, load_ruleset

from .playouts import make_course

FOLDER = Path(__file__).parent / "golden"
NAMES = ("solver", "random")
SEEDS = {"klondike-1": 0, "klondike-3": 0}
"""A deal that the search solves, found by trying."""
SHOWN = 12


def render_playthrough(name: str) -> str:
    """Return the text of the golden game: seat 0 sees all cards and solves the deal, seat 1 plays at random."""
    return "\n".join(_render_lines(name)) + "\n"


def _render_lines(name: str) -> Iterator[str]:
    ruleset = load_ruleset(name)
    course = make_course(ruleset.rules, 2, SEEDS[name])
    yield f"{name}, 2 seats: {ruleset.about}"
    yield f'Cards: SHA-256 of "{SEEDS[name]}" is the deal seed. Seat 0 plays a solution, seat 1 any action.'
    yield f"    {encode(course.dealt[0]).decode()}"
    story = sha256(encode(course.dealt))
    solution = iter(find_solution(ruleset.rules, course.state.tables[0].layout) or ())
    random, number = Random(name), 0
    while not isinstance(course.step, Result):
        actions = {seat: next(solution) if seat == 0 else _choose(random, course) for seat in course.step.seats}
        events = course.play(actions)
        story.update(encode((actions, events)))
        number += 1
        if number <= SHOWN:
            yield "> " + ", ".join(f"seat {seat} plays {action}" for seat, action in actions.items())
            yield from (f"    {encode(event).decode()}" for event in events)
    yield f"... after {number} asks:"
    yield from FAMILY.sketch(course.rules.view(course.state, None), NAMES)
    yield encode(course.step).decode()
    yield f"SHA-256 of every action and event, also of those that are not shown: {story.hexdigest()}"


def _choose(random: Random, course: Course) -> str:
    legal = course.rules.legal(course.state, 1)
    return random.choice(legal[:-1] or legal)


def main() -> None:
    """Rewrite every golden game."""
    FOLDER.mkdir(exist_ok=True)
    for name in list_rulesets("klondike"):
        (FOLDER / f"{name}.txt").write_text(render_playthrough(name), encoding="utf-8")


if __name__ == "__main__":
    main()
