"""How strong the entries are: the joint fit, its intervals, the running Elo, and pairs of players."""

import os

# Two threads of linear algebra cost more than they gain on matrices of this size, the more so beside running games.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tournaments.ratings.comparisons import RatedGame
from tournaments.ratings.fit import Fit, Rating, fit
from tournaments.ratings.running_elo import history, thin

__all__ = ["Fit", "RatedGame", "Rating", "fit", "history", "thin"]
