"""The package `cleave` with a bundled model file: plans, runs, errors. Standard library alone."""

import contextlib
import io
import itertools
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

import cleave

ROOT = pathlib.Path(__file__).resolve().parents[2]
MLP = ROOT / "test/models/mlp.dynamo.onnx"
TRAIN = {"loss": "softmax-cross-entropy:logits", "optimizer": "sgd:lr=0.1", "set": {"batch": 8}, "ranks": 2, "pin": "dp"}


def samples(plan, count):
    """Random samples whose class depends on them, by input name."""
    numbers = random.Random(1)
    x, label = plan.inputs
    rows = [[numbers.gauss(0, 1) for _ in range(math.prod(x.shape[1:]))] for _ in range(count)]
    return {x.name: rows, label.name: [int(row[0] > 0) for row in rows]}


class Batches:
    """An iterable of batches of three samples, as a loader is."""

    def __init__(self, data):
        self.columns = list(data.values())

    def __iter__(self):
        return (tuple(column[i : i + 3] for column in self.columns) for i in range(0, len(self.columns[0]), 3))

    def samples(self):
        """Samples without an end."""
        return itertools.cycle(zip(*self.columns))


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plan = cleave.compile(MLP, **TRAIN)
        cls.data = samples(cls.plan, 40)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def train(self, **options):
        return self.plan.run(self.data, **{"threads": 1, "progress": False, **options})

    def test_progress_is_a_line_where_nobody_watches_a_bar(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            losses = self.train(steps=7, progress=None).losses
        self.assertEqual(said.getvalue().splitlines()[-1].split("  grad_norm")[0], f"7/7 steps  loss {losses[-1]:.5g}")
        self.assertNotIn("\r", said.getvalue())
        with contextlib.redirect_stderr(said := io.StringIO()):
            self.train(steps=2)
        self.assertEqual(said.getvalue(), "")

    def test_a_plan_tells_what_was_decided(self):
        plan = self.plan
        self.assertEqual((plan.ranks, plan.mesh, plan.trains, plan.samples_per_step), (2, {"dp": 2}, True, 8))
        self.assertEqual([i.is_label for i in plan.inputs], [False, True])
        self.assertGreater(plan.predicted.step_seconds, 0)
        self.assertGreaterEqual(plan.predicted.planned_seconds, plan.predicted.bound_seconds)
        parameters = {d.name: d for d in plan.decisions if d.kind == "parameter"}
        self.assertIn("fc1.weight", parameters)
        self.assertIn("Decisions", plan.summary())
        self.assertIn("peak", plan.memory())
        self.assertIn("fc1.weight", plan.explain("fc1.weight"))
        self.assertIn("gap", plan._repr_html_())
        page = plan.to_html(self.folder / "plan.html")
        self.assertEqual(page, (self.folder / "plan.html").read_text())
        self.assertIn("</html>", page)

    def test_a_saved_plan_is_loaded_and_runs(self):
        loaded = cleave.Plan.load(self.plan.save(self.folder / "mlp.plan"))
        self.assertEqual(loaded.json["content_hash"], self.plan.json["content_hash"])
        self.assertEqual(loaded.run(self.data, steps=2, threads=1, progress=False, save=False).losses, self.train(steps=2).losses)

    def test_losses_come_step_by_step_and_fall(self):
        seen = []
        run = self.train(steps=30, callbacks=seen.append)
        self.assertEqual([step.number for step in seen], list(range(30)))
        self.assertEqual(seen, run.steps)
        self.assertLess(run.losses[-1], run.losses[0])
        self.assertEqual(len(run.ranks), 2)
        self.assertIsNone(run.stopped)
        self.assertIn("<svg", run._repr_html_())

    def test_without_steps_a_run_is_one_pass_and_epochs_are_passes(self):
        self.assertEqual(len(self.train().steps), 5)
        run = self.train(epochs=2)
        self.assertEqual(len(run.steps), 10)
        self.assertEqual(run.summary["samples"], 80)

    def test_samples_one_by_one_give_the_losses_of_the_arrays(self):
        items = list(zip(*self.data.values()))
        self.assertEqual(self.plan.run(items, steps=4, threads=1, progress=False).losses, self.train(steps=4).losses)
        path = ROOT / "test/golden/mlp.npz"
        self.assertEqual(len(self.plan.run(path, steps=3, threads=1, progress=False).losses), 3)

    def test_an_iterable_feeds_a_run_as_it_goes_and_again_after_a_resume(self):
        batches = Batches(self.data)
        wanted = self.train(steps=12).losses
        first = self.plan.run(batches, steps=6, threads=1, progress=False)
        second = self.plan.run(batches, steps=12, resume=first, threads=1, progress=False)
        self.assertEqual(first.losses + second.losses, wanted)
        taken = []
        run = self.plan.run((taken.append(item) or item for item in batches.samples()), steps=3, threads=1, progress=False)
        self.assertEqual(run.losses, wanted[:3])
        self.assertLess(len(taken), 10000)

    def test_an_iterator_that_ends_early_ends_the_run_with_a_warning(self):
        items = itertools.islice(Batches(self.data).samples(), 20)
        with self.assertWarnsRegex(cleave.Warning, "2 of 5"):
            run = self.plan.run(items, steps=5, threads=1, progress=False)
        self.assertEqual(len(run.steps), 2)

    def test_an_error_of_the_data_ends_the_run_and_reaches_the_user(self):
        def broken():
            yield from itertools.islice(Batches(self.data).samples(), 16)
            raise ZeroDivisionError

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.assertRaises(ZeroDivisionError):
                self.plan.run(broken(), steps=5, threads=1, progress=False)

    def test_a_function_is_a_schedule_of_learning_rates(self):
        run = self.train(steps=4, lr_schedule=lambda step: 0.1 / (step + 1))
        self.assertEqual([round(rate * (i + 1), 6) for i, rate in enumerate(run.metric("lr"))], [0.1] * 4)
        with self.assertRaisesRegex(ValueError, "give steps"):
            self.plan.run(ROOT / "test/golden/mlp.npz", lr_schedule=lambda step: 0.1, progress=False)

    def test_evaluations_come_with_their_metrics_and_may_stop_a_run(self):
        plan = cleave.compile(MLP, **TRAIN, eval=True)

        def twice(evaluation):
            if evaluation.step == 3:
                raise cleave.Stop("evaluated twice")

        run = plan.run(self.data, steps=10**6, eval={name: rows[:16] for name, rows in self.data.items()}, eval_every=2, on_evaluation=twice,
                       threads=1, progress=False)
        self.assertEqual([done.step for done in run.evaluations][:2], [1, 3])
        self.assertGreater(run.evaluations[0].loss, 0)
        self.assertEqual(run.stopped, "evaluated twice")

    def test_the_best_checkpoint_gives_its_weights(self):
        plan = cleave.compile(MLP, **TRAIN, eval=True)
        evaluated = {"eval": self.data, "eval_every": 1, "save": self.folder / "saved", "keep_best": "eval_loss"}
        run = plan.run(self.data, steps=6, lr_schedule=lambda step: 0.1 if step < 3 else 10.0, threads=1, progress=False, **evaluated)
        best = min(range(6), key=lambda step: run.evaluations[step].loss)
        self.assertLess(best, 5)
        self.assertNotEqual(run.weights()["fc1.bias"].tolist(), run.weights(best=True)["fc1.bias"].tolist())

    def test_a_callback_stops_the_run_and_it_is_saved(self):
        def stop(step):
            if step.number == 3:
                raise cleave.Stop("enough")

        run = self.train(steps=100000, callbacks=stop)
        self.assertEqual(run.stopped, "enough")
        self.assertGreaterEqual(len(run.steps), 4)
        self.assertLess(len(run.steps), 100000)
        saved = self.train(steps=len(run.steps) + 1, resume=run)
        self.assertEqual([step.number for step in saved.steps], [len(run.steps)])

    def test_a_callback_stops_a_run_whose_python_ignores_interrupts(self):
        def stop(step):
            raise cleave.Stop("at once")

        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as of a script in the background
        self.addCleanup(signal.signal, signal.SIGINT, before)
        run = self.train(steps=20000, callbacks=stop)
        self.assertEqual(run.stopped, "at once")
        self.assertLess(len(run.steps), 20000)

    def test_an_error_in_a_callback_ends_the_run_and_reaches_the_user(self):
        with self.assertRaises(ZeroDivisionError):
            self.train(steps=100000, callbacks=lambda step: 1 // 0)

    def test_a_run_resumes_another_and_continues_its_log(self):
        log = self.folder / "log.jsonl"
        whole = self.train(steps=6).losses
        first = self.train(steps=3, save=self.folder / "saved", log=log)
        again = self.train(steps=6, resume=first, log=log)
        self.assertEqual(first.losses + again.losses, whole)
        self.assertEqual([step.number for step in again.steps], [3, 4, 5])
        entries = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([entry["step"] for entry in entries if "step" in entry], list(range(6)))

    def test_weights_are_arrays_by_name_and_a_file(self):
        run = self.train(steps=1)
        weights = run.weights()
        self.assertIn("fc1.weight", weights)
        self.assertEqual(len(weights["fc1.weight"].shape), 2)
        self.assertTrue(run.export(self.folder / "trained.onnx").is_file())

    def test_a_run_that_saved_nothing_says_so(self):
        with self.assertRaisesRegex(cleave.Error, "save=FOLDER"):
            self.train(steps=1, save=False).weights()

    def test_inference_gives_outputs(self):
        plan = cleave.compile(MLP, set={"batch": 8}, ranks=1)
        self.assertFalse(plan.trains)
        (x,) = plan.inputs
        run = plan.run({x.name: self.data[x.name][:8]}, steps=1, threads=1, progress=False)
        self.assertEqual(list(run.outputs), ["logits"])
        self.assertEqual(run.outputs["logits"].shape[0], 8)
        trained = plan.run({x.name: self.data[x.name][:8]}, steps=1, threads=1, progress=False, weights=self.train(steps=5))
        self.assertNotEqual(trained.outputs["logits"].tolist(), run.outputs["logits"].tolist())

    def test_every_option_of_a_tool_is_an_argument(self):
        run = self.train(steps=2, memory_report=True, report=self.folder / "run.html")
        self.assertTrue((self.folder / "run.html").is_file())
        self.assertIn("memory", run.stdout)
        pinned = cleave.compile(MLP, **{**TRAIN, "pin": {"pins": [{"name": "fc1.weight", "layout": [["dp"], []]}]}}, mesh={"dp": 2}, clip_norm=1.0)
        self.assertIn("grad_norm", pinned.run(self.data, steps=1, threads=1, progress=False).steps[0].metrics)

    def test_a_profile_has_totals_and_rows(self):
        profile = cleave.profile(MLP, by="operator")
        self.assertGreater(profile.total["parameters"], 0)
        self.assertIn("<table>", profile._repr_html_())

    def test_a_model_of_the_zoo_is_compiled(self):
        path = cleave.zoo("gpt2", self.folder / "gpt.onnx", layers=1, hidden=16, heads=2, vocab=11, context=8)
        self.assertEqual(cleave.compile(path, set={"batch": 2, "seq": 8}).ranks, 1)


class Mistakes(unittest.TestCase):
    def test_each_exit_code_has_its_exception_with_the_text_of_the_tool(self):
        with self.assertRaisesRegex(cleave.CompileError, "no-such.onnx") as found:
            cleave.compile("no-such.onnx")
        self.assertEqual(found.exception.code, 1)
        with self.assertRaises(cleave.NoPlan) as found:
            cleave.compile(MLP, **TRAIN, memory="1KiB")
        self.assertEqual(found.exception.code, 2)
        with self.assertRaisesRegex(cleave.CompileError, "--no-such-option"):
            cleave.compile(MLP, no_such_option=3)
        plan = cleave.compile(MLP, **TRAIN)
        with self.assertRaisesRegex(cleave.RunError, "no-such.npz"):
            plan.run("no-such.npz", progress=False)
        with self.assertRaisesRegex(cleave.Error, "no-such-value"):
            plan.explain("no-such-value")

    def test_a_lost_rank_is_an_exception_with_the_steps_before(self):
        plan = cleave.compile(MLP, **TRAIN)

        with self.assertRaises(cleave.RankLost) as found:
            plan.run(samples(plan, 40), steps=10**6, threads=1, progress=False, callbacks=killer(2))
        self.assertEqual(found.exception.code, 3)
        self.assertGreaterEqual(len(found.exception.run.steps), 3)

    def test_a_restart_gets_the_batches_behind_its_checkpoint(self):
        plan = cleave.compile(MLP, **TRAIN)
        data = samples(plan, 40)
        steps = 600
        wanted = plan.run(data, steps=steps, threads=1, progress=False).losses
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = plan.run(Batches(data), steps=steps, threads=1, progress=False, save_every=50, max_restarts=1, callbacks=killer(20))
        self.assertEqual([event["event"] for event in run.events], ["restart"])
        self.assertEqual(run.losses, wanted)

    def test_warnings_of_a_tool_are_warnings(self):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            plan = cleave.compile(MLP, **TRAIN)
            data = samples(plan, 40)
            data[plan.inputs[0].name][0][0] = math.nan
            plan.run(data, steps=1, threads=1, progress=False, on_nan="continue")
        self.assertTrue(any(issubclass(w.category, cleave.Warning) for w in found), [str(w.message) for w in found])

    def test_arguments_that_do_not_go_together_are_refused(self):
        with self.assertRaisesRegex(TypeError, "example_inputs for a model file"):
            cleave.compile(MLP, (1,))
        with self.assertRaisesRegex(TypeError, "model of type int"):
            cleave.compile(3)
        with self.assertRaisesRegex(TypeError, "no plan"):
            cleave.compile(MLP, stop_after="import")

    def test_missing_tools_are_named_with_a_way_out(self):
        code = "import cleave\ntry: cleave.compile('x')\nexcept cleave.NotInstalled as error: print(error)"
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "CLEAVE_BIN": "/no/such/folder"}, capture_output=True, text=True)
        self.assertIn("found no cleave-compile in /no/such/folder", done.stdout)


