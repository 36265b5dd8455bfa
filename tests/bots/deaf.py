"""Never reads a byte and never writes one: timeout."""

import signal

signal.pause()
