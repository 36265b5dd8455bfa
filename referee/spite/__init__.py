"""Spite & Malice and its relatives: one engine, controlled by the parameters of a ruleset."""

from referee.spite.engine import SpiteAndMalice

__all__ = ["SpiteAndMalice"]
