"""Ratings: the joint fit and its intervals, the running Elo, and statistics of two players."""

from tournaments.ratings.fit import Fit, Rating, fit_beginnings, fit_ratings
from tournaments.ratings.pairings import RatedGame
from tournaments.ratings.running_elo import compute_history, thin_points

__all__ = ["Fit", "RatedGame", "Rating", "compute_history", "fit_beginnings", "fit_ratings", "thin_points"]
