"""One cell at a time: every way a piece of text can be read as a number or as a date.

A cell such as ``1,234`` or ``02/03/2024`` can be read in two ways. Nothing is decided here: both readings are
handed back, and `toprank.datasets.readings` decides for a whole column.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["MONEY", "DateCell", "NumberCell", "date_cell", "date_text", "fold", "number_cell"]

_SYMBOLS = "$€£¥₹₽₩₺₪฿₫₱"
_CODES = (
    "USD|EUR|GBP|CHF|JPY|CNY|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|INR|BRL|ZAR|MXN|SGD|HKD|KRW|TRY|ILS|THB|RUB"
)
MONEY = re.compile(rf"[A-Z]{{0,3}}[{_SYMBOLS}]|{_CODES}")
"""What may stand before a number; what stands after it may be any unit."""
_BLANK = "\u0020\u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"""(?P<open>\()? \s* (?P<sign>[-+\u2212])? \s* (?P<before>{MONEY.pattern})? \s* (?P<inner>[-+\u2212])?
    (?P<body>\d(?:[\d.,'’{_BLANK}]*\d)?[.,]?|[.,]\d+)
    (?:(?<=[.,])[-\u2013\u2014]{{1,2}})? (?P<exponent>[eE][-+]?\d+)? \s*
    (?P<after>[^\W\d_](?:[^\W\d_]|[/²³.^])*|[%‰°{_SYMBOLS}](?:[CFK])?)? \s* (?P<close>\))?""",
    re.VERBOSE,
)
LONGEST_UNIT = 12


def _body(decimal: str, *grouped: str) -> re.Pattern[str]:
    """Digits, plain or in one of the given groupings, with one decimal sign at most."""
    return re.compile(rf"(?:\d+|{'|'.join(grouped)})(?:{decimal}\d*)?|{decimal}\d+")


def _threes(signs: str) -> str:
    """Groups of three digits with the same sign between all of them."""
    return rf"[1-9]\d{{0,2}}([{signs}'’{_BLANK}])\d{{3}}(?:\1\d{{3}})*"


_POINT = _body(r"\.", _threes(","), r"[1-9]\d?(?:,\d{2})+,\d{3}")  # 12,34,567 is how India groups
_COMMA = _body(",", _threes(r"\."))
_WITHOUT_GROUPS = str.maketrans("", "", "'’" + _BLANK)


@dataclass(frozen=True, slots=True)
class NumberCell:
    """A cell read as a number, with the decimal sign either way; None where that is impossible.

    Parameters
    ----------
    point, comma : float or None
        The value when the decimal sign is a point, and when it is a comma.
    unit : str
        What stood before or after it: ``$``, ``%``, ``kg``.
    code : bool
        Digits that look like a name, not a quantity: a leading zero, or more of them than a float keeps.
    """

    point: float | None
    comma: float | None
    unit: str = ""
    code: bool = False


def number_cell(text: str) -> NumberCell | None:
    """Read a piece of text as a number, or None.

    >>> number_cell("$18,015")
    NumberCell(point=18015.0, comma=18.015, unit='$', code=False)
    >>> number_cell("1.234,56").point is None, number_cell("1.234,56").comma
    (True, 1234.56)
    >>> number_cell("(79.9 %)").point, number_cell("02139").code, number_cell("pump 7")
    (-79.9, True, None)
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    unit = (found["before"] or "") + (found["after"] or "")
    if (found["before"] and found["after"]) or len(unit) > LONGEST_UNIT:
        return None
    signs = [sign for sign in (found["open"], found["sign"], found["inner"]) if sign]
    if len(signs) > 1:
        return None
    body, exponent = found["body"], found["exponent"] or ""
    negative = bool(signs) and signs[0] != "+"
    point = _value(body, exponent, _POINT, ".", negative)
    comma = _value(body, exponent, _COMMA, ",", negative)
    if point is None and comma is None:
        return None
    digits = body.isdigit() and not exponent and not signs and not unit
    return NumberCell(point, comma, unit, digits and (len(body) > 15 or (len(body) > 1 and body[0] == "0")))


def _value(body: str, exponent: str, pattern: re.Pattern[str], decimal: str, negative: bool) -> float | None:
    if pattern.fullmatch(body) is None:
        return None
    plain = body.translate(_WITHOUT_GROUPS).replace("," if decimal == "." else ".", "").replace(decimal, ".")
    value = float(plain + exponent)
    return -value if negative else value


# -- dates -----------------------------------------------------------------------------------------

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = (
    r"(?:(?:[T]|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<fraction>\.\d+)?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})([-/.])(?P<a>\d{1,2})\2(?P<b>\d{1,2})" + _CLOCK)
_YEAR_LAST = re.compile(r"(?P<a>\d{1,2})([-/.])(?P<b>\d{1,2})\2(?P<year>\d{4}|\d{2})" + _CLOCK)
_NAME = r"(?P<name>[A-Za-z]{3,9})\.?"
_NAMED = (
    re.compile(
        rf"(?P<a>\d{{1,2}})(?:st|nd|rd|th|\.)?[-\s]{_NAME}[-,\s]\s*(?P<year>\d{{4}}|\d{{2}})" + _CLOCK
    ),
    re.compile(rf"{_NAME}[-\s](?P<a>\d{{1,2}})(?:st|nd|rd|th)?,?[-\s]\s*(?P<year>\d{{4}})" + _CLOCK),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DateCell:
    """A cell read as a date, in days since 1970, with the day or the month first; None where impossible.

    Parameters
    ----------
    day_first, month_first : float or None
        Equal where the order is beyond doubt: 2024-02-13, 13 Feb 2024.
    """

    day_first: float | None
    month_first: float | None


def date_cell(text: str) -> DateCell | None:
    """Read a piece of text as a date, or None.

    >>> date_cell("13/02/2024")
    DateCell(day_first=19766.0, month_first=None)
    >>> date_cell("2024-02-13 12:00") == date_cell("Feb 13, 2024 12:00 pm") == date_cell("13-Feb-24 12:00")
    True
    >>> date_cell("2024-02-31") is None
    True
    """
    text = text.strip()
    found = _YEAR_FIRST.fullmatch(text)
    if found:
        return _both(_moment(found, month=found["a"], day=found["b"]))
    found = _YEAR_LAST.fullmatch(text)
    if found:
        day_first = _moment(found, day=found["a"], month=found["b"])
        month_first = _moment(found, day=found["b"], month=found["a"])
        return None if day_first is None and month_first is None else DateCell(day_first, month_first)
    for pattern in _NAMED:
        found = pattern.fullmatch(text)
        if found:
            month = _month(found["name"])
            return None if month is None else _both(_moment(found, day=found["a"], month=month))
    return None


def date_text(days: float) -> str:
    """Days since 1970 as a person writes them; the time of day only where there is one.

    >>> date_text(19766.0), date_text(19766.5)
    ('2024-02-13', '2024-02-13 12:00')
    """
    try:
        moment = _EPOCH + timedelta(days=days)
    except OverflowError:
        return f"{days:.0f} days after 1970"
    whole = math.isclose(days, round(days), abs_tol=1e-9)
    return f"{moment:%Y-%m-%d}" if whole else f"{moment:%Y-%m-%d %H:%M}"


def _both(value: float | None) -> DateCell | None:
    return None if value is None else DateCell(value, value)


def _month(name: str) -> str | None:
    """The number of a month by its English name or the beginning of it."""
    short = name.lower()[:3]
    return str(_MONTHS.index(short) + 1) if short in _MONTHS else None


def _moment(found: re.Match[str], *, day: str, month: str) -> float | None:
    year = int(found["year"])
    if len(found["year"]) == 2:
        year += 1900 if year >= 69 else 2000  # as POSIX has it
    hour = int(found["hour"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found["half"][0] in "Pp")
    try:
        moment = datetime(
            year, int(month), int(day), hour, int(found["minute"] or 0), int(found["second"] or 0), tzinfo=UTC
        )
        moment += timedelta(seconds=float(found["fraction"] or 0)) - _zone(found["zone"])
    except (ValueError, OverflowError):
        return None
    return (moment - _EPOCH) / _DAY


def _zone(text: str | None) -> timedelta:
    if text is None or text in ("Z", "UTC", "GMT"):
        return timedelta()
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if text[0] == "-" else offset


# -- words -----------------------------------------------------------------------------------------


def fold(text: str) -> str:
    """What spellings of one word have in common: case and blanks do not count.

    >>> fold(" Very  Good") == fold("very good")
    True
    """
    return " ".join(text.split()).casefold()
