"""Every parameter of Spite & Malice and its relatives, which ones go together, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from malice.protocol.cards import CARDS, JOKER, ORDER, RANKS, VALUE, Cards, make_french_pack, make_skipbo_pack
from malice.referee.errors import RulesetError
from malice.referee.rules import MatchTerms


class Compulsory(Struct, frozen=True, forbid_unknown_fields=True):
    """Ranks that must be played to the centre as soon as they fit, by the zone they lie in."""

    hand: str = ""
    """Ranks that may not be kept in the hand, such as "A" or "A2": while such a card fits in the centre, no other card
    may move and no turn may end; `count` stays legal. A wild card is never forced."""
    payoff: str = ""
    """Ranks that must go to the centre from the top of the seat's own pay-off pile as soon as they fit."""
    side: str = ""
    """Ranks that must go to the centre from the tops of the seat's own side stacks as soon as they fit."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every parameter of Spite & Malice and its relatives; the defaults are `classic` with spread side stacks."""

    players: tuple[int, int] = (2, 2)
    """The least and the greatest number of seats, two to eight; play passes from each seat to the next."""
    teams: Literal["none", "2x2", "3x2"] = "none"
    """Partners: "2x2" makes two pairs of four seats, "3x2" three pairs of six. Partners sit opposite, play from each
    other's pay-off and side tops to the centre, and win when the pay-off piles of both are empty."""
    decks: int | Literal["players"] = 2
    """How many packs are in play, including those of the pay-off piles; "players" means one for each seat."""
    jokers: int = 0
    """How many jokers are added in total; they are wild, and go into the stock's pack."""
    deck_kind: Literal["french", "skipbo"] = "french"
    """What a pack is: "french" means 52 cards in four suits; "skipbo" means 162 cards without suits, twelve of each
    rank from 1 to 12 and 18 wild."""
    payoff_source: Literal["mixed", "separate_pack"] = "mixed"
    """Where pay-off piles come from: "mixed" deals them from the same cards as the rest, "separate_pack" from whole
    packs of their own, which they use up."""
    payoff_size: int | float = 20
    """Cards in each pay-off pile. A number below 1 is the share of all cards that the piles hold together: 0.425 of 104
    cards gives two seats 22 each, rounded down."""
    hand_size: int = 5
    """How many cards a hand is filled up to, once a turn and whenever it has been played out."""
    refill_at: Literal["turn_start", "turn_end"] = "turn_start"
    """When a hand is filled up: at the start of the seat's turn, or at its end. A hand that is played out in the middle
    of a turn is filled at once in either case."""
    wild_kings: bool = True
    """Whether a king may stand for any rank in the centre; otherwise it is the thirteenth rank."""
    wild_ban: str = ""
    """Ranks that no wild card may stand for, such as "A" or "A7"; with "A", only an ace starts a centre stack."""
    stack_top: int = 12
    """The rank, 2 to 13, that completes a centre stack: 12 is the queen, 13 the king."""
    centre_limit: int | Literal["unlimited", "players+1"] = 3
    """How many centre stacks there may be at a time: a number, one more than there are seats, or any number."""
    side_count: int = 4
    """How many side stacks each seat has; an empty one takes any card."""
    side_rule: Literal["any", "equal_or_one_lower"] = "any"
    """What a side stack accepts: "any" card, or only a card "equal_or_one_lower" than its top. A wild card there stands
    for every rank that the order of the stack allows; an empty stack takes any card."""
    side_initial: int = 0
    """Cards dealt face up to each side stack before the game begins."""
    fill_empty_sides: bool = False
    """Whether a seat must put a card of its hand on each of its empty side stacks right before the discard that ends
    the turn; once it has filled the first, nothing more goes to the centre. A hand too short for that is filled up, and
    the same seat begins a new turn."""
    discard: Literal["mandatory", "optional"] = "mandatory"
    """How a turn ends: "mandatory" means by a discard, as long as one is possible, "optional" by a discard or a
    pass."""
    compulsory: Compulsory = Compulsory()
    """Ranks that must be played to the centre as soon as they fit, for each zone that they may lie in."""
    loading: Literal["none", "suit_adjacent"] = "none"
    """Whether a seat may put cards of its hand, or its own pay-off top, on an opponent's pay-off pile: never, or in
    suit, one rank higher or lower than its top. The loaded card is the new top. Jokers are neither loaded nor covered;
    no ace goes on a king."""
    recycle: Literal["shuffle", "bottom", "aside"] = "shuffle"
    """Where a completed centre stack goes: "shuffle" shuffles it into the stock, "bottom" shuffles it by itself and
    puts it under the stock, "aside" sets it aside until the stock cannot fill a hand and takes in all that lies
    there."""
    last_resort_recycle: bool = False
    """Whether the open centre stacks, once nothing lies aside, give up all cards but their tops to the stock. They do
    so only if the stock is then not out by `stock_out_when`: with "need" it must fill the hand, with any other value,
    "play_on" included, one card is enough. The stacks keep their heights."""
    stock_out_when: Literal["need", "empty", "none", "play_on"] = "need"
    """When the stock is out, which ends the game: when a hand cannot be filled completely ("need"), when the last card
    was drawn ("empty"), or when nothing can be drawn at all ("none"). With "play_on" hands get what there is, a seat
    with nothing to discard may pass, even if a card fits in the centre, and a round of passes ends the game."""
    stock_out_result: Literal["draw", "fewest"] = "draw"
    """Who wins when the stock is out: nobody, or the team with the fewest pay-off cards left. With "draw" a bot that
    never plays to the centre can hold almost any opponent to a draw."""
    stalemate: Literal["end", "must_play", "redeal"] = "end"
    """What happens once all seats still in the game have passed, each in a turn without a card played: "end" ends the
    game, "must_play" forces aces and twos out of the hands until a card moves, but ends the game after a second such
    round, "redeal" shuffles all but the pay-off piles and the cards of withdrawn seats, and deals new hands."""
    stalemate_result: Literal["draw", "fewest"] = "fewest"
    """Who wins a game that a stalemate ends: nobody, or the team with the fewest pay-off cards left."""
    redeals: int = 3
    """How many redeals one game may have; the next stalemate ends it."""
    first_player: Literal["high_payoff", "low_payoff", "random", "seat"] = "high_payoff"
    """Who starts: the seat with the highest or the lowest first pay-off card (king above queen, joker above king), a
    seat drawn by lot, or seat 0. A deal is played once in each rotation of the seats, so with "seat" all bots take
    turns to start."""
    first_tie: Literal["reshuffle_own", "redeal_together"] = "reshuffle_own"
    """What decides between equal first pay-off cards: those seats each shuffle their own pile, or their piles are
    shuffled together and dealt again."""
    side_visible: Literal["all", "top"] = "all"
    """How side stacks lie: spread so that "all" cards can be read, or squared so that only the "top" can be seen and
    the rest has to be remembered."""
    payoff_count: Literal["public", "on_request", "on_request_own"] = "public"
    """Who sees how many pay-off cards are left: everybody at any time, or nobody until a seat asks by the action
    `count`, once a turn and at no cost. With "on_request" all seats then see the answer until a card leaves or joins a
    pay-off pile, and from then on `count` is legal again; with "on_request_own" only the seat that asked sees it, for
    the rest of its turn."""
    scoring: Literal["win_only", "five_plus", "remain_only", "skipbo"] = "five_plus"
    """What the winner scores: 1 point ("win_only"); 5 for the last pay-off card and 1 for each card that the others
    have more than the winner ("five_plus"); only the latter ("remain_only"); or 25 and 5 for each such card ("skipbo").
    A game that ends because all other teams have left scores as if the winner had played its last pay-off card: a crash
    is never cheaper than a defeat. Ratings ignore points."""
    match_target: int = 0
    """Points that win a series of games; 0 means single games."""
    max_turns: int = 300
    """A safety cap: after this many turns for each seat the game ends, and the fewest pay-off cards win."""
    no_progress: int = 100
    """A safety cap: after this many turns for each seat without a pay-off card played to the centre, the game ends, and
    the fewest pay-off cards win."""
    tie_cap: int = 50
    """A safety cap: after this many ties of first pay-off cards, the starting seat is drawn by lot."""


