"""Agarwal (2011): Tables 1 to 4, Figures 1 and 4 to 6."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toprank.reproduce.experiment import (
    Arm,
    Claim,
    Drawing,
    Entry,
    Experiment,
    Measure,
    Paper,
    Source,
    Table,
)
from toprank.reproduce.protocol import BestOnTest, CrossValidation, StratifiedSplits, WholeSet

__all__ = ["PAPER"]

# -- printed figures: arm, AUC, positives at the top, average precision, DCG ---------------------------

TABLE_2 = """
    ranksvm 0.9271 12.1 0.9330 16.6200
    svmmap  0.9207 16.5 0.9357 16.7940
    pnp1    0.9052 10.7 0.9086 16.4462
    pnp4    0.8789  6.7 0.8849 16.2743
    pnp16   0.9070 13.9 0.9218 16.6527
    pnp64   0.8917  9.9 0.9064 16.4970
    ip      0.9237 14.7 0.9328 16.6336
"""
TABLE_3 = """
    ranksvm 0.9418 22.2 0.9010 189.6650
    svmmap  0.9319 48.6 0.8957 189.6074
    pnp1    0.9194 12.5 0.8714 188.2330
    pnp4    0.8024  5.0 0.6905 180.4931
    pnp16   0.8293 24.1 0.7707 185.4531
    pnp64   0.8490 31.4 0.8143 187.3132
    ip      0.9388 49.9 0.9028 189.8070
"""
TABLE_4 = """
    ranksvm 0.8881 6.00 0.4708 6.4877
    svmmap  0.8852 5.80 0.4778 6.5580
    pnp1    0.8753 3.31 0.3714 5.9695
    pnp4    0.8525 3.16 0.3178 5.5329
    pnp16   0.8786 3.89 0.4005 6.1465
    pnp64   0.8805 3.96 0.3997 6.1685
    ip      0.8991 6.34 0.4910 6.6052
