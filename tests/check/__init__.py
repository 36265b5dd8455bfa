"""Tests of `malice check`."""
