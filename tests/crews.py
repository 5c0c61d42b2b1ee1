"""Crews that need no cluster: they run errands in this process, and lose some of them."""

import pickle

from toprank.exact.search.errands import run_errand
from toprank.exact.sharing import CrewLost


class HereCrew:
    """Runs errands in this process, one each time it is asked what came back.

    Parameters
    ----------
    lost : set of int
        Serials of errands that come to nothing.
    gone_after : int
        So many errands come back; then everybody is lost.
    """

    def __init__(self, assignment, *, hands=3, lost=(), gone_after=10**9):
        # What travels is bytes, as on any network.
        self.assignment = pickle.loads(pickle.dumps(assignment))
        self.number, self.lost, self.gone_after = hands, set(lost), gone_after
        self.queue, self.sent, self.told, self.back, self.dismissed = [], [], [], 0, 0

    def hands(self):
        return self.number

    def send(self, errand):
        self.sent.append(errand)
        self.queue.append(pickle.dumps(errand))

    def returned(self, seconds):
        if self.back >= self.gone_after:
            raise CrewLost("all are gone")
        if not self.queue:
            return []
        errand = pickle.loads(self.queue.pop(0))
        self.back += 1
        if errand.serial in self.lost:
            return [(errand.serial, None)]
        return [(errand.serial, pickle.loads(pickle.dumps(run_errand(self.assignment, errand))))]

    def tell(self, target, recalled):
        self.told.append((target, recalled))

    def dismiss(self):
        self.dismissed += 1
        self.queue.clear()
