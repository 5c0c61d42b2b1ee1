"""A declaration cut down to seconds: the same tables, arms and choices on few rows with tiny limits."""

from dataclasses import replace

from toprank.reproduce.protocol import ConsecutiveParts, CrossValidation, GivenFolds, WholeSet

ROWS = 60
SPLITS = 2
LIMIT = 0.1
TOP = 15


def miniature(paper):
    return replace(paper, experiments=tuple(_experiment(one) for one in paper.experiments))


def _experiment(experiment):
    whole = isinstance(experiment.splits, WholeSet)
    source = experiment.source
    return replace(
        experiment,
        source=source if source.items or whole else replace(source, most_rows=ROWS),
        splits=_splits(experiment.splits),
        arms=tuple(_arm(arm) for arm in experiment.arms),
    )


def _splits(splits):
    if isinstance(splits, WholeSet):
        return splits
    if isinstance(splits, GivenFolds):
        return replace(splits, train=splits.train[:SPLITS], test=splits.test[:SPLITS])
    if isinstance(splits, ConsecutiveParts):
        # A twentieth of so few rows may hold one class only.
        return replace(splits, count=SPLITS, parts=min(splits.parts, 10))
    return replace(splits, count=SPLITS)


def _arm(arm):
    changes = {"grid": {name: values[:2] for name, values in arm.grid.items()}}
    if arm.time_limit is not None:
        changes["time_limit"] = LIMIT
    if isinstance(arm.top, int):
        changes["top"] = TOP
    if isinstance(arm.choose, CrossValidation):
        changes["choose"] = replace(arm.choose, folds=2)
    return replace(arm, **changes)
