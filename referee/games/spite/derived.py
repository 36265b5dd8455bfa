"""What stays fixed for a whole game: the parameters, applied to a number of seats."""

from __future__ import annotations

from malice.referee.games.spite.packs import count_payoff_cards, list_fitting_cards, list_packs
from malice.referee.games.spite.parameters import Parameters
from malice.referee.games.spite.validation import validate


class DerivedRules:
    """The parameters in the form that the engine needs.

    Raises:
        RulesetError: the parameters contradict each other or need more cards than there are.
    """

    def __init__(self, rules: Parameters, seats: int) -> None:
        validate(rules, seats)
        self.rules = rules
        self.seats = seats
        self.teams = _assign_teams(rules, seats)
        self.allies = tuple(tuple(s for s in range(seats) if self.teams[s] == team) for team in self.teams)
        """For each seat its whole team, itself included."""
        self.partners = tuple(tuple(s for s in self.allies[seat] if s != seat) for seat in range(seats))
        self.payoff_pack, self.deck = list_packs(rules, seats)
        self.payoff_size = count_payoff_cards(rules, len(self.payoff_pack + self.deck), seats)
        self.centre_slots = _count_centre_slots(rules, seats)
        self.fits = tuple(list_fitting_cards(rules, height) for height in range(rules.stack_top))
        """For each height of a centre stack the cards that fit on it."""
        self.hand_size = rules.hand_size
        self.stack_top = rules.stack_top
        self.turn_limit = rules.max_turns * seats
        self.quiet_limit = rules.no_progress * seats


def _assign_teams(rules: Parameters, seats: int) -> tuple[int, ...]:
    """Return the team of each seat: partners sit opposite."""
    teams = seats if rules.teams == "none" else seats // 2
    return tuple(seat % teams for seat in range(seats))


def _count_centre_slots(rules: Parameters, seats: int) -> int | None:
    """Return how many centre stacks there may be; None means any number."""
    if rules.centre_limit == "unlimited":
        return None
    return seats + 1 if rules.centre_limit == "players+1" else rules.centre_limit