"""

# -- measures and arms ---------------------------------------------------------------------------------

MEASURES = (
    Measure("auc", title="AUC", statistic="auc", digits=4),
    Measure("top", title="positives at the top", statistic="positives_at_top", digits=1),
    Measure("ap", title="average precision", statistic="average_precision", digits=4),
    Measure("dcg", title="DCG", statistic="dcg", digits=4),
)
PRICES = (0.1, 1.0, 10.0, 100.0, 1000.0)
STEPS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
FIVE_FOLDS = CrossValidation(statistic="average_precision", folds=5)


def machine(name: str, title: str, ranker: str) -> Arm:
    """A support vector ranker, solved to the optimum."""
    return Arm(name, title, ranker, {}, {"C": PRICES}, FIVE_FOLDS, "unit interval", seconds=0.7)


def by_steps(name: str, title: str, ranker: str, seconds: float) -> Arm:
    """The same by 1,000 steps of gradient projection, as in the paper."""
    return Arm(
        name,
        f"{title}, 1,000 steps",
        ranker,
        {"solver": "gradient_projection", "max_iter": 1000},
        {"C": PRICES, "step_size": STEPS},
        FIVE_FOLDS,
        "unit interval",
        seconds=seconds,
        beyond=True,
    )


def push(p: int) -> Arm:
    """The P-Norm Push, boosting single features as printed."""
    title = f"P-Norm Push (p = {p})"
    parameters = {"p": float(p), "solver": "boosting", "n_estimators": 100}
    return Arm(f"pnp{p}", title, "PNormPush", parameters, scaling="unit interval", seconds=0.1)


PUSHES = tuple(push(p) for p in (1, 4, 16, 64))
BOOSTED = tuple(one.name for one in PUSHES)
OTHERS = Arm(
    "ours",
    "TopPush or RankRLS, whichever the folds prefer",
    "TopPush",
    grid={"ranker": ("TopPush", "RankRLS"), "C": PRICES},
    choose=FIVE_FOLDS,
    scaling="unit interval",
    seconds=2.0,
    beyond=True,
)
ARMS = (
    machine("ranksvm", "RankSVM", "RankSVM"),
    Arm("svmmap", "SVMmap"),
    *PUSHES,
    machine("ip", "Infinite Push", "InfinitePush"),
    OTHERS,
)
STEPWISE = (
    by_steps("ranksvm-steps", "RankSVM", "RankSVM", 22.0),
    by_steps("ip-steps", "Infinite Push", "InfinitePush", 45.0),
)

# -- experiments ---------------------------------------------------------------------------------------

SCORES = {
    "f1": ((9.7, 7.3, 5.2, 4.0), (8.7, 6.3, 3.9, 2.7, 1.1, 0.8)),
    "f2": ((9.5, 8.1, 7.2, 1.5), (6.3, 5.1, 4.4, 3.1, 2.7, 0.9)),
}


def scored(name: str) -> Experiment:
    """Table 1: ten items with given scores."""
    positive, negative = SCORES[name]
    items = (*((1, score) for score in positive), *((0, score) for score in negative))
    given = Arm(
        "given", "as given", "GivenCoefficients", {"coef": [1.0]}, scaling="none", seconds=0.01, curve=True
    )
    source = Source(title=name, items=items)
    return Experiment(name=name, source=source, splits=WholeSet(), measures=MEASURES[:2], arms=(given,))


IONOSPHERE = Experiment(
    name="ionosphere",
    source=Source(
        title="Ionosphere", catalog=("ionosphere",), drop=("a02",), note="Without a02, which is constant."
    ),
    splits=StratifiedSplits(count=10, train=2 / 3),
    measures=MEASURES,
    arms=(*ARMS, *STEPWISE),
)
SPAMBASE = Experiment(
    name="spambase",
    source=Source(title="Spambase", catalog=("spambase",), note="Positive: spam."),
    splits=StratifiedSplits(count=10, train=0.05),
    measures=MEASURES,
    arms=ARMS,
)
CHEMINFORMATICS = Experiment(
    name="cheminformatics",
    source=Source(
        title="Cheminformatics",
        file="cheminformatics.csv",
        file_format="the compounds of one target: a header, one 0/1 column for each bit of the fingerprint"
        " and the label y (1 for the 50 actives, 0 for the 2,092 others).",
        note="The printed figures are means over five targets; a file holds one.",
    ),
    splits=StratifiedSplits(count=10, train=0.1),
    measures=(MEASURES[0], replace(MEASURES[1], digits=2), *MEASURES[2:]),
    arms=ARMS,
)

# -- figures --------------------------------------------------------------------------------------------

BEST_PUSH = Arm(
    "pnp",
    "P-Norm Push",
    "PNormPush",
    {"solver": "boosting", "n_estimators": 100},
    {"p": (1.0, 4.0, 16.0, 64.0)},
    BestOnTest(measure="ap"),
    "unit interval",
    seconds=0.4,
    curve=True,
)
SHOWN = (
    replace(machine("ranksvm", "RankSVM", "RankSVM"), curve=True),
    BEST_PUSH,
    replace(machine("ip", "Infinite Push", "InfinitePush"), curve=True),
)
ZOOM = 0.1


def sample_run(experiment: Experiment, train: float) -> Experiment:
    """The first split alone, with the curves."""
    splits = StratifiedSplits(count=1, train=train)
    return replace(experiment, name=f"{experiment.name}-run", splits=splits, arms=SHOWN)


SAMPLES = tuple(
    sample_run(one, train) for one, train in ((IONOSPHERE, 2 / 3), (SPAMBASE, 0.05), (CHEMINFORMATICS, 0.1))
)


def curves(name: str, experiment: Experiment) -> Drawing:
    """Figure 4, 5 or 6."""
    return Drawing(
        name,
        f"ROC curves of one run on {experiment.source.title}, whole and up to a tenth",
        tuple((experiment.name, arm.name) for arm in SHOWN),
        kind="roc",
        zoom=ZOOM,
        notes=(
            "The first of our splits; the paper does not say which of its own it shows. SVMmap is not rerun."
            " The P-Norm Push with the p that is best on the test part, by average precision.",
        ),
    )


# -- tables and claims ---------------------------------------------------------------------------------


def entries(experiment: Experiment, text: str) -> Iterable[Entry]:
    """The printed figures, then our own rows."""
    for line in text.split("\n"):
        arm, *figures = line.split() or [""]
        for measure, figure in zip(MEASURES, figures, strict=False):
            yield Entry(experiment.name, arm, measure.name, mean=float(figure))
    for own in experiment.arms:
        if own.beyond:
            yield from (Entry(experiment.name, own.name, measure.name) for measure in MEASURES)


def results(name: str, experiment: Experiment, text: str) -> Table:
    """Table 2, 3 or 4."""
    title = f"Results on {experiment.source.title}"
    return Table(name, title, ("arm",), ("measure",), tuple(entries(experiment, text)))


def more(arm: str, than: tuple[str, ...], measure: str, experiment: str) -> Claim:
    """That an arm has more of a measure than others, on average."""
    known = {one.name: one.title for one in ARMS}
    what = next(one.title for one in MEASURES if one.name == measure)
    rivals = " and ".join(known[one] for one in than if one not in BOOSTED)
    if set(BOOSTED) <= set(than):
        rivals = f"{rivals} and every P-Norm Push" if rivals else "every P-Norm Push"
    table = {"ionosphere": "table2", "spambase": "table3", "cheminformatics": "table4"}[experiment]
    text = f"{known[arm]} is ahead of {rivals} in {what}."
    return Claim(text, "better", experiment, arm, measure, than=than, table=table)


PAPER = Paper(
    name="agarwal-2011",
    title="The Infinite Push: A New Support Vector Ranking Algorithm that Directly Optimizes Accuracy at the"
    " Absolute Top of the List",
    authors="Shivani Agarwal",
    citation="Agarwal (2011), SIAM International Conference on Data Mining",
    experiments=(scored("f1"), scored("f2"), IONOSPHERE, SPAMBASE, CHEMINFORMATICS, *SAMPLES),
    tables=(
        Table(
            "table1",
            "Two scores with the same AUC",
            ("experiment",),
            ("measure",),
            (
                Entry("f1", "given", "auc", mean=19 / 24),
                Entry("f1", "given", "top", mean=1.0),
                Entry("f2", "given", "auc", mean=19 / 24),
                Entry("f2", "given", "top", mean=3.0),
            ),
        ),
        results("table2", IONOSPHERE, TABLE_2),
        results("table3", SPAMBASE, TABLE_3),
        results("table4", CHEMINFORMATICS, TABLE_4),
    ),
    drawings=(
        Drawing(
            "figure1",
            "ROC curves of the two scores of Table 1",
            (("f1", "given"), ("f2", "given")),
            kind="roc",
        ),
        *(curves(f"figure{number}", one) for number, one in enumerate(SAMPLES, start=4)),
    ),
    claims=(
        more("ip", ("ranksvm",), "top", "ionosphere"),
        more("ip", BOOSTED, "top", "ionosphere"),
        more("ranksvm", (*BOOSTED, "ip"), "auc", "ionosphere"),
        more("ip", ("ranksvm",), "top", "spambase"),
        more("ip", BOOSTED, "top", "spambase"),
        more("ip", ("ranksvm", *BOOSTED), "ap", "spambase"),
        more("ip", ("ranksvm", *BOOSTED), "dcg", "spambase"),
        more("ranksvm", (*BOOSTED, "ip"), "auc", "spambase"),
        *(
            more("ip", ("ranksvm", *BOOSTED), measure.name, "cheminformatics")
            for measure in CHEMINFORMATICS.measures
        ),
    ),
    deviations=(
        "The paper does not print its splits; ours are ten seeded ones, the same for every ranker, with both"
        " classes divided in the same proportion on all data sets.",
        "RankSVM and the Infinite Push are solved to a relative gap of 1e-6; the paper stops after 1,000"
        " steps of gradient projection with a step size chosen by cross-validation too. On Ionosphere the"
        " rows “1,000 steps” do that.",
        "Features are scaled to [0, 1] over training and test part together, as we read the paper. Scaled by"
        " the small training part alone, tried too, the Infinite Push had fewer positives at the top of"
        " Spambase than RankSVM: that claim hangs on the scaling.",
        "Ties count against the ranker, in every measure.",
        "SVMmap is not rerun: its row is quoted.",
        "The paper prints no standard deviations: differences are in units of our own standard error.",
    ),
    remarks=(
        "The duals of RankSVM and the Infinite Push differ in their constraints alone. Where cross-validation"
        " prefers steps so small that 1,000 of them hardly meet a constraint, the two give almost the same"
        " list; solved to the optimum they do not.",
        "The number of positives at the top depends on a single negative, and differs from split to split by"
        " as much as its mean.",
    ),
)
