"""What the referee and a bot say to each other: messages, line codec, card names, and the written protocol."""

PROTOCOL = 1
"""The protocol version that this package speaks."""

LINE_BYTES = 65_536
"""The longest line, LF included, that either side may send."""
