"""Tests of the engine of Spite & Malice: rules on tables laid by hand, and whole games."""
