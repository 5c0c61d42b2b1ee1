"""An unfinished search in a file: stop a long proof today, go on tomorrow.

The file is a NumPy archive of plain arrays with one JSON text in it; nothing in it is ever executed.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

__all__ = ["Checkpoint", "CheckpointError"]

_FORMAT = "toprank checkpoint 1"


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
        target = Path(path)
        text = json.dumps({"format": _FORMAT, "fingerprint": self.fingerprint, **self.facts})
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, facts=np.array(text), **self.arrays)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str], fingerprint: str) -> Self:
        """Read the checkpoint of the problem with this fingerprint."""
        try:
            # An opened file, since NumPy leaves a damaged one open that it opened itself.
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            facts = json.loads(str(arrays.pop("facts")))
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            EOFError,
            zipfile.BadZipFile,
        ) as error:
            raise CheckpointError(f"{path} is not a checkpoint of a search ({error}).") from None
        if not isinstance(facts, dict) or facts.pop("format", None) != _FORMAT:
            raise CheckpointError(f"{path} is not a checkpoint of a search.")
        if facts.pop("fingerprint", None) != fingerprint:
            raise CheckpointError(
                f"{path} belongs to another problem (data, statistic, margin or penalty differ):"
                " choose another file or delete it."
            )
        return cls(fingerprint, facts, arrays)
