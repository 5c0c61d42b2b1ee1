"""The look that all figures share: colours, axes, reference lines, legends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["PALETTE", "draw_curve", "finish", "new_axes", "percent_axes", "reference_line"]

Legend = Literal["lower left", "lower right", "upper right", "upper left"]
# Okabe and Ito's colours, told apart by readers with any colour vision; black and yellow left out.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_QUIET = "#7A7A7A"
_CURVE = "toprank-curve"
_REFERENCE = "toprank-reference"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))


def new_axes(ax: Axes | None, *, square: bool = False) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    _, created = plt.subplots(figsize=(5.0, 4.8) if square else (6.0, 4.4), layout="constrained")
    return created


def draw_curve(ax: Axes, x: Any, y: Any, options: dict[str, Any]) -> Line2D:
    """Draw one model's curve in the next free colour, then the next dashes; the caller's options win."""
    from matplotlib import cbook
    from matplotlib.lines import Line2D

    drawn = sum(line.get_gid() == _CURVE for line in ax.get_lines())
    style = {
        "color": PALETTE[drawn % len(PALETTE)],
        "linestyle": _DASHES[drawn // len(PALETTE) % len(_DASHES)],
        "linewidth": 1.8,
    }
    (line,) = ax.plot(x, y, **(style | cbook.normalize_kwargs(options, Line2D)))
    line.set_gid(_CURVE)
    return line


def reference_line(ax: Axes, x: Any, y: Any, label: str, *, dashes: Any = (0, (4, 3))) -> None:
    """Draw a quiet line to compare with, such as chance: once, however many models share the axes."""
    gid = f"{_REFERENCE}-{label}"
    if any(line.get_gid() == gid for line in ax.get_lines()):
        return
    (line,) = ax.plot(x, y, color=_QUIET, linewidth=1.1, linestyle=dashes, label=label, zorder=1)
    line.set_gid(gid)


def percent_axes(ax: Axes, *, x: bool = True, y: bool = True) -> None:
    """Write shares as percentages."""
    from matplotlib.ticker import PercentFormatter

    for wanted, axis in ((x, ax.xaxis), (y, ax.yaxis)):
        if wanted:
            axis.set_major_formatter(PercentFormatter(1.0))


def finish(ax: Axes, *, xlabel: str, ylabel: str, legend: Legend) -> None:
    """Label the axes, take away what carries no information, and write the legend, references last."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#E8E8E8", linewidth=0.7)
    ax.set_axisbelow(True)
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(handles)), key=lambda i: str(handles[i].get_gid()).startswith(_REFERENCE))
    # Where curves run under the legend it stays readable, and they stay visible.
    look: dict[str, Any] = {"fontsize": "small", "framealpha": 0.7, "edgecolor": "none", "borderpad": 0.2}
    ax.legend([handles[i] for i in order], [labels[i] for i in order], loc=legend, **look)
