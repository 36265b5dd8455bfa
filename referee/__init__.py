"""The rules and the table: pure game engines, bot processes, clocks, one game from deal to record."""
