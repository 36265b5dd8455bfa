"""The protocol between the referee and a bot: messages, line codec, card names, and its written form."""

PROTOCOL = 1
"""The protocol version that this package speaks."""

LINE_BYTES = 65_536
"""The longest line, LF included, that either side may send."""
