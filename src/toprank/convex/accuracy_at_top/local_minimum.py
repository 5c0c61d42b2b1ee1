"""Problem (1) of Accuracy at the Top itself, from several starts, for hundreds of thousands of rows.

The quantile of the scores is an implicit function of w: where scores are dense its gradient is the mean z
of the items that score close to it. So the objective near w is that of the quantile pinned to z, a convex
problem. Solve that, take the best point on the way there (scores are linear along it), and begin again with
fewer items around the quantile when the way does not lead down. No bound comes with the answer. Where there
are several lists, the quantile of each is pinned to a mean of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toprank.control import Progress, Run
from toprank.convex.accuracy_at_top.pins import Items, quantile
from toprank.convex.algebra.box_program import box_program
from toprank.convex.algebra.row_systems import FeatureSystem

__all__ = ["LocalAnswer", "local_minimum"]

Floats = NDArray[np.float64]
SUBSAMPLE = 4000
FINALISTS = 1
INNER_TOL = 1e-4
PARTS = 2.0 ** -np.arange(9)
NEIGHBOURS = 256
NARROWER = 8
OPEN_SHARE = 0.05
RIDGE = 1e-3


@dataclass(frozen=True)
class LocalAnswer:
    """Coefficients, their objective (1), the rounds made, and whether `max_iter` ended the descent."""

    coef: Floats
    value: float
    rounds: int = 0
    cut_off: bool = False


def local_minimum(
    items: Items, run: Run, *, n_restarts: int, max_iter: int, tol: float, start: Floats | None = None
) -> LocalAnswer:
    """The best local minimum of problem (1) found from several starts.

    Parameters
    ----------
    items : Items
        With points, no more features than items.
    run : Run
    n_restarts : int
        Random directions, after the difference of the means and its whitened version.
    max_iter : int
        Most pinned problems to solve from one start.
    tol : float
        A descent ends when its rounds gain less than this, relative to the objective.
    start : array, optional
        A direction to start from before the others.
    """
    if len(items.lists) > 1:
        items = _within(items)
    directions = _directions(items, run.rng, n_restarts)
    if start is not None:
        directions.insert(0, start)
    if len(items) > SUBSAMPLE:
        small = _subsample(items, run.rng)
        tried = [
            _descend(small, coef, run, max_iter, tol).coef for coef in directions if not run.should_stop()
        ]
        found = sorted((_at(items, coef) for coef in tried), key=lambda answer: answer.value)
        directions = [answer.coef for answer in found[:FINALISTS]] or directions[:1]
    best = min((_at(items, coef) for coef in directions), key=lambda answer: answer.value)
    rounds, cut_off = 0, False
    for coef in directions:
        answer = _descend(items, coef, run, max_iter, tol)
        rounds, cut_off = rounds + answer.rounds, cut_off or answer.cut_off
        best = answer if answer.value < best.value else best
    return replace(best, rounds=rounds, cut_off=cut_off)


def _directions(items: Items, rng: np.random.Generator, count: int) -> list[Floats]:
    points = items.points
    assert points is not None
    ahead = items.up @ points / items.up.sum() - items.down @ points / items.down.sum()
    spread = points.T @ points / len(points)
    spread.flat[:: len(spread) + 1] += RIDGE * max(np.trace(spread) / len(spread), 1e-300)
    known = [ahead, np.linalg.solve(spread, ahead)]
    return [*known, *rng.normal(size=(count, points.shape[1]))]


def _subsample(items: Items, rng: np.random.Generator) -> Items:
    """Some of the items, each standing for several: prices and masses grow accordingly."""
    assert items.points is not None
    if len(items.lists) > 1:
        return _some_lists(items, rng)
    preferred, others = np.flatnonzero(items.up > 0), np.flatnonzero(items.up <= 0)
    n_up = min(max(SUBSAMPLE * len(preferred) // len(items), SUBSAMPLE // 8), len(preferred))
    n_down = min(SUBSAMPLE - n_up, len(others))
    up, down, mass = items.up.copy(), items.down.copy(), items.mass.copy()
    kept = []
    for group, size in ((preferred, n_up), (others, n_down)):
        chosen = rng.choice(group, size=size, replace=False)
        for array in (up, down, mass):
            array[chosen] *= len(group) / max(size, 1)
        kept.append(chosen)
    rows = np.sort(np.concatenate(kept))
    share = items.top / items.mass.sum()
    return Items(items.points[rows], None, up[rows], down[rows], mass[rows], share * float(mass[rows].sum()))


def _within(items: Items) -> Items:
    """The items relative to the mean of their list: only differences within a list count."""
    assert items.points is not None
    points = items.points.copy()
    for members, _ in items.lists:
        points[members] -= points[members].mean(axis=0)
    return replace(items, points=points)


def _some_lists(items: Items, rng: np.random.Generator) -> Items:
    """Whole lists, until they have items enough; prices grow as if they stood for all."""
    assert items.points is not None
    assert items.query is not None
    order = rng.permutation(len(items.lists))
    sizes = np.cumsum([len(items.lists[one][0]) for one in order])
    chosen = order[: int(np.searchsorted(sizes, SUBSAMPLE)) + 1]
    rows = np.sort(np.concatenate([items.lists[one][0] for one in chosen]))
    up, down = (prices[rows] * (prices.sum() / prices[rows].sum()) for prices in (items.up, items.down))
    top = sum(items.lists[one][1] for one in chosen)
    return Items(items.points[rows], None, up, down, items.mass[rows], top, items.query[rows], items.tops)


def _at(items: Items, coef: Floats) -> LocalAnswer:
    assert items.points is not None
    return LocalAnswer(coef, items.objective(0.5 * float(coef @ coef), items.points @ coef))


def _descend(items: Items, start: Floats, run: Run, max_iter: int, tol: float) -> LocalAnswer:
    """Rounds of pinning the quantile to the mean of its neighbours; from 256 neighbours down to one."""
    points = items.points
    assert points is not None
    best, scores = _at(items, start), points @ start
    width, rounds = max(min(NEIGHBOURS, len(items) // 20), len(items) // 100, 1), 0
    while width >= 1 and rounds < max_iter and not run.should_stop():
        found = _on_the_way(items, best, scores, _solve_near(items, best, scores, width, run))
        rounds += 1
        gained = best.value - found.value
        if gained > 0:
            best, scores = found, points @ found.coef
        if gained <= tol * best.value:
            width //= NARROWER
        run.report(Progress(best.value, iterations=rounds, phase="local search, objective"))
    return replace(best, rounds=rounds, cut_off=width >= 1 and rounds >= max_iter)


def _solve_near(items: Items, best: LocalAnswer, scores: Floats, width: int, run: Run) -> Floats:
    """The optimum with every quantile pinned to the mean of the items closest to it."""
    points = items.points
    assert points is not None
    pins = _means_near(items, scores, width)
    model = _model(items, scores - (pins @ best.coef)[items.number], pins, run.rng)
    rows = (points[model.owner] - pins[items.number[model.owner]]) * model.sign[:, np.newaxis]
    solution = box_program(
        FeatureSystem(rows),
        model.costs,
        tol=0.0,
        gap=INNER_TOL * best.value,
        targets=model.targets - rows @ model.base,
        should_stop=run.should_stop,
    )
    return np.asarray(model.base + solution.dual @ rows)


def _means_near(items: Items, scores: Floats, width: int) -> Floats:
    """For each list the mean of the items closest to its quantile: `width` in all, at least one a list."""
    assert items.points is not None
    pins = np.empty((len(items.lists), items.points.shape[1]))
    for one, (members, top) in enumerate(items.lists):
        some = max(1, width * len(members) // len(items))
        away = np.abs(scores[members] - quantile(scores[members], items.mass[members], top))
        near = members[np.argpartition(away, some - 1)[:some]]
        pins[one] = np.average(items.points[near], axis=0, weights=items.mass[near])
    return pins


@dataclass(frozen=True)
class _Model:
    """1/2 |w - base|^2 + sum of costs (targets - rows.w)_+ : the pinned problem, perhaps with fewer rows."""

    owner: NDArray[np.intp]
    sign: Floats
    costs: Floats
    targets: Floats
    base: Floats


def _model(items: Items, heights: Floats, pins: Floats, rng: np.random.Generator) -> _Model:
    """All rows when they are few. Of many, those with a margin close to one, and a sample of the others.

    A row far from its margin has a linear loss near the present w; all of those are in `base`. What a row
    pays beyond that once it crosses its margin is estimated from the sample: the likeness is exact near the
    present w and unbiased everywhere.
    """
    points = items.points
    assert points is not None
    n_rows = len(items.owner)
    count = max(SUBSAMPLE, int(OPEN_SHARE * n_rows))
    if n_rows <= 2 * count:
        return _Model(items.owner, items.sign, items.costs, np.ones(n_rows), np.zeros(points.shape[1]))
    margins = items.sign * heights[items.owner]
    order = np.argpartition(np.abs(margins - 1.0), count)
    close, rest = order[:count], order[count:]
    paying = rest[margins[rest] < 1.0]
    pull = items.sign[paying] * items.costs[paying]
    by_item = np.bincount(items.owner[paying], weights=pull, minlength=len(items))
    base = by_item @ points - np.bincount(items.number, weights=by_item, minlength=len(pins)) @ pins
    some = rng.choice(rest, size=count, replace=False)
    taken = np.concatenate([close, some])
    # Beyond its margin a paying row stops paying: (r.w - 1)_+ more than its linear loss.
    turned = np.concatenate([np.ones(count), np.where(margins[some] < 1.0, -1.0, 1.0)])
    stands_for = np.concatenate([np.ones(count), np.full(count, len(rest) / count)])
    return _Model(
        items.owner[taken], items.sign[taken] * turned, items.costs[taken] * stands_for, turned, base
    )


def _on_the_way(items: Items, best: LocalAnswer, scores: Floats, toward: Floats) -> LocalAnswer:
    """The best of a few points between the present answer and another."""
    points = items.points
    assert points is not None
    there = points @ toward
    answers = []
    for part in PARTS:
        coef = (1.0 - part) * best.coef + part * toward
        mixed = (1.0 - part) * scores + part * there
        answers.append(LocalAnswer(coef, items.objective(0.5 * float(coef @ coef), mixed)))
    return min(answers, key=lambda answer: answer.value)
