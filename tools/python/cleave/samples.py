"""Samples for a run as files for `cleave-run --data`. `stream.py` feeds a run without files.

A path stays one. A dictionary of arrays is written as one .npy file per input. Everything else is a Dataset, a DataLoader or another
iterable of samples or batches: dictionaries by input name, or tuples in the order of the plan's inputs. An item is a batch if its arrays
have as many dims as the plan's inputs, and a sample if they have one less.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .arrays import NpyWriter, Raw, rank_of, raw, stacked, write_npy

BLOCK = 256  # samples that are written together, if they come one by one


class Input(NamedTuple):
    """An input of a plan, or a label of its loss: name, element type, shape of one micro-batch."""

    name: str
    dtype: str
    shape: Tuple[int, ...]
    is_label: bool = False


class Samples(NamedTuple):
    """Values of --data, and the number of samples if it is known."""

    data: List[str]
    total: Optional[int]


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def is_held(data: Any) -> bool:
    """Whether the data are arrays, lists, or a Dataset that is read by index: one pass over them is written into files."""
    by_index = hasattr(data, "__getitem__") and hasattr(data, "__len__")
    return is_path(data) or isinstance(data, (Mapping, list, tuple)) or hasattr(data, "tensors") or by_index


def write_samples(data: Any, inputs: Sequence[Input], folder: pathlib.Path, limit: Optional[int] = None) -> Samples:
    """Writes `data` into files of `folder`: one pass over them, or `limit` samples of an endless iterable."""
    if data is None:
        return Samples([], None)
    if is_path(data):
        return Samples([os.fspath(data)], None)
    if isinstance(data, (list, tuple)) and data and all(map(is_path, data)):
        return Samples([os.fspath(path) for path in data], None)
    if isinstance(data, Mapping):
        return _write_arrays(data, inputs, folder)
    return _write_items(_items(data), inputs, folder, None if hasattr(data, "__len__") else limit)


def _file(folder: pathlib.Path, index: int) -> pathlib.Path:
    return folder / f"input-{index}.npy"


def _write_arrays(data: Mapping[str, Any], inputs: Sequence[Input], folder: pathlib.Path) -> Samples:
    specs, count = [], None
    _check_names(data, inputs)
    for index, described in enumerate(inputs):
        value = data[described.name]
        if is_path(value):
            specs.append(f"{described.name}={os.fspath(value)}")
            continue
        path = _file(folder, index)
        elements = raw(value)
        write_npy(path, elements, described.name)
        specs.append(f"{described.name}={path}")
        if elements.shape and elements.shape != described.shape:
            count = elements.shape[0]
    return Samples(specs, count)


def _check_names(item: Mapping[str, Any], inputs: Sequence[Input]) -> None:
    missing = [described.name for described in inputs if described.name not in item]
    if missing:
        raise ValueError(f"found {_listed(item)} in the data, expected {_listed(i.name for i in inputs)}: {_listed(missing)} missing")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def _items(data: Any) -> Iterator[Any]:
    """The samples or batches of one pass over a Dataset, a DataLoader or an iterable."""
    if hasattr(data, "tensors"):  # torch.utils.data.TensorDataset: whole tensors
        return iter([data.tensors])
    if hasattr(data, "__getitem__") and hasattr(data, "__len__") and not isinstance(data, (list, tuple)):
        return (data[i] for i in range(len(data)))
    if not hasattr(data, "__iter__"):
        raise TypeError(f"found data of type {type(data).__name__}, expected a path, a dictionary of arrays, a Dataset, a DataLoader or an "
                        "iterable of samples")
    return iter(data)


def _values(item: Any, inputs: Sequence[Input]) -> List[Any]:
    """The values of a sample or batch in the order of the inputs."""
    if isinstance(item, Mapping):
        _check_names(item, inputs)
        return [item[described.name] for described in inputs]
    if len(inputs) == 1 and not (isinstance(item, (list, tuple)) and len(item) == 1):
        return [item]
    if not isinstance(item, (list, tuple)) or len(item) != len(inputs):
        found = f"{len(item)} values" if isinstance(item, (list, tuple)) else type(item).__name__
        raise ValueError(f"found {found} per sample in the data, expected {len(inputs)}: {_listed(i.name for i in inputs)}")
    return list(item)


def _write_items(items: Iterator[Any], inputs: Sequence[Input], folder: pathlib.Path, limit: Optional[int]) -> Samples:
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(NpyWriter(_file(folder, index))) for index in range(len(inputs))]
        for parts in batches(items, inputs):
            for writer, described, part in zip(writers, inputs, parts):
                writer.append(part, described.name)
            if limit and writers[0].samples >= limit:
                break
    if not writers or not writers[0].samples:
        raise ValueError("found no sample in the data, expected at least one")
    return Samples([f"{described.name}={writer.path}" for described, writer in zip(inputs, writers)], writers[0].samples)


def batches(items: Iterator[Any], inputs: Sequence[Input], block: int = BLOCK) -> Iterator[List[Raw]]:
    """The items as batches; samples are collected, `block` at a time."""
    waiting: List[List[Raw]] = []
    for item in items:
        values = _values(item, inputs)
        parts = [raw(value) for value in values]
        if _is_batch(values, inputs):
            yield parts
            continue
        waiting.append(parts)
        if len(waiting) == block:
            yield [stacked(column) for column in zip(*waiting)]
            waiting = []
    if waiting:
        yield [stacked(column) for column in zip(*waiting)]


def _is_batch(values: Sequence[Any], inputs: Sequence[Input]) -> bool:
    ranks: Dict[str, Tuple[int, int]] = {i.name: (rank_of(v), len(i.shape)) for v, i in zip(values, inputs)}
    if all(found == wanted for found, wanted in ranks.values()):
        return True
    if all(found == wanted - 1 for found, wanted in ranks.values()):
        return False
    found = ", ".join(f"`{name}` with {dims[0]} dims" for name, dims in ranks.items())
    wanted = ", ".join(f"`{name}` with {dims[1]}" for name, dims in ranks.items())
    raise ValueError(f"found {found} in the data, expected batches of {wanted}, or samples of one dim less each")
