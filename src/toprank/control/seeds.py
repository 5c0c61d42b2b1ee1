"""Random numbers: from what scikit-learn calls random_state, and back."""

from __future__ import annotations

import numpy as np

__all__ = ["Seed", "generator", "legacy_seed"]

Seed = int | np.random.Generator | np.random.RandomState | None
"""What every random_state takes."""


def legacy_seed(random_state: Seed) -> int | np.random.RandomState | None:
    """A random_state that scikit-learn takes, which knows no Generator: a number drawn from one instead.

    >>> legacy_seed(7), legacy_seed(None), 0 <= legacy_seed(np.random.default_rng(0)) < 2**31
    (7, None, True)
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return random_state


def generator(random_state: Seed) -> np.random.Generator:
    """A numpy Generator that can spawn others, from what scikit-learn calls random_state.

    >>> generator(0).integers(10, size=4), generator(0).integers(10, size=4)  # one seed, one row
    (array([8, 6, 5, 2]), array([8, 6, 5, 2]))
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    rng = np.random.default_rng(random_state)
    if hasattr(rng.bit_generator.seed_seq, "spawn"):
        return rng
    return np.random.default_rng(rng.integers(2**32, size=4))
