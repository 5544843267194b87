"""Experiment trackers: the numbers of a run at Weights & Biases or MLflow, which are imported when they are needed."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Union

from .log import Evaluation, Step

if TYPE_CHECKING:
    from .plan import Plan

Numbers = Mapping[str, float]


class Tracker:
    """Takes the numbers of a run. Subclasses write `log`, and may write `begin` and `end`."""

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Before the run. `facts` are those of the plan, and the options of the run."""

    def log(self, numbers: Numbers, step: int) -> None:
        """The numbers of a step, or of the evaluation after it, under the tags of `--tensorboard`: `train/loss`, `eval/loss`, …"""
        raise NotImplementedError

    def end(self, failed: bool) -> None:
        """After the run, which was interrupted or raised an exception if it failed."""


class WandB(Tracker):
    """Logs to Weights & Biases. Options are those of `wandb.init`; without any, a run that is active is continued, and stays active."""

    def __init__(self, **options: Any):
        self._options = options

    def begin(self, facts: Mapping[str, Any]) -> None:
        import wandb

        self._is_own = bool(self._options) or wandb.run is None
        self._run = wandb.init(**self._options) if self._is_own else wandb.run
        self._run.config.update(dict(facts), allow_val_change=True)

    def log(self, numbers: Numbers, step: int) -> None:
        self._run.log(dict(numbers), step=step)

    def end(self, failed: bool) -> None:
        if self._is_own:
            self._run.finish(exit_code=int(failed))


class MLflow(Tracker):
    """Logs to MLflow. Options are those of `mlflow.start_run`; without any, a run that is active is continued, and stays active."""

    def __init__(self, **options: Any):
        self._options = options

    def begin(self, facts: Mapping[str, Any]) -> None:
        import mlflow

        self._mlflow = mlflow
        self._is_own = bool(self._options) or mlflow.active_run() is None
        self._id = (mlflow.start_run(**self._options) if self._is_own else mlflow.active_run()).info.run_id
        mlflow.log_params(dict(facts))

    def log(self, numbers: Numbers, step: int) -> None:
        named = {re.sub(r"[^\w\-. :/]", "_", name): value for name, value in numbers.items()}
        self._mlflow.log_metrics(named, step=step, run_id=self._id)

    def end(self, failed: bool) -> None:
        if self._is_own:
            self._mlflow.end_run("FAILED" if failed else "FINISHED")


KINDS = {"wandb": WandB, "mlflow": MLflow}


def trackers_of(wanted: Union[str, Tracker, Iterable[Union[str, Tracker]], None]) -> List[Tracker]:
    """The trackers for a name, a tracker, or several."""
    found: List[Tracker] = []
    for one in [wanted] if isinstance(wanted, (str, Tracker)) else wanted or ():
        if not isinstance(one, Tracker) and one not in KINDS:
            raise ValueError(f"found the tracker {one!r}, expected {' or '.join(map(repr, KINDS))}, or a cleave.Tracker")
        found.append(one if isinstance(one, Tracker) else KINDS[one]())
    return found


def tag_of(name: str) -> str:
    """The tag of a number of the log, as in --tensorboard: that of the Trainer of Hugging Face."""
    if name.startswith("eval_"):
        return "eval/" + name[5:]
    is_rate = name == "lr" or name.startswith("lr/")
    return "train/" + ("learning_rate" + name[2:] if is_rate else name)


def facts_of(plan: Plan, options: Mapping[str, Any]) -> Dict[str, Any]:
    """What trackers keep of a plan and of the options of a run."""
    predicted = plan.predicted
    named = {name: value for name, value in options.items() if isinstance(value, (str, int, float))}
    return {"ranks": plan.ranks, "mesh": ", ".join(f"{axis}={size}" for axis, size in plan.mesh.items()), "plan": plan.json["content_hash"],
            "samples_per_step": plan.samples_per_step, "predicted_step_seconds": predicted.step_seconds,
            "predicted_peak_bytes": predicted.peak_bytes, "predicted_mfu": predicted.mfu, **named}


class Tracking:
    """A context in which trackers get the steps and the evaluations of a run of the plan with these options."""

    def __init__(self, trackers: Iterable[Tracker], plan: Plan, options: Mapping[str, Any]):
        self._trackers = list(trackers)
        self._facts = facts_of(plan, options) if self._trackers else {}
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Tracking:
        with contextlib.ExitStack() as begun:
            for tracker in self._trackers:
                tracker.begin(self._facts)
                begun.push(lambda kind, *_, tracker=tracker: tracker.end(failed=kind is not None))
            self._ends = begun.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._ends.__exit__(*error)

    def step(self, step: Step) -> None:
        """Logs a step."""
        self._log({**step.metrics, "seconds": step.seconds}, step.number)

    def evaluation(self, evaluation: Evaluation) -> None:
        """Logs an evaluation."""
        self._log(evaluation.metrics, evaluation.step)

    def _log(self, numbers: Numbers, step: int) -> None:
        for tracker in self._trackers:
            tracker.log({tag_of(name): value for name, value in numbers.items()}, step)
