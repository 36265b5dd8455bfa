"""The entries of a tournament: bots, their builds, starter kits."""
