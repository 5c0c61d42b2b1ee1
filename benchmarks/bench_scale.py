"""Rows beyond memory: the best of them beside a loop in pandas and DuckDB, and how all paths grow.

``best`` writes ROWS generated rows of 20 columns as Parquet into a temporary folder, finds the 1000 best by a
saved model, and lets pandas and DuckDB compute the same score and the same 1000; each in a process of its
own, in turns.
``learn`` has `toprank rank` learn from ROWS rows in a process whose memory is capped at a quarter of what the
numbers take, by a control group where the machine lets one be made, else by a limit on its data; and compares
the coefficients of a tenth of the rows, learned in the same way, with those of scikit-learn in memory.
``growth`` runs every path on 10^5, 10^5.5, ... rows and prints seconds, peak memory and growth exponents.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WIDTH, TOP = 20, 1000
ROW_GROUP = 500_000
NAMES = [f"x{j:02d}" for j in range(WIDTH)]
CONTESTANTS = ("toprank", "duckdb", "pandas")
STATISTICS = ("auc", "dcg@100", "precision@100", "positives_at_top")
CONVEX = ("RankSVM", "PNormPush", "TopPush", "InfinitePush", "AccuracyAtTop")
PATHS = ("score --top", "score --all", *STATISTICS, "logistic", "rerank", *CONVEX, "rank")
LEAST = 600_000_000
"""Bytes for Python and its packages: no cap on memory can be lower."""
LAST = 3
"""Sizes, the largest ones, from which the exponents are taken."""


# -- data and model --------------------------------------------------------------------------------


def write_rows(folder, rows, files=4):
    """Parquet files of normal numbers and a label, as float32."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    weights = np.linspace(-1.0, 1.0, WIDTH, dtype=np.float32)
    bounds = np.linspace(0, rows, files + 1).astype(int)
    for number in range(files):
        writer = None
        for begin in range(bounds[number], bounds[number + 1], ROW_GROUP):
            n = min(ROW_GROUP, bounds[number + 1] - begin)
            X = rng.standard_normal((WIDTH, n), dtype=np.float32)
            noise = rng.logistic(size=n)
            columns = {name: X[j] for j, name in enumerate(NAMES)}
            table = pa.table({**columns, "y": (weights @ X + noise > 4.0).astype(np.int8)})
            writer = writer or pq.ParquetWriter(folder / f"items-{number}.parquet", table.schema)
            writer.write_table(table, row_group_size=ROW_GROUP)
        if writer is not None:
            writer.close()


def write_model(path):
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    from toprank.datasets import Roles
    from toprank.model import RankingModel, save_model

    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, WIDTH))
    frame = pd.DataFrame(X, columns=NAMES)
    frame["y"] = (X @ np.linspace(-1.0, 1.0, WIDTH) + rng.logistic(size=5000) > 4.0).astype(int)
    save_model(RankingModel.learned(LogisticRegression(), frame, Roles("y")), path)


def linear_form(path):
    """Weights of the raw columns and the intercept."""
    from toprank.model import load_model

    model = load_model(path)
    scale, mean = (
        np.array([getattr(one, name) for one in model.encoder.columns]) for name in ("scale", "mean")
    )
    weights = model.ranker.coef_.ravel() / scale
    return weights, float(model.ranker.intercept_[0] - weights @ mean)


# -- the best 1000 ---------------------------------------------------------------------------------


def best_by_toprank(folder, threads):
    from toprank.model import load_model
    from toprank.scale.files.addresses import list_files
    from toprank.scale.files.parts import open_parts
    from toprank.scale.files.scoring import score_parts

    found = score_parts(
        load_model(folder / "model.json"),
        open_parts(list_files([str(folder / "items")])),
        top=TOP,
        n_jobs=threads,
    )
    return [f"{file}:{row}" for file, row in zip(found.file, found.row, strict=True)]


def best_by_duckdb(folder, threads):
    import duckdb

    weights, intercept = linear_form(folder / "model.json")
    terms = " + ".join(f"{weight!r} * {name}" for weight, name in zip(weights.tolist(), NAMES, strict=True))
    with duckdb.connect() as connection:
        connection.execute(f"set threads = {threads}")
        rows = connection.execute(
            f"select filename, file_row_number, {terms} + {intercept!r} as score from"
            f" read_parquet('{folder}/items/*.parquet', filename = true, file_row_number = true)"
            f" order by score desc limit {TOP}"
        ).fetchall()
    return [f"{Path(name).name}:{row + 1}" for name, row, _ in rows]


def best_by_pandas(folder, threads):
    import pandas as pd
    import pyarrow.parquet as pq

    weights, intercept = linear_form(folder / "model.json")
    best = pd.DataFrame()
    for path in sorted((folder / "items").glob("*.parquet")):
        begin = 0
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                frame = file.read_row_group(group, columns=NAMES).to_pandas()
                score = frame[NAMES].to_numpy(dtype=np.float64) @ weights + intercept
                place = [f"{path.name}:"] * len(frame)
                part = pd.DataFrame({"file": place, "row": np.arange(len(frame)) + begin + 1, "score": score})
                best = pd.concat([best, part]).nlargest(TOP, "score")
                begin += len(frame)
    return (best["file"] + best["row"].astype(str)).tolist()


