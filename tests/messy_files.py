"""Messy files, generated: the bytes as they come, and how each has to be read."""

import gzip
import io
from dataclasses import dataclass, field

NAN = float("nan")
BIG = [str(1234567890123456789012340 + k) for k in range(6)]


@dataclass(frozen=True)
class Messy:
    """One file.

    `values` holds the expected cells (numbers, ISO dates, words, None) by column, `kinds` what the columns
    are, `warnings` a pattern for each sentence at the top of the output: no more, no fewer. `y` is always
    the target; `options` are those of the command line.
    """

    name: str
    content: bytes
    values: dict
    kinds: dict
    warnings: tuple = ()
    notes: tuple = ()
    options: dict = field(default_factory=dict)


def _rows(header, *columns, separator=",", end="\n"):
    """A file from its columns; the target alternates."""
    length = len(columns[0])
    lines = [separator.join([*header.split(), "y"])]
    lines += [separator.join([*(col[k] for col in columns), str(k % 2)]) for k in range(length)]
    return (end.join(lines) + end).encode()


def _quoted(cells):
    return [f'"{cell}"' for cell in cells]


def workbook():
    import datetime

    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Readings"
    sheet.append(["price", "when", "zip", "y"])
    for k, (price, zip_code) in enumerate(
        [("$1,200", "02139"), ("$950.50", "94105"), (300, "02139"), (None, "94105")]
    ):
        sheet.append([price, datetime.datetime(2024, 2, 13 + k), zip_code, k % 2])
    book.create_sheet("Notes")
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


