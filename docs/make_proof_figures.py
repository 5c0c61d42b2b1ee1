"""The figures of "How the proofs work", from one small problem: `make gallery`.

    python docs/make_proof_figures.py [FOLDER]

Fourteen items with three features, DCG. Directions (a, b, 1) make a square that can be drawn; each pair of a
positive and a negative is a straight line in it. The bounds drawn are those of the text, written out plainly
here; the search has its own code.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

FOLDER = Path(__file__).with_name("images")
BLUE, RED, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#B0B0B0"


def problem(rows: int = 14, positives: int = 6, seed: int = 11) -> tuple[np.ndarray, np.ndarray]:
    """Differences of every positive and negative, one pair a row, and the positive of each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    upper, lower = np.divmod(np.arange(positives * (rows - positives)), rows - positives)
    return X[upper] - X[positives + lower], upper


def value(lost: np.ndarray) -> np.ndarray:
    """DCG where each positive has `lost` negatives at or above it; the last axis is that of the positives."""
    place = np.sort(lost, axis=-1) + np.arange(lost.shape[-1])
    return (1 / np.log2(place + 2.0)).sum(axis=-1)


def lost_of(lost_pairs: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Lost pairs of each positive, from which pairs are lost."""
    return np.stack([lost_pairs[..., upper == one].sum(axis=-1) for one in np.unique(upper)], axis=-1)


def value_at(pairs: np.ndarray, upper: np.ndarray, points: np.ndarray) -> np.ndarray:
    """DCG of the order in each of some directions (a, b, 1)."""
    directions = np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1)
    return value(lost_of(directions @ pairs.T <= 0, upper))


def lines(ax: plt.Axes, pairs: np.ndarray, **style: object) -> None:
    """The directions in which each pair is tied."""
    a = np.array([-1.0, 1.0])
    for first, second, third in pairs:
        if abs(second) > 1e-9:
            ax.plot(a, -(first * a + third) / second, **style)


def square(ax: plt.Axes, title: str) -> None:
    ax.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[], yticks=[], aspect="equal")
    ax.set_title(title, fontsize=10)


def grid(n: int = 500) -> np.ndarray:
    a = (np.arange(n) + 0.5) / n * 2 - 1
    return np.stack(np.meshgrid(a, a), axis=-1)


def draw_directions(folder: Path) -> None:
    """Two features: every direction is an angle, and the value is a staircase over the angles."""
    rng = np.random.default_rng(3)
    good, bad = rng.normal(0.5, 1, (4, 2)), rng.normal(0, 1, (5, 2))
    pairs = (good[:, None] - bad[None]).reshape(-1, 2)
    upper = np.repeat(np.arange(4), 5)
    angle = np.linspace(0, 2 * np.pi, 4001)
    w = np.column_stack([np.cos(angle), np.sin(angle)])
    values = value(lost_of(w @ pairs.T <= 0, upper))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=[1, 1.6])
    left.scatter(*good.T, color=BLUE, label="positives", zorder=3)
    left.scatter(*bad.T, color=RED, marker="x", label="negatives", zorder=3)
    best = w[np.argmax(values)]
    left.annotate("", xy=1.6 * best, xytext=(0, 0), arrowprops={"arrowstyle": "->", "lw": 1.8})
    left.set(aspect="equal", xlabel="feature 1", ylabel="feature 2")
    left.legend(frameon=False, fontsize=8)
    right.step(np.degrees(angle), values, color="black", linewidth=1.2)
    for one in pairs:
        tied = np.degrees(np.arctan2(one[1], one[0]))
        for turn in (tied + 90, tied - 90):
            right.axvline(turn % 360, color=GREY, linewidth=0.5, zorder=0)
    right.axhline(values.max(), color=GREEN, linestyle="--", linewidth=1)
    right.set(xlabel="angle of the direction w, degrees", ylabel="DCG", xlim=(0, 360))
    figure.savefig(folder / "proof-directions.png", dpi=120)


def box_bound(pairs: np.ndarray, upper: np.ndarray, mid: np.ndarray, half: float) -> tuple[float, int]:
    """The value if every pair that is not lost all over the box is won, and how many pairs are undecided."""
    centre = pairs[:, :2] @ mid + pairs[:, 2]
    radius = half * np.abs(pairs[:, :2]).sum(axis=1)
    undecided = (centre + radius > 0) & (centre - radius <= 0)
    return float(value(lost_of(centre + radius <= 0, upper))), int(undecided.sum())


def split_boxes(
    pairs: np.ndarray, upper: np.ndarray, target: float
) -> list[tuple[np.ndarray, float, int, bool]]:
    """Boxes of a search that knows an answer worth `target`: middle, half width, depth, whether excluded."""
    done, todo = [], [(np.zeros(2), 1.0, 0)]
    while todo:
        mid, half, depth = todo.pop()
        bound, undecided = box_bound(pairs, upper, mid, half)
        if bound <= target + 1e-9 or undecided == 0 or depth == 8:
            done.append((mid, half, depth, bound <= target + 1e-9))
            continue
        corners = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
        todo += [(mid + np.multiply(corner, half / 2), half / 2, depth + 1) for corner in corners]
    return done


def draw_boxes(folder: Path) -> None:
    """The square of directions, its boxes, and what a sweep of one coordinate sees."""
    pairs, upper = problem()
    points = grid()
    values = value_at(pairs, upper, points)
    best = values.max()
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
    picture = axes[0].imshow(values, extent=(-1, 1, -1, 1), origin="lower", cmap="Blues")
    lines(axes[0], pairs, color="black", linewidth=0.4)
    square(axes[0], f"the DCG of every direction; at best {best:.3f}")
    figure.colorbar(picture, ax=axes[0], shrink=0.75)
    boxes = split_boxes(pairs, upper, best)
    for mid, half, depth, _ in boxes:
        shade = plt.cm.Greys(0.12 + 0.09 * depth)
        axes[1].add_patch(
            Rectangle(mid - half, 2 * half, 2 * half, facecolor=shade, edgecolor="white", lw=0.4)
        )
    where = points.reshape(-1, 2)[np.argmax(values)]
    for ax in axes[:2]:
        ax.plot(*where, "*", color=GREEN, markersize=11, markeredgecolor="white", markeredgewidth=0.5)
    square(axes[1], f"{len(boxes)} boxes; none can be better than the star")
    draw_sweep(axes[2], pairs, upper, best)
    figure.savefig(folder / "proof-boxes.png", dpi=120)
    assert all(excluded for *_, excluded in boxes), "the figure says that nothing is left"


def draw_sweep(ax: plt.Axes, pairs: np.ndarray, upper: np.ndarray, best: float) -> None:
    """One strip of directions: bound of the strip as a whole, bound along it, values within it."""
    low, high = 0.0, 0.25
    t = np.linspace(-1, 1, 2001)
    centre, radius = (low + high) / 2, (high - low) / 2
    most = pairs[:, 0] * centre + np.abs(pairs[:, 0]) * radius + pairs[:, 2] + np.outer(t, pairs[:, 1])
    along = value(lost_of(most <= 0, upper))
    a = np.linspace(low, high, 41)
    inside = value_at(pairs, upper, np.stack(np.meshgrid(a, t, indexing="ij"), axis=-1)).max(axis=0)
    ax.step(t, along, color=RED, linewidth=1.4, label="bound at t")
    ax.step(t, inside, color="black", linewidth=1.0, label="best direction with that t")
    ax.axhline(best, color=GREEN, linestyle="--", linewidth=1, label="best answer known")
    ax.fill_between(
        t, 0, 1, where=along > best + 1e-9, color=RED, alpha=0.12, transform=ax.get_xaxis_transform()
    )
    ax.set(xlabel="t, the swept coordinate", xlim=(-1, 1))
    ax.set_title("a strip, swept: only the shaded part stays", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="lower left")


def draw_cells(folder: Path) -> None:
    """Cells between the lines, and a branch that decides pairs one after the other; fewer items here."""
    pairs, upper = problem(rows=10, positives=4, seed=9)
    points = grid()
    values = value_at(pairs, upper, points)
    directions = np.concatenate([points, np.ones((*points.shape[:2], 1))], axis=-1)
    won = directions @ pairs.T > 0
    decided = [(int(np.argmax(np.abs(won.mean(axis=(0, 1)) - 0.5) < 0.02)), True)]
    region = won[..., decided[0][0]]
    shares = np.array([won[..., p][region].mean() for p in range(len(pairs))])
    second = int(np.argmin(np.abs(shares - 0.5)))
    decided.append((second, False))
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
    titles = [
        "every pair is a line, every cell one order",
        "one pair won: its side only",
        "and another one lost",
    ]
    allowed = np.ones_like(region)
    for step, (ax, title) in enumerate(zip(axes, titles, strict=True)):
        if step:
            which, side = decided[step - 1]
            allowed = allowed & (won[..., which] == side)
        shown = np.where(allowed, values, np.nan)
        ax.imshow(
            shown, extent=(-1, 1, -1, 1), origin="lower", cmap="Blues", vmin=values.min(), vmax=values.max()
        )
        cut = np.array([0.0 < won[..., p][allowed].mean() < 1.0 for p in range(len(pairs))])
        lines(ax, pairs[~cut], color=GREY, linewidth=0.3)
        lines(ax, pairs[cut], color="black", linewidth=0.6)
        for which, _ in decided[:step]:
            lines(ax, pairs[[which]], color=RED, linewidth=2.0)
        square(ax, f"{title}\n{cut.sum()} of {len(pairs)} pairs undecided")
    figure.savefig(folder / "proof-cells.png", dpi=120)


def draw_conflicts(folder: Path) -> None:
    """Three pairs that can be won two at a time, and how sets of them lower a bound."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.9), layout="constrained", width_ratios=[1, 1.25])
    a, b = np.moveaxis(grid(400), -1, 0)
    for turn, color in zip(np.radians([90, 210, 330]), (BLUE, RED, GREEN), strict=True):
        ahead = np.array([np.cos(turn), np.sin(turn)])
        lead = ahead[0] * a + ahead[1] * b - 0.12
        axes[0].contourf(a, b, lead, levels=[0, 9], colors=[color], alpha=0.25)
        axes[0].contour(a, b, lead, levels=[0], colors=[color], linewidths=1.5)
        arrow = {"arrowstyle": "->", "color": color, "lw": 1.8}
        axes[0].annotate("", xy=0.42 * ahead, xytext=0.12 * ahead, arrowprops=arrow)
    square(axes[0], "three pairs, each won on its side of a line:\nno direction wins all three")
    draw_packing(axes[1])
    figure.savefig(folder / "proof-conflicts.png", dpi=120)


def draw_packing(ax: plt.Axes) -> None:
    """Five pairs and two sets of them; no pair pays more than its loss is worth."""
    names, worth = ["p", "q", "r", "s", "t"], np.array([0.30, 0.20, 0.45, 0.35, 0.10])
    sets = {
        "p, q, r cannot all be won: 0.20": (np.array([0.2, 0.2, 0.2, 0, 0]), BLUE),
        "r, s, t cannot all be won: 0.10": (np.array([0, 0, 0.1, 0.1, 0.1]), RED),
    }
    ax.bar(names, worth, color="white", edgecolor="black", label="what losing the pair costs at least")
    paid = np.zeros(5)
    for said, (share, color) in sets.items():
        ax.bar(names, share, bottom=paid, color=color, alpha=0.6, label=said)
        paid += share
    ax.set(ylabel="value", ylim=(0, 0.72))
    ax.set_title("two sets, packed: the bound falls by 0.30", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="upper left")


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for draw in (draw_directions, draw_boxes, draw_cells, draw_conflicts):
        draw(where)
