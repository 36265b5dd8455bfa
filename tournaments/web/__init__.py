"""A seat in the browser: people at a table that a small server of ours keeps, against bots and one another."""
