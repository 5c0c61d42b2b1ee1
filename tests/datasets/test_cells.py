import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.datasets.cells import date_cell, date_text, number_cell

WAYS = [(".", ","), (",", "."), (".", " "), (",", "\u00a0"), (".", "'"), (",", ""), (".", "")]


def _written(cents, decimal, group):
    """A number as a person with these signs writes it, digit by digit."""
    whole, rest = divmod(abs(cents), 100)
    digits = str(whole)
    groups = []
    while digits:
        groups.insert(0, digits[-3:])
        digits = digits[:-3]
    return ("-" if cents < 0 else "") + group.join(groups) + f"{decimal}{rest:02d}"


@given(
    st.integers(-(10**12), 10**12),
    st.sampled_from(WAYS),
    st.sampled_from(["{}", "${}", "{} %", "{}%", "€ {}", " {} ", "{} kg", "USD {}"]),
)
def test_a_number_comes_back_from_every_way_to_write_it(cents, way, around):
    found = number_cell(around.format(_written(cents, *way)))
    value = found.point if way[0] == "." else found.comma
    assert value == cents / 100
    # Two decimals say which sign is the decimal one.
    assert (found.comma if way[0] == "." else found.point) is None
    assert not found.code


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_exactly(value):
    assert number_cell(repr(value)).point == value


NO_NUMBERS = (
    *(
        "",
        "pump 7",
        "1.2.3",
        "192.168.1.1",
        "555 1234",
        "030 123 456",
        "10:30",
        "1/2",
        "5-10",
        "--5",
        "(5",
        "5)",
    ),
    *("1,23,45", "$5 USD", "nan", "inf", "A12", "12 of 30", "1 23", "$", "%", "1'23"),
)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number(text):
    assert number_cell(text) is None


@pytest.mark.parametrize("text", ["02139", "00", "1" * 16])
def test_names_made_of_digits(text):
    assert number_cell(text).code


@pytest.mark.parametrize("text", ["0", "0.5", "10", "1" * 15, "-07", "007 kg"])
def test_digits_that_are_numbers(text):
    assert not number_cell(text).code


days = st.dates(dt.date(1969, 1, 1), dt.date(2068, 12, 31))
FORMATS = {
    "%Y-%m-%d": "both",
    "%Y/%m/%d": "both",
    "%d %B %Y": "both",
    "%b %d, %Y": "both",
    "%d-%b-%y": "both",
    "%d/%m/%Y": "day",
    "%d.%m.%Y": "day",
    "%d-%m-%y": "day",
    "%m/%d/%Y": "month",
    "%m/%d/%y": "month",
}


@given(days, st.sampled_from(list(FORMATS)), st.sampled_from(["", " %H:%M", "T%H:%M:%S", " %I:%M %p"]))
def test_a_date_comes_back_from_every_way_to_write_it(day, form, clock):
    moment = dt.datetime(day.year, day.month, day.day, 17, 30)
    found = date_cell(moment.strftime(form + clock))
    expected = (day - dt.date(1970, 1, 1)).days + (17.5 / 24 if clock else 0)
    for order, value in (("day", found.day_first), ("month", found.month_first)):
        if FORMATS[form] in ("both", order):
            assert value == pytest.approx(expected, abs=1e-9)
        elif day.day > 12:
            assert value is None


@pytest.mark.parametrize(
    "text", ["2024-02-30", "31/31/2024", "00/00/0000", "2024-13-01", "soon", "10:30", "1.5"]
)
def test_what_is_no_date(text):
    assert date_cell(text) is None


@given(days)
def test_days_are_shown_as_dates(day):
    assert date_text((day - dt.date(1970, 1, 1)).days) == day.isoformat()


def test_days_no_calendar_has():
    assert date_text(1e9) == "1000000000 days after 1970"
    assert np.isfinite(date_cell("9999-12-31").day_first)


def test_greenwich_is_a_zone():
    assert date_cell("2024-02-13 12:00 GMT") == date_cell("2024-02-13T12:00Z")
    assert date_cell("2024-02-13 12:00 CET") is None
