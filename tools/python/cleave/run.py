"""A run of a plan: started as `cleave-run` on this machine, watched step by step, and its results."""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, List, NamedTuple, Optional, Sequence, Union

from . import tools
from .arrays import load_arrays
from .errors import Error, Interrupted, NotInstalled, Stop
from .folder import Folder
from .log import Evaluation, GrowingFile, Step, entries, evaluation_of, step_of
from .pages import run_html
from .progress import Progress

if TYPE_CHECKING:
    from .plan import Plan

Path = Union[str, os.PathLike]
Callback = Callable[[Step], Any]
EvaluationCallback = Callable[[Evaluation], Any]

POLL_SECONDS = 0.02
# Starts a command that gets SIGTERM if this process dies, and so ends after its current step. It also handles SIGINT, which a shell makes the
# background commands of a script ignore.
STARTER = ("import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, int(signal.SIGTERM)); signal.signal(signal.SIGINT, signal.SIG_DFL); "
           "os.execv(sys.argv[1], sys.argv[1:])")


class Callbacks(NamedTuple):
    """What is called with every step and with every evaluation."""

    steps: Sequence[Callback]
    evaluations: Sequence[EvaluationCallback]


class Run:
    """What a run gave: `steps`, and the checkpoint or the outputs."""

    def __init__(self, plan: Plan, folder: Optional[Folder] = None):
        self.plan = plan
        self.steps: List[Step] = []
        """All steps, as they came."""
        self.events: List[Dict[str, Any]] = []
        """Other entries of the log: restarts, …"""
        self.evaluations: List[Evaluation] = []
        """All evaluations (`eval=`), as they came."""
        self.ranks: List[Dict[str, Any]] = []
        """Memory of every rank at the end, in bytes: `planned_bytes`, `allocated_bytes`, `peak_rss_bytes`."""
        self.summary: Dict[str, Any] = {}
        """Steps, seconds, epochs, samples and FLOPs per second, least loss of the whole run, as at the end of the log."""
        self.checkpoint: Optional[pathlib.Path] = None
        """The folder of checkpoints, None if nothing was saved. Without `save=` it lives as long as this object."""
        self.outputs: Dict[str, Any] = {}
        """Of a plan for inference: the outputs by name."""
        self.stopped: Optional[str] = None
        """Why the run was asked to end before its last step: the text of `Stop`, or `interrupt`; else None."""
        self.stdout = ""
        """What cleave-run printed, for example with `memory_report=True`."""
        self._folder = folder

    @property
    def losses(self) -> List[float]:
        """The loss of every step."""
        return [step.loss for step in self.steps]

    def metric(self, name: str) -> List[float]:
        """A metric of every step, for example `grad_norm`."""
        return [step.metrics[name] for step in self.steps if name in step.metrics]

    def export(self, path: Path, **options: Any) -> pathlib.Path:
        """Writes the trained weights into a .safetensors file, or into a copy of the model's ONNX file (`cleave-export`)."""
        return self.plan.export(path, self._saved(), **options)

    def weights(self, **options: Any) -> Dict[str, Any]:
        """The trained weights by name, as arrays of NumPy, or without it as memoryviews. Options are those of cleave-export."""
        return self.plan.weights(self._saved(), **options)

    def load(self, module: Any, **options: Any) -> List[str]:
        """Copies the trained weights into the nn.Module that was compiled, and returns their names. Options are those of cleave-export,
        for example `best=True`."""
        return self.plan.load_into(module, self._saved(), **options)

    def load_states(self, optimizer: Any, module: Any, **options: Any) -> List[str]:
        """Gives an optimizer of PyTorch over parameters of the module the states of the run, so that it continues the training, and
        returns the names of the parameters that got some. Its options stay as they are; of the learning rate, see `metric("lr")`."""
        return self.plan.load_states_into(optimizer, module, self._saved(), **options)

    def _saved(self) -> pathlib.Path:
        if self.checkpoint is None or not self.checkpoint.is_dir():
            raise Error("the run has no checkpoint; run it with save=FOLDER")
        return self.checkpoint

    def _add(self, entry: Dict[str, Any]) -> Union[Step, Evaluation, None]:
        if "planned_bytes" in entry:
            self.ranks.append(entry)
        elif "summary" in entry:
            self.summary = entry["summary"]
        elif "step" in entry and "event" not in entry and "seconds" in entry:
            self.steps.append(step_of(entry))
            return self.steps[-1]
        elif entry.get("event") == "eval" and "step" in entry:
            self.evaluations.append(evaluation_of(entry))
            return self.evaluations[-1]
        else:
            if entry.get("event") == "restart":
                self.steps = [step for step in self.steps if step.number < entry["from_step"]]
                self.evaluations = [done for done in self.evaluations if done.step < entry["from_step"]]
            self.events.append(entry)
        return None

    def __repr__(self) -> str:
        loss = f", loss {self.losses[0]:.5g} → {self.losses[-1]:.5g}" if self.steps else ""
        return f"<cleave.Run of {len(self.steps)} steps{loss}>"

    def _repr_html_(self) -> str:
        return run_html(self)