ISO = ["2024-02-13", "2024-02-28", "2024-03-01", "2024-12-24"]
FILES = {
    "money": Messy(
        "a.csv",
        _rows("price", _quoted(["$18,015", "$950.50", "$1,200,000", "-$5", "$-7.25", "($300)"])),
        {"price": [18015, 950.5, 1200000, -5, -7.25, -300]},
        {"price": "number"},
        notes=(r"price.*'\$18,015' is 18015",),
    ),
    "other money": Messy(
        "a.csv",
        _rows("price", _quoted(["€1.015,20", "2.000,00 EUR", "3 EUR", "€ 4,5"]), separator=";"),
        {"price": ["€1.015,20", "2.000,00 EUR", "3 EUR", "€ 4,5"]},
        {"price": "text"},
        (r"'price': kept as text, because its numbers have different units \(EUR, €\)",),
    ),
    "Swiss prices": Messy(
        "a.csv",
        _rows(
            "price fee",
            ["CHF 1'200.-", "CHF 12'345.50", "CHF 90.\u2013", "CHF 7.--"],
            ["45,-", "1,5", "300,-", "2"],
            separator=";",
        ),
        {"price": [1200, 12345.5, 90, 7], "fee": [45, 1.5, 300, 2]},
        {"price": "number", "fee": "number"},
    ),
    "dates that cannot be read": Messy(
        "a.csv",
        _rows(
            "seen gesehen",
            ["2024-02-13 10:00 CET", "2024-02-14 11:00 EST", "2024-02-15 11:00 EST"] * 2,
            ["13. Mai 2024", "14. Mai 2024", "15. Mai 2024"] * 2,
        ),
        {
            "seen": ["2024-02-13 10:00 CET", "2024-02-14 11:00 EST", "2024-02-15 11:00 EST"] * 2,
            "gesehen": ["13. Mai 2024", "14. Mai 2024", "15. Mai 2024"] * 2,
        },
        {"seen": "text", "gesehen": "text"},
        (
            r"'seen': .*'2024-02-13 10:00 CET' .*; write it as dates like 2024-02-13 12:00, or say --read",
            r"'gesehen': .*'13. Mai 2024' \(row 1\); write it as dates .*'gesehen=date'",
        ),
    ),
    "percentages": Messy(
        "a.csv",
        _rows("share", ["79.9 %", "5%", "0.25 %", "100%"]),
        {"share": [79.9, 5, 0.25, 100]},
        {"share": "number"},
    ),
    "percent signs left out": Messy(
        "a.csv",
        _rows("share", ["79.9 %", "5", "0.25 %", "100%"]),
        {"share": [79.9, 5, 0.25, 100]},
        {"share": "number"},
        (r"'share': some cells have % and some have not; all are read in %",),
    ),
    "decimal commas": Messy(
        "a.csv",
        _rows("load", ["1.234,56", "0,5", "12", "1.234"], separator=";"),
        {"load": [1234.56, 0.5, 12, 1234]},
        {"load": "number"},
    ),
    "thousands with points beside decimal commas": Messy(
        "a.csv",
        _rows("load count", ["3,5", "4,25", "5", "6,1"], ["1.234", "12.000", "999", "2.500"], separator=";"),
        {"load": [3.5, 4.25, 5, 6.1], "count": [1234, 12000, 999, 2500]},
        {"load": "number", "count": "number"},
        notes=(r"count.*'1.234' was read as 1234 like the other columns.*count=decimal point",),
    ),
    "decimal points beside decimal commas": Messy(
        "a.csv",
        _rows("load ratio", ["3,5", "4,25", "5", "6,1"], ["1.234", "0.5", "12.25", "2.5"], separator=";"),
        {"load": [3.5, 4.25, 5, 6.1], "ratio": [1.234, 0.5, 12.25, 2.5]},
        {"load": "number", "ratio": "number"},
    ),
    "commas that could be either": Messy(
        "a.csv",
        _rows("count", _quoted(["1,234", "12,000", "999", "2,500"])),
        {"count": [1234, 12000, 999, 2500]},
        {"count": "number"},
        (r"'count': '1,234' was read as 1234; no cell tells .* 1.234: .*'count=decimal comma'",),
    ),
    "commas that could be either, told": Messy(
        "a.csv",
        _rows("count", _quoted(["1,234", "12,000", "7", "2,500"])),
        {"count": [1.234, 12, 7, 2.5]},
        {"count": "number"},
        options={"read": ["count=decimal-comma"]},
    ),
    "points that could be either, told": Messy(
        "a.csv",
        _rows("count", ["1.234", "12.000", "999", "2.500"]),
        {"count": [1234, 12000, 999, 2500]},
        {"count": "number"},
        options={"read": ["count=decimal comma"]},
    ),
    "two ways to write numbers": Messy(
        "a.csv",
        _rows("load", _quoted(["1.234,5", "1,234.5", "2.000,5", "3,000.5"])),
        {"load": ["1.234,5", "1,234.5", "2.000,5", "3,000.5"]},
        {"load": "text"},
        (r"'load': kept as text, because it mixes .*'1,234.5' \(row 2\) and '1.234,5' \(row 1\)",),
    ),
    "spaces, apostrophes and lakhs": Messy(
        "a.csv",
        _rows(
            "french swiss indian",
            ["1 234,5", "12\u00a0000", "1\u202f000\u202f000", "7"],
            ["1'234.5", "12'000", "1'000'000", "7"],
            ["12,34,567", "1,00,000", "1,00,00,000", "7"],
            separator="\t",
        ),
        {
            "french": [1234.5, 12000, 1000000, 7],
            "swiss": [1234.5, 12000, 1000000, 7],
            "indian": [1234567, 100000, 10000000, 7],
        },
        {"french": "number", "swiss": "number", "indian": "number"},
    ),
    "one unit": Messy(
        "a.csv",
        _rows("mass", ["12.5 kg", "3 kg", "1,200 kg".replace(",", ""), "0.25kg"]),
        {"mass": [12.5, 3, 1200, 0.25]},
        {"mass": "number"},
    ),
    "several units": Messy(
        "a.csv",
        _rows("mass", ["12.5 kg", "300 g", "7 kg", "20 g"]),
        {"mass": ["12.5 kg", "300 g", "7 kg", "20 g"]},
        {"mass": "text"},
        (r"'mass': kept as text, because its numbers have different units \(g, kg\)",),
    ),
    "day first": Messy(
        "a.csv",
        _rows("when", ["13/02/2024", "28/02/2024", "01/03/2024", "24/12/2024"]),
        {"when": ISO},
        {"when": "date"},
        notes=(r"when.*day first, as '13/02/2024' in row 1 says",),
    ),
    "month first": Messy(
        "a.csv",
        _rows("when", ["02/13/2024", "2/28/2024", "3/1/2024", "12/24/2024"]),
        {"when": ISO},
        {"when": "date"},
    ),
    "dates that could be either": Messy(
        "a.csv",
        _rows("when", ["02/03/2024", "05/06/2024", "07/11/2024", "12/12/2024"]),
        {"when": ["2024-02-03", "2024-05-06", "2024-07-11", "2024-12-12"]},
        {"when": "date"},
        (r"'when': '02/03/2024' was read as 2024-02-03, month first; no cell tells .*'when=day first'",),
    ),
    "dates that could be either, told": Messy(
        "a.csv",
        _rows("when", ["02/03/2024", "05/06/2024", "07/11/2024", "12/12/2024"]),
        {"when": ["2024-03-02", "2024-06-05", "2024-11-07", "2024-12-12"]},
        {"when": "date"},
        options={"read": ["when=day first"]},
    ),
    "dates that cannot be what was told": Messy(
        "a.csv",
        _rows("when", ["13/02/2024", "02/03/2024", "05/06/2024", "12/12/2024"]),
        {"when": [None, "2024-02-03", "2024-05-06", "2024-12-12"]},
        {"when": "date"},
        (r"'when': 1 of 4 cells are no dates like .*with the month first \('13/02/2024' in row 1\)",),
        notes=(r"dates with the month first, as asked for",),
        options={"read": ["when=month first"]},
    ),
    "dates in doubt beside dates beyond doubt": Messy(
        "a.csv",
        _rows(
            "when seen",
            ["02/03/2024", "05/06/2024", "07/11/2024", "12/12/2024"],
            ["13/02/2024", "28/02/2024", "01/03/2024", "24/12/2024"],
        ),
        {"when": ["2024-03-02", "2024-06-05", "2024-11-07", "2024-12-12"], "seen": ISO},
        {"when": "date", "seen": "date"},
        notes=(r"when.*read as 2024-03-02, day first",),
    ),
    "two orders of dates": Messy(
        "a.csv",
        _rows("when", ["13/02/2024", "02/13/2024", "28/02/2024", "12/24/2024"]),
        {"when": ["13/02/2024", "02/13/2024", "28/02/2024", "12/24/2024"]},
        {"when": "text"},
        (r"'when': kept as text.*dates, '13/02/2024' \(row 1\) and '02/13/2024' \(row 2\)",),
    ),
    "dates in words and with clocks": Messy(
        "a.csv",
        _rows(
            "named timed",
            _quoted(["13 Feb 2024", "February 28, 2024", "1-Mar-24", "Dec 24, 2024"]),
            ["2024-02-13 12:00", "2024-02-28T06:00:00Z", "2024-03-01T02:00+02:00", "2024-12-24"],
        ),
        {"named": ISO, "timed": ["2024-02-13T12:00", "2024-02-28T06:00", "2024-03-01", "2024-12-24"]},
        {"named": "date", "timed": "date"},
    ),
    "a date for none": Messy(
        "a.csv",
        _rows("left", ["2024-02-13", "2024-02-28", "9999-12-31", "2024-12-24"]),
        {"left": ["2024-02-13", "2024-02-28", "9999-12-31", "2024-12-24"]},
        {"left": "date"},
        (r"'left': holds 9999-12-31, far from its other values; .* --missing 'left=9999-12-31'",),
    ),
    "spellings of yes": Messy(
        "a.csv",
        _rows("ok", ["Yes", "YES", "yes", "no", "Yes", "No "]),
        {"ok": ["Yes", "Yes", "Yes", "No", "Yes", "No"]},
        {"ok": "text"},
        notes=(r"ok.*'Yes', 'YES', 'yes'",),
    ),
    "spellings kept apart": Messy(
        "a.csv",
        _rows("gas", ["CO", "Co", "CO", "NO", "No", "CO"]),
        {"gas": ["CO", "Co", "CO", "NO", "No", "CO"]},
        {"gas": "text"},
        options={"read": ["gas=exact text"]},
    ),
    "-999": Messy(
        "a.csv",
        _rows("age fare", ["30", "-999", "41", "25"], ["7.5", "-999", "8", "-999"]),
        {"age": [30, -999, 41, 25], "fare": [7.5, -999, 8, -999]},
        {"age": "number", "fare": "number"},
        (r"Columns 'age', 'fare': holds -999, far .* --missing 'COLUMN=-999'",),
    ),
    "9999": Messy(
        "a.csv",
        _rows("age", ["30", "9999", "41", "25"]),
        {"age": [30, 9999, 41, 25]},
        {"age": "number"},
        (r"'age': holds 9999, far from its other values; .* --missing 'age=9999'",),
    ),
    "-999 said to be missing": Messy(
        "a.csv",
        _rows("age fare", ["30", "-999", "41", "25"], ["7.5", "-999", "8", "-999"]),
        {"age": [30, NAN, 41, 25], "fare": [7.5, NAN, 8, NAN]},
        {"age": "number", "fare": "number"},
        options={"missing": ["age=-999", "fare=-999.0"]},
    ),
    "missing everywhere": Messy(
        "a.csv",
        _rows("age seal", ["30", "-999", "41", "25"], ["rubber", "-999", "steel", "steel"]),
        {"age": [30, NAN, 41, 25], "seal": ["rubber", None, "steel", "steel"]},
        {"age": "number", "seal": "text"},
        options={"missing": ["-999"]},
    ),
    "postcodes": Messy(
        "a.csv",
        _rows("zip n", ["02139", "94105", "02139", "10001"], ["1", "2", "3", "5"]),
        {"zip": ["02139", "94105", "02139", "10001"], "n": [1, 2, 3, 5]},
        {"zip": "text", "n": "number"},
        notes=(r"zip.*leading zeros \('02139'\).*`read='zip=number'`",),
    ),
    "zeros in front of numbers": Messy(
        "a.csv",
        _rows("n", ["007", "010", "", "123"]),
        {"n": [7, 10, NAN, 123]},
        {"n": "number"},
        options={"read": ["n=number"]},
    ),
    "25 digits": Messy(
        "a.csv",
        _rows("account part", BIG, ["9007199254740993", "12", "9007199254740992", "5", "12", "5"]),
        {"account": BIG, "part": ["9007199254740993", "12", "9007199254740992", "5", "12", "5"]},
        {"account": "text", "part": "text"},
        notes=(r"account.*more digits than a number keeps",),
    ),
    "blanks after commas": Messy(
        "a.csv",
        b'age, seal, note, y\n30, rubber, "a, b", 1\n 41, steel , "c", 0\n25, rubber, "a, b", 1\n'
        b', steel, "c", 0\n',
        {"age": [30, 41, 25, NAN], "seal": ["rubber", "steel", "rubber", "steel"], "note": ["a, b", "c"] * 2},
        {"age": "number", "seal": "text", "note": "text"},
    ),
    "latin-1": Messy(
        "a.csv",
        _rows("caf\u00e9", ["fig", "cr\u00e8me", "fig", "th\u00e9"]).decode().encode("latin-1"),
        {"caf\u00e9": ["fig", "cr\u00e8me", "fig", "th\u00e9"]},
        {"caf\u00e9": "text"},
        (r"a.csv is not UTF-8 \(line 1, 'caf\u00e9,y'\) and was read as Windows-1252.*--encoding",),
    ),
    "latin-1, told": Messy(
        "a.csv",
        _rows("caf\u00e9", ["fig", "cr\u00e8me", "fig", "th\u00e9"]).decode().encode("latin-1"),
        {"caf\u00e9": ["fig", "cr\u00e8me", "fig", "th\u00e9"]},
        {"caf\u00e9": "text"},
        options={"encoding": "latin-1"},
    ),
    "utf-16": Messy(
        "a.csv",
        _rows("caf\u00e9", ["fig", "cr\u00e8me", "fig", "th\u00e9"], separator="\t")
        .decode()
        .encode("utf-16"),
        {"caf\u00e9": ["fig", "cr\u00e8me", "fig", "th\u00e9"]},
        {"caf\u00e9": "text"},
    ),
    "utf-16 without a mark": Messy(
        "a.csv",
        _rows("caf\u00e9", ["fig", "cr\u00e8me", "fig", "th\u00e9"]).decode().encode("utf-16-be"),
        {"caf\u00e9": ["fig", "cr\u00e8me", "fig", "th\u00e9"]},
        {"caf\u00e9": "text"},
        (r"has no mark of its encoding and was read as utf-16-be",),
    ),
    "pipes": Messy(
        "a.txt",
        _rows("price seal", ["1,5", "2,25", "3", "4,5"], ["a,b", "c", "a,b", "c"], separator="|", end="\r\n"),
        {"price": [1.5, 2.25, 3, 4.5], "seal": ["a,b", "c", "a,b", "c"]},
        {"price": "number", "seal": "text"},
    ),
    "Excel's own CSV": Messy(
        "a.csv",
        b"\xef\xbb\xbfsep=;\r\n"
        + _rows("load seal", ["3,5", "4,25", "5", "6,1"], list("abab"), separator=";", end="\r\n"),
        {"load": [3.5, 4.25, 5, 6.1], "seal": list("abab")},
        {"load": "number", "seal": "text"},
    ),
    "packed": Messy(
        "a.tsv.gz",
        gzip.compress(_rows("price", ["$5", "$1,200.00", "$7", "$8"], separator="\t")),
        {"price": [5, 1200, 7, 8]},
        {"price": "number"},
    ),
    "a workbook": Messy(
        "a.xlsx",
        b"",
        {
            "price": [1200, 950.5, 300, NAN],
            "when": ["2024-02-13", "2024-02-14", "2024-02-15", "2024-02-16"],
            "zip": ["02139", "94105", "02139", "94105"],
        },
        {"price": "number", "when": "date", "zip": "text"},
        (
            r"a.xlsx has 2 sheets; the first, 'Readings', was read",
            r"'price': some cells have \$ and some have not",
        ),
    ),
    "words for nothing": Messy(
        "a.csv",
        _rows("age", ["30", "?", "41", "n.d.", "-", "25"]),
        {"age": [30, NAN, 41, NAN, NAN, 25]},
        {"age": "number"},
        notes=(r"age.*3 cells \('\?', 'n.d.', '-'\) taken as missing",),
    ),
    "a word among numbers": Messy(
        "a.csv",
        _rows("age", [*(str(k) for k in range(19)), "old"]),
        {"age": [*range(19), NAN]},
        {"age": "number"},
        (r"'age': 1 of 20 cells are no numbers like 1234.* \('old' in row 20\) and taken as missing",),
    ),
    "clock times": Messy(
        "a.csv",
        _rows("at", ["10:30", "11:45", "09:15", "23:59"]),
        {"at": ["10:30", "11:45", "09:15", "23:59"]},
        {"at": "text"},
        (r"'at': looks like numbers or dates but is kept as text, .* '10:30' \(row 1\)",),
    ),
    "prose": Messy(
        "a.csv",
        _rows("note n", [f"pump {k} leaks" for k in range(60)], [str(k) for k in range(60)]),
        {"note": [f"pump {k} leaks" for k in range(60)], "n": list(range(60))},
        {"note": "text", "n": "number"},
        (r"'note': left out, 60 different texts in 60 rows",),
    ),
}
