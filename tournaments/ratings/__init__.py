"""How strong the entries are: the joint fit, its intervals, the running Elo, and pairs of players."""

import os

# Two threads of linear algebra cost more than they gain on matrices of this size, the more so beside running games.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tournaments.ratings.fit import Fit, Rating, fit_ratings
from tournaments.ratings.pairings import RatedGame
from tournaments.ratings.running_elo import compute_history, thin_points

__all__ = ["Fit", "RatedGame", "Rating", "compute_history", "fit_ratings", "thin_points"]
