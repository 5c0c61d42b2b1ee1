"""Text between two marks of a page: what a benchmark measured, in a page that people write."""


def between_marks(page: str, mark: str, text: str) -> str:
    """The page with the text between its marks written anew.

    >>> between_marks("a\\n<!-- x -->\\nold\\n<!-- end of x -->\\nb", "x", "new")
    'a\\n<!-- x -->\\nnew\\n<!-- end of x -->\\nb'
    """
    before, rest = page.split(f"<!-- {mark} -->\n")
    _, after = rest.split(f"<!-- end of {mark} -->\n")
    return f"{before}<!-- {mark} -->\n{text.strip()}\n<!-- end of {mark} -->\n{after}"
