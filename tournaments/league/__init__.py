"""The database, and what follows from its rows: schedule, suspension, series, standings, verification."""
