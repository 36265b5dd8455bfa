"""Layers around an untrusted bot: each says how its process starts, freezes, thaws and ends."""
