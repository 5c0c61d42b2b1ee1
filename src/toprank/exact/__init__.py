"""Certified optima: the problem, its value, searches, programs and certificates."""

from toprank.exact.certificate import Certificate, CertificateError
from toprank.exact.mip.constraints import Constraints, InfeasibleError, TopGroup
from toprank.exact.mip.solve import solve_program
from toprank.exact.problem import DEFAULT_MARGIN, PairArrays, RankingProblem
from toprank.exact.search.checkpoint import CheckpointError
from toprank.exact.search.driver import search as maximise
from toprank.exact.ties import break_ties
from toprank.exact.verification import Verification, verify
from toprank.preferences import kendall_pairs, multipartite_pairs

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
    "Verification",
    "break_ties",
    "kendall_pairs",
    "maximise",
    "multipartite_pairs",
    "solve_program",
    "verify",
]
