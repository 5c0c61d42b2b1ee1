import hashlib
import io
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from toprank import statistics
from toprank.datasets import InputError, half_splits, learn_encoder
from toprank.workflow.reading.source import Columns, open_source, read_new


class _Pipe:
    """Standard input with some bytes in it."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)

    def isatty(self):
        return False


CSV = b'price|seal|y\n"$1,200.50"|rubber|0\n$950|steel|1\n$80|steel|0\n$99|rubber|1\n'


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", _Pipe(CSV))
    source = open_source("-", Columns(target="y"))
    assert source.table.source == "standard input"
    assert source.fingerprint == hashlib.sha256(CSV).hexdigest()
    assert source.labelled.features.frame["price"].tolist() == [1200.5, 950, 80, 99]
    with pytest.raises(InputError, match="--new '-': standard input has been read already"):
        read_new("-", source)


def test_standard_input_from_a_keyboard(monkeypatch):
    pipe = _Pipe(b"")
    pipe.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", pipe)
    with pytest.raises(InputError, match="nothing is piped"):
        open_source("-", Columns(target="y"))


def _money_file(path, rows=600):
    """Three columns that decide together who fails, each written the way people write them."""
    rng = np.random.default_rng(7)
    price, share, hours = rng.lognormal(9, 1, rows), rng.uniform(0, 100, rows), rng.lognormal(8, 1, rows)
    score = np.log(price) - share / 25 + np.log(hours) + rng.normal(0, 0.7, rows)
    failed = (score > np.quantile(score, 0.8)).astype(int)
    lines = ["price,share,hours,failed"]
    lines += [
        f'"${a:,.0f}",{b:.0f} %,"{c:,.0f}",{y}'
        for a, b, c, y in zip(price, share, hours, failed, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def held_out_precision(path, **options):
    """Mean precision@10 of logistic regression over ten half splits."""
    source = open_source(path, Columns(target="failed", **options))
    labelled, values = source.labelled, []
    for train, test in half_splits(labelled.y, repeats=10, random_state=0):
        encoder, _ = learn_encoder(labelled.features.take(train))
        X, _ = encoder.encode(labelled.features.take(train))
        X_test, _ = encoder.encode(labelled.features.take(test))
        ranker = LogisticRegression().fit(X, labelled.y[train])
        values.append(statistics.get("precision@10")(labelled.y[test], ranker.decision_function(X_test)))
    return float(np.mean(values)), source.remarks


def test_reading_money_as_numbers_is_worth_it(tmp_path):
    path = _money_file(tmp_path / "money.csv")
    read, said = held_out_precision(path)
    words = ["price=text", "share=text", "hours=text"]
    encoded, warned = held_out_precision(path, read=words)
    assert said == ()
    # Left as words, the file is as good as unread, and the top of the output says so.
    assert any("'price'" in sentence and "left out" in sentence for sentence in warned)
    assert encoded < 0.5
    assert read > 0.8


@pytest.mark.parametrize("role", ["id", "group", "ignore"])
def test_a_nominal_column_of_the_catalog_can_have_another_role(monkeypatch, role):
    from toprank import datasets
    from toprank.datasets.load import Dataset

    entry = next(one for one in datasets.catalog().values() if one.nominal)
    name, n = entry.nominal[0], 12
    X = np.column_stack([np.arange(n), np.arange(n) % 5]).astype(float)
    made = Dataset(X, np.arange(n) % 2, (name, "other"), None, None, entry)
    monkeypatch.setattr(datasets, "load", lambda _: made)
    source = open_source(entry.name, Columns(**{role: [name] if role == "ignore" else name}))
    assert source.categorical == ()
    assert source.labelled.features.columns == ["other"]
    assert open_source(entry.name, Columns()).categorical == (name,)
