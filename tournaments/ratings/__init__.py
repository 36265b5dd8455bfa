"""Ratings: the joint fit and its intervals, the running Elo, and statistics of two players.

Only what fits needs numpy; so nothing is imported here.
"""
