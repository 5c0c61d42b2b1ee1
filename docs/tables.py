"""Writes the generated tables into problems.md: run it after a change of a ranker's tags.

python docs/tables.py
"""

import pathlib

from toprank.lineup import capability_table, problem_table

PAGE = pathlib.Path(__file__).with_name("problems.md")
TABLES = {"problems": problem_table, "capabilities": capability_table}


def filled(page: str) -> str:
    """The page with every table between its two marks made anew."""
    for name, make in TABLES.items():
        begin, end = f"<!-- {name} -->\n", "<!-- end -->"
        before, mark, rest = page.partition(begin)
        if not mark or end not in rest:
            raise SystemExit(f"{PAGE.name} has no place for {name}")
        page = f"{before}{mark}{make()}\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
