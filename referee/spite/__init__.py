"""Spite & Malice and its relatives: one engine, steered by the parameters of a ruleset."""

from referee.spite.engine import SpiteAndMalice

__all__ = ["SpiteAndMalice"]
