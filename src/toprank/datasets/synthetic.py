"""Data sets made from a seed: the papers' own constructions and an example to play with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["gaussians", "inspections", "theorem_one"]

Sample = tuple[NDArray[np.float64], NDArray[np.int8]]


def theorem_one(*, random_state: int | None = 0) -> Sample:
    """Four clumps on a line where rank statistics disagree about which end is the top.

    From large to small x: 10 negatives near 3, 3000 positives near 1, 3000 negatives near 0 and 80
    positives near -10, each with standard deviation 0.05. Scoring by x (Solution 1) and by -x
    (Solution 2) are each other's reverse; Wilcoxon's rank sum, partial AUC@100, DCG, MRR and the hinge
    loss prefer the first, DCG@100, partial AUC@10 and the exponential loss the second.
    Rudin & Wang (2018), Theorem 1 and section 2.4.

    Returns
    -------
    X : ndarray of shape (6090, 1)
    y : ndarray of int8 of shape (6090,)

    Examples
    --------
    >>> from toprank import statistics
    >>> X, y = theorem_one()
    >>> for name in ("auc", "positives_at_top"):
    ...     one_end, other_end = (statistics.get(name)(y, sign * X[:, 0]) for sign in (1, -1))
    ...     print(f"{name}: {one_end:.3g} or {other_end:.3g}")
    auc: 0.971 or 0.0292
    positives_at_top: 0 or 80
    >>> X.shape, int(y.sum())
    ((6090, 1), 3080)
    """
    rng = np.random.default_rng(random_state)
    clumps = [(3.0, 10, 0), (1.0, 3000, 1), (0.0, 3000, 0), (-10.0, 80, 1)]
    X = np.concatenate([rng.normal(centre, 0.05, size=(size, 1)) for centre, size, _ in clumps])
    y = np.concatenate([np.full(size, label, dtype=np.int8) for _, size, label in clumps])
    return X, y


def gaussians(
    n: int = 1250, *, stray: tuple[float, float] = (10.0, 1.0), random_state: int | None = 0
) -> Sample:
    """Two big clouds that decide the AUC and two small clumps that decide the top of the list.

    A population of 3000 positives around (0, 1) and 3000 negatives around (0, 0), each coordinate with
    variance 0.5, of 10 negatives around (10, 1) and 200 positives around (0, -3) with standard deviation
    0.05; `n` points are drawn from it without replacement. Rudin & Wang (2018), section 5, "Gaussians".

    Parameters
    ----------
    n : int
        Points to draw.
    stray : (float, float)
        Where the 10 negatives lie: (10, 1) as printed; at (1, 10) they are at the top of every list that
        ranks the two clouds well, which is what the paper's figures show.
    random_state : int or None

    Examples
    --------
    The AUC and the top of the list want different directions:

    >>> from toprank import statistics
    >>> X, y = gaussians(random_state=0)
    >>> for name in ("auc", "positives_at_top"):
    ...     up, aside = (statistics.get(name)(y, X @ direction) for direction in ([0, 1], [-1, 1]))
    ...     print(f"{name}: {up:.3g} by the second feature, {aside:.3g} by its lead over the first")
    auc: 0.784 by the second feature, 0.708 by its lead over the first
    positives_at_top: 2 by the second feature, 36 by its lead over the first
    >>> X.shape, round(float(y.mean()), 1)
    ((1250, 2), 0.5)
    """
    rng = np.random.default_rng(random_state)
    wide = float(np.sqrt(0.5))
    clumps = [
        ((0.0, 1.0), wide, 3000, 1),
        ((0.0, 0.0), wide, 3000, 0),
        (stray, 0.05, 10, 0),
        ((0.0, -3.0), 0.05, 200, 1),
    ]
    X = np.concatenate([rng.normal(centre, spread, size=(size, 2)) for centre, spread, size, _ in clumps])
    y = np.concatenate([np.full(size, label, dtype=np.int8) for _, _, size, label in clumps])
    if not 2 <= n <= len(y):
        raise ValueError(f"n={n} is not between 2 and the size of the population, {len(y)}.")
    chosen = rng.permutation(len(y))[:n]
    return X[chosen], y[chosen]


def inspections(n: int = 1600, *, random_state: int | None = 0) -> pd.DataFrame:
    """A made-up year of pump inspections: which fifty pumps should the crew look at first?

    Columns: `pump` (identifier), `site` (text), `age_years`, `vibration_mm_s`, `temperature_c`,
    `starts_per_day` and `failed`, 1 for the pumps that failed within the year; some cells are missing.
    Old, shaking, cool pumps fail. A few cold ones only have a loose sensor: they shake most of all and
    hardly ever fail, so a score fitted to all pumps puts them first, and the top of a good list has to do
    better. Made for showing what reranking can do; nothing in it was measured anywhere.

    Examples
    --------
    >>> table = inspections()
    >>> for row in table[["pump", "site", "age_years", "failed"]].head(2).itertuples(index=False):
    ...     print(*row)
    P0200 harbour 15.0 0
    P0050 harbour 12.1 0
    >>> len(table), int(table["failed"].sum())
    (1600, 231)
    """
    import pandas as pd

    rng = np.random.default_rng(random_state)
    site = rng.choice(["harbour", "quarry"], size=n, p=[0.8, 0.2])
    age = rng.gamma(3.0, 4.0, size=n)
    starts = rng.poisson(6, size=n) + rng.poisson(4, size=n) * (site == "quarry")
    temperature = rng.normal(58.0, 5.0, size=n)
    vibration = np.exp(rng.normal(0.7, 0.45, size=n))
    loose_sensor = rng.random(n) < 0.02
    vibration[loose_sensor] = rng.normal(7.5, 0.7, size=loose_sensor.sum())
    temperature[loose_sensor] = rng.normal(44.0, 2.0, size=loose_sensor.sum())

    wear = 0.12 * (age - 12) + 0.9 * (vibration - 2.3) - 0.12 * (temperature - 58) + 0.08 * (starts - 7)
    chance = np.where(loose_sensor, 0.03, 1 / (1 + np.exp(2.2 - wear)))
    failed = (rng.random(n) < chance).astype(int)
    table = pd.DataFrame(
        {
            "pump": [f"P{number:04d}" for number in rng.permutation(n) + 1],
            "site": site,
            "age_years": age.round(1),
            "vibration_mm_s": vibration.round(2),
            "temperature_c": temperature.round(1),
            "starts_per_day": starts,
            "failed": failed,
        }
    )
    table.loc[rng.random(n) < 0.03, "age_years"] = np.nan
    table.loc[rng.random(n) < 0.02, "site"] = None
    return table
