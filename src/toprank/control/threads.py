"""How many threads the linear algebra of a fit gets, and the loops of other packages' estimators.

Between products of small matrices the threads of a BLAS library wait for each other, longer than they
compute, and beside another busy process far longer. So a fit whose matrices are small runs in one thread, one
with middling ones in a few, and never in more than the caller allows. The same goes for OpenMP, on which
scikit-learn's boosting grows its trees and scores rows: a step for each node or tree, after which all threads
wait for the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

from toprank.control.run import worker_count

__all__ = ["one_thread_for", "threads_for", "wanted_threads"]

MIDDLING = 150
"""Fits with square matrices of fewer rows gain nothing from a second thread (on 16 quiet cores)."""
LARGE = 1500
"""Factorisations and eigenvectors of so many rows gain from all threads."""
A_FEW = 4
"""Middling matrices gain from four threads; from sixteen they take five times as long (on 16 quiet cores)."""

FEW_CELLS = 1_000_000
"""Tables of fewer numbers are learned from, and scored, in one thread. Boosting 300, 3,000 and 10,000 rows in
two OpenMP threads took 120, 40 and 4 times as long as in one on two cores beside other busy processes."""


def wanted_threads(side: int, processors: int) -> int | None:
    """How many threads to use at most for square matrices of `side` rows; None for no limit.

    Half of the processors are left alone: a thread that has to wait for one holds up all others.

    >>> wanted_threads(50, 16), wanted_threads(500, 16), wanted_threads(500, 2), wanted_threads(5000, 2)
    (1, 4, 1, None)
    """
    if side >= LARGE:
        return None
    return 1 if side < MIDDLING else max(1, min(A_FEW, processors // 2))


@contextmanager
def threads_for(side: int) -> Iterator[None]:
    """Within this context BLAS has no more threads than matrices of a size are worth.

    Fits may be nested; of those that run in several threads at once the first sets the limit, for libraries
    that have one for the whole process.

    Parameters
    ----------
    side : int
        Rows of the largest square matrix that is multiplied or factorised.
    """
    wanted = wanted_threads(side, worker_count(-1))
    if wanted is None:
        yield
        return
    limits = {one.prefix: min(one.num_threads, wanted) for one in _blas().lib_controllers}
    with _blas().limit(limits=limits):
        yield


@contextmanager
def one_thread_for(cells: int) -> Iterator[None]:
    """Within this context BLAS, and this thread's OpenMP loops, have one thread if the table is small.

    Parameters
    ----------
    cells : int
        Rows times columns of what is learned from, or scored.
    """
    if cells >= FEW_CELLS:
        yield
        return
    with _every().limit(limits=1):
        yield


@cache
def _every() -> ThreadpoolController:
    """Once, as for BLAS; scikit-learn's own library is loaded with what is imported here."""
    import scipy.linalg  # noqa: F401 - as below
    import sklearn.utils._openmp_helpers  # noqa: F401

    return ThreadpoolController()


@cache
def _blas() -> ThreadpoolController:
    """Looking for the libraries takes milliseconds, so once; those of numpy and scipy are loaded by then."""
    import scipy.linalg  # noqa: F401 - loads scipy's own library

    return ThreadpoolController().select(user_api="blas")
