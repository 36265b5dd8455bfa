"""The cards, made a second time from the text of PROTOCOL.md alone, and compared with those of the referee."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from malice.referee.course import Course, Dealer
from malice.referee.families import make_rules
from malice.referee.games.spite.messages import CardMoved, Deal, Draw, Event, Flip, Shuffled, TurnBegins
from malice.referee.records import Key
from malice.referee.rules import Ask
from malice.referee.rulesets import load_ruleset

PAGE = (Path(__file__).parents[1] / "protocol/PROTOCOL.md").read_text("utf-8")
RANKS = "A23456789TJQK"

repeatable = settings(derandomize=True, deadline=None)


class Stream:
    """The stream of a deal seed, as the page spells it out."""

    def __init__(self, seed: bytes) -> None:
        self.words = self._words(seed)

    @staticmethod
    def _words(seed: bytes) -> Iterator[int]:
        n = 0
        while True:
            block = hashlib.sha256(seed + n.to_bytes(8, "big")).digest()
            for start in range(0, 32, 4):
                yield int.from_bytes(block[start : start + 4], "big")
            n += 1

    def uniform(self, k: int) -> int:
        """A number below k."""
        word = next(self.words)
        while not word < 2**32 // k * k:
            word = next(self.words)
        return word % k

    def shuffled(self, pile: list[str]) -> list[str]:
        """The pile after the next shuffle."""
        order = list(range(len(pile)))
        i = len(pile) - 1
        while i >= 1:
            j = self.uniform(i + 1)
            order[i], order[j] = order[j], order[i]
            i -= 1
        return [pile[place] for place in order]


def vector() -> dict[str, list[str]]:
    """The numbers of the page, by what they are called."""
    found = re.search(r"```text\n(tournament seed .*?)```", PAGE, re.DOTALL)
    assert found
    numbers: dict[str, list[str]] = {}
    name = ""
    for line in found[1].splitlines():
        name = line[:20].strip() or name
        numbers.setdefault(name, []).extend(line[20:].split())
    return numbers


VECTOR = vector()
DEAL_SEED = bytes.fromhex(VECTOR["deal seed"][0])


def dealt_from_top(pile: list[str], count: int) -> list[str]:
    """Take cards from the end of the list; the one dealt last lies on top."""
    return [pile.pop() for _ in range(count)]


def two_packs() -> list[str]:
    return [rank + suit for suit in "CDHS" for rank in RANKS] * 2


def test_seeds_are_made_as_the_page_says() -> None:
    tournament = bytes.fromhex(VECTOR["tournament seed"][0])
    name, part = VECTOR["name, part"]
    seed = hmac.digest(tournament, f"part\0{name}\0{part}".encode(), "sha256")
    table, deal = VECTOR["table, deal"]

    assert VECTOR["part's seed"] == [seed.hex()]
    assert VECTOR["commit"] == [f"sha256:{hashlib.sha256(seed).hexdigest()}"]
    assert hmac.digest(seed, f"deal\0{table}\0{deal}".encode(), "sha256") == DEAL_SEED
    rng = hmac.digest(seed, b"rng\x000.0.0.0\x000", "sha256")
    assert VECTOR["rng of 0.0.0.0, 0"] == [str(int.from_bytes(rng, "big") >> (256 - 31))]


def test_the_tournament_makes_the_same_seeds() -> None:
    from malice.tournaments.league.parts import Seeds, derive_part_seed

    name, part = VECTOR["name, part"]
    seeds = Seeds(derive_part_seed(bytes.fromhex(VECTOR["tournament seed"][0]), name, int(part)))
    order = seeds.order(Key(0, 0, 0, 0), 2)

    assert [seeds.commit] == VECTOR["commit"]
    assert bytes.fromhex(order.deal_seed) == DEAL_SEED
    assert [str(order.rngs[0])] == VECTOR["rng of 0.0.0.0, 0"]


def test_common_deals_leave_the_table_out() -> None:
    from malice.tournaments.league.parts import Seeds

    seed = bytes.fromhex(VECTOR["part's seed"][0])

    told = hmac.digest(seed, b"deal\x007", "sha256")

    assert {Seeds(seed, common=True).deal_seed(Key(0, table, 7, 0)) for table in range(3)} == {told}


def test_the_stream_gives_the_numbers_of_the_page() -> None:
    stream = Stream(DEAL_SEED)

    assert [str(next(stream.words)) for _ in range(8)] == VECTOR["first words"]
    stream = Stream(DEAL_SEED)
    assert [str(stream.uniform(3_000_000_000)) for _ in range(8)] == VECTOR["uniform(3000000000)"]
    digits = list("0123456789")
    assert Stream(DEAL_SEED).shuffled(digits) == VECTOR["order of 10"]


def test_the_deal_gives_the_cards_of_the_page() -> None:
    deck = Stream(DEAL_SEED).shuffled(two_packs())

    assert dealt_from_top(deck, 20) == VECTOR["pay-off, seat 0"]
    assert dealt_from_top(deck, 20) == VECTOR["pay-off, seat 1"]
    assert dealt_from_top(deck, 5) == VECTOR["hand, seat 0"]
    assert dealt_from_top(deck, 5) == VECTOR["hand, seat 1"]
    assert deck == VECTOR["stock"]


def test_the_referee_deals_the_cards_of_the_page() -> None:
    events = played("standard", DEAL_SEED, 0)

    tops = [VECTOR["pay-off, seat 0"][-1], VECTOR["pay-off, seat 1"][-1]]
    hands = (tuple(VECTOR["hand, seat 0"]), tuple(VECTOR["hand, seat 1"]))
    assert events == [
        Deal(hands, (20, 20), (((),) * 4, ((),) * 4), len(VECTOR["stock"])),
        Flip(0, tops[0]),
        Flip(1, tops[1]),
        TurnBegins(1),
    ]


@repeatable
@given(st.binary(max_size=40), st.lists(st.integers(0, 200), max_size=6))
def test_the_dealer_gives_the_orders_of_the_stream(seed: bytes, sizes: list[int]) -> None:
    dealer, stream = Dealer(seed), Stream(seed)

    for size in sizes:
        assert list(map(str, dealer.order(size))) == stream.shuffled(list(map(str, range(size))))


def test_the_dealer_skips_the_same_words() -> None:
    dealer = Dealer(DEAL_SEED)

    assert [str(dealer.draw(3_000_000_000)) for _ in range(8)] == VECTOR["uniform(3000000000)"]


def test_a_pile_of_one_card_takes_no_word() -> None:
    dealer = Dealer(DEAL_SEED)

    assert (dealer.order(1), dealer.order(0)) == ([0], [])
    assert list(map(str, dealer.order(10))) == VECTOR["order of 10"]


def test_every_order_of_a_few_cards_is_about_as_likely() -> None:
    dealer = Dealer(b"even")
    orders = [tuple(dealer.order(4)) for _ in range(24 * 500)]

    counts = [orders.count(order) for order in set(orders)]

    assert len(counts) == 24
    assert sum((count - 500) ** 2 / 500 for count in counts) < 49.7  # chi-square, 23 degrees: once in a thousand


def played(ruleset: str, seed: bytes, actions: int) -> list[Struct]:
    """Play the first legal actions with the cards of a seed; return what happened, nothing hidden."""
    found = load_ruleset(ruleset)
    rules = make_rules(found.family, found.rules, 2)
    course = Course(rules, Dealer(seed))
    events = [*course.dealt]
    while isinstance(step := course.step, Ask) and actions:
        actions -= 1
        events += course.play({seat: rules.legal(course.state, seat)[0] for seat in step.seats})
    return events


@pytest.mark.parametrize("ruleset", ["standard", "gamerules", "unlimited"])
@pytest.mark.parametrize("deal", range(4))
def test_every_card_of_a_game_can_be_told_from_the_seed(ruleset: str, deal: int) -> None:
    seed = hmac.digest(bytes(32), f"deal\0{7}\0{deal}".encode(), "sha256")
    recycle = load_ruleset(ruleset).rules.recycle
    stream = Stream(seed)
    stock = stream.shuffled(two_packs())
    payoffs = [dealt_from_top(stock, 20) for _ in range(2)]
    centre: dict[str, list[str]] = {}
    aside: list[str] = []
    drawn = 0

    for event in played(ruleset, seed, 10_000):
        match event:
            case Deal():
                assert event.hands == tuple(tuple(dealt_from_top(stock, 5)) for _ in range(2))
            case Draw():
                assert event.cards == tuple(dealt_from_top(stock, len(event.cards)))
                drawn += len(event.cards)
            case Flip():
                assert event.card == payoffs[event.seat][-1]
            case CardMoved():
                if event.source.endswith("p"):
                    assert event.card == payoffs[event.seat].pop()
                if event.target.startswith("c"):
                    centre.setdefault(event.target, []).append(event.card)
            case Shuffled(source, "aside"):
                aside += centre.pop(source)
            case Shuffled("aside"):
                stock = stream.shuffled(aside) + stock
                aside = []
            case Shuffled(source, "stock") if recycle == "bottom":
                stock = stream.shuffled(centre.pop(source)) + stock
            case Shuffled(source, "stock"):
                stock = stream.shuffled(stock + centre.pop(source))
            case Shuffled(source):
                payoffs[int(source[0])] = stream.shuffled(payoffs[int(source[0])])

    assert drawn > 20


@pytest.mark.parametrize("deal", range(30))
def test_pay_off_piles_with_a_pack_of_their_own_come_first(deal: int) -> None:
    seed = hmac.digest(bytes(32), f"deal\0{8}\0{deal}".encode(), "sha256")
    stream = Stream(seed)
    pack = stream.shuffled(two_packs()[:52])
    payoffs = [dealt_from_top(pack, 26) for _ in range(2)]
    stock = stream.shuffled(two_packs()[:52] + ["WX"] * 4)
    hands = tuple(tuple(dealt_from_top(stock, 5)) for _ in range(2))
    expected: list[Event] = [Deal(hands, (26, 26), (((),) * 4, ((),) * 4), 46)]
    expected += [Flip(seat, pile[-1]) for seat, pile in enumerate(payoffs)]

    while payoffs[0][-1][0] == payoffs[1][-1][0]:
        pack = stream.shuffled(payoffs[0] + payoffs[1])
        payoffs = [dealt_from_top(pack, 26) for _ in range(2)]
        expected += [Shuffled("1p", "0p", 26), Shuffled("0p", "1p", 26)]
        expected += [Flip(seat, pile[-1]) for seat, pile in enumerate(payoffs)]

    starter = max(range(2), key=lambda seat: RANKS.index(payoffs[seat][-1][0]))
    assert played("catsatcards", seed, 0) == [*expected, TurnBegins(starter)]
