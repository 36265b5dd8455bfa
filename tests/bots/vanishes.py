"""Exits as soon as it is started, and reads nothing."""

import sys

sys.exit(5)
