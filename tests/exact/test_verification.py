"""What `verify` checks holds or fails; what it does not check it says. Forged claims are found out."""

import dataclasses
import hashlib
import json
import math

import numpy as np
import pytest

import exact_oracles as oracles
from toprank.control import Run, Status
from toprank.exact import Certificate, Constraints, RankingProblem, Verification, verify
from toprank.exact.mip.solve import solve_program
from toprank.exact.search.driver import search


def made(n=25, d=3, noise=1.0, seed=0, *, method="auto", keep_proof=False, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + noise * rng.normal(size=n) > 0.3).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg", **options)
    with Run(rng=0) as run:
        certificate = search(problem, run, method=method, keep_proof=keep_proof)
    assert certificate.proved
    assert (certificate.proof is not None) == keep_proof
    return problem, certificate


PROBLEM, STATED = made()


def said(verification):
    return " | ".join((*verification.held, *verification.failed, *verification.unchecked))


def test_a_true_certificate_without_a_proof_is_proved_again():
    checked = verify(PROBLEM, STATED, seconds=60)
    assert checked.passed
    assert checked.complete
    assert "proved again in" in said(checked)
    assert "exact arithmetic" in said(checked)


def test_what_was_not_checked_is_named():
    checked = verify(PROBLEM, STATED, seconds=0)
    assert checked.passed
    assert not checked.complete
    (sentence,) = checked.unchecked
    assert f"the bound {STATED.bound:.6g}" in sentence
    assert "rests on the program that wrote the file" in sentence
    assert "not checked" in checked.summary()


def test_a_hard_problem_is_not_called_checked():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 10)), np.arange(300) % 3 == 0
    problem = RankingProblem.from_labels(X, y, "dcg")
    with Run(time_limit=1.0, rng=0) as run:
        found = search(problem, run)
    claim = dataclasses.replace(found, bound=found.value, status=Status.OPTIMAL)
    checked = verify(problem, claim, seconds=0.2)
    assert not checked.complete, "nobody can have proved this"
    assert checked.failed or "neither proved nor refuted" in checked.unchecked[0]


def test_a_bound_that_counting_gives_needs_no_search(monkeypatch):
    def nobody(*arguments, **options):
        raise AssertionError("searched")

    monkeypatch.setattr("toprank.exact.verification.search", nobody)
    problem = RankingProblem.from_labels([[0.0], [1.0], [0.0]], [0, 1, 1], "auc")
    claim = Certificate.of(
        problem, np.array([1.0]), bound=0.5, status=Status.OPTIMAL, seconds=0.0, nodes=0, method="boxes"
    )
    assert verify(problem, claim).complete


def test_a_better_answer_within_the_bound_is_no_contradiction():
    worse = np.array([1.0, 0.0, 0.0])
    loose = dataclasses.replace(
        STATED,
        coef=tuple(worse.tolist()),
        value=PROBLEM.evaluate(worse),
        bound=STATED.bound,
        status=Status.TIME_LIMIT,
    )
    assert loose.value < STATED.value
    assert verify(PROBLEM, loose, seconds=60).complete


@pytest.mark.parametrize("seconds", [-1, math.inf, math.nan])
def test_seconds_must_be_a_number(seconds):
    with pytest.raises(ValueError, match="seconds"):
        verify(PROBLEM, STATED, seconds=seconds)


def test_reports_add_up():
    whole = Verification(held=("a",)) + Verification(failed=("b",)) + Verification(unchecked=("c",))
    assert whole == Verification(("a",), ("b",), ("c",))
    assert not whole.passed
    assert whole.summary() == "The certificate does not hold."


# -- changes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"value": STATED.value + 1e-9},
        {"value": math.nextafter(STATED.value, 0)},
        {"bound": STATED.value - 1e-6},
        {"bound": STATED.bound + 0.01},
        {"bound": math.nan},
        {"bound": PROBLEM.trivial_bound + 1e-6, "status": Status.TIME_LIMIT},
        {"bound": math.inf, "status": Status.TIME_LIMIT},
        {"coef": tuple(-c for c in STATED.coef)},
        {"coef": (*STATED.coef[:-1], math.nan)},
        {"coef": STATED.coef[:-1]},
        {"margin": STATED.margin + 1e-5},
        {"penalty": 0.1},
        {"statistic": "auc"},
        {"scales": (1.0, 1.0, 64.0)},
        {"fingerprint": "0" * 64},
    ],
)
def test_a_changed_certificate_fails_without_any_search(change):
    assert verify(PROBLEM, dataclasses.replace(STATED, **change), seconds=0).failed


@pytest.mark.parametrize("what", ["row", "label", "margin", "penalty", "statistic"])
def test_other_data_or_another_claim_fails(what):
    X, y, options = PROBLEM.X.copy(), oracles.labels_and_lists(PROBLEM.queries, len(PROBLEM.X))[0], {}
    if what == "row":
        X[3, 1] = np.nextafter(X[3, 1], 0)
    elif what == "label":
        y[0] = 1 - y[0]
    elif what != "statistic":
        options[what] = 1e-3
    other = RankingProblem.from_labels(X, y, "auc" if what == "statistic" else "dcg", **options)
    assert verify(other, STATED, seconds=0).failed


def test_the_price_is_part_of_the_value():
    problem, certificate = made(penalty=0.05)
    assert verify(problem, certificate, seconds=60).complete
    free = dataclasses.replace(certificate, value=certificate.value + 0.05)
    assert verify(problem, free, seconds=0).failed


# -- forgeries: files that are whole, well sealed, and false ----------------------------------


