"""The progress bar of a run, by tqdm where that is installed."""

from __future__ import annotations

import sys
from typing import Any, Optional

from .log import Step

LOG_SECONDS = 10.0  # between two lines where there is no terminal, but a file


def interval() -> float:
    """The least seconds between two drawings of the bar: a terminal and a notebook overwrite it."""
    return 0.1 if sys.stderr.isatty() or "ipykernel" in sys.modules else LOG_SECONDS


class Progress:
    """A bar that counts steps and shows the loss; nothing without tqdm or with `wanted` False."""

    def __init__(self, wanted: Optional[bool], total: Optional[int]):
        self._make: Any = None
        self._bar: Any = None
        self._total = total
        if wanted is not False:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                if wanted:
                    raise
            else:
                self._make = tqdm

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def step(self, step: Step) -> None:
        """Shows a step that is done."""
        if self._make is None:
            return
        if self._bar is None:
            self._bar = self._make(total=self._total, initial=step.number, unit="step", mininterval=interval())
        shown = {name: f"{value:.5g}" for name, value in step.metrics.items() if name in ("loss", "grad_norm", "lr")}
        self._bar.set_postfix(shown, refresh=False)
        self._bar.update(step.number + 1 - self._bar.n)

    def write(self, text: str) -> None:
        """Prints text above the bar."""
        self._make.write(text) if self._make else print(text)
