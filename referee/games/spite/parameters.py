"""Every parameter of Spite & Malice and its relatives, with its meaning."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

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
    """Return what a tournament must know of the parameters."""
    return MatchTerms(rules.players, rules.match_target, rules.max_turns)


def classify(rules: Parameters) -> object:
    """Return equal values for parameters under which a bot sees and plays the same kinds of things."""
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
