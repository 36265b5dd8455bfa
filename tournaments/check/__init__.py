"""`malice check`: a conformance examination for the author of a bot."""
