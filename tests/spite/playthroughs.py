"""Golden games, one for each ruleset, in a form that people can read.

Written anew by `python -m tests.spite.playthroughs` from the top of the checkout; the diff is to be read like code.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from textwrap import wrap

from protocol.messages import CardMoved, Cards, Count, Deal, Draw, Event, Flip, Pass, Shuffled, TurnBegins, View
from referee.rules import Result, Turn
from referee.ruleset import list_rulesets, load_ruleset
from referee.spite import SpiteAndMalice
from referee.spite.state import State

from .playouts import Moment, lively, moments

FOLDER = Path(__file__).parents[1] / "playthroughs"
MOST_SHOWN = 12
WIDTH = 110

SEATS = {"multi": 5, "multi-3-decks": 4, "cats-multi": 4, "skipbo-short": 3}
"""Not every ruleset is shown with its least number of seats."""
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
"""The number of a game in which much happens; it is found by trying, and 0 does as well."""


def playthrough(name: str) -> str:
    """Return the text of the game that stands for the ruleset `name`."""
    return "\n".join(_lines(name)) + "\n"


def _lines(name: str) -> Iterator[str]:
    ruleset = load_ruleset(name)
    seats = SEATS.get(name, ruleset.rules.players[0])
    seed = f"{name} {SEEDS.get(name, 0)}"
    played = SpiteAndMalice(ruleset.rules, seats)
    yield f"{name}, {seats} seats: {ruleset.about}"
    yield f'Cards: SHA-256 of "{seed}" is the deal seed. Actions: the chooser "lively" with the same seed.'
    yield "A line that begins with a seat and | is what this seat alone sees so; all others see the rest alike."

    story = sha256()
    shown = hidden = 0
    kinds: set[str] = set()
    before: State | None = None
    for moment in moments(played, seed, lively(seed)):
        told = _story(moment)
        story.update("\n".join(told).encode())
        new = _kinds(played, moment, before) - kinds
        kinds |= new
        over = isinstance(moment.step, Result)
        if before is not None and isinstance(played.next(before), Turn):
            if over or (new and shown < MOST_SHOWN):
                yield from _position(played, before, hidden)
                yield from told
                shown, hidden = shown + 1, 0
            else:
                hidden += 1
        elif not hidden:
            yield from told
        before = moment.state
    assert isinstance(moment.step, Result)
    yield ""
    yield f"places {_row(moment.step.places)}, scores {_row(moment.step.scores)}, reason {moment.step.reason}"
    yield f"SHA-256 of every action and event, also of those that are not shown: {story.hexdigest()}"


def _kinds(played: SpiteAndMalice, moment: Moment, before: State | None) -> set[str]:
    """Name what a moment is an example of: the first of each kind is shown."""
    kinds = {
        f"shuffle {event.source.strip('0123456789')} {event.target.strip('0123456789')}"
        for event in moment.events
        if isinstance(event, Shuffled)
    }
    if before is None or moment.seat is None:
        return kinds
    legal = played.legal(before)
    if not any("-s" in action for action in legal):
        kinds.add("no discard: " + ("stuck" if "pass" in legal else "forced"))
    source, _, target = moment.action.partition("-")
    if not target:
        return kinds | {moment.action}
    if target[0] == "s" and moment.state.seat == moment.seat:
        kinds.add("fill" if moment.state.turn == before.turn else "fill and a new turn")
    owner = "partner's " * source[0].isdigit()
    return kinds | {f"{owner}{source.lstrip('0123456789')[0]} to {target.lstrip('0123456789')[0]}"}


def _position(played: SpiteAndMalice, state: State, hidden: int) -> Iterator[str]:
    """Show a position as the seats see it, what is alike once, and what the seat to act may do."""
    yield ""
    if hidden:
        yield f"... {hidden} actions ..."
        yield ""
    seen = [list(_table(played.view(state, seat))) for seat in range(played.seats)]
    for lines in zip(*seen, strict=True):
        if len(set(lines)) == 1:
            yield lines[0]
        else:
            yield from (f"{seat}| {line}" for seat, line in enumerate(lines))
    yield from wrap("legal: " + " ".join(played.legal(state)), WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _table(view: View) -> Iterator[str]:
    yield f"turn {view.turn}: stock {view.stock}, aside {view.aside}"
    for slot, stack in enumerate(view.centre):
        if stack.cards:
            yield f"  c{slot}  {_row(stack.cards)}  (height {stack.height}, needs {stack.needs})"
    for owner, shown in enumerate(view.seats):
        left = "" if shown.payoff.left is None else f" of {shown.payoff.left}"
        piles = " ".join(f"  s{index} {_row(pile)}" for index, pile in enumerate(shown.side) if pile)
        payoff = f"pay-off {shown.payoff.top or '-'}{left}"
        yield f"  seat {owner}, team {shown.team}: {payoff}, hand {shown.hand}{piles}"
    yield f"hand {_row(view.hand)}"


def _story(moment: Moment) -> list[str]:
    action = [] if moment.seat is None else [f"> seat {moment.seat} plays {moment.action}"]
    return [*action, *(f"    {_told(event)}" for event in moment.events)]


def _told(event: Event) -> str:
    match event:
        case Deal():
            hands = " | ".join(map(_row, event.hands))
            sides = " | ".join(" ".join(map(_row, own)) for own in event.sides).strip(" |")
            return (
                f"deal: pay-offs {_row(event.payoffs)}, stock {event.stock}, hands {hands}"
                + f", sides {sides}" * bool(sides)
            )
        case TurnBegins():
            return f"turn of seat {event.seat}"
        case CardMoved():
            return f"move {event.card} {event.source} to {event.target}"
        case Flip():
            return f"flip {event.seat}p {event.card}"
        case Draw():
            return f"draw {event.seat}h {_row(event.cards)}"
        case Shuffled():
            return f"shuffle {event.count} of {event.source} into {event.target}"
        case Count():
            return f"count for seat {event.seat}" + (f": {_row(event.left)}" if event.left else "")
        case Pass():
            return f"pass of seat {event.seat}"
        case _:
            return repr(event)


def _row(items: Sequence[object] | Cards) -> str:
    return " ".join(map(str, items))


def main() -> None:
    """Write every playthrough anew, and remove those of rulesets that are gone."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name in list_rulesets():
        (FOLDER / f"{name}.txt").write_text(playthrough(name), encoding="utf-8")


if __name__ == "__main__":
    main()