# -- the paths -------------------------------------------------------------------------------------


def run_path(path, folder):
    import dask
    import dask.array as da
    import pyarrow.parquet as pq

    dask.config.set(scheduler="threads", num_workers=2)
    if path.startswith("score"):
        from toprank.workflow.ranking.stream import score_stream

        every = Path(tempfile.mkdtemp(dir=folder)) / "scores" if path.endswith("all") else None
        score_stream(
            str(folder / "model.json"),
            [str(folder / "items")],
            top=TOP if every is None else None,
            every=every,
        )
        return
    if path == "rank":
        learn_in_passes(folder)
        return
    files = sorted((folder / "items").glob("*.parquet"))
    groups = [(file, k) for file in files for k in range(pq.ParquetFile(file).num_row_groups)]
    sizes = tuple(pq.ParquetFile(file).metadata.row_group(k).num_rows for file, k in groups)

    def columns(names):
        def block(block_id=None):
            file, k = groups[block_id[0]]
            return pq.ParquetFile(file).read_row_group(k, columns=names).to_pandas().to_numpy()

        return da.map_blocks(block, chunks=(sizes, (len(names),)), dtype=float, meta=np.empty((0, 0)))

    X, y = columns(NAMES), columns(["y"])[:, 0]
    if path in STATISTICS:
        from toprank.scale.partitions.statistics import statistic_of

        statistic_of(path, y, X[:, 19] - X[:, 0])
    elif path == "logistic":
        from toprank.scale.partitions.logistic import logistic_regression

        logistic_regression(X, y)
    elif path in CONVEX:
        import toprank
        from toprank.scale.partitions.convex import fit_partitioned

        how = {"AccuracyAtTop": {"top_share": 0.05, "solver": "local", "n_restarts": 0, "random_state": 0}}
        # With noise in the labels w = 0 is the best for those that look at the highest negative alone.
        clear = X @ np.linspace(-1.0, 1.0, WIDTH) + 0.02 * X[:, 0] * X[:, 1] > 4.0
        labels = clear.astype(int) if path.endswith("Push") else y
        fit_partitioned(getattr(toprank, path)(tol=1e-3, **how.get(path, {})), X, labels)
    else:
        from toprank import RankSVM, RankThenRerank
        from toprank.scale.partitions.reranking import learn_partitioned

        learn_partitioned(RankThenRerank(reranker=RankSVM(), top=TOP), X, y)


# -- learning with little memory -------------------------------------------------------------------


def learn_in_passes(folder):
    """The command, on files that count as too large whatever their size; returns the coefficients."""
    from toprank.cli.main import main as toprank
    from toprank.workflow.reading import many_files

    many_files.FITS = 0
    command = ["rank", str(folder / "items"), "--target", "y", "--ranker", "logistic", "--quiet"]
    code = toprank([*command, "--model", str(folder / "learned.json")])
    if code:
        raise SystemExit(code)
    return linear_form(folder / "learned.json")


