"""The command line: arguments in, exit code out. What the commands do is in `toprank.workflow`.

Nothing heavy is imported before a command runs, so that help comes at once.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from toprank.cli.catalogs import list_data, list_statistics
from toprank.cli.exact import Backend, ConstraintFile, Margin, Penalty, SolverName, Threshold
from toprank.cli.models import explain, score, verify
from toprank.cli.options import (
    Base,
    Budget,
    Cluster,
    Depth,
    Head,
    HeldOut,
    Json,
    Out,
    Quiet,
    ReportPage,
    Seed,
    Statistic,
    asked,
    command_line,
    print_json,
    start_bars,
)
from toprank.cli.pairs import rank_pairs, refuse_beside_pairs
from toprank.cli.reading import (
    Categorical,
    Data,
    Encoding,
    Files,
    Group,
    Identifier,
    Ignore,
    LabelsKind,
    Missing,
    Positive,
    Query,
    Read,
    Separator,
    SplitBy,
    Sql,
    Target,
)
from toprank.cli.reproduce import reproduce
from toprank.screen.terminal import show_what_can_be_shown

__all__ = ["app", "main"]

BAD_INPUT = 2
INTERRUPTED = 130

app = typer.Typer(
    name="toprank",
    help="Rank when only the top of the list counts.",
    epilog="Exit codes: 0 done; 2 something in the input or the arguments does not fit, in one line on"
    " standard error; 3 a certificate does not hold; 130 interrupted with Ctrl-C, what was found by then is"
    " kept; 1 a bug.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command()
def rank(
    context: typer.Context,
    data: Files = None,
    sql: Sql = None,
    target: Target = None,
    budget: Budget = None,
    statistic: Statistic = None,
    ranker: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who ranks: ensemble (the default), rerank (logistic regression, its top reranked with a"
            " proof), exact (the whole list), logistic, forest, boosting, or any ranker of toprank compare.",
        ),
    ] = None,
    prefer: Annotated[
        str,
        typer.Option(
            metavar="best|simple",
            help="simple: deliver a linear ranker where it is within one standard error of the best.",
        ),
    ] = "best",
    depth: Depth = None,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Seconds for all fitting: half for the model at most, the rest for the held-out figures.",
        ),
    ] = 60.0,
    out: Out = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            "-m",
            metavar="FILE",
            help="Write the model: .json (linear, readable), .safetensors (networks) or .skops (any).",
        ),
    ] = None,
    report_page: ReportPage = None,
    new: Annotated[
        str | None, typer.Option(metavar="FILE", help="Rank the unseen items of this file instead.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Learn from comparisons instead of labels: a file with the better and the worse item of each"
            " one, by --id, and a weight if wanted. --ranker is then svm (the default), exact, direct or"
            " boosting.",
        ),
    ] = None,
    id: Identifier = None,
    positive: Positive = None,
    labels: LabelsKind = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    missing: Missing = None,
    read: Read = None,
    encoding: Encoding = None,
    separator: Separator = None,
    qid: Query = None,
    group: Group = None,
    split_by: SplitBy = None,
    base: Base = "logistic",
    penalty: Penalty = None,
    margin: Margin = None,
    solver: SolverName = None,
    backend: Backend = None,
    threshold: Threshold = None,
    constraints: ConstraintFile = None,
    splits: Annotated[int, typer.Option(min=0, help="Random splits for held-out figures; 0: none.")] = 5,
    held_out: HeldOut = 0.5,
    seed: Seed = 0,
    head: Head = 10,
    keep_proof: Annotated[
        bool, typer.Option("--keep-proof", help="Keep the proof in the model, for toprank verify to replay.")
    ] = False,
    json_output: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn from labelled items; rank those without a label, new ones, or all.

    Shown are the head of the list with the reasons for each place, how many hits to expect within the budget
    on items nobody has seen, beside chance and logistic regression, and what was done to the columns.
    Labelled items are placed by models that have not seen their label.
    """
    from toprank.control import keep_best_on_interrupt
    from toprank.workflow.asking.exact_options import ExactOptions
    from toprank.workflow.asking.options import RankOptions, check_base
    from toprank.workflow.by_pairs import PairOptions
    from toprank.workflow.rank import only_one, rank_files, way_to_learn
    from toprank.workflow.reading.source import Columns
    from toprank.workflow.writing.deliver import Delivery
    from toprank.workflow.writing.summary import ranking_summary

    columns, exact = asked(context, Columns), asked(context, ExactOptions, constraints=constraints)
    if pairs is not None:
        refuse_beside_pairs(context)
        who = ranker or ("exact" if exact.given else "svm")
        learning = asked(context, PairOptions, ranker=who, exact=exact)
        if rank_pairs(
            only_one(data),
            pairs,
            columns,
            learning,
            out=out,
            model=model,
            head=head,
            json_output=json_output,
            quiet=quiet,
        ):
            raise typer.Exit(INTERRUPTED)
        return
    options, large = way_to_learn(data or (), columns, asked(context, RankOptions, exact=exact))
    delivery, typed = Delivery(out, model, report_page), command_line(context)
    check_base(base)
    read_too = None if constraints is None else str(constraints)
    delivery.check([*(data or ()), new, read_too], linear=options.surely_linear)
    with start_bars(quiet) as bars:
        bars.stage("Reading")
        report = rank_files(data or (), columns, options, new=new, large=large, watch=bars)
    with keep_best_on_interrupt() as kept:
        files = delivery.write(report.listing, report.model, report=report, command=typed)
    if json_output:
        print_json(ranking_summary(report, files, head=head, command=typed))
    elif not quiet:
        from toprank.screen.ranking import show_ranking

        show_ranking(report, files, head=head)
    if report.interrupted or kept.interrupted:
        raise typer.Exit(INTERRUPTED)