def match(rules: Parameters) -> MatchTerms:
    """What a tournament must know of the parameters."""
    return MatchTerms(rules.players, rules.match_target, rules.max_turns)


def classify(rules: Parameters) -> object:
    """Equal values for parameters under which a bot sees and plays the same kinds of things."""
    return (
        rules.teams,
        rules.players[1] > 2,
        rules.deck_kind,
        rules.jokers > 0,
        rules.centre_limit == "unlimited",
        rules.side_rule,
        rules.side_visible,
        rules.fill_empty_sides,
        rules.discard,
        rules.loading,
        rules.payoff_count,
    )


FRENCH = 52


def list_packs(rules: Parameters, seats: int) -> tuple[Cards, Cards]:
    """The pay-off piles' own pack, which may be empty, and the pack of everything else."""
    count = seats if rules.decks == "players" else rules.decks
    pack = make_skipbo_pack() if rules.deck_kind == "skipbo" else make_french_pack()
    separate = count_payoff_packs(rules, seats)
    return pack * separate, pack * (count - separate) + (JOKER,) * rules.jokers


def count_payoff_packs(rules: Parameters, seats: int) -> int:
    if rules.payoff_source == "mixed" or not isinstance(rules.payoff_size, int):
        return 0
    return seats * rules.payoff_size // FRENCH


