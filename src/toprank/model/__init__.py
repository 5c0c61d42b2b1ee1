"""Fitted rankers that remember their columns, and their files."""

from toprank.model.files import (
    UntrustedTypesError,
    check_model_ending,
    load_model,
    model_bytes,
    save_model,
)
from toprank.model.ranking import RankingModel

__all__ = [
    "RankingModel",
    "UntrustedTypesError",
    "check_model_ending",
    "load_model",
    "model_bytes",
    "save_model",
]
