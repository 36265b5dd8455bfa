"""The games that ship with malice: one folder each, with everything that the game needs."""

DEFAULT_FAMILY = "spite"
"""The game of a ruleset file that names none."""
DEFAULT_RULESET = "standard"
"""The ruleset of a tournament file that names none."""
