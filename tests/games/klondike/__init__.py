"""Klondike: its rules, its solver, its words."""
