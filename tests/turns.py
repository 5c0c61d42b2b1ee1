"""Which cases of a parametrised test every run takes; the nightly run takes them all."""

import pytest


def first_in_every_run(values, number):
    """Parameters for `pytest.mark.parametrize`: those after the first few are marked slow."""
    cases = list(values)
    return [*cases[:number], *(pytest.param(case, marks=pytest.mark.slow) for case in cases[number:])]