class Interrupts(unittest.TestCase):
    SCRIPT = """
import sys, cleave
plan = cleave.Plan.load(sys.argv[1])
try:
    plan.run(sys.argv[2], steps=10**7, threads=1, progress=False, save=sys.argv[3], callbacks=lambda s: print(s.number, flush=True))
except cleave.Interrupted as stopped:
    print("interrupted", len(stopped.run.steps) > 0, stopped.run.checkpoint)
"""

    def test_an_interrupt_ends_behind_the_step_and_saves(self):
        out, saved = self.interrupted(signal.SIGINT)
        self.assertIn("interrupted True", out)
        self.assertTrue(any(saved.glob("step-*")))

    def test_a_run_whose_python_dies_ends_and_saves(self):
        _, saved = self.interrupted(signal.SIGKILL)
        deadline = time.monotonic() + 60
        while not any(saved.glob("step-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(any(saved.glob("step-*")))

    def interrupted(self, kind):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        saved = pathlib.Path(folder.name) / "saved"
        plan = cleave.compile(MLP, **TRAIN, output=pathlib.Path(folder.name) / "mlp.plan")
        data = ROOT / "test/golden/mlp.npz"
        process = subprocess.Popen([sys.executable, "-c", self.SCRIPT, str(plan.path), str(data), str(saved)], stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.strip() == "3":
                process.send_signal(kind)
                break
        out, _ = process.communicate(timeout=300)
        return out, saved


def killer(number):
    """A callback that kills the last rank at a step."""

    def kill(step):
        for child in children(os.getpid()) if step.number == number and not killed else ():
            for rank in children(child)[-1:]:
                os.kill(rank, signal.SIGKILL)
                killed.append(rank)

    killed = []
    return kill


def children(pid):
    """Process ids of the children of a process."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return sorted(found)


if __name__ == "__main__":
    unittest.main(verbosity=2)
