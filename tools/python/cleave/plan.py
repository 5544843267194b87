"""A plan: what cleave-compile decided, to be looked at, run, saved and loaded."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import modules, run as running, stream, tools
from .arrays import load_arrays
from .columns import Columns, Input
from .folder import Folder
from .pages import plan_html
from .samples import write_samples
from .states import load_states
from .trackers import Tracking, trackers_of

Path = Union[str, os.PathLike]


class Alternative(NamedTuple):
    """A choice that was not taken, and the seconds per step that it would cost more."""

    choice: str
    seconds: float


class Decision(NamedTuple):
    """A decision of the planner: about what (`kind`: parameter, an op's kind, kept, recompute, what-if, mesh, strategy, axis, remark), the choice,
    why, its seconds per step, bytes of one rank, where it is in the model by a parameter (empty: not known), and the alternatives."""

    name: str
    kind: str
    choice: str
    reason: str
    seconds: float
    bytes: int
    place: str
    alternatives: Tuple[Alternative, ...]


class Prediction(NamedTuple):
    """What the planner predicts for one step: seconds and bytes of the fullest rank. In the planner's model, which overlaps only copies
    between memories, no plan takes less than `bound_seconds`, and `gap` is how far this one may be from the best, as a fraction.
    `mfu`, model FLOPs utilization, is the share of the devices' peak rate that the model's products take; it and the samples and tokens per second
    are 0 where they are not known. `peak_type` is the type of that rate, empty if there are several; `budget_bytes` the memory that a rank
    may use, 0 without a limit; `is_memory_binding` says that the fastest plan needs more, `is_calibrated` that cleave-calibrate measured
    the cluster file."""

    step_seconds: float
    peak_bytes: int
    planned_seconds: float
    bound_seconds: float
    gap: float
    compute_seconds: float
    communication_seconds: float
    flops: int
    communication_bytes: int
    cluster: str
    samples_per_second: float
    tokens_per_second: float
    mfu: float
    peak_type: str
    budget_bytes: int
    is_memory_binding: bool
    is_calibrated: bool


class Plan:
    """A plan file. `compile` makes one, `Plan.load` opens one."""

    def __init__(self, path: Path, model: Optional[Path] = None, folder: Optional[Folder] = None,
                 remarks: Iterable[str] = ()):
        self.path = pathlib.Path(path).absolute()
        """The plan file."""
        self.model = pathlib.Path(model).absolute() if model else None
        """The model file that goes with the plan: that of an exported module."""
        self.remarks = list(remarks)
        """What the compiler remarked."""
        self._folder = folder  # goes with this object
        self._json: Optional[Dict[str, Any]] = None

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Opens a plan file. The model of a plan that `save` wrote lies beside it."""
        plan = cls(path, _model_beside(path) if _model_beside(path).is_file() else None)
        plan.json  # checks the file
        return plan

    def save(self, path: Path) -> pathlib.Path:
        """Copies the plan to `path`; that of an nn.Module with the exported module beside it, as `PATH.pt2`."""
        path = pathlib.Path(path).absolute()
        if path != self.path:
            shutil.copyfile(self.path, path)
            if self.model:
                shutil.copyfile(self.model, _model_beside(path))
        return path

    @property
    def json(self) -> Dict[str, Any]:
        """The plan as `cleave-dump --json` gives it."""
        if self._json is None:
            self._json = json.loads(self.dump(json=True))
        return self._json

    def dump(self, **options: Any) -> str:
        """A view of cleave-dump as text, for example `dump(sharding=True)`, `dump(program=0)`, `dump(diff="before.plan")`."""
        return tools.call("cleave-dump", self.path, **options).out

    def summary(self) -> str:
        """Mesh, predicted time and memory, decisions with reasons, and collectives, as text."""
        return self.dump()

    def memory(self) -> str:
        """Memory over one step, what lives at its peak and the largest buffers, as text."""
        return self.dump(memory=True)

    def explain(self, name: str) -> str:
        """Everything about one parameter, op or value, as text."""
        return self.dump(explain=name)

    def to_html(self, path: Optional[Path] = None) -> str:
        """The page of cleave-dump with layouts, memory, timeline and decisions, which is also written to `path`."""
        with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
            page = pathlib.Path(path) if path else pathlib.Path(folder) / "plan.html"
            self.dump(html=page)
            return page.read_text(encoding="utf-8")

    @property
    def predicted(self) -> Prediction:
        """Predicted time and memory of one step."""
        found = self.json["predicted"]
        return Prediction(**{name: found[name] for name in Prediction._fields})

    @property
    def decisions(self) -> List[Decision]:
        """The planner's decisions."""
        return [Decision(**{**decision, "alternatives": tuple(Alternative(**a) for a in decision["alternatives"])})
                for decision in self.json["decisions"]]

    @property
    def mesh(self) -> Dict[str, int]:
        """The axes of the mesh with their sizes."""
        return dict(self.json["mesh"])

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self.json["ranks"]

    @property
    def trains(self) -> bool:
        """Whether the plan trains; else it is for inference."""
        return self.json["trains"]

    @property
    def inputs(self) -> List[Input]:
        """The inputs of the model and the labels of its loss, in the order in which tuples of data give them."""
        return [Input(t["name"], t["dtype"], tuple(t["shape"]), t.get("is_label", False)) for t in self.json["tensors"]
                if t["role"] == "input" and not t.get("all_of")]

    @property
    def samples_per_step(self) -> int:
        """The number of samples that one step takes; 0 without inputs."""
        sizes = [i.shape[0] for i in self.inputs if i.shape]
        return sizes[0] * self.json.get("micro_batches", 1) if sizes else 0

    def run(self, data: Any = None, *, steps: Optional[int] = None, epochs: Optional[int] = None,
            callbacks: Union[running.Callback, Iterable[running.Callback]] = (), eval: Any = None,
            on_evaluation: Union[running.EvaluationCallback, Iterable[running.EvaluationCallback]] = (), save: Union[Path, bool, None] = None,
            resume: Union[running.Run, Path, None] = None, log: Optional[Path] = None, progress: Optional[bool] = None, verbose: bool = False,
            columns: Optional[Mapping[str, str]] = None, shift_labels: Optional[bool] = None, trackers: Any = None,
            **options: Any) -> running.Run:
        """Runs the plan on the ranks of this machine, one process each, and returns what it gave.

        data: a file or files of `cleave-run --data`; a dictionary of arrays by input name; or a Dataset, a DataLoader or another iterable
            of samples or batches, as dictionaries or as tuples in the order of `inputs`. Arrays hold samples along their first dim.
        steps: the total number of steps, with those before `resume`; the data begin again where they end. Default: one pass.
        epochs: instead of steps, the total number of passes over the data.
        callbacks: called with every `Step`, as it comes; `raise cleave.Stop` ends the run behind the current step.
        eval: data for evaluations, as `data`, of a plan that was compiled with `eval=True`; see also the options `eval_every`, `keep_best`.
        on_evaluation: called with every `Evaluation`, as `callbacks` are with steps.
        save: the folder for checkpoints. Default: a temporary one, for `Run.load` and `resume`; False: none.
        resume: a run, or a folder of checkpoints, to continue from.
        log: a file for the log of the run, in JSON lines.
        progress: a bar of tqdm where that is installed and there is a terminal or a notebook, else a line every ten seconds on standard
            error; False: nothing.
        verbose: prints what cleave-run prints.
        columns: the columns of the data by input, where they have other names. The only label is found as `labels` or `label`, too.
        shift_labels: the label of a token is the next one, as in Transformers' causal models: labels move one place to the front, and the
            last one is ignored (-100).
        trackers: `"wandb"`, `"mlflow"`, a `Tracker`, or several, which get the numbers of the run.
        options: every other option of cleave-run, for example `save_every=100`, `shuffle=True`, `report="run.html"`, `threads=1`; `weights` may
            be a run, too, and `lr_schedule` a function from the number of a step to its learning rate.
        """
        facts = {**options, "steps": steps, "epochs": epochs}
        tracked = Tracking(trackers_of(trackers), self, facts)
        called = running.Callbacks([*_several(callbacks), tracked.step], [*_several(on_evaluation), tracked.evaluation])
        with tempfile.TemporaryDirectory(prefix="cleave-data-") as name, tracked:
            go: Dict[str, Any] = dict(save=save, resume=resume, log=log, callbacks=called, progress=progress, verbose=verbose,
                                      scratch=pathlib.Path(name))
            return self._run(data, eval, Columns(self.inputs, columns, shift_labels), steps, epochs, options, go)

    def _run(self, data: Any, eval: Any, columns: Columns, steps: Optional[int], epochs: Optional[int], options: Dict[str, Any],
             go: Dict[str, Any]) -> running.Run:
        folder, per_step = go["scratch"], self.samples_per_step
        if eval is not None:
            (folder / "eval").mkdir()
            options["eval"] = write_samples(eval, columns, folder / "eval").data

        def steps_for(count: Optional[int]) -> Optional[int]:
            if steps is not None or not count or not per_step:
                return steps
            return -(-count * epochs // per_step) if epochs else running.first_step(go["resume"]) + -(-count // per_step)

        total = steps_for(stream.samples_in(data))
        if self.trains and total and stream.can_stream(data, columns):
            _write_rates(options, total, folder)
            with stream.Feed(data, columns, per_step, folder) as feed:
                return running.execute(self, {**options, "data_command": feed.command}, data=[], steps=total, total=total, **go)
        samples = write_samples(data, columns, folder, steps * per_step if steps else None)
        total = steps_for(samples.total)
        _write_rates(options, total, folder)
        return running.execute(self, {**options, "epochs": epochs}, data=samples.data, steps=steps, total=total, **go)

    def export(self, path: Path, checkpoint: Path, **options: Any) -> pathlib.Path:
        """Writes the weights of a checkpoint into a .safetensors file, or into a copy of the model's ONNX file (`cleave-export`)."""
        options.setdefault("model", self.moved_model())
        tools.call("cleave-export", self.path, checkpoint=checkpoint, output=path, **options)
        return pathlib.Path(path)

    def weights(self, checkpoint: Path, **options: Any) -> Dict[str, Any]:
        """The weights of a checkpoint by name, as arrays of NumPy, or without it as memoryviews. Options are those of `export`."""
        with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
            return load_arrays(self.export(pathlib.Path(folder) / "weights.safetensors", checkpoint, **options))

    def load_into(self, module: Any, checkpoint: Path, **options: Any) -> List[str]:
        """Copies the weights of a checkpoint into the nn.Module that was compiled, and returns their names. Options are those of `export`."""
        with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
            return modules.load_weights(module, self.export(pathlib.Path(folder) / "weights.safetensors", checkpoint, **options))

    def load_states_into(self, optimizer: Any, module: Any, checkpoint: Path, **options: Any) -> List[str]:
        """Gives an optimizer of PyTorch over parameters of the module its states from a checkpoint, and returns the names of the
        parameters that got some. Options are those of `export`."""
        with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
            return load_states(optimizer, module, self.export(pathlib.Path(folder) / "states.safetensors", checkpoint, states=True, **options))

    def moved_model(self) -> Optional[pathlib.Path]:
        """The value of --model: the model file, if it is not where the plan was compiled."""
        return self.model if self.model and str(self.model) != self.json["source"]["path"] else None

    def __repr__(self) -> str:
        mesh = " × ".join(f"{axis}={size}" for axis, size in self.mesh.items())
        return f"<cleave.Plan for {self.ranks} rank{'s' * (self.ranks != 1)}{', ' + mesh if mesh else ''}: {self.path}>"

    def _repr_html_(self) -> str:
        return plan_html(self)


def _several(callbacks: Any) -> List[Any]:
    return [callbacks] if callable(callbacks) else list(callbacks)


def _write_rates(options: Dict[str, Any], total: Optional[int], folder: pathlib.Path) -> None:
    """A function as `lr_schedule`, from the number of a step to its learning rate, becomes a file of rates."""
    schedule = options.get("lr_schedule")
    if not callable(schedule):
        return
    if not total:
        raise ValueError("found a function as lr_schedule, but the number of steps is not known before the run; give steps")
    options["lr_schedule"] = folder / "rates.txt"
    options["lr_schedule"].write_text("".join(f"{float(schedule(step))!r}\n" for step in range(total)))


def _model_beside(path: Path) -> pathlib.Path:
    path = pathlib.Path(path)
    return path.with_name(path.name + ".pt2")
