"""Layers around a bot that nobody vouches for: a bot process asks one of them how to start, freeze, thaw and end."""
