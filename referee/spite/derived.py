"""What stays fixed for a whole game: the parameters, worked out for a number of seats."""

from __future__ import annotations

from referee.ruleset import Parameters
from referee.spite.packs import fitting, packs, payoff_size
from referee.spite.validation import validate


class DerivedRules:
    """The parameters as the engine asks for them.

    Raises:
        RulesetError: the parameters contradict each other or need more cards than there are.
    """

    def __init__(self, rules: Parameters, seats: int) -> None:
        validate(rules, seats)
        self.rules = rules
        self.seats = seats
        self.teams = _teams(rules, seats)
        self.allies = tuple(tuple(s for s in range(seats) if self.teams[s] == team) for team in self.teams)
        """For each seat the seats that win together with it, itself included."""
        self.partners = tuple(tuple(s for s in self.allies[seat] if s != seat) for seat in range(seats))
        self.payoff_pack, self.deck = packs(rules, seats)
        self.payoff_size = payoff_size(rules, len(self.payoff_pack + self.deck), seats)
        self.centre_slots = _centre_slots(rules, seats)
        self.fits = tuple(fitting(rules, height) for height in range(rules.stack_top))
        """For each height of a centre stack the cards that may be played on it."""
        self.hand_size = rules.hand_size
        self.stack_top = rules.stack_top
        self.turn_limit = rules.max_turns * seats
        self.quiet_limit = rules.no_progress * seats


def _teams(rules: Parameters, seats: int) -> tuple[int, ...]:
    """Return the team of each seat: partners sit opposite."""
    teams = seats if rules.teams == "none" else seats // 2
    return tuple(seat % teams for seat in range(seats))


def _centre_slots(rules: Parameters, seats: int) -> int | None:
    """Return how many centre stacks there may be, None for any number."""
    if rules.centre_limit == "unlimited":
        return None
    return seats + 1 if rules.centre_limit == "players+1" else rules.centre_limit