def count_payoff_cards(rules: Parameters, cards: int, seats: int) -> int:
    """The size of each pay-off pile: the parameter itself, or as a share of all cards, rounded down."""
    if isinstance(rules.payoff_size, int):
        return rules.payoff_size
    return int(rules.payoff_size * cards / seats)


def is_wild(rules: Parameters, card: str) -> bool:
    """Tell whether `card` can stand for others in the centre."""
    return card == JOKER or (rules.wild_kings and card[0] == "K")


def list_fitting_cards(rules: Parameters, height: int) -> frozenset[str]:
    natural = {card for card in CARDS if VALUE[card] == height + 1}
    if RANKS[height] in rules.wild_ban:
        return frozenset(natural)
    return frozenset(natural | {card for card in CARDS if is_wild(rules, card)})


MOST_SEATS = 8
TEAM_SEATS = {"none": None, "2x2": 4, "3x2": 6}
LEAST = {
    "decks": 1,
    "jokers": 0,
    "payoff_size": 1,
    "hand_size": 1,
    "centre_limit": 1,
    "side_count": 1,
    "side_initial": 0,
    "redeals": 0,
    "match_target": 0,
    "max_turns": 1,
    "no_progress": 1,
    "tie_cap": 0,
}

MOST = 10_000
"""The largest number in any parameter: no game needs more."""

Complaints = Iterator[str]


def validate(rules: Parameters, seats: int) -> None:
    """Check that the parameters make a game for that many seats.

    Raises:
        RulesetError: they do not; the message gives every reason.
    """
    for checks in (
        (_check_numbers, _check_ranks),
        (_check_seats, _check_skipbo, _check_payoff_packs, _check_effects),
        (_check_deal, _check_fit),
    ):
        complaints = [complaint for check in checks for complaint in check(rules, seats)]
        if complaints:
            raise RulesetError("; ".join(complaints))


def _check_numbers(rules: Parameters, seats: int) -> Complaints:
    for field, least in LEAST.items():
        value = getattr(rules, field)
        if isinstance(value, int) and value < least:
            yield f"{field} = {value}: expected {least} or more"
        if isinstance(value, int) and value > MOST:
            yield f"{field} = {value}: expected {MOST} or less"
    if isinstance(rules.payoff_size, float) and not 0 < rules.payoff_size < 1:
        yield f"payoff_size = {rules.payoff_size}: expected a whole number, or a share between 0 and 1"
    if not 2 <= rules.stack_top <= 13:
        yield f"stack_top = {rules.stack_top}: expected 2 to 13"
    least, most = rules.players
    if not 2 <= least <= most <= MOST_SEATS:
        yield f"players = [{least}, {most}]: expected a range within 2 to {MOST_SEATS}"
    elif not least <= seats <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        yield f"players = [{least}, {most}]: expected {expected} seats, got {seats}"


def _check_ranks(rules: Parameters, seats: int) -> Complaints:
    known = RANKS[: rules.stack_top]
    for field, ranks in _list_rank_fields(rules):
        unknown = "".join(rank for rank in ranks if rank not in known)
        if unknown:
            yield f"{field} = {ranks!r}: expected ranks out of {known!r}, got {unknown!r}"
        if len(set(ranks)) < len(ranks):
            yield f"{field} = {ranks!r}: expected each rank once"
    if rules.wild_kings:
        for field, ranks in _list_rank_fields(rules)[1:]:
            if "K" in ranks:
                yield f"{field} = {ranks!r} contradicts wild_kings = true: a wild card is never forced"


def _list_rank_fields(rules: Parameters) -> list[tuple[str, str]]:
    forced = rules.compulsory
    zones = [(f"compulsory.{zone}", getattr(forced, zone)) for zone in forced.__struct_fields__]
    return [("wild_ban", rules.wild_ban), *zones]


def _check_seats(rules: Parameters, seats: int) -> Complaints:
    needed = TEAM_SEATS[rules.teams]
    if needed and seats != needed:
        yield f"teams = {rules.teams!r} contradicts a game of {seats} seats: it needs {needed}"


def _check_skipbo(rules: Parameters, seats: int) -> Complaints:
    if rules.deck_kind == "skipbo":
        if rules.wild_kings:
            yield "wild_kings = true contradicts deck_kind = 'skipbo': there are no kings"
        if rules.loading != "none":
            yield f"loading = {rules.loading!r} contradicts deck_kind = 'skipbo': its cards have no suits"
        if rules.payoff_source != "mixed":
            yield f"payoff_source = {rules.payoff_source!r} contradicts deck_kind = 'skipbo': it is one pack"


