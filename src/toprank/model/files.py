"""Models on disk: readable JSON for linear ones, safetensors for networks, skops for any, pickle never."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

import toprank
from toprank.base import BaseRanker, ranking_scores
from toprank.datasets import InputError, Roles, encoder_from_dict
from toprank.model.plain import NotPlainError, estimator_from_plain, estimator_to_plain, same_scores
from toprank.model.ranking import RankingModel, check_is_model
from toprank.output import write_whole

__all__ = ["UntrustedTypesError", "check_model_ending", "load_model", "model_bytes", "save_model"]

FORMAT = "toprank model"
TRUST_ALL = "all"
"""In place of the types in a file: whoever made it is trusted."""
VERSION = 2
"""Raised when a file written now could no longer be read by the code before."""
PARTS = frozenset(
    {
        "catboost.core.CatBoostClassifier",
        "catboost.core.CatBoostRegressor",
        "collections.OrderedDict",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
        "lightgbm.sklearn.LGBMRegressor",
        "numpy.dtype",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
    }
)
"""What the members of our ensembles and our bases consist of and skops does not load unasked. Building one
reads numbers (of trees, mostly) and calls nothing that the file names. Named one by one: a whole package
would let in functions."""


class UntrustedTypesError(InputError):
    """A file holds types that nobody has said to trust.

    Parameters
    ----------
    message : str
    types : list of str
        Their full names.
    """

    def __init__(self, message: str, types: list[str]) -> None:
        super().__init__(message)
        self.types = types


def save_model(model: RankingModel, path: str | os.PathLike[str]) -> None:
    """Write a model as ``.json`` (linear models, readable), ``.safetensors`` (networks) or ``.skops`` (any).

    The file is whole or not there.

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank import TopPush
    >>> from toprank.datasets import Roles
    >>> visits = pd.DataFrame({"age": [3, 9, 8, 1], "failed": [0, 1, 1, 0]})
    >>> model = RankingModel.learned(TopPush(), visits, Roles("failed"))
    >>> save_model(model, "model.json")  # doctest: +SKIP
    """
    write_whole({Path(path): model_bytes(model, path)})


def check_model_ending(path: str | os.PathLike[str], *, linear: bool) -> None:
    """Refuse an ending no model of that kind can be written to, before the model is made.

    >>> check_model_ending("model.json", linear=True)
    >>> check_model_ending("model.json", linear=False)
    Traceback (most recent call last):
    toprank.errors.InputError: Model file 'model.json': only linear models are written as JSON; use .skops.
    """
    ending = Path(path).suffix.lower()
    if ending not in (".json", ".safetensors", ".skops"):
        raise InputError(f"Model file {str(path)!r}: its name must end in .json, .safetensors or .skops.")
    if ending == ".json" and not linear:
        raise InputError(f"Model file {str(path)!r}: only linear models are written as JSON; use .skops.")
    if ending == ".skops":
        _skops()
    if ending == ".safetensors":
        _safetensors()


def model_bytes(model: RankingModel, path: str | os.PathLike[str]) -> bytes:
    """What `save_model` would write to that path; the same model gives the same JSON, byte for byte.

    >>> import pandas as pd
    >>> from toprank import TopPush
    >>> from toprank.datasets import Roles
    >>> visits = pd.DataFrame({"age": [3, 9, 8, 1], "failed": [0, 1, 1, 0]})
    >>> model_bytes(RankingModel.learned(TopPush(), visits, Roles("failed")), "model.json")[:1]
    b'{'
    """
    check_is_model(model)
    check_model_ending(path, linear=True)
    writers = {".json": _to_json, ".safetensors": _to_safetensors, ".skops": _to_skops}
    return writers[Path(path).suffix.lower()](model)


def load_model(path: str | os.PathLike[str], *, trusted: Collection[str] = ()) -> RankingModel:
    """Read a model written by `save_model`.

    Parameters
    ----------
    path : path-like
    trusted : collection of str
        Types in a ``.skops`` file to trust beside those that our own models are made of, such as
        ``"sklearn.neighbors._kd_tree.KDTree"``, or ``"all"``; only for files whose origin is known.

    Raises
    ------
    InputError
        With one line, when the file is missing, damaged, of another program or of a later version.

    Examples
    --------
    >>> load_model("nowhere.json")
    Traceback (most recent call last):
    toprank.errors.InputError: There is no model file 'nowhere.json'.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no model file {str(path)!r}.")
    check_model_ending(path, linear=True)
    try:
        content = file.read_bytes()
        if file.suffix.lower() == ".skops":
            return _from_skops(content, trusted)
        return _from_safetensors(content) if file.suffix.lower() == ".safetensors" else _from_json(content)
    except OSError as error:
        raise InputError(f"Cannot read the model file {str(path)!r}: {error.strerror}.") from None
    except UntrustedTypesError as error:
        raise UntrustedTypesError(f"Model file {str(path)!r}: {error}", error.types) from None
    except (InputError, NotPlainError) as error:
        raise InputError(f"Model file {str(path)!r}: {error}") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"Model file {str(path)!r} is damaged ({type(error).__name__}: {error}).") from None


