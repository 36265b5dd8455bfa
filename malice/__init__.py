"""Tournaments between bots that play Spite & Malice and its relatives.

The packages below lie beside this folder in the source tree, which holds a link to each of them.
"""
