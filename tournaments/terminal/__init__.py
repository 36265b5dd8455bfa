"""Games and tables as text, watching a game, and a person at the table."""
