"""A network that sorts: it turns the scores of a list into ranks, and was learned on made-up lists.

The rank of an item is the number of items above it, and whether one is above another is a matter of their
difference: a small network g looks at the difference of two standardised scores on several scales, and

    rank_i = 1/2 + sum over j of sigmoid(g(s_j - s_i)),    g odd, as it has no offsets.

So ranks follow their items, lists may have any length, and all ranks of a list add up. g is learned with
the L1 loss to the true ranks (Engilberge et al. 2019, who learn networks for lists of one length).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from toprank.networks.modules import seeded, weights_of
from toprank.networks.soft_ranks import Sorter, standardised
from toprank.output import write_whole

__all__ = ["SortingNetwork", "cache_folder", "learned_sorter", "made_up_lists", "train_sorter"]

SCALES = (1.0, 4.0, 16.0, 64.0)
UNITS = 8
STEPS = 400
LISTS = 4
LENGTH = 100
FILE = "sorting-network-1.safetensors"
"""The number is raised when a network that was learned before would no longer do."""


class SortingNetwork(nn.Module):
    """From scores, the last dimension being a list, to ranks; 1 is the best.

    >>> bool(SortingNetwork()(torch.tensor([2.0, 5.0, 3.0])).argmin() >= 0)
    True
    """

    def __init__(self) -> None:
        super().__init__()
        layers = nn.Linear(len(SCALES), UNITS, bias=False), nn.Tanh(), nn.Linear(UNITS, 1, bias=False)
        self.compare = nn.Sequential(*layers)
        self.register_buffer("scales", torch.tensor(SCALES))

    def forward(self, scores: Any) -> Any:
        apart = scores[..., None, :] - scores[..., :, None]
        looks = torch.tanh(apart[..., None] * self.scales)
        return torch.sigmoid(self.compare(looks)[..., 0]).sum(dim=-1) + 0.5


def made_up_lists(n_lists: int, length: int, generator: Any) -> Any:
    """Standardised score lists: normal, uniform, with a long tail, and of two groups, in turn."""
    size = (n_lists, length)
    normal = torch.randn(size, generator=generator)
    uniform = torch.rand(size, generator=generator)
    groups = 3.0 * (torch.rand(size, generator=generator) < 0.2) + normal
    lists = torch.stack([normal, uniform, -torch.log(uniform + 1e-6), groups])
    chosen = lists[torch.arange(n_lists) % 4, torch.arange(n_lists)]
    return (chosen - chosen.mean(dim=1, keepdim=True)) / chosen.std(dim=1, keepdim=True)


def true_ranks(scores: Any) -> Any:
    """Ranks along the last dimension, 1 for the highest."""
    return scores.argsort(dim=-1, descending=True).argsort(dim=-1).to(scores.dtype) + 1.0


def train_sorter(seed: int = 0, steps: int = STEPS) -> SortingNetwork:
    """Learn the network from made-up lists, new ones at every step."""
    generator = torch.Generator().manual_seed(seed)
    with seeded(seed, torch.device("cpu")):
        network = SortingNetwork()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        lists = made_up_lists(LISTS, LENGTH, generator)
        optimizer.zero_grad()
        (network(lists) - true_ranks(lists)).abs().mean().backward()
        optimizer.step()
        slower.step()
    return network.eval()


def cache_folder() -> Path:
    """Where things are kept that can be made again: `TOPRANK_CACHE`, else the system's place for such."""
    told = os.environ.get("TOPRANK_CACHE")
    if told:
        return Path(told)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "toprank"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "toprank"
    return Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))) / "toprank"


@cache
def learned_sorter() -> Sorter:
    """The sorting network, from the cache or learned now, as a function of the scores of one list."""
    network = _kept(cache_folder() / FILE).double().requires_grad_(False)
    copies = {("cpu", torch.float64): network}

    def ranks(scores: Any) -> Any:
        place = (scores.device.type, scores.dtype)
        if place not in copies:
            fresh = SortingNetwork()
            fresh.load_state_dict(network.state_dict())
            copies[place] = fresh.to(scores.device, scores.dtype).requires_grad_(False)
        return copies[place](standardised(scores))

    return ranks


def _kept(file: Path) -> SortingNetwork:
    from safetensors import SafetensorError
    from safetensors.numpy import save
    from safetensors.torch import load

    network = SortingNetwork()
    # A file that is not there, cut short or of another make is made anew; one that cannot be kept is not.
    with suppress(OSError, SafetensorError, RuntimeError):
        network.load_state_dict(load(file.read_bytes()))
        return network
    network = train_sorter()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole({file: save(weights_of(network))})
    return network
