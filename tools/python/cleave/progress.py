"""The progress of a run: a bar by tqdm where one can be watched, elsewhere a line every ten seconds."""

from __future__ import annotations

import sys
import time
from typing import Any, Dict, Optional

from .log import Step

LINE_SECONDS = 10.0


def _bar_class() -> Any:
    """tqdm on a terminal and in a notebook; None elsewhere, and where it is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    is_notebook = any("notebook" in base.__module__ for base in tqdm.__mro__)
    return tqdm if is_notebook or sys.stderr.isatty() else None


class Progress:
    """Counts steps and shows the loss: by a bar, or in lines on standard error; nothing with `wanted` False."""

    def __init__(self, wanted: Optional[bool], total: Optional[int]):
        self._make: Any = None if wanted is False else _bar_class()
        self._has_lines = wanted is not False and self._make is None
        self._bar: Any = None
        self._total = total
        self._line: Optional[str] = None  # of the newest step, if it is not printed yet
        self._printed = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()
        self._print()

    def step(self, step: Step) -> None:
        """Shows a step that is done."""
        shown = {name: f"{value:.5g}" for name, value in step.metrics.items() if name in ("loss", "grad_norm", "lr")}
        if self._has_lines:
            self._keep(step.number + 1, shown)
        elif self._make is not None:
            if self._bar is None:
                self._bar = self._make(total=self._total, initial=step.number, unit="step", dynamic_ncols=True)
            self._bar.set_postfix(shown, refresh=False)
            self._bar.update(step.number + 1 - self._bar.n)

    def _keep(self, done: int, shown: Dict[str, str]) -> None:
        count = f"{done}/{self._total}" if self._total else str(done)
        self._line = "  ".join([f"{count} steps", *(f"{name} {value}" for name, value in shown.items())])
        if time.monotonic() - self._printed >= LINE_SECONDS:
            self._print()

    def _print(self) -> None:
        if self._line:
            print(self._line, file=sys.stderr, flush=True)
            self._line, self._printed = None, time.monotonic()

    def write(self, text: str) -> None:
        """Prints text above the bar."""
        self._make.write(text) if self._make else print(text)
