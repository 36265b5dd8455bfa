"""A tournament from its plan to its last game: plan, run, coordinator, referee processes, progress."""
