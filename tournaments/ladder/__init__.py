"""Ladders: reference bots that never change, with fixed ratings, and a bot's rating among them."""
