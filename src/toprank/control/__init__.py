"""How long, how far, stop now: the clock, the progress and the outcome of one fit."""

from toprank.control.interrupts import keep_best_on_interrupt
from toprank.control.outcome import (
    STILL_COMPILING,
    Outcome,
    Progress,
    SearchStoppedWarning,
    Status,
    relative_gap,
    warn_if_cut_short,
)
from toprank.control.run import Callback, Run, check_time_limit, worker_count
from toprank.control.seeds import Seed, generator, legacy_seed
from toprank.control.warning import warn_user

__all__ = [
    "STILL_COMPILING",
    "Callback",
    "Outcome",
    "Progress",
    "Run",
    "SearchStoppedWarning",
    "Seed",
    "Status",
    "check_time_limit",
    "generator",
    "keep_best_on_interrupt",
    "legacy_seed",
    "relative_gap",
    "warn_if_cut_short",
    "warn_user",
    "worker_count",
]
