"""Feeds a run from an iterable of this process, a DataLoader for example, without files: through `cleave-run --data-command`.

The command asks for the step with which it begins, through one named pipe, and copies batches from another, into which a thread of this
process writes them. Lost ranks that are started again start the command again.
"""

from __future__ import annotations

import os
import pathlib
import shlex
import threading
from typing import Any, Iterator, List, Optional

from .arrays import Raw, check_alike, npy_header
from .columns import Columns
from .samples import batches, is_held


def samples_in(loader: Any) -> Optional[int]:
    """The number of samples in one pass of a DataLoader, if it is known before they are read."""
    sampler: Any = getattr(loader, "sampler", None)
    size = getattr(loader, "batch_size", None)
    if not size or not hasattr(sampler, "__len__"):
        return None
    return len(sampler) - (len(sampler) % size if loader.drop_last else 0)


def can_stream(data: Any, columns: Columns) -> bool:
    """Whether the data are an iterable that draws samples as they are needed, and not held in memory or read by index."""
    sizes = {described.shape[0] if described.shape else 0 for described in columns.inputs}
    return hasattr(data, "__iter__") and not is_held(data) and len(sizes) == 1 and 0 not in sizes


class Feed:
    """A context in which `command` gives the batches of `data`, pass after pass. An iterator has one pass, and goes on where it is."""

    def __init__(self, data: Any, columns: Columns, samples_per_step: int, folder: pathlib.Path):
        self._data, self._columns, self._samples_per_step = data, columns, samples_per_step
        self._has_one_pass = hasattr(data, "__next__")
        self._first, self._batches = folder / "first-step", folder / "batches"
        self.command = f"echo $CLEAVE_FIRST_STEP >{shlex.quote(str(self._first))} && exec cat {shlex.quote(str(self._batches))}"
        """The value of --data-command."""
        self._failure: Optional[BaseException] = None
        self._stops = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Feed:
        os.mkfifo(self._first)
        os.mkfifo(self._batches)
        self._thread.start()
        return self

    def __exit__(self, _: Any, error: Optional[BaseException], __: Any) -> None:
        self._stops = True
        # Opening the other ends releases the thread if it waits for them.
        ends = [os.open(self._first, os.O_RDWR | os.O_NONBLOCK), os.open(self._batches, os.O_RDONLY | os.O_NONBLOCK)]
        os.close(ends.pop())
        self._thread.join(timeout=1)
        os.close(ends.pop())
        if self._failure and not isinstance(error, KeyboardInterrupt):
            raise self._failure from error

    def _serve(self) -> None:
        while not self._stops:
            with open(self._first) as pipe:  # waits for the command
                text = pipe.readline()
            if self._stops or not text.strip():
                continue
            try:
                with open(self._batches, "wb") as pipe:
                    for batch in self._from(int(text)):
                        for part in batch:
                            pipe.write(npy_header(part.dtype, part.shape) + part.data)
                        pipe.flush()
            except BrokenPipeError:
                continue  # the command was ended
            except Exception as error:  # of the data: the run ends, then the user gets it
                self._failure = error
                return

    def _from(self, step: int) -> Iterator[List[Raw]]:
        """Micro-batches from a step on."""
        skips = 0 if self._has_one_pass else step * self._samples_per_step
        size = self._columns.inputs[0].shape[0]
        waiting: List[List[Raw]] = []
        count = 0
        for parts in self._after(skips):
            waiting.append(parts)
            count += parts[0].shape[0]
            if count < size:
                continue
            whole = [_joined(list(column), described.name) for column, described in zip(zip(*waiting), self._columns.inputs)]
            for begin in range(0, count - size + 1, size):
                yield [_rows(part, begin, begin + size) for part in whole]
            waiting = [[_rows(part, count - count % size, count) for part in whole]] if count % size else []
            count %= size

    def _after(self, skips: int) -> Iterator[List[Raw]]:
        """Batches of any size behind the first `skips` samples, pass after pass."""
        while True:
            samples = 0
            for parts in batches(iter(self._data), self._columns, self._columns.inputs[0].shape[0]):
                rows = parts[0].shape[0]
                samples += rows
                if skips < rows:
                    yield parts if skips == 0 else [_rows(part, skips, rows) for part in parts]
                skips = max(0, skips - rows)
            if samples == 0:
                raise ValueError("found no sample in the data, expected at least one")
            if self._has_one_pass:
                return
            skips %= samples


def _joined(parts: List[Raw], name: str) -> Raw:
    for part in parts[1:]:
        check_alike(parts[0], part, name)
    if len(parts) == 1:
        return parts[0]
    return Raw(parts[0].dtype, (sum(part.shape[0] for part in parts), *parts[0].shape[1:]), b"".join(part.data for part in parts))


def _rows(part: Raw, begin: int, end: int) -> Raw:
    if (begin, end) == (0, part.shape[0]):
        return part
    size = len(part.data) // part.shape[0]
    return Raw(part.dtype, (end - begin, *part.shape[1:]), part.data[begin * size : end * size])
