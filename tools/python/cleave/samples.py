"""Samples for a run as files for `cleave-run --data`. `stream.py` feeds a run without files.

A path stays one. A dictionary of arrays is written as one .npy file per input. Everything else is a Dataset, a DataLoader or another
iterable of samples or batches: dictionaries by input name, or tuples in the order of the plan's inputs. An item is a batch if its arrays
have as many dims as the plan's inputs, and a sample if they have one less.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Any, Iterator, List, Mapping, NamedTuple, Optional, Sequence

from .arrays import NpyWriter, Raw, raw, stacked, write_npy
from .columns import Columns, Input

BLOCK = 256  # samples that are written together, if they come one by one


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


def write_samples(data: Any, columns: Columns, folder: pathlib.Path, limit: Optional[int] = None) -> Samples:
    """Writes `data` into files of `folder`: one pass over them, or `limit` samples of an endless iterable."""
    if data is None:
        return Samples([], None)
    paths = [data] if is_path(data) else data
    if isinstance(paths, (list, tuple)) and paths and all(map(is_path, paths)):
        if not columns.is_default:
            raise TypeError("found columns or shift_labels for data in files, expected them for data of Python")
        return Samples([os.fspath(path) for path in paths], None)
    if isinstance(data, Mapping):
        return _write_arrays(data, columns, folder)
    return _write_items(_items(data), columns, folder, None if hasattr(data, "__len__") else limit)


def _file(folder: pathlib.Path, index: int) -> pathlib.Path:
    return folder / f"input-{index}.npy"


def _write_arrays(data: Mapping[str, Any], columns: Columns, folder: pathlib.Path) -> Samples:
    specs, count = [], None
    found = columns.of(data)
    columns.check_shift(found, {name: raw(data[column][:1]) for name, column in found.items() if not is_path(data[column])})
    for index, described in enumerate(columns.inputs):
        value = data[found[described.name]]
        if is_path(value):
            specs.append(f"{described.name}={os.fspath(value)}")
            continue
        path = _file(folder, index)
        elements = columns.ready(described, raw(value))
        write_npy(path, elements, described.name)
        specs.append(f"{described.name}={path}")
        if elements.shape and elements.shape != described.shape:
            count = elements.shape[0]
    return Samples(specs, count)


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


def _write_items(items: Iterator[Any], columns: Columns, folder: pathlib.Path, limit: Optional[int]) -> Samples:
    inputs = columns.inputs
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(NpyWriter(_file(folder, index))) for index in range(len(inputs))]
        for parts in batches(items, columns):
            for writer, described, part in zip(writers, inputs, parts):
                writer.append(part, described.name)
            if limit and writers[0].samples >= limit:
                break
    if not writers or not writers[0].samples:
        raise ValueError("found no sample in the data, expected at least one")
    return Samples([f"{described.name}={writer.path}" for described, writer in zip(inputs, writers)], writers[0].samples)


def batches(items: Iterator[Any], columns: Columns, block: int = BLOCK) -> Iterator[List[Raw]]:
    """The items as batches; samples are collected, `block` at a time."""
    waiting: List[List[Raw]] = []
    for item in items:
        parts = columns.parts(item)
        _check_sizes(parts, columns.inputs)
        if _is_batch(parts, columns.inputs):
            yield parts
            continue
        waiting.append(parts)
        if len(waiting) == block:
            yield [stacked(column) for column in zip(*waiting)]
            waiting = []
    if waiting:
        yield [stacked(column) for column in zip(*waiting)]


def _check_sizes(parts: Sequence[Raw], inputs: Sequence[Input]) -> None:
    """Refuses samples with other sizes than those of the plan; their number of dims is left to `_is_batch`."""
    for part, described in zip(parts, inputs):
        wanted = described.shape[1:]
        found = part.shape[len(part.shape) - len(wanted) :]
        if len(part.shape) >= len(wanted) and found != wanted:
            raise ValueError(f"found a sample of `{described.name}` of shape {list(found)} in the data, expected {list(wanted)}, its shape in the plan; "
                             "pad or cut samples to it")


def _is_batch(parts: Sequence[Raw], inputs: Sequence[Input]) -> bool:
    dims = {described.name: (len(part.shape), len(described.shape)) for part, described in zip(parts, inputs)}
    if all(found == wanted for found, wanted in dims.values()):
        return True
    if all(found == wanted - 1 for found, wanted in dims.values()):
        return False
    found = ", ".join(f"`{name}` with {pair[0]} dims" for name, pair in dims.items())
    wanted = ", ".join(f"`{name}` with {pair[1]}" for name, pair in dims.items())
    raise ValueError(f"found {found} in the data, expected batches of {wanted}, or samples of one dim less each")
