"""Networks on disk: safetensors for the weights, JSON for everything else, no pickle and no code.

A file names a class of this package and holds plain parameters and arrays; reading one runs nothing that the
file says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Outcome, Status
from toprank.errors import InputError
from toprank.networks.base import NetworkRanker
from toprank.output import write_whole

__all__ = ["ENDING", "load_network", "network_from_plain", "network_to_plain", "save_network"]

ENDING = ".safetensors"
FORMAT = "toprank network"
CLASSES = {
    "DirectLossRanker": "toprank.networks.direct_loss",
    "RankNet": "toprank.networks.ranknet",
    "SoDeepRanker": "toprank.networks.so_deep",
}
OWN = "network"
"""The parameter that is code where it is given."""
SESSION = {"callback", "device", "time_limit", "verbose", OWN}
ARRAYS = ("mean_", "scale_", "cuts_", "curve_")
Tensors = dict[str, NDArray[Any]]


def network_to_plain(ranker: NetworkRanker, *, prefix: str = "") -> tuple[dict[str, Any], Tensors]:
    """A network, fitted or not, as plain values, and its arrays by name.

    Parameters
    ----------
    ranker : NetworkRanker
    prefix : str
        Put before the names of the arrays, where several go into one file.
    """
    said: dict[str, Any] = {
        "format": FORMAT,
        "class": type(ranker).__name__,
        "parameters": _parameters(ranker),
    }
    said[OWN], said["fitted"] = ranker.network is not None, hasattr(ranker, "weights_")
    if not said["fitted"]:
        return said, {}
    tensors = {f"{prefix}weights.{name}": value for name, value in ranker.weights_.items()}
    tensors |= {f"{prefix}{name}": getattr(ranker, name) for name in ARRAYS if hasattr(ranker, name)}
    tensors |= {f"{prefix}history.{name}": value for name, value in ranker.history_.items()}
    plain = said | {
        "kind": ranker.kind_,
        "classes": _classes(ranker),
        "intercept": float(ranker.intercept_).hex(),
        "n_features": int(ranker.n_features_in_),
        "names": getattr(ranker, "feature_names_in_", np.empty(0)).tolist(),
        "n_iter": int(ranker.n_iter_),
        "outcome": {
            "value": float(ranker.outcome_.value).hex(),
            "status": str(ranker.outcome_.status),
            "iterations": ranker.outcome_.iterations,
        },
    }
    return plain, {name: np.ascontiguousarray(value) for name, value in tensors.items()}


def network_from_plain(
    fields: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], *, prefix: str = "", network: Any = None
) -> NetworkRanker:
    """Build the network that `network_to_plain` described."""
    name = fields.get("class")
    if fields.get("format") != FORMAT or name not in CLASSES:
        raise InputError(f"it holds no network of toprank's ({name!r}).")
    if fields[OWN] and network is None:
        raise InputError(
            f"its {name} was made with a network of the user's own, which is code and in no file: read it"
            f" with toprank.{name}.load(file, network=...)."
        )
    ranker: NetworkRanker = getattr(import_module(CLASSES[name]), name)()
    unknown = sorted(set(fields["parameters"]) - (set(ranker.get_params(deep=False)) - SESSION))
    if unknown:
        raise InputError(f"{name} has no parameter {unknown[0]!r}.")
    ranker.set_params(**fields["parameters"], network=network)
    if not fields["fitted"]:
        return ranker
    own = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
    for key in ARRAYS:
        if key in own:
            setattr(ranker, key, own[key])
    ranker.weights_ = _under("weights.", own)
    ranker.history_ = _under("history.", own)
    ranker.kind_, ranker.n_features_in_ = fields["kind"], int(fields["n_features"])
    ranker.intercept_, ranker.n_iter_ = float.fromhex(fields["intercept"]), int(fields["n_iter"])
    if fields["classes"] is not None:
        ranker.classes_ = np.asarray(fields["classes"]["values"], dtype=np.dtype(fields["classes"]["dtype"]))
    if fields["names"]:
        ranker.feature_names_in_ = np.asarray(fields["names"], dtype=object)
    told = fields["outcome"]
    ranker.outcome_ = Outcome(
        float.fromhex(told["value"]), status=Status(told["status"]), iterations=int(told["iterations"])
    )
    return ranker


def save_network(ranker: NetworkRanker, path: str | os.PathLike[str]) -> None:
    """Write one fitted network, whole or not at all."""
    from safetensors.numpy import save

    if Path(path).suffix.lower() != ENDING:
        raise InputError(f"Network file {str(path)!r}: its name must end in {ENDING}.")
    plain, tensors = network_to_plain(ranker)
    write_whole({Path(path): save(tensors, metadata={"toprank": json.dumps(plain, allow_nan=False)})})


def load_network(path: str | os.PathLike[str], *, network: Any = None) -> NetworkRanker:
    """Read what `save_network` wrote."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no network file {str(path)!r}.")
    try:
        said, tensors = read_tensors(file.read_bytes())
        return network_from_plain(said, tensors, network=network)
    except InputError as error:
        raise InputError(f"Network file {str(path)!r}: {error}") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise InputError(f"Network file {str(path)!r} is damaged ({detail}).") from None


def read_tensors(content: bytes) -> tuple[dict[str, Any], Tensors]:
    """The JSON and the arrays of a safetensors file of ours."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")
        said = json.loads(content[8 : 8 + size]).get("__metadata__", {}).get("toprank")
    except (SafetensorError, ValueError):
        raise InputError("it is not a safetensors file, or was cut short.") from None
    if said is None:
        raise InputError("it is not a file of toprank's.")
    return json.loads(said), tensors


def _parameters(ranker: NetworkRanker) -> dict[str, Any]:
    """Those that are not what they are by default, but for those of the session."""
    usual, found = type(ranker)().get_params(deep=False), {}
    for name, value in ranker.get_params(deep=False).items():
        if name in SESSION or value is usual[name] or value == usual[name]:
            continue
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            continue  # used up by the fit
        found[name] = _plain(name, value)
    return found


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, (tuple, list, np.ndarray)):
        return [_plain(name, one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if name == "statistic":
        return str(value)
    raise InputError(f"The model: {name}={value!r} cannot be written as text.")


def _classes(ranker: NetworkRanker) -> dict[str, Any] | None:
    found = getattr(ranker, "classes_", None)
    return None if found is None else {"values": found.tolist(), "dtype": found.dtype.str}


def _under(start: str, arrays: Mapping[str, NDArray[Any]]) -> Tensors:
    return {name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)}
