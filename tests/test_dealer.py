"""The shuffle stream, against a second implementation and against values that must never change."""

import hashlib
from collections.abc import Iterator
from math import factorial

import pytest

from malice.referee.course import Dealer

SEED = bytes(range(32))


def words(seed: bytes) -> Iterator[int]:
    """The stream as PROTOCOL.md tells it: SHA-256 of seed and block number, in big-endian words of 32 bits."""
    block = 0
    while True:
        digest = hashlib.sha256(seed + bytes([block >> shift & 255 for shift in range(56, -8, -8)])).hexdigest()
        yield from (int(digest[start : start + 8], 16) for start in range(0, 64, 8))
        block += 1


def shuffled(size: int, stream: Iterator[int]) -> list[int]:
    """Fisher-Yates from the last place down; a word that would favour small numbers is thrown away."""
    order = list(range(size))
    place = size
    while place > 1:
        word = next(stream)
        while word >= 2**32 - 2**32 % place:
            word = next(stream)
        chosen = word % place
        place -= 1
        order[place], order[chosen] = order[chosen], order[place]
    return order


@pytest.mark.parametrize("seed", [SEED, b"", b"x" * 100])
def test_orders_agree_with_a_second_implementation(seed: bytes) -> None:
    dealer, stream = Dealer(seed), words(seed)

    for size in (104, 1, 0, 2, 20, 416, 53):
        assert dealer.order(size) == shuffled(size, stream)


def test_the_stream_goes_on_from_shuffle_to_shuffle() -> None:
    dealer = Dealer(SEED)

    assert dealer.order(52) != dealer.order(52)


def test_golden_orders() -> None:
    dealer = Dealer(SEED)

    assert dealer.order(10) == [8, 6, 0, 7, 9, 5, 4, 3, 1, 2]
    deck = hashlib.sha256(bytes(dealer.order(104))).hexdigest()
    assert deck == "2686af7f7c758610b1a774965eba017ee5d9dd1f566c9ebd58700258fc6358d7"


def test_a_single_card_takes_no_number_from_the_stream() -> None:
    one, other = Dealer(SEED), Dealer(SEED)
    one.order(1)

    assert one.order(30) == other.order(30)


def test_words_that_would_favour_small_numbers_are_thrown_away() -> None:
    dealer = Dealer(b"")
    dealer._words = [5, 2**32 - 1]  # popped from the end: the first is above the greatest multiple of 3

    assert dealer.draw(3) == 2


def test_every_order_of_four_is_equally_likely() -> None:
    dealer = Dealer(SEED)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(2400):
        order = tuple(dealer.order(4))
        counts[order] = counts.get(order, 0) + 1

    assert len(counts) == factorial(4)
    assert (
        sum((count - 100) ** 2 / 100 for count in counts.values()) < 50
    )  # chi-square, 23 degrees of freedom, p < 0.001
