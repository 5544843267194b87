"""The exceptions of the package. Their texts are those of the tools: what was found, what was expected, and a way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Optional, Type

if TYPE_CHECKING:
    from .run import Run


class Error(RuntimeError):
    """A tool of Cleave failed.

    `code` is its exit code, `output` everything that it said on standard error, and `run` the steps up to the failure if it was a
    run. The kinds of errors are subclasses, one per exit code.
    """

    def __init__(self, message: str, code: int = 1, output: str = ""):
        super().__init__(message)
        self.code = code
        self.output = output
        self.run: Optional[Run] = None


class CompileError(Error):
    """The model, an option or a file is not what the compiler expects (exit code 1 of cleave-compile and cleave-profile)."""


class NoPlan(CompileError):
    """No plan fits the cluster: the text names what binds and by how much (exit code 2)."""


class RunError(Error):
    """Data, checkpoints or options do not fit the plan, or a loss is not a number (exit code 1 of cleave-run)."""


class RankLost(RunError):
    """A rank or a device was lost (exit code 3)."""


class Defect(Error):
    """A defect of Cleave (exit code 4, or a tool that crashed)."""


class NotInstalled(Error):
    """A tool, or a library that it needs, is not on this machine."""


class Interrupted(KeyboardInterrupt):
    """A run was interrupted from the keyboard: it ended behind its current step and was saved. `run` has the steps up to there."""

    def __init__(self, run: Run):
        super().__init__(f"interrupted behind step {len(run.steps)}")
        self.run = run


class Stop(Exception):
    """Raised by a callback of a run: the run ends behind its current step, is saved, and has the text as `run.stopped`."""


class Warning(UserWarning):
    """A warning of a tool."""


def error_of(tool: str, code: int, message: str, output: str) -> Error:
    """The exception for a tool that ended with an exit code other than 0; codes below 0 are signals."""
    runs = tool == "cleave-run"
    kinds: Dict[int, Type[Error]] = {1: RunError if runs else CompileError, 2: NoPlan, 3: RankLost}
    if tool in ("cleave-dump", "cleave-export", "cleave-zoo", "cleave-calibrate", "cleave-solve"):
        kinds[1] = Error
    return kinds.get(code, Defect)(message, code, output)