@app.command()
def compare(
    context: typer.Context,
    data: Data = None,
    sql: Sql = None,
    target: Target = None,
    budget: Budget = None,
    statistic: Statistic = None,
    depth: Depth = None,
    splits: Annotated[int, typer.Option(help="Random splits, the same for every ranker.")] = 10,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds for everything, shared by the fits.")
    ] = 150.0,
    cluster: Cluster = None,
    report_page: ReportPage = None,
    id: Identifier = None,
    positive: Positive = None,
    labels: LabelsKind = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    missing: Missing = None,
    read: Read = None,
    encoding: Encoding = None,
    separator: Separator = None,
    qid: Query = None,
    group: Group = None,
    split_by: SplitBy = None,
    base: Base = "logistic",
    held_out: HeldOut = 0.5,
    seed: Seed = 0,
    json_output: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare all rankers on random splits; end with advice.

    Shown are mean and deviation on the training and the held-out items, the p-value of a matched-pairs
    t-test against logistic regression, and the mean time of a fit.
    """
    from toprank.workflow.compare import CompareOptions, compare_rankers
    from toprank.workflow.reading.source import Columns, open_source
    from toprank.workflow.writing.deliver import Delivery
    from toprank.workflow.writing.summary import comparison_summary

    columns, options = asked(context, Columns), asked(context, CompareOptions)
    delivery, typed = Delivery(report=report_page), command_line(context)
    delivery.check([data])
    with start_bars(quiet) as bars:
        bars.stage("Reading")
        source = open_source(data, columns)
        try:
            report = compare_rankers(source, options, watch=bars)
        except KeyboardInterrupt as stop:
            raise _nothing_kept(stop) from None
    files = delivery.write(report=report, command=typed)
    if json_output:
        print_json(comparison_summary(report, command=typed))
    elif not quiet:
        from toprank.screen.tables import show_comparison

        show_comparison(report, files)
    if report.interrupted:
        raise typer.Exit(INTERRUPTED)


app.command()(score)
app.command()(explain)
app.command()(verify)


app.command("statistics")(list_statistics)
app.command("data")(list_data)
app.command()(reproduce)


def _version(asked: bool) -> None:
    if asked:
        import toprank

        print(f"toprank {toprank.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _everything(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Rank when only the top of the list counts."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what is wrong with the input is one line on standard error."""
    show_what_can_be_shown()
    try:
        typed = list(sys.argv[1:] if arguments is None else arguments)
        code = app(args=typed, obj=typed, prog_name="toprank", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has had enough; there is nobody left to tell.
        _say_no_more()
        return 0
    except Exception as error:
        # Typer's own complaints about arguments share no public base class across its versions.
        if hasattr(error, "format_message"):
            return _complain(error.format_message())
        from toprank.errors import InputError

        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            _say_no_more()
            return _complain("The disk is full: what should have been shown could not be written.")
        if isinstance(error, InputError):
            from toprank.workflow.flags import in_flags

            return _complain(f"{in_flags(str(error))}{_remedy(error)}")
        raise
    if code == INTERRUPTED:
        print("toprank: interrupted", file=sys.stderr)
    return code if isinstance(code, int) else 0


# -- small helpers ---------------------------------------------------------------------------------


def _say_no_more() -> None:
    """Have what is left of the output go nowhere, so that nothing fails over it once more at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _remedy(error: Exception) -> str:
    """What to add to the command, where the error itself knows no command line."""
    types = getattr(error, "types", [])
    return f" Add {' '.join(f'--trust {name}' for name in types)} (or --trust all)." if types else ""


def _complain(message: str) -> int:
    print(f"toprank: {' '.join(message.split())}", file=sys.stderr)
    return BAD_INPUT


def _nothing_kept(stop: KeyboardInterrupt) -> typer.Exit:
    """Say what came of the work that Ctrl-C ended, where there is something to say."""
    if str(stop):
        print(f"toprank: {stop}", file=sys.stderr)
    return typer.Exit(INTERRUPTED)
