"""Plays on many machines: tasks go out to the workers of a cluster, records come back to the one writer."""