def _check_payoff_packs(rules: Parameters, seats: int) -> Complaints:
    if rules.payoff_source == "mixed":
        return
    if not isinstance(rules.payoff_size, int):
        yield (
            f"payoff_size = {rules.payoff_size} contradicts payoff_source = 'separate_pack':"
            " expected a whole number of cards"
        )
    elif seats * rules.payoff_size % FRENCH:
        yield (
            f"payoff_size = {rules.payoff_size} contradicts payoff_source = 'separate_pack':"
            f" {seats} piles do not use up whole packs of {FRENCH}"
        )
    else:
        decks = seats if rules.decks == "players" else rules.decks
        separate = count_payoff_packs(rules, seats)
        if decks <= separate:
            yield (
                f"decks = {rules.decks!r} contradicts payoff_source = 'separate_pack':"
                f" the pay-off piles use up {separate}, and the stock needs one more"
            )


def _starts_by_payoff(rules: Parameters) -> bool:
    return rules.first_player in ("high_payoff", "low_payoff")


def _passes_with_cards(rules: Parameters) -> bool:
    return rules.discard == "optional" or rules.side_rule != "any"


def _passes_matter(rules: Parameters) -> bool:
    emptied = rules.stock_out_when == "play_on" and rules.stalemate == "redeal"
    return emptied or _passes_with_cards(rules)


def _has_wilds(rules: Parameters) -> bool:
    return rules.wild_kings or rules.jokers > 0 or rules.deck_kind == "skipbo"


_NO_LEAD = "the first pay-off cards do not decide who starts"
_NO_PASS = "nobody who holds cards can pass"
NEEDS: tuple[tuple[str, Callable[[Parameters], bool], str], ...] = (
    ("wild_ban", _has_wilds, "there are no wild cards"),
    ("first_tie", _starts_by_payoff, _NO_LEAD),
    ("tie_cap", _starts_by_payoff, _NO_LEAD),
    ("stalemate", _passes_matter, _NO_PASS),
    ("stalemate_result", _passes_with_cards, _NO_PASS),
    ("redeals", lambda rules: rules.stalemate == "redeal", "stalemate is not 'redeal'"),
)
"""What a parameter needs to have an effect, and the reason to give if it is set without that."""


def _check_effects(rules: Parameters, seats: int) -> Complaints:
    default = Parameters()
    for field, applies, reason in NEEDS:
        value = getattr(rules, field)
        if value != getattr(default, field) and not applies(rules):
            yield f"{field} = {value!r} has no effect: {reason}"


def _check_deal(rules: Parameters, seats: int) -> Complaints:
    payoff_pack, deck = list_packs(rules, seats)
    size = count_payoff_cards(rules, len(payoff_pack + deck), seats)
    if not size:
        yield f"payoff_size = {rules.payoff_size} leaves no card for each of {seats} seats"
    needed = seats * (size + rules.hand_size + rules.side_count * rules.side_initial)
    if needed > len(payoff_pack + deck):
        yield f"the deal needs {needed} cards, but {seats} seats play with {len(payoff_pack + deck)}"


def _check_fit(rules: Parameters, seats: int) -> Complaints:
    """Check that every card fits at some height, and that every height has a card."""
    payoff_pack, deck = list_packs(rules, seats)
    cards = sorted({*payoff_pack, *deck}, key=ORDER.__getitem__)
    fits = [list_fitting_cards(rules, height) for height in range(rules.stack_top)]
    dead = {card[0]: None for card in cards if not any(card in accepted for accepted in fits)}
    if dead:
        yield f"stack_top = {rules.stack_top}: cards of rank {', '.join(dead)} could never be played to the centre"
    missing = [RANKS[height] for height, accepted in enumerate(fits) if accepted.isdisjoint(cards)]
    if missing:
        yield f"stack_top = {rules.stack_top}: no card could be played as {', '.join(missing)}"


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
    """The team of each seat: partners sit opposite."""
    teams = seats if rules.teams == "none" else seats // 2
    return tuple(seat % teams for seat in range(seats))


def _count_centre_slots(rules: Parameters, seats: int) -> int | None:
    """How many centre stacks there may be; None for any number."""
    if rules.centre_limit == "unlimited":
        return None
    return seats + 1 if rules.centre_limit == "players+1" else rules.centre_limit


THIN_STOCK = 12
"""Fewer cards than this in the stock after the deal deserve a remark."""


def list_figures(rules: Parameters, seats: int) -> Mapping[str, str]:
    """The figures by caption.

    Raises:
        RulesetError: that many seats cannot play.
    """
    derived = DerivedRules(rules, seats)
    cards = len(derived.payoff_pack + derived.deck)
    each = derived.payoff_size + rules.hand_size + rules.side_count * rules.side_initial
    stock = cards - seats * each
    return {
        "cards": str(cards),
        "in each pay-off pile": str(derived.payoff_size),
        "centre stacks": "unlimited" if derived.centre_slots is None else str(derived.centre_slots),
        "in the stock after the deal": f"only {stock}" if stock < THIN_STOCK else str(stock),
    }
