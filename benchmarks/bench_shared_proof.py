"""A proof on two threads and on a cluster of processes, what a task costs, and the same on many workers.

    python benchmarks/bench_shared_proof.py measure --record errands.json    # UIS, K = 50, seed 1
    python benchmarks/bench_shared_proof.py overhead                         # an errand that does nothing
    python benchmarks/bench_shared_proof.py simulate --record errands.json

``measure`` proves in turns on two threads, one worker and two, each time with the kernels loaded before, and
writes down what every errand took. ``simulate`` plays the dealing out of nodes (`toprank.exact.sharing`
itself, with a clock of its own) against made-up subtrees whose sizes are those that were recorded.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import statistics
import time
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import numpy as np

from bench_exact import dataset, with_margin
from toprank.control import Run
from toprank.exact import sharing
from toprank.exact.search.choice import compile_for, kernels_for
from toprank.exact.search.driver import search
from toprank.exact.search.errands import Assignment
from toprank.exact.search.methods import compile_kernels, make_method
from toprank.exact.sharing import Errand, Findings, Sharing

# -- measured ---------------------------------------------------------------------------------------


def prove(task, method, recruit=None, threads=2, seconds=900.0):
    with Run(time_limit=seconds, rng=0) as run:
        return search(task.problem, run, starts=[task.start], n_jobs=threads, method=method, recruit=recruit)


@contextmanager
def crew_of(workers, methods):
    """What finds a crew, their kernels loaded, and what says how long all its processes have computed."""
    from toprank.scale.cluster import connected
    from toprank.scale.proof import DaskCrew

    with connected("local", workers=workers) as client:
        places = list(client.nthreads())
        client.gather(
            [
                client.submit(compile_kernels, method, workers=[place], pure=False)
                for method in methods
                for place in places
            ]
        )
        crews = []

        def recruit(assignment):
            crews.append(DaskCrew(client, assignment))
            return crews[-1]

        yield recruit, crews, lambda: sum(client.run(time.process_time).values())


def on_cluster(task, method, workers):
    """A proof on so many processes."""
    with crew_of(workers, [*chain(*kernels_for(task.problem, method))]) as (recruit, crews, computed):
        before = computed() + time.process_time()
        found = prove(task, method, recruit)
        cpu = computed() + time.process_time() - before
    return found, cpu, [errand for crew in crews for errand in crew.log]


def on_threads(task, method, threads):
    before = time.process_time()
    found = prove(task, method, threads=threads)
    return found, time.process_time() - before, []


def measure(options):
    task = with_margin(dataset(options.data, options.k, options.seed), options.margin)
    compile_for(task.problem, options.method)
    log, times = [], {}
    for _ in range(options.repeats):
        for who in options.who.split(","):
            run = on_threads if who.startswith("threads") else on_cluster
            found, cpu, errands = run(task, options.method, int(who[7:]))
            log += errands if who == "workers2" else []
            times.setdefault(who, []).append((found.seconds, cpu))
            if log and options.record:
                options.record.write_text(json.dumps({"errands": log}))
            print(
                f"{who:9s} {found.seconds:7.1f} s  {cpu:7.1f} s of processors  {found.nodes:>9d} nodes"
                f"  {len(errands):>4d} errands  {found.status.value} {found.value:.6f} {found.bound:.6f}"
                f" {found.method}  load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
    first = options.who.split(",")[0]
    for who, some in times.items():
        wall, cpu = np.min(some, axis=0) / np.min(times[first], axis=0)
        print(f"{who} / {first}: {wall:.2f} by the clock, {cpu:.2f} by the processors")
    if log:
        over = [away - searched for away, searched, _ in log]
        print(
            f"{len(log)} errands of {np.mean([one[1] for one in log]):.2f} s on average; between sending and"
            f" return, beyond the search, median {statistics.median(over):.3f} s, waiting in line included"
        )


def overhead(options):
    """What an errand costs beyond its search: sent with 50 boxes, to come back at once."""
    task = dataset(options.data, options.k, options.seed)
    compile_for(task.problem, "boxes")
    whole = make_method("boxes", task.problem.arrays(), target=task.problem.floor)
    whole.advance(1.0, task.problem.floor)
    nodes = whole.pack((whole.open_nodes() * 50)[:50])
    assignment = Assignment("o", task.problem, np.arange(task.problem.n_features), "boxes", whole.plan())
    with crew_of(2, ["boxes"]) as (recruit, _, _):
        crew, sent = recruit(assignment), 0

        def send():
            nonlocal sent
            sent += 1
            crew.send(Errand(sent, nodes, 0, 0.0))

        def wait(number):
            back = 0
            while back < number:
                back += len(crew.returned(1.0))

        for number in (2, 2, 2):  # both workers, their kernels loaded
            [send() for _ in range(number)]
            wait(number)
        alone = []
        for _ in range(options.errands):
            begin = time.perf_counter()
            send()
            wait(1)
            alone.append(time.perf_counter() - begin)
        begin, cpu = time.perf_counter(), time.process_time()
        for _ in range(options.errands // 10):
            [send() for _ in range(10)]
            wait(10)
        wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
        crew.dismiss()
    print(
        f"an errand there and back: median {1e3 * statistics.median(alone):.1f} ms, a tenth below"
        f" {1e3 * sorted(alone)[len(alone) // 10]:.1f} ms; ten at a time:"
        f" {1e3 * wall / options.errands:.1f} ms each, of which this process, the scheduler in it, computes"
        f" {1e3 * cpu / options.errands:.1f} ms  load {os.getloadavg()[0]:.1f}"
    )


# -- simulated --------------------------------------------------------------------------------------


class Simulated:
    """A search and its crew in made-up time.

    A node is a subtree that takes so many seconds of work. Searched for a while it is what is left of it:
    ``parts`` open nodes of random shares, as a stack that is given back.
    """

    def __init__(self, work, workers, *, way, desk, parts, seed=0):
        self.rng = np.random.default_rng(seed)
        self.way, self.desk, self.parts, self.workers = way, desk, parts, workers
        self.now = 0.0
        self.nodes = self._split(work, 16)
        self.under_way, self.free = [], list(range(workers))
        self.line = []
        self.recalled = 0
        self.should_stop = lambda: False

    def _split(self, work, parts):
        shares = self.rng.dirichlet(np.full(parts, 0.3)) * work
        return [share for share in shares.tolist() if share > 1e-4]

    # the search

    @property
    def waiting(self):
        return len(self.nodes)

    @property
    def whole_target(self):
        return 0

    def hand_out(self, number):
        given, self.nodes = self.nodes[:number], self.nodes[number:]
        return given

    def take_back(self, nodes):
        self.nodes += nodes

    def pack(self, nodes):
        return nodes

    def welcome(self, findings):
        # One process packs and sends, unpacks and books.
        self.now += self.desk / 2
        self.nodes += findings.opened
        self.nodes.sort(reverse=True)

    # the crew

    def hands(self):
        return self.workers

    def send(self, errand):
        self.now += self.desk / 2
        self.line.append(errand)
        self._begin()

    def _begin(self):
        while self.line and self.free:
            errand = self.line.pop(0)
            self.free.pop()
            spent = min(sum(errand.nodes), errand.seconds)
            start = self.now + self.way / 2
            heapq.heappush(self.under_way, (start + spent + self.way / 2, errand.serial, start, errand))

    def tell(self, target, recalled):
        """Those who search on are back soon."""
        self.recalled = max(self.recalled, recalled)
        again = []
        for back, serial, start, errand in self.under_way:
            soon = max(self.now + self.way / 2, start + 0.05) + self.way / 2
            again.append((min(back, soon) if serial <= recalled else back, serial, start, errand))
        self.under_way = again
        heapq.heapify(self.under_way)

    def returned(self, seconds):
        if not self.under_way:
            self.now += seconds
            return []
        back, serial, start, errand = self.under_way[0]
        if back > self.now + seconds:
            self.now += seconds
            return []
        heapq.heappop(self.under_way)
        self.now = max(self.now, back)
        spent = max(back - self.way / 2 - start, 0.0)
        self.free.append(0)
        self._begin()
        return [(serial, Findings(self._left(errand.nodes, spent), {}, [], 0, 0))]

    def _left(self, nodes, spent):
        left = []
        for node in nodes:
            done = min(node, spent)
            spent -= done
            if node - done > 1e-4:
                # The one it was at is split into its open nodes, the others are as they were.
                left += self._split(node - done, self.parts) if done > 0 else [node]
        return left

    def dismiss(self):
        pass


def play(work, workers, **costs):
    """Seconds that so much work takes on so many workers."""
    made = Simulated(work, workers, **costs)
    real = sharing.time
    sharing.time = made  # `perf_counter` below
    made.perf_counter = lambda: made.now
    try:
        one = Sharing(made)
        while made.nodes or one.away:
            one.explore(made, made.now + 0.1)
    finally:
        sharing.time = real
    return made.now


def simulate(options):
    recorded = json.loads(options.record.read_text())["errands"]
    searched = sum(one[1] for one in recorded)
    way, desk = options.way, options.desk
    print(
        f"{len(recorded)} errands, {searched:.0f} s of search; way {way:.3f} s, desk {desk:.4f} s an errand"
    )
    print(f"{'workers':>8s}" + "".join(f"{f'{hours:g} x':>12s}" for hours in options.work))
    for workers in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        cells = []
        for factor in options.work:
            work = searched * factor
            seconds = play(work, workers, way=way, desk=desk, parts=options.parts)
            cells.append(f"{work / seconds:12.1f}")
        print(f"{workers:8d}" + "".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["measure", "overhead", "simulate"])
    parser.add_argument("--record", type=Path)
    parser.add_argument("--data", default="uis")
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--margin", type=float, default=0.0, help="by how much of its length a pair is won")
    parser.add_argument("--who", default="threads2,workers2,workers1")
    parser.add_argument("--errands", type=int, default=200, help="to time one by one, and ten at a time")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument(
        "--parts", type=int, default=24, help="open nodes that an errand gives back of a subtree"
    )
    parser.add_argument("--way", type=float, default=0.02, help="seconds an errand is on its way, both ways")
    parser.add_argument("--desk", type=float, default=4e-3, help="seconds it takes of the one who deals")
    parser.add_argument("--work", type=float, nargs="+", default=[1.0, 10.0, 100.0, 1000.0])
    options = parser.parse_args()
    {"measure": measure, "overhead": overhead, "simulate": simulate}[options.what](options)


if __name__ == "__main__":
    main()
