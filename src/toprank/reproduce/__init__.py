"""The papers' tables rerun on the same data with the same protocol, our figures beside theirs.

One paper is one declaration file in `papers`, registered here; `runner` computes its cells and keeps them on
disk, `pages` writes what came out.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module

from toprank.errors import InputError
from toprank.reproduce.experiment import Paper

__all__ = ["all_papers", "paper"]

# Paper -> the file with its declaration.
_FILES = {
    "rudin-wang-2018": "rudin_wang_2018",
    "boyd-et-al-2012": "boyd_et_al_2012",
    "agarwal-2011": "agarwal_2011",
}


@cache
def all_papers() -> dict[str, Paper]:
    """Every paper by name.

    >>> all_papers()["rudin-wang-2018"].authors
    'Cynthia Rudin and Yining Wang'
    """
    modules = {name: import_module(f"toprank.reproduce.papers.{file}") for name, file in _FILES.items()}
    return {name: module.PAPER for name, module in modules.items()}


def paper(name: str) -> Paper:
    """The paper of that name.

    >>> paper("rudin-2018")
    Traceback (most recent call last):
    ...
    toprank.errors.InputError: No paper is called 'rudin-2018'; did you mean 'rudin-wang-2018'?
    """
    known = all_papers()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."
    raise InputError(f"No paper is called {name!r}; {hint}")