def in_memory(folder):
    """The same by scikit-learn, all rows in memory."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    frame = pd.concat([pd.read_parquet(path) for path in sorted((folder / "items").glob("*.parquet"))])
    X = frame[NAMES].to_numpy(dtype=np.float64)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    X = (X - mean) / scale
    found = LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, frame["y"])
    weights = found.coef_.ravel() / scale
    return weights, float(found.intercept_[0] - weights @ mean)


def control_group(limit):
    """A folder of the kernel in which processes have so many bytes of memory, files they read included."""
    for parent, name, more in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", {}),
        (Path("/sys/fs/cgroup"), "memory.max", {"memory.swap.max": "0"}),
    ):
        group = parent / f"bench-scale-{os.getpid()}"
        try:
            group.mkdir()
            for file, value in {name: str(limit), **more}.items():
                (group / file).write_text(value)
        except OSError:
            if group.is_dir():
                group.rmdir()
            continue
        return group
    return None


def capped(folder, what, limit):
    """As `measured`, in a process that cannot have more memory."""
    group = control_group(limit)

    def enter():
        if group is None:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        else:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    try:
        result = measured(folder, what, before=enter)
    finally:
        if group is not None:
            group.rmdir()
    return result, "a control group" if group is not None else "RLIMIT_DATA"


def learn(rows):
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name), rows)
        stored = sum(path.stat().st_size for path in (folder / "items").iterdir()) / 1e9
        whole = rows * (WIDTH + 1) * 8
        limit = max(whole // 4, LEAST)
        print(f"{rows:,} rows x {WIDTH}: {whole / 1e9:.2f} GB in memory, {stored:.2f} GB of Parquet")
        if limit == LEAST:
            print(
                f"so few rows say nothing: without any a process needs some of {LEAST / 1e6:.0f} MB, the cap"
            )
        result, how = capped(folder, "learn", limit)
        print(
            f"learned in {result['seconds']:.0f} s with memory capped at {limit / 1e6:.0f} MB by {how}, of"
            f" which the process took {result['memory'] * 1.048576:.0f} MB; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name), rows // 10)
        ours, theirs = (measured(folder, what)["answer"] for what in ("learn", "in memory"))
        away = np.abs(np.subtract(ours, theirs)) / np.abs(theirs)
        print(f"{rows // 10:,} rows in passes and in memory: coefficients differ by {away.max():.1e} of each")


# -- in processes of their own ---------------------------------------------------------------------


def measured(folder, what, threads=2, before=None):
    """Seconds, peak memory in MB and the answer of one piece of work in a process of its own."""
    command = [sys.executable, __file__, "one", what, "--folder", str(folder), "--threads", str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, preexec_fn=before)
    if done.returncode:
        raise SystemExit(f"{what}: ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def one(what, folder, threads):
    import toprank.model  # noqa: F401  # what every contestant's process has loaded

    begin = time.perf_counter()
    answer = None
    if what in CONTESTANTS:
        answer = globals()[f"best_by_{what}"](folder, threads)
    elif what in ("learn", "in memory"):
        weights, intercept = learn_in_passes(folder) if what == "learn" else in_memory(folder)
        answer = [*weights.tolist(), intercept]
    else:
        run_path(what, folder)
    seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "memory": memory, "answer": answer}))


def best(rows, repeats, threads):
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name), rows)
        size = sum(path.stat().st_size for path in (folder / "items").iterdir()) / 1e9
        print(f"{rows:,} rows x {WIDTH} in {size:.1f} GB of Parquet, {threads} threads")
        runs = {who: [] for who in CONTESTANTS}
        for _ in range(repeats):
            for who in CONTESTANTS:
                runs[who].append(measured(folder, who, threads))
                last = runs[who][-1]
                speed = f"{last['seconds']:7.1f} s  {rows / last['seconds'] / 1e6:6.2f} million rows/s"
                print(
                    f"  {who:8s} {speed}  {last['memory']:6.0f} MB  load {os.getloadavg()[0]:.1f}", flush=True
                )
        answers = {who: set(some[0]["answer"]) for who, some in runs.items()}
        print("the same rows:", answers["toprank"] == answers["duckdb"] == answers["pandas"])
        least = {who: min(one["seconds"] for one in some) for who, some in runs.items()}
        print(f"toprank / the better of both: {least['toprank'] / min(least['duckdb'], least['pandas']):.2f}")


def growth(powers, paths, longest):
    """A path that took longer than this is not run on more rows."""
    table = {path: [] for path in paths}
    sizes = [int(10**power) for power in powers]
    for number, rows in enumerate(sizes):
        with tempfile.TemporaryDirectory() as name:
            folder = prepared(Path(name), rows)
            for path, results in table.items():
                if len(results) < number or (results and results[-1]["seconds"] > longest):
                    continue
                results.append(measured(folder, path))
                last, load = results[-1], os.getloadavg()[0]
                figures = f"{last['seconds']:9.2f} s {last['memory']:7.0f} MB  load {load:.1f}"
                print(f"{rows:>12,} {path:18s} {figures}", flush=True)
    for what, title, digits in (("seconds", "seconds", 2), ("memory", "MB at most", 0)):
        print(f"\n{title:18s}" + "".join(f"{rows:>13,}" for rows in sizes) + "   exponent")
        for path, results in table.items():
            figures = [f"{one[what]:.{digits}f}" for one in results] + ["-"] * (len(sizes) - len(results))
            print(f"{path:18s}" + "".join(f"{one:>13s}" for one in figures), exponent(sizes, results, what))


def exponent(sizes, results, what):
    """Of the growth over the largest sizes, where a start that takes always the same counts least."""
    values = np.log([one[what] for one in results])[-LAST:]
    rows = np.log(sizes[: len(results)])[-LAST:]
    return "         -" if len(values) < 2 else f"{np.polyfit(rows, values, 1)[0]:10.2f}"


def prepared(folder, rows):
    (folder / "items").mkdir()
    write_rows(folder / "items", rows)
    write_model(folder / "model.json")
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=("best", "learn", "growth", "one"))
    parser.add_argument("what", nargs="?")
    parser.add_argument("--rows", type=int, help="50 million for best, 20 million for learn")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--powers", type=float, nargs="+", default=[5.0, 5.5, 6.0, 6.5, 7.0, 7.5])
    parser.add_argument("--paths", nargs="+", choices=PATHS, default=PATHS, help="for growth; all by default")
    parser.add_argument(
        "--longest", type=float, default=900, help="seconds, after which growth leaves a path"
    )
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.task == "one":
        one(given.what, given.folder, given.threads)
    elif given.task == "best":
        best(given.rows or 50_000_000, given.repeats, given.threads)
    elif given.task == "learn":
        learn(given.rows or 20_000_000)
    else:
        growth(given.powers, given.paths, given.longest)


if __name__ == "__main__":
    main()
