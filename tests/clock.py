"""How far work runs over its time limit.

On a busy machine a process gets its processor only now and then, so what is judged is the processor time it
spent after the limit; with one thread, the wall time over the limit times the share of the processor it had.
"""

import time

ALLOWANCE = 0.1
"""Seconds more than promised, for caches that others have emptied."""


class Clock:
    """Begins with the block it guards; `seconds_over` says how far the block ran over its limit."""

    def __init__(self, limit):
        self.limit = limit

    def __enter__(self):
        self._wall, self._processor = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error):
        wall, processor = time.perf_counter() - self._wall, time.process_time() - self._processor
        self.seconds_over = (wall - self.limit) * min(1.0, processor / max(wall, 1e-9))

    @property
    def kept(self):
        """Whether the block ended within 10 % or half a second of its limit."""
        return self.seconds_over < max(0.5, 0.1 * self.limit) + ALLOWANCE
