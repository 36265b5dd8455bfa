"""The part of package `elo` 0.1.1 that the running Elo needs, for Pythons on which that package does not build."""

from collections.abc import Iterable


class Elo:
    """A drop-in for `elo.Elo` with float ratings, equal to the last bit."""

    def __init__(self, k_factor: float = 10, *, initial: float = 1200, beta: float = 200) -> None:
        self.k_factor = k_factor
        self.initial = initial
        self.beta = beta

    def expect(self, rating: float, other_rating: float) -> float:
        return float(1.0 / (1 + 10 ** ((float(other_rating) - float(rating)) / (2 * self.beta))))

    def rate(self, rating: float, series: Iterable[tuple[float, float]]) -> float:
        """The new rating after a series of (score, other rating), all played at the old rating."""
        return float(rating) + self.k_factor * sum(score - self.expect(rating, other) for score, other in series)