# -- what all kinds of file share -----------------------------------------------------------------


def _describe(model: RankingModel, parts: list[Any] | None) -> dict[str, Any]:
    fields = {
        "format": FORMAT,
        "version": VERSION,
        "toprank": toprank.__version__,
        "statistic": model.statistic,
        "target": {"column": model.roles.target, "positive": list(model.positive)},
        "columns": {
            "id": model.roles.id,
            "qid": model.roles.qid,
            "group": model.roles.group,
            "ignore": list(model.roles.ignore),
        },
        "provenance": dict(model.provenance),
        "features": list(model.encoder.feature_names),
        "encoder": model.encoder.to_dict(),
        "ranker": estimator_to_plain(model.ranker, parts),
    }
    return {**fields, "checksum": _checksum(fields)}


def _rebuild(fields: Any, parts: list[Any]) -> RankingModel:
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise InputError("it is not a toprank model.")
    _check_version(fields)
    claimed = fields.pop("checksum", None)
    if claimed != _checksum(fields):
        raise InputError("its checksum is wrong: it was damaged or edited after it was saved.")
    encoder = encoder_from_dict(fields["encoder"])
    with _of_this_version(fields):
        ranker = estimator_from_plain(fields["ranker"], parts)
        if ranker.n_features_in_ != len(encoder.feature_names):
            raise InputError("its ranker and its columns do not fit together.")
        _try_out(ranker)
    columns, target = fields["columns"], fields["target"]
    return RankingModel(
        encoder=encoder,
        ranker=ranker,
        roles=Roles(
            target["column"], columns["id"], columns["qid"], columns["group"], tuple(columns["ignore"])
        ),
        positive=tuple(target["positive"]),
        statistic=str(fields["statistic"]),
        provenance=dict(fields["provenance"]),
    )


@contextmanager
def _of_this_version(fields: Mapping[str, Any]) -> Iterator[None]:
    """Whatever a ranker lacks that was written when its class had other parts is told with the versions."""
    try:
        yield
    except (AttributeError, NotPlainError, NotFittedError) as error:
        name = fields["ranker"].get("class", "ranker")
        raise InputError(
            f"it was written by toprank {fields.get('toprank')} (model format {fields['version']}), whose"
            f" {name} this toprank {toprank.__version__} cannot rebuild ({error}): make the model anew, or"
            " use it with the version that wrote it."
        ) from None


def _try_out(ranker: Any) -> None:
    """Score two made-up rows: what is missing shows now, not in the middle of the work."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rows = np.zeros((2, ranker.n_features_in_))
        ranking_scores(ranker, rows)
        if hasattr(ranker, "predict_proba"):
            ranker.predict_proba(rows)


def _check_version(fields: Mapping[str, Any]) -> None:
    found = fields.get("version")
    if not isinstance(found, int) or found < 1:
        raise InputError("it has no version number.")
    if found > VERSION:
        raise InputError(
            f"it is of version {found}, written by toprank {fields.get('toprank')}; this toprank reads"
            f" up to version {VERSION}: install a newer one."
        )


def _checksum(fields: Mapping[str, Any]) -> str:
    """SHA-256 of the content, however it is laid out."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True, allow_nan=False).encode()).hexdigest()


# -- JSON ------------------------------------------------------------------------------------------


def _to_json(model: RankingModel) -> bytes:
    try:
        fields = _describe(model, None)
    except NotPlainError as error:
        raise InputError(f"The model: {error}; give its file the ending .skops.") from None
    return (_pretty(fields) + "\n").encode()


def _from_json(content: bytes) -> RankingModel:
    try:
        fields = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise InputError("it is not JSON, or was cut short.") from None
    return _rebuild(fields, [])


