"""Labels that depend on nothing: a gain is claimed in 5 % of runs at most."""

import pytest

from noise import claims_a_gain, figures_on_noise

RUNS = 200


@pytest.mark.parametrize("kind", ["rank", "compare"])
def test_all_candidates_are_judged(kind):
    found = figures_on_noise(kind, 0, range(2))
    assert len(found) == 3 if kind == "rank" else len(found) > 15
    assert all(len(train) == len(test) == 2 for train, test in found.values())
    assert not claims_a_gain(kind, found)  # two splits are too few to claim anything


@pytest.mark.parametrize("kind, base", [("rank", "logistic"), ("compare", "logistic regression")])
def test_a_gain_is_claimed_where_there_is_one(kind, base):
    """Otherwise the counts below would say nothing."""
    plain = [1.0, 1.3, 0.9, 1.2, 1.1]
    better = [value + 2 + k / 9 for k, value in enumerate(plain)]
    found = {"rerank": (better, better), base: (plain, plain)}
    assert claims_a_gain(kind, found)
    assert not claims_a_gain(kind, {**found, "rerank": (plain, plain[::-1])})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rank", "compare"])
def test_on_noise_nothing_pays(kind):
    """With 5 splits, and with 25 of which these are the first."""
    claims = {5: 0, 25: 0}
    for seed in range(RUNS):
        found = figures_on_noise(kind, seed, range(25))
        for splits in claims:
            first = {name: (train[:splits], test[:splits]) for name, (train, test) in found.items()}
            claims[splits] += claims_a_gain(kind, first)
    assert max(claims.values()) <= 0.05 * RUNS
