"""Reading the log of a run while it is written: one entry per line, in JSON."""

from __future__ import annotations

import json
import math
import os
import pathlib
from typing import Any, Dict, List, NamedTuple, Union


class Step(NamedTuple):
    """One step of a run: its number (from 0), its metrics by name (`loss`, `grad_norm`, …; a number that is not finite is NaN), its
    seconds, and whether its update was undone (`on_nan="skip"`)."""

    number: int
    metrics: Dict[str, float]
    seconds: float
    skipped: bool = False

    @property
    def loss(self) -> float:
        """The loss; NaN if there is none."""
        return self.metrics.get("loss", math.nan)


def step_of(entry: Dict[str, Any]) -> Step:
    """The step of an entry."""
    return Step(entry["step"], _numbers(entry), entry.get("seconds", math.nan), entry.get("skipped", False))


class Evaluation(NamedTuple):
    """An evaluation of a training: the step before it, its metrics by name (`eval_loss`, …), and its seconds."""

    step: int
    metrics: Dict[str, float]
    seconds: float

    @property
    def loss(self) -> float:
        """The loss on the data of the evaluation."""
        return self.metrics.get("eval_loss", math.nan)


def _numbers(entry: Dict[str, Any]) -> Dict[str, float]:
    """The metrics of an entry."""
    return {name: math.nan if value is None else value for name, value in entry.items()
            if name not in ("step", "seconds", "skipped") and (value is None or isinstance(value, (int, float)))}


def evaluation_of(entry: Dict[str, Any]) -> Evaluation:
    """The evaluation of an entry."""
    return Evaluation(entry["step"], _numbers(entry), entry.get("seconds", math.nan))


class GrowingFile:
    """The lines that are added to a file. The file may be missing at first, be truncated, or be replaced by one that begins with the
    same lines, as a run that resumes does; lines that it had at the beginning are not new."""

    def __init__(self, path: Union[str, os.PathLike]):
        self._path = pathlib.Path(path)
        self._known: List[bytes] = []
        self._begin_again(None)
        self.new_lines()

    def _begin_again(self, identity: Any) -> None:
        self._identity, self._offset, self._lines = identity, 0, 0

    def new_lines(self) -> List[str]:
        """The complete lines that were added since the last call."""
        try:
            with open(self._path, "rb") as file:
                return self._read(file)
        except OSError:
            return []

    def _read(self, file: Any) -> List[str]:
        status = os.fstat(file.fileno())
        identity = (status.st_dev, status.st_ino)
        if identity != self._identity or not self._continues(file):
            self._begin_again(identity)
        file.seek(self._offset)
        found = []
        for line in file:
            if not line.endswith(b"\n"):
                break
            self._offset += len(line)
            if not self._is_known(line):
                found.append(line.decode(errors="replace").rstrip("\n"))
        return found

    def _continues(self, file: Any) -> bool:
        """Whether the last line that was read is still in its place."""
        if not self._lines:
            return True
        last = self._known[self._lines - 1]
        file.seek(self._offset - len(last))
        return file.read(len(last)) == last

    def _is_known(self, line: bytes) -> bool:
        known = self._lines < len(self._known) and self._known[self._lines] == line
        if not known:
            del self._known[self._lines :]
            self._known.append(line)
        self._lines += 1
        return known


def entries(lines: List[str]) -> List[Dict[str, Any]]:
    """The JSON objects in lines; others are left out."""
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            found.append(entry)
    return found
