"""Tests of the games that ship, a folder for each."""