class Watch:
    """Follows a running cleave-run to its end."""

    def __init__(self, run: Run, callbacks: Callbacks, progress: Progress, verbose: bool):
        self._run, self._callbacks, self._progress, self._verbose = run, callbacks, progress, verbose
        self._process: Any = None
        self._entries: Deque[Dict[str, Any]] = collections.deque()  # of the log, not yet given to callbacks
        self._failure: Optional[BaseException] = None

    def follow(self, command: Sequence[str], log: Path, scratch: pathlib.Path) -> None:
        """Runs the command; its log is at `log`. Raises what it, a callback or the keyboard raised."""
        out, err = scratch / "stdout", scratch / "stderr"
        growing = [GrowingFile(log), GrowingFile(out), GrowingFile(err)]
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            try:
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True)
            except OSError as error:
                raise NotInstalled(f"cannot execute {command[0]}: {error.strerror}") from error
        try:
            code = self._wait(growing)
        finally:
            self._end()
        self._run.stdout = out.read_text(errors="replace")
        self._conclude(code, err.read_text(errors="replace"))

    def _wait(self, growing: Sequence[GrowingFile]) -> int:
        while True:
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(POLL_SECONDS)
                code = self._process.poll()
                self._read(*growing)
                if code is not None:
                    return code
            except KeyboardInterrupt:
                self._stop("interrupt")

    def _read(self, log: GrowingFile, out: GrowingFile, err: GrowingFile) -> None:
        self._entries.extend(entries(log.new_lines()))
        while self._entries:
            found = self._run._add(self._entries.popleft())
            if isinstance(found, Step):
                self._progress.step(found)
                self._call(self._callbacks.steps, found)
            elif found:
                self._call(self._callbacks.evaluations, found)
        said = out.new_lines()
        if self._verbose and said:
            self._progress.write("\n".join(said))
        tools.warn(tools.read_lines("\n".join(err.new_lines()))["warning"], level=6)

    def _call(self, callbacks: Sequence[Callable[[Any], Any]], found: Any) -> None:
        for callback in callbacks:
            if self._failure:
                return
            try:
                callback(found)
            except Stop as stop:
                self._stop(str(stop) or "callback")
            except Exception as error:  # the run ends behind its step, then the user gets it
                self._failure = error
                self._stop("callback")

    def _stop(self, reason: str) -> None:
        """Lets the run end behind its current step; asked again from the keyboard, at once."""
        if self._run.stopped is None or reason == "interrupt":
            self._run.stopped = reason
            self._process.send_signal(signal.SIGINT)

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()

    def _conclude(self, code: int, err: str) -> None:
        asked = code in (128 + signal.SIGINT, -signal.SIGINT) and self._run.stopped
        if self._failure:
            raise self._failure
        if self._run.stopped == "interrupt":
            raise Interrupted(self._run)
        try:
            tools.raise_for("cleave-run", 0 if asked else code, err)
        except Error as error:
            error.run = self._run
            raise


def first_step(resume: Union[Run, Path, None]) -> int:
    """The step with which a run that resumes begins; 0 if that cannot be seen."""
    folder = resume.checkpoint if isinstance(resume, Run) else resume
    if not folder:
        return 0
    names = [pathlib.Path(folder).name, *(path.name for path in pathlib.Path(folder).glob("step-*"))]
    return max([int(name[5:]) for name in names if name.startswith("step-") and name[5:].isdigit()], default=0)


def _command(plan: Plan, options: Dict[str, Any]) -> List[str]:
    words = [str(tools.find("cleave-run")), str(plan.path), *tools.option_words(options)]
    return [sys.executable, "-I", "-S", "-c", STARTER, *words] if sys.executable else words


def execute(plan: Plan, options: Dict[str, Any], *, data: List[str], steps: Optional[int], total: Optional[int], callbacks: Callbacks,
            save: Union[Path, bool, None], resume: Union[Run, Path, None], log: Optional[Path], progress: Optional[bool], verbose: bool,
            scratch: pathlib.Path) -> Run:
    """Runs a plan; see Plan.run. `total` is the number of steps if it is known, `scratch` a folder for files that may go after the run."""
    keeps = plan.trains and save in (None, True)
    run = Run(plan, Folder("run") if keeps else None)
    if keeps and run._folder:
        run.checkpoint = run._folder.path / "checkpoints"
        options.setdefault("keep", 1)
    elif plan.trains and save:
        run.checkpoint = pathlib.Path(save)  # type: ignore[arg-type]
    if isinstance(resume, Run):
        resume = resume._saved()
    if isinstance(options.get("weights"), Run):
        options["weights"] = options["weights"]._saved()
    if not plan.trains:
        options.setdefault("out", scratch / "outputs.safetensors")
    log = log or scratch / "log.jsonl"
    options.update(data=data, steps=steps, save=run.checkpoint, resume=resume, log=log, model=options.get("model") or plan.moved_model())
    with Progress(progress, total) as bar:
        Watch(run, callbacks, bar, verbose).follow(_command(plan, options), log, scratch)
    if not plan.trains and str(options["out"]).endswith(".safetensors"):
        run.outputs = load_arrays(options["out"])
    return run
