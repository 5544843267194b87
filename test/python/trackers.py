"""Experiment trackers: one of the test, stand-ins for wandb and mlflow, and these themselves, without a network, where they are installed."""

import contextlib
import importlib.util
import os
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock

import cleave
from cleave import trackers

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "test/golden/mlp.npz"
STEPS = 3


def installed(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"found no {name} in this Python")


class Kept(cleave.Tracker):
    """Keeps what it gets."""

    def begin(self, facts):
        self.facts, self.lines, self.failed = facts, [], None

    def log(self, numbers, step):
        self.lines.append((step, numbers))

    def end(self, failed):
        self.failed = failed


class Trackers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plan = cleave.compile(ROOT / "test/models/mlp.dynamo.onnx", loss="softmax-cross-entropy:logits", set={"batch": 8}, eval=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_with(self, tracker, **options):
        return self.plan.run(DATA, steps=STEPS, eval=DATA, threads=1, progress=False, trackers=tracker, **options)

    def test_a_tracker_gets_facts_steps_and_evaluations(self):
        kept = Kept()
        run = self.run_with(kept)
        self.assertEqual((kept.facts["ranks"], kept.facts["steps"], kept.facts["threads"]), (1, STEPS, 1))
        steps = [(step, numbers) for step, numbers in kept.lines if "train/loss" in numbers]
        self.assertEqual([(step, numbers["train/loss"]) for step, numbers in steps], list(enumerate(run.losses)))
        self.assertLessEqual({"train/grad_norm", "train/learning_rate", "train/seconds", "train/samples_per_second"}, set(steps[0][1]))
        self.assertEqual([(step, numbers["eval/loss"]) for step, numbers in kept.lines if "eval/loss" in numbers],
                         [(STEPS - 1, run.evaluations[-1].loss)])
        self.assertIs(kept.failed, False)

    def test_a_run_that_fails_ends_its_trackers(self):
        kept = Kept()
        with self.assertRaises(ZeroDivisionError):
            self.run_with(kept, callbacks=lambda step: 1 // 0)
        self.assertIs(kept.failed, True)
        other = Kept()

        class Broken(Kept):
            def begin(self, facts):
                raise OSError("no connection")

        with self.assertRaisesRegex(OSError, "no connection"):
            self.run_with([other, Broken()])
        self.assertIs(other.failed, True)

    def test_tags_are_those_of_the_trainer_of_hugging_face(self):
        self.assertEqual([trackers.tag_of(name) for name in ("loss", "eval_loss", "lr", "lr/head.*", "mfu")],
                         ["train/loss", "eval/loss", "train/learning_rate", "train/learning_rate/head.*", "train/mfu"])

    def test_an_unknown_tracker_is_refused_before_the_run(self):
        with self.assertRaisesRegex(ValueError, "found the tracker 'tensorboard', expected 'wandb' or 'mlflow', or a cleave.Tracker"):
            self.run_with("tensorboard")

    def test_wandb_is_begun_and_finished_by_the_run(self):
        wandb = unittest.mock.Mock(run=None)
        with unittest.mock.patch.dict("sys.modules", wandb=wandb):
            run = self.run_with(cleave.WandB(project="gpt"))
        wandb.init.assert_called_once_with(project="gpt")
        logged = [(call.kwargs["step"], call.args[0]["train/loss"]) for call in wandb.init.return_value.log.mock_calls if "train/loss" in call.args[0]]
        self.assertEqual(logged, list(enumerate(run.losses)))
        wandb.init.return_value.finish.assert_called_once_with(exit_code=0)

    def test_a_run_of_wandb_that_is_active_stays_so(self):
        wandb = unittest.mock.Mock()
        with unittest.mock.patch.dict("sys.modules", wandb=wandb):
            self.run_with("wandb")
        wandb.init.assert_not_called()
        wandb.run.finish.assert_not_called()
        self.assertEqual(len(wandb.run.log.mock_calls), STEPS + 1)

    def test_mlflow_gets_names_that_it_permits(self):
        mlflow = unittest.mock.Mock()
        mlflow.active_run.return_value = None
        mlflow.start_run.return_value = types.SimpleNamespace(info=types.SimpleNamespace(run_id="r1"))
        with unittest.mock.patch.dict("sys.modules", mlflow=mlflow):
            tracker = cleave.MLflow(run_name="first")
            with contextlib.suppress(ZeroDivisionError):
                self.run_with(tracker, callbacks=lambda step: 1 // 0)
            tracker.log({"train/learning_rate/head.*": 0.5}, 7)
        mlflow.start_run.assert_called_once_with(run_name="first")
        mlflow.end_run.assert_called_once_with("FAILED")
        mlflow.log_metrics.assert_called_with({"train/learning_rate/head._": 0.5}, step=7, run_id="r1")

    @installed("wandb")
    def test_wandb_offline_has_the_last_numbers(self):
        import wandb

        with unittest.mock.patch.dict(os.environ, WANDB_SILENT="true"):
            with wandb.init(mode="offline", dir=self.folder, project="cleave") as active:
                run = self.run_with("wandb")
                active.log({"end": 1})  # the summary has steps once another one begins
                self.assertAlmostEqual(active.summary["train/loss"], run.losses[-1])
                self.assertAlmostEqual(active.summary["eval/loss"], run.evaluations[-1].loss)
                self.assertEqual(active.config["ranks"], 1)
        self.assertTrue(list(self.folder.glob("wandb/offline-run-*/run-*.wandb")))

    @installed("mlflow")
    @installed("sqlalchemy")
    def test_mlflow_in_a_file_has_every_number(self):
        import mlflow

        mlflow.set_tracking_uri(f"sqlite:///{self.folder}/mlflow.db")
        mlflow.set_experiment("cleave")
        run = self.run_with(cleave.MLflow(run_name="mlp"))
        (found,) = mlflow.MlflowClient().search_runs([mlflow.get_experiment_by_name("cleave").experiment_id])
        self.assertEqual((found.info.status, found.data.params["ranks"]), ("FINISHED", "1"))
        history = mlflow.MlflowClient().get_metric_history(found.info.run_id, "train/loss")
        self.assertEqual([(metric.step, metric.value) for metric in history], list(enumerate(run.losses)))


if __name__ == "__main__":
    sys.exit(0 if unittest.main(verbosity=2, exit=False).result.wasSuccessful() else 1)  # wandb wants a number
