"""The league: its database, and what follows from its rows: schedule, suspension, series, standings, verification."""

import os

# Two threads of linear algebra cost more than they gain on matrices of this size, above all beside running games.
# Set here, since numpy reads it once: sqlite_utils may load numpy before the ratings do.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
