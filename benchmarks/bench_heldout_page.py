"""The table of held-out hits, and the page around it, from the stored results."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from marked_pages import between_marks

OURS = "toprank rank"

Results = dict[tuple[str, int, str], dict]


class Compared:
    """Shares of hits on the splits that every contender has done."""

    def __init__(self, results: Results) -> None:
        self.results = results
        everyone = list(dict.fromkeys(who for _, _, who in results))
        self.values: dict[str, dict[str, np.ndarray]] = {}
        self.splits: dict[str, list[int]] = {}
        for data in dict.fromkeys(data for data, _, _ in results):
            done = [{split for d, split, w in results if (d, w) == (data, who)} for who in everyone]
            common = sorted(set.intersection(*done))
            if common:
                self.splits[data] = common
                self.values[data] = {
                    who: np.array([self._share(data, split, who) for split in common]) for who in everyone
                }
        means = [[one[who].mean() for who in everyone] for one in self.values.values()]
        ranks = rankdata(-np.round(means, 12), axis=1) if means else np.zeros((1, len(everyone)))
        self.mean_rank = dict(zip(everyone, ranks.mean(axis=0).tolist(), strict=True))
        self.order = sorted(everyone, key=lambda who: self.mean_rank[who])

    def _share(self, data: str, split: int, who: str) -> float:
        one = self.results[data, split, who]
        return float(one["hits"] / one["budget"])

    def best(self, data: str) -> str:
        """Who has the highest mean on a data set; the best by rank among equals."""
        return max(self.order, key=lambda who: round(self.values[data][who].mean(), 12))

    def behind(self, data: str, who: str) -> tuple[float, float]:
        """Mean difference to the best, and its standard error over the splits."""
        difference = self.values[data][who] - self.values[data][self.best(data)]
        count = len(difference)
        error = float(difference.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
        return float(difference.mean()), error

    def near(self, data: str, who: str) -> bool:
        """Whether one is the best on a data set, or behind by no more than a standard error."""
        difference, error = self.behind(data, who)
        return who == self.best(data) or not -difference > error


def table(results: Results) -> str:
    """Mean share of each contender on each data set, the best in bold; its mean rank."""
    compared = Compared(results)
    if not compared.values:
        return "No data set has a split that every contender has done yet."
    order = compared.order
    lines = [("data", "splits", "budget", *order), ("---",) * (len(order) + 3)]
    for data, values in compared.values.items():
        budget = compared.results[data, compared.splits[data][0], order[0]]["budget"]
        best, shares = compared.best(data), {who: f"{values[who].mean():.3f}" for who in order}
        cells = [f"**{shares[who]}**" if who == best else shares[who] for who in order]
        lines.append((data, str(len(compared.splits[data])), str(budget), *cells))
    means = [np.mean([one[who].mean() for one in compared.values.values()]) for who in order]
    lines.append(("mean share", "", "", *(f"{mean:.3f}" for mean in means)))
    lines.append(("mean rank", "", "", *(f"{compared.mean_rank[who]:.2f}" for who in order)))
    near = [sum(compared.near(data, who) for data in compared.values) for who in order]
    lines.append(
        (
            "within one standard error of the best",
            "",
            "",
            *(f"{one} of {len(compared.values)}" for one in near),
        )
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def distances(results: Results) -> str:
    """Mean difference of each contender to the best of a data set, with its standard error."""
    compared = Compared(results)
    if not compared.values:
        return ""
    lines = [("behind the best by", *compared.order), ("---",) * (len(compared.order) + 1)]
    for data in compared.values:
        cells = [
            "best" if who == compared.best(data) else _behind(compared, data, who) for who in compared.order
        ]
        lines.append((data, *cells))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _behind(compared: Compared, data: str, who: str) -> str:
    difference, error = compared.behind(data, who)
    return f"{0.0 - difference:.3f} ± {error:.3f}"


def where_behind(results: Results) -> str:
    """Data sets on which ours is behind the best by more than one standard error, in a sentence."""
    compared = Compared(results)
    if OURS not in compared.order or not compared.values:
        return ""
    far = []
    for data in compared.values:
        difference, error = compared.behind(data, OURS)
        if not compared.near(data, OURS):
            far.append(f"{data} ({compared.best(data)}, {difference:+.3f} ± {error:.3f})")
    if not far:
        return "`toprank rank` is within one standard error of the best on every data set."
    return f"`toprank rank` is behind the best by more than one standard error on: {', '.join(far)}."


def were_all_alike(results: Results, draws: int = 2000) -> str:
    """How near the best one would be were all contenders equally good, by splits drawn with replacement."""
    compared, rng = Compared(results), np.random.default_rng(0)
    if not compared.values:
        return ""
    near = np.zeros((draws, len(compared.order)))
    for one in compared.values.values():
        shares = np.column_stack([one[who] for who in compared.order])
        shares = shares - shares.mean(axis=0)  # alike on average; spread and what splits share stay
        for draw in range(draws):
            drawn = shares[rng.integers(0, len(shares), len(shares))]
            best = drawn[:, [drawn.mean(axis=0).argmax()]]
            behind = best - drawn
            error = behind.std(axis=0, ddof=1) / np.sqrt(len(drawn)) if len(drawn) > 1 else 0.0
            near[draw] += behind.mean(axis=0) <= error
    sets, everywhere = len(compared.values), 100 * np.mean(near == len(compared.values))
    return (
        f"Were all {len(compared.order)} equally good, one of them would be within one standard error of the"
        f" best on {near.mean():.1f} of {sets} sets on average, and on all of them in {everywhere:.2g} % of"
        " such tables."
    )


def times(results: Results) -> str:
    """Mean seconds of each contender on each data set."""
    order = list(dict.fromkeys(who for _, _, who in results))
    lines = [("seconds", *order), ("---",) * (len(order) + 1)]
    for data in dict.fromkeys(data for data, _, _ in results):
        took = {
            w: [one["seconds"] for (d, _, v), one in results.items() if (d, v) == (data, w)] for w in order
        }
        lines.append((data, *(f"{np.mean(took[who]):.1f}" if took[who] else "-" for who in order)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(text: str, results: Results) -> str:
    """The page with its figures written anew."""
    found = "\n\n".join(
        part
        for part in (
            table(results),
            distances(results),
            where_behind(results),
            were_all_alike(results),
            times(results),
        )
        if part
    )
    return between_marks(text, "results", found)