def _pretty(value: Any, indent: str = "") -> str:
    """Indented JSON in which a list of numbers or words takes one line."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key)}: {_pretty(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + indent + "}"
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        lines = [inner + _pretty(item, inner) for item in value]
        return "[\n" + ",\n".join(lines) + "\n" + indent + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# -- safetensors -----------------------------------------------------------------------------------


def _to_safetensors(model: RankingModel) -> bytes:
    """Everything plain as JSON in the head of the file; the weights of networks as they are."""
    from toprank.networks.base import NetworkRanker
    from toprank.networks.saving import network_from_plain, network_to_plain

    parts: list[Any] = []
    fields = _describe(model, parts)
    others = [type(one).__name__ for one in parts if not isinstance(one, NetworkRanker)]
    if others or not parts:
        what = f"it holds a {others[0]}, which is no network" if others else "it holds no network"
        raise InputError(
            f"The model: {what}; give its file the ending .skops{'' if others else ' or .json'}."
        )
    if any(one.network is not None for one in parts):
        raise InputError(
            "The model: a network of your own is code, which no file holds; keep its weights with `save` of"
            " the fitted ranker, and read them with `load(file, network=...)`."
        )
    described: list[dict[str, Any]] = []
    tensors: dict[str, Any] = {}
    for number, one in enumerate(parts):
        plain, arrays = network_to_plain(one, prefix=f"{number}.")
        described.append(plain)
        tensors |= arrays
    again = [network_from_plain(one, tensors, prefix=f"{n}.") for n, one in enumerate(described)]
    if not same_scores(model.ranker, fields["ranker"], again):
        raise InputError(f"The model: not all of {type(model.ranker).__name__} can be written.")
    said = json.dumps({"model": fields, "parts": described}, allow_nan=False)
    content: bytes = _safetensors().save(tensors, metadata={"toprank": said})
    return content


def _from_safetensors(content: bytes) -> RankingModel:
    _safetensors()
    from toprank.networks.saving import network_from_plain, read_tensors

    said, tensors = read_tensors(content)
    if set(said) != {"model", "parts"}:
        raise InputError("it is not a toprank model; a single network is read by the `load` of its class.")
    parts = [network_from_plain(one, tensors, prefix=f"{n}.") for n, one in enumerate(said["parts"])]
    return _rebuild(said["model"], parts)


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise InputError(
            "Models that end in .safetensors need safetensors: install it with `pip install toprank[torch]`."
        ) from None
    return safetensors.numpy


# -- skops -----------------------------------------------------------------------------------------


def _to_skops(model: RankingModel) -> bytes:
    """Everything plain as JSON text; only what is not (trees, say) is left to skops."""
    parts: list[Any] = []
    io, fields = _skops(), _describe(model, parts)
    try:
        content: bytes = io.dumps({"model": json.dumps(fields), "parts": parts})
        again = io.loads(content, trusted=io.get_untrusted_types(data=content))
        complete = same_scores(model.ranker, fields["ranker"], again["parts"])
    except Exception as error:  # skops knows no class of errors for what it cannot write
        raise InputError(f"The model: {type(model.ranker).__name__} cannot be written: {error}.") from None
    if not complete:
        raise InputError(f"The model: skops cannot write all of {type(model.ranker).__name__}.")
    return content


def _from_skops(content: bytes, trusted: Collection[str]) -> RankingModel:
    io = _skops()
    try:
        asked = io.get_untrusted_types(data=content)
    except (zipfile.BadZipFile, ValueError, KeyError):
        raise InputError("it is not a skops file, or was cut short.") from None
    refused = [] if TRUST_ALL in trusted else sorted(set(asked) - set(trusted) - own_types() - PARTS)
    if refused:
        raise UntrustedTypesError(
            "it holds types that no model of toprank's own is made of and that are only loaded when they are"
            f" trusted by name, for a file whose origin you know: {', '.join(refused)}.",
            refused,
        )
    fields = io.loads(content, trusted=list(asked))
    if not isinstance(fields, dict) or set(fields) != {"model", "parts"}:
        raise InputError("it is not a toprank model.")
    return _rebuild(json.loads(fields["model"]), fields["parts"])


def own_types() -> set[str]:
    """Our own types as skops names them: building one sets attributes and nothing else."""
    from toprank.control import Outcome
    from toprank.convex.accuracy_at_top.pins import PinTable
    from toprank.convex.algebra.design import Origin
    from toprank.convex.algebra.fourier import LaplacianSampler
    from toprank.convex.algebra.kernel_map import KernelMap, RowKernel
    from toprank.convex.algebra.landmarks import LowRankNystroem
    from toprank.ensemble.nets import SmallNets
    from toprank.exact.certificate import Certificate
    from toprank.rankers.parts.spaces import Features, Kernel
    from toprank.trees.level_trees import GradedTree
    from toprank.trees.nodes import PackedTrees, RankingTree
    from toprank.trees.splitting import NodeSplitter

    public = (getattr(toprank, name) for name in toprank.__all__)
    rankers = [one for one in public if isinstance(one, type) and issubclass(one, BaseRanker)]
    maps = (KernelMap, RowKernel, LaplacianSampler, LowRankNystroem, Features, Kernel, SmallNets)
    others = (Outcome, Certificate, Origin, PinTable, RankingTree, GradedTree, PackedTrees, NodeSplitter)
    return {f"{one.__module__}.{one.__qualname__}" for one in (*rankers, *maps, *others)}


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        said = "Models that are not linear need skops: install it with `pip install toprank[skops]`."
        raise InputError(said) from None
    return skops.io
