"""What may enter a tournament: bots, their builds, starter kits."""