def resealed(certificate, **changes):
    """The certificate read from a file somebody changed, with a seal that fits, made without our code."""
    content = {**json.loads(certificate.to_json()), **changes}
    sealed = {key: content[key] for key in content if key not in ("format", "version", "seal")}
    content["seal"] = hashlib.sha256(json.dumps(sealed, sort_keys=True).encode()).hexdigest()
    return Certificate.from_json(json.dumps(content))


def forgeries(problem, certificate):
    """Named falsehoods about a problem whose optimum the certificate states."""
    worse = [1.0, *[0.0] * (problem.n_features - 1)]
    value = problem.evaluate(worse)
    assert value < certificate.value
    middle = (value + certificate.value) / 2
    return {
        "false optimal": {"coef": worse, "value": value, "bound": value},
        "false bound": {"coef": worse, "value": value, "bound": middle, "status": "time_limit"},
        "bound above the trivial one": {"bound": problem.trivial_bound * 1.01, "status": "time_limit"},
        "no bound at all": {"bound": math.inf, "status": "time_limit"},
        "changed coefficients": {"coef": worse},
        "changed value": {"value": certificate.value * 1.01, "bound": certificate.value * 1.01},
    }


NAMES = sorted(forgeries(PROBLEM, STATED))


def test_resealing_works():
    assert verify(PROBLEM, resealed(STATED), seconds=60).complete


@pytest.mark.parametrize("name", NAMES)
def test_forgeries_are_found_out_without_a_proof(name):
    forged = resealed(STATED, **forgeries(PROBLEM, STATED)[name])
    checked = verify(PROBLEM, forged, seconds=60)
    assert checked.failed, said(checked)
    assert checked.summary() == "The certificate does not hold."


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["boxes", "cells"])
@pytest.mark.parametrize("penalty", [0.0, 0.03])
def test_forgeries_are_found_out_by_the_proof_alone(name, method, penalty):
    problem, certificate = made(16, noise=3.0, seed=1, method=method, keep_proof=True, penalty=penalty)
    forged = resealed(certificate, **forgeries(problem, certificate)[name])
    assert verify(problem, forged, seconds=0).failed


def test_a_false_optimum_is_refuted_by_the_search_in_words():
    forged = resealed(STATED, **forgeries(PROBLEM, STATED)["false optimal"])
    (sentence,) = verify(PROBLEM, forged, seconds=60).failed
    assert sentence.startswith("called optimal, but the coefficients [")
    assert f"reach {STATED.value:.6g}" in sentence


def test_a_bound_under_constraints_is_not_compared_with_what_they_forbid():
    X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [3.0, 0.5]])
    problem = RankingProblem.from_labels(X, [1, 1, 0, 0], "auc", margin=1e-3)
    with Run(rng=0) as run:
        found = solve_program(problem, run, constraints=Constraints(signs=(1, -1)))
    assert verify(problem, found, seconds=5).passed


# -- proofs that can be replayed --------------------------------------------------------------


def with_proof(penalty=0.0, method="boxes"):
    return made(16, noise=3.0, seed=1, method=method, keep_proof=True, penalty=penalty)


@pytest.mark.parametrize("method", ["boxes", "cells"])
@pytest.mark.parametrize("penalty", [0.0, 0.03])
def test_a_kept_proof_is_replayed_and_survives_a_file(tmp_path, penalty, method):
    problem, certificate = with_proof(penalty, method)
    assert {part["method"] for part in certificate.proof["parts"]} == {method}
    certificate.save(tmp_path / "certificate.json")
    loaded = Certificate.load(tmp_path / "certificate.json")
    assert loaded == certificate
    checked = verify(problem, loaded, seconds=0)
    assert checked.complete
    assert "the kept proof was replayed" in said(checked)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["boxes", "cells"])
def test_a_proof_replays_however_many_threads_were_offered(seed, method):
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.normal(size=(18, 3)), rng.integers(0, 2, size=18)))
    problem = RankingProblem.from_labels(X, X[:, 0] + 2 * rng.normal(size=18) > 0.8, "dcg")
    with Run(rng=0) as run:
        certificate = search(problem, run, method=method, keep_proof=True, n_jobs=4)
    assert certificate.proved
    assert verify(problem, certificate, seconds=0).complete


@pytest.mark.parametrize("method", ["boxes", "cells"])
@pytest.mark.parametrize("penalty", [0.0, 0.03])
@pytest.mark.parametrize("fault", ["log", "part", "columns", "bound", "method", "damage"])
def test_a_changed_proof_fails(penalty, fault, method):
    problem, certificate = with_proof(penalty, method)
    proof = json.loads(json.dumps(certificate.proof))
    first = proof["parts"][0]
    if fault == "log":
        first["log"].pop(max(first["log"], key=lambda key: len(first["log"][key])))
    elif fault == "part":
        proof["parts"].pop(0)
    elif fault == "columns":
        first["columns"] = first["columns"][:-1]
    elif fault == "bound":
        first["bound"] -= 0.2
    elif fault == "method":
        first["method"] = "cells" if method == "boxes" else "boxes"
    else:
        first["log"] = {"?": "?"}
    assert verify(problem, dataclasses.replace(certificate, proof=proof), seconds=0).failed


@pytest.mark.parametrize("method", ["boxes", "cells"])
def test_a_false_bound_below_the_optimum_is_found_out_by_the_replay(method):
    """A worse answer whose bound is made to meet its value: only going through the proof again can tell."""
    problem, certificate = with_proof(method=method)
    worse = np.array([1.0, 0.0, 0.0])
    value = problem.evaluate(worse)
    assert value < certificate.value
    proof = json.loads(json.dumps(certificate.proof))
    proof["parts"][0]["bound"] = value
    forged = dataclasses.replace(certificate, coef=tuple(worse), value=value, bound=value, proof=proof)
    failed = verify(problem, forged, seconds=0).failed
    assert any("may be worth the target" in text or "without reason" in text for text in failed)
