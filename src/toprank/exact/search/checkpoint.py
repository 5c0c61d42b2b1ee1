"""An unfinished search in a file: stop a long proof today, go on tomorrow.

The file is a NumPy archive of plain arrays with one JSON text in it; nothing in it is ever executed.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from toprank.output import archive_bytes, read_archive, write_whole

__all__ = ["Checkpoint", "CheckpointError"]

_FORMAT = "toprank checkpoint 1"
_REMEDY = "Delete it to begin anew, or name another file as checkpoint."


class CheckpointError(ValueError):
    """A file is not a checkpoint, is damaged, or belongs to another problem."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a search between two chunks of work.

    Parameters
    ----------
    fingerprint : str
        Of the problem it belongs to.
    facts : dict
        What JSON knows: incumbent, bound, history, supports that wait.
    arrays : dict of arrays
        The open part of the branch and bound.
    """

    fingerprint: str
    facts: dict[str, Any]
    arrays: dict[str, Any] = field(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; it is whole or the one before."""
        # The names too: an archive guards the content of its arrays only.
        head = {"format": _FORMAT, "fingerprint": self.fingerprint, "arrays": sorted(self.arrays)}
        text = json.dumps({**head, **self.facts})
        write_whole({Path(path): archive_bytes({"facts": np.array(text), **self.arrays})})

    @classmethod
    def load(cls, path: str | os.PathLike[str], fingerprint: str) -> Self:
        """Read the checkpoint of the problem with this fingerprint."""
        try:
            arrays = read_archive(Path(path))
            facts = json.loads(str(arrays.pop("facts")))
            if not isinstance(facts, dict) or facts.pop("format", None) != _FORMAT:
                raise ValueError("it was written by something else")
            if facts.pop("arrays", None) != sorted(arrays):
                raise ValueError("it was damaged: other arrays are in it than were written")
        except (ValueError, KeyError) as error:
            why = "it was written by something else" if isinstance(error, KeyError) else error
            raise CheckpointError(f"{path} is not a checkpoint of a search: {why}. {_REMEDY}") from None
        if facts.pop("fingerprint", None) != fingerprint:
            raise CheckpointError(
                f"{path} belongs to another problem (data, statistic, margin or penalty differ). {_REMEDY}"
            )
        return cls(fingerprint, facts, arrays)
