"""Certified optima: the problem, its value, searches, programs and certificates."""

from toprank.exact.certificate import Certificate, CertificateError, verify
from toprank.exact.checkpoint import CheckpointError
from toprank.exact.constraints import Constraints, InfeasibleError, TopGroup
from toprank.exact.preferences import kendall_pairs, multipartite_pairs
from toprank.exact.problem import DEFAULT_MARGIN, PairArrays, RankingProblem
from toprank.exact.ties import break_ties

__all__ = [
    "DEFAULT_MARGIN",
    "Certificate",
    "CertificateError",
    "CheckpointError",
    "Constraints",
    "InfeasibleError",
    "PairArrays",
    "RankingProblem",
    "TopGroup",
    "break_ties",
    "kendall_pairs",
    "multipartite_pairs",
    "verify",
]
