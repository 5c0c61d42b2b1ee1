"""The networks themselves: the usual one, the user's own, where they live and what they give."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

__all__ = [
    "build",
    "find_device",
    "last_hidden",
    "load",
    "one_score_a_row",
    "remedied",
    "seeded",
    "weights_of",
]

ACTIVATIONS = {"tanh": nn.Tanh, "relu": nn.ReLU, "sigmoid": nn.Sigmoid}
BLOCK = 65_536
"""Rows that are scored at a time."""


def build(network: Any, n_features: int, hidden_layers: Sequence[int], activation: str) -> Any:
    """The network of the parameters: a copy of the user's, what his function makes, or the usual one."""
    if network is None:
        sizes, layers = [n_features, *map(int, hidden_layers)], []
        for before, after in pairwise(sizes):
            layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
        return nn.Sequential(*layers, nn.Linear(sizes[-1], 1))
    if isinstance(network, nn.Module):
        return copy.deepcopy(network)
    made = network(n_features) if callable(network) else None
    if not isinstance(made, nn.Module):
        raise ValueError(
            f"network={network!r} must be a torch.nn.Module, a function that makes one from the number of"
            " features, or None for the usual network."
        )
    return made


def find_device(device: str) -> Any:
    """The device by name; "auto" is the accelerator that is there, else the CPU."""
    if device == "auto":
        return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    try:
        found = torch.device(device)
        torch.zeros(1, device=found)
    except Exception as error:  # each back end has errors of its own for what is not there
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"device={device!r} cannot be used here ({said}); use 'auto' or 'cpu'.") from None
    return found


@contextmanager
def seeded(seed: int, device: Any) -> Iterator[None]:
    """PyTorch's own random numbers from this seed, and afterwards what they were before."""
    known = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=known):
        torch.manual_seed(seed)
        yield


def one_score_a_row(output: Any, n_rows: int) -> Any:
    """The output as one score for each row, or an error that says what a network must give."""
    shape = tuple(getattr(output, "shape", ()))
    if shape == (n_rows, 1):
        return output[:, 0]
    if shape == (n_rows,):
        return output
    raise ValueError(
        f"network gives an output of shape {shape} for {n_rows} rows; ranking needs one score for each row:"
        f" let it end in torch.nn.Linear(..., 1)."
    )


@contextmanager
def remedied(batch_size: int) -> Iterator[None]:
    """Says what to do where the memory does not suffice."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        short = isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in str(
            error
        )
        if not short:
            raise
        raise MemoryError(
            f"the memory does not suffice for batches of {batch_size} rows: lower batch_size, make the"
            " network smaller, or use device='cpu'."
        ) from None


def weights_of(module: Any) -> dict[str, NDArray[Any]]:
    """The state of a network as arrays."""
    return {name: value.detach().cpu().numpy().copy() for name, value in module.state_dict().items()}


def load(module: Any, weights: Mapping[str, NDArray[Any]]) -> Any:
    """A network with these weights, in double precision on the CPU, ready to score."""
    # In double precision first: loading rounds to what the network is in.
    module.to("cpu", torch.float64)
    # Copies: arrays from a mapped file are not writable, which PyTorch does not like.
    module.load_state_dict({name: torch.as_tensor(np.array(value)) for name, value in weights.items()})
    return module.eval()


def scores_of(module: Any, rows: Any) -> NDArray[np.float64]:
    """Scores of standardised rows, some at a time."""
    found = []
    with torch.no_grad():
        for first in range(0, len(rows), BLOCK):
            part = torch.as_tensor(np.ascontiguousarray(rows[first : first + BLOCK]))
            found.append(one_score_a_row(module(part), len(part)).numpy())
    return np.concatenate(found).astype(np.float64) if found else np.empty(0)


def last_hidden(module: Any, rows: Any) -> NDArray[np.float64]:
    """What goes into the last linear layer, row by row."""
    linear = [one for one in module.modules() if isinstance(one, nn.Linear)]
    if not linear:
        raise ValueError("network has no torch.nn.Linear, so that there is no last hidden layer to show.")
    seen: list[Any] = []
    hook = linear[-1].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach()))
    try:
        scores_of(module, rows)
    finally:
        hook.remove()
    return np.concatenate([one.numpy() for one in seen]).astype(np.float64)
