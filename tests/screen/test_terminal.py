"""JSON for machines that people read too."""

import json

from hypothesis import given
from hypothesis import strategies as st

from toprank.screen.terminal import json_text

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(VALUES)
def test_it_is_the_same_json(value):
    assert json.loads(json_text(value)) == value


def test_figures_stand_on_one_line_and_records_on_one_each():
    text = json_text(
        {"cut_offs": {"k": list(range(400))}, "list": [{"rank": 1, "x": "a"}, {"rank": 2}], "e": []}
    )
    assert len(text.splitlines()) == 10
    assert '    {"rank": 1, "x": "a"},' in text.splitlines()
