"""The `malice` program. It takes a Ctrl-C only once its modules are imported, and it can end a command in order."""

from __future__ import annotations

import gc
import signal


def main() -> None:
    """Run the command line."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until `exit_codes.take_interrupts`
    # Modules and pages are many objects that stay: to visit them as often as Python does takes a tenth of a command.
    gc.set_threshold(20_000, 50, 50)
    from malice.tournaments.cli import main as run_command

    run_command()
