"""What each `malice ...` parses and prints."""
