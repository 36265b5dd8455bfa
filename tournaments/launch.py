"""The `malice` program. It takes a Ctrl-C only once its modules are imported, and it can end a command in order."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until `exit_codes.take_interrupts`
    from tournaments.cli import main as run_command

    run_command()
