"""Golden games, one for each ruleset, in a form that people can read.

`python -m tests.games.spite.playthroughs` from the top of the checkout rewrites them; review the diff like code.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from textwrap import wrap

from msgspec import Struct

from malice.protocol.cards import Cards
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.messages import CardMoved, Count, Deal, Draw, Flip, Pass, Shuffled, TurnBegins, View
from malice.referee.games.spite.parameters import Parameters
from malice.referee.games.spite.state import State
from malice.referee.rules import Ask, Result
from malice.referee.rulesets import list_rulesets, load_ruleset

from .playouts import Moment, make_lively_chooser, play_moments
from .tables import list_legal

FOLDER = Path(__file__).parent / "golden"
MakeEngine = Callable[[Parameters, int], SpiteAndMalice]
MOST_SHOWN = 12
WIDTH = 110

SEATS = {"multi": 5, "multi-3-decks": 4, "cats-multi": 4, "skipbo-short": 3}
"""Rulesets that are not shown with their least number of seats."""
SEEDS = {
    "aces": 46,
    "book": 11,
    "book-end": 115,
    "book-must-play": 6,
    "book-unlimited": 35,
    "cat-and-mouse": 115,
    "cats-multi": 75,
    "cats-unlimited": 24,
    "catsatcards": 104,
    "classic": 13,
    "four-stacks": 12,
    "g4a": 98,
    "gamerules": 102,
    "jokers-kings": 57,
    "jokers-only": 24,
    "loading": 101,
    "massachusetts": 34,
    "match-50": 32,
    "multi": 84,
    "multi-3": 27,
    "multi-3-decks": 73,
    "multi-4": 6,
    "netintell": 44,
    "no-ace": 81,
    "no-ace-seven": 22,
    "partners-4": 109,
    "partners-6": 40,
    "payoff-21": 14,
    "payoff-25": 51,
    "skipbo": 21,
    "skipbo-20": 113,
    "skipbo-partners": 100,
    "skipbo-short": 29,
    "spread": 20,
    "squared": 32,
    "standard": 77,
    "three-deck": 3,
    "two-deck": 52,
    "unlimited": 19,
    "wiki": 49,
    "wiki-4": 105,
}
"""The number of a game in which much happens, found by trying; any other, such as 0, will do."""


def render_playthrough(name: str, make: MakeEngine = SpiteAndMalice) -> str:
    """Return the text of the golden game of a ruleset, as one of the engines plays it."""
    return "\n".join(_render_lines(name, make)) + "\n"


def _render_lines(name: str, make: MakeEngine) -> Iterator[str]:
    ruleset = load_ruleset(name)
    seats = SEATS.get(name, ruleset.rules.players[0])
    seed = f"{name} {SEEDS.get(name, 0)}"
    engine = make(ruleset.rules, seats)
    yield f"{name}, {seats} seats: {ruleset.about}"
    yield f'Cards: SHA-256 of "{seed}" is the deal seed. Actions: the chooser "lively" with the same seed.'
    yield "A line that begins with a seat and | is what this seat alone sees so; all others see the rest alike."

    story = sha256()
    shown = hidden = 0
    kinds: set[str] = set()
    before: State | None = None
    for moment in play_moments(engine, seed, make_lively_chooser(seed)):
        lines = _tell_story(moment)
        story.update("\n".join(lines).encode())
        new = _name_kinds(engine, moment, before) - kinds
        kinds |= new
        over = isinstance(moment.step, Result)
        if before is not None and isinstance(engine.next(before), Ask):
            if over or (new and shown < MOST_SHOWN):
                yield from _show_position(engine, before, hidden)
                yield from lines
                shown, hidden = shown + 1, 0
            else:
                hidden += 1
        elif not hidden:
            yield from lines
        before = moment.state
    assert isinstance(moment.step, Result)
    yield ""
    yield f"places {_join(moment.step.places)}, scores {_join(moment.step.scores)}, reason {moment.step.reason}"
    yield f"SHA-256 of every action and event, also of those that are not shown: {story.hexdigest()}"


def _name_kinds(engine: SpiteAndMalice, moment: Moment, before: State | None) -> set[str]:
    """Name the kinds that a moment is an example of: the first of each kind is shown."""
    kinds = {
        f"shuffle {event.source.strip('0123456789')} {event.target.strip('0123456789')}"
        for event in moment.events
        if isinstance(event, Shuffled)
    }
    if before is None or moment.seat is None:
        return kinds
    legal = list_legal(engine, before)
    if not any("-s" in action for action in legal):
        kinds.add("no discard: " + ("stuck" if "pass" in legal else "forced"))
    source, _, target = moment.action.partition("-")
    if not target:
        return kinds | {moment.action}
    if target[0] == "s" and moment.state.seat == moment.seat:
        kinds.add("fill" if moment.state.turn == before.turn else "fill and a new turn")
    owner = "partner's " * source[0].isdigit()
    return kinds | {f"{owner}{source.lstrip('0123456789')[0]} to {target.lstrip('0123456789')[0]}"}


def _show_position(engine: SpiteAndMalice, state: State, hidden: int) -> Iterator[str]:
    """Show a position as the seats see it, equal lines once, and what the seat to act may do."""
    yield ""
    if hidden:
        yield f"... {hidden} actions ..."
        yield ""
    seen = [list(_show_table(engine.view(state, seat))) for seat in range(engine.seats)]
    for lines in zip(*seen, strict=True):
        if len(set(lines)) == 1:
            yield lines[0]
        else:
            yield from (f"{seat}| {line}" for seat, line in enumerate(lines))
    yield from wrap(
        "legal: " + " ".join(list_legal(engine, state)), WIDTH, subsequent_indent="  ", break_on_hyphens=False
    )


def _show_table(view: View) -> Iterator[str]:
    yield f"turn {view.turn}: stock {view.stock}, aside {view.aside}"
    for slot, stack in enumerate(view.centre):
        if stack.cards:
            yield f"  c{slot}  {_join(stack.cards)}  (height {stack.height}, needs {stack.needs})"
    for owner, shown in enumerate(view.seats):
        left = "" if shown.payoff.left is None else f" of {shown.payoff.left}"
        piles = " ".join(f"  s{index} {_join(pile)}" for index, pile in enumerate(shown.side) if pile)
        payoff = f"pay-off {shown.payoff.top or '-'}{left}"
        yield f"  seat {owner}, team {shown.team}: {payoff}, hand {shown.hand}{piles}"
    yield f"hand {_join(view.hand)}"


def _tell_story(moment: Moment) -> list[str]:
    action = [] if moment.seat is None else [f"> seat {moment.seat} plays {moment.action}"]
    return [*action, *(f"    {_describe(event)}" for event in moment.events)]


def _describe(event: Struct) -> str:
    match event:
        case Deal():
            hands = " | ".join(map(_join, event.hands))
            sides = " | ".join(" ".join(map(_join, own)) for own in event.sides).strip(" |")
            return (
                f"deal: pay-offs {_join(event.payoffs)}, stock {event.stock}, hands {hands}"
                + f", sides {sides}" * bool(sides)
            )
        case TurnBegins():
            return f"turn of seat {event.seat}"
        case CardMoved():
            return f"move {event.card} {event.source} to {event.target}"
        case Flip():
            return f"flip {event.seat}p {event.card}"
        case Draw():
            return f"draw {event.seat}h {_join(event.cards)}"
        case Shuffled():
            return f"shuffle {event.count} of {event.source} into {event.target}"
        case Count():
            return f"count for seat {event.seat}" + (f": {_join(event.left)}" if event.left else "")
        case Pass():
            return f"pass of seat {event.seat}"
        case _:
            return repr(event)


def _join(items: Sequence[object] | Cards) -> str:
    return " ".join(map(str, items))


def main() -> None:
    """Rewrite every playthrough, and remove the playthroughs of rulesets that no longer exist."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name in list_rulesets("spite"):
        (FOLDER / f"{name}.txt").write_text(render_playthrough(name), encoding="utf-8")


if __name__ == "__main__":
    main()
