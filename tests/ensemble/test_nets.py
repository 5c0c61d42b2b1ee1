import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from toprank.ensemble.nets import SmallNets


def test_probabilities_are_the_mean_of_scikit_learns_networks():
    X, y = make_moons(120, noise=0.2, random_state=0)
    found = SmallNets(3, hidden=7, passes=12, random_state=4).fit(X, y)
    rng = np.random.RandomState(4)
    shares = []
    for _ in range(3):
        net = MLPClassifier(
            (7,), alpha=0.1, max_iter=12, learning_rate_init=3e-3, random_state=int(rng.randint(2**31 - 1))
        )
        with pytest.warns(ConvergenceWarning):
            shares.append(net.fit(X, y).predict_proba(X))
    np.testing.assert_allclose(found.predict_proba(X), np.mean(shares, axis=0), atol=1e-12)
    np.testing.assert_allclose(found.predict_proba(sp.csr_matrix(X)), found.predict_proba(X), atol=1e-12)


def test_labels_are_those_given_and_weights_count():
    X, y = make_moons(120, noise=0.4, random_state=0)
    names = np.array(["no", "yes"])[y]
    plain = SmallNets(2, random_state=0).fit(X, names)
    assert set(plain.predict(X)) <= {"no", "yes"}
    heavy = SmallNets(2, random_state=0).fit(X, names, sample_weight=np.where(y == 1, 20.0, 1.0))
    assert heavy.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1


def test_out_of_time_one_network_is_there():
    X, y = make_moons(60, random_state=0)
    assert len(SmallNets(50, time_limit=0.0).fit(X, y).layers_) == 1
