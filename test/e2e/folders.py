"""Save folders: one job at a time, disks that are full, losses that are not numbers, other optimizers, and logs that go on."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time
import unittest

import cleave
import damage
import launchers

FOREVER = 10_000_000
SGD = ["--optimizer", "sgd:lr=0.05"]
LARGEST_FILE = 150_000  # bytes

# A step with the metric of programs that scale the loss.
SCALED = """
func.func @step(%x: tensor<1x2xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<2xf32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 1.0 : f64}, graph.trainable},
                %s: tensor<f32> {graph.name = "loss_scale", graph.role = "state", graph.source = {fill = 8.0 : f64}})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}, tensor<f32> {graph.name = "loss_scale", graph.role = "metric"},
        tensor<2xf32> {graph.name = "w", graph.role = "parameter", graph.alias = 1 : i64},
        tensor<f32> {graph.name = "loss_scale", graph.role = "state", graph.alias = 2 : i64}) {
  %0 = graph.broadcast %w to [1] : tensor<2xf32> -> tensor<1x2xf32>
  %1 = graph.mul %x, %0 : tensor<1x2xf32>
  %2 = graph.reduce sum %1 over [0, 1] : tensor<1x2xf32> -> tensor<f32>
  return %2, %s, %w, %s : tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<f32>
}
"""


def names_in(folder):
    """The names in a save folder, besides that of the options of the run."""
    return sorted(path.name for path in folder.iterdir() if path.name != "train.toml")


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.saved, self.log = self.folder / "saved", self.folder / "log.jsonl"

    def plan(self, *options, ranks=1, model=cleave.MLP):
        """A plan; AdamW unless the options name an optimizer."""
        plan = self.folder / f"{model['model'].name}-{ranks}{''.join(options)}.plan"
        if not plan.exists():
            arguments = cleave.compile_options(model["model"], ranks=ranks)
            if "--optimizer" in options:
                at = arguments.index("--optimizer")
                del arguments[at : at + 2]
            cleave.must("cleave-compile", *arguments, *options, "-o", plan)
        return plan

    def command(self, plan, steps, *options, data=cleave.MLP["data"]):
        return ["cleave-run", plan, "--data", data, "--steps", steps, "--threads", 1, *options]

    def run_steps(self, plan, steps, *options, **how):
        """A training that has to succeed; what it said."""
        return cleave.must(*self.command(plan, steps, *options, **how))

    def refused(self, plan, steps, *options, **how):
        answer = cleave.tool(*self.command(plan, steps, *options, **how))
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        return answer.errors()[0]

    def start(self, plan, steps, *options, data=cleave.MLP["data"], **how):
        name, *arguments = self.command(plan, steps, *options, data=data)
        process = subprocess.Popen([str(cleave.BIN / name), *map(str, arguments)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, **how)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stderr.close()))
        return process

    def wait_for(self, what, process):
        end = time.monotonic() + 300
        while not what():
            self.assertIsNone(process.poll(), "the run ended too early")
            self.assertLess(time.monotonic(), end, "waited for 5 minutes")
            time.sleep(0.02)

    # One job at a time.

    def test_a_second_job_is_refused_while_the_first_one_saves(self):
        plan = self.plan(ranks=2)
        first = self.start(plan, FOREVER, "--save", self.saved, "--save-every", 10)
        self.wait_for(lambda: (self.saved / ".lock").exists() and (self.saved / ".lock").read_text().endswith("\n"), first)
        owner = (self.saved / ".lock").read_text().strip()
        self.assertRegex(owner, r"process \d+ on host ")
        message = self.refused(plan, 4, "--save", self.saved)
        for word in (str(self.saved), owner, "another job saves into"):
            self.assertIn(word, message)
        self.wait_for(lambda: any(self.saved.glob("step-*")), first)
        first.kill()
        first.wait()
        # The first job's death has released the folder; its temporary files go.
        (self.saved / ".step-00000001.tmp").mkdir(exist_ok=True)
        step = json.loads(max(self.saved.glob("step-*/index.json")).read_text())["step"]
        self.run_steps(plan, step + 1, "--resume", self.saved, "--save", self.saved)
        self.assertEqual(names_in(self.saved)[-1], f"step-{step + 1:08}")
        self.assertFalse([name for name in names_in(self.saved) if name.startswith(".")])

    # What a checkpoint may be.

    def test_an_edited_index_is_refused(self):
        plan = self.plan()
        self.run_steps(plan, 2, "--save", self.saved)
        index = self.saved / "step-00000002/index.json"
        whole = index.read_text()
        for old, new in (('"step": 2', '"step": 3'), ('"step": 2', '"step": -5'), ('"step": 2', f'"step": {2**63 - 1}'),
                         ("rank-00000.safetensors", "../../rank-00000.safetensors"), ('"plan"', '"plaN"')):
            with self.subTest(old=old, new=new):
                self.assertIn(old, whole)
                index.write_text(whole.replace(old, new))
                message = self.refused(plan, 4, "--resume", self.saved)
                self.assertIn("index.json is damaged", message)
                self.assertIn(str(self.saved), message)
        index.write_text(whole)
        self.run_steps(plan, 4, "--resume", self.saved)

    def test_another_optimizer_is_refused_and_another_learning_rate_is_noted(self):
        adamw, sgd, faster = self.plan(), self.plan(*SGD), self.plan("--optimizer", "adamw:lr=0.01")
        self.run_steps(adamw, 2, "--save", self.saved)
        message = self.refused(sgd, 4, "--resume", self.saved)
        for word in ("step-00000002", "adamw:lr=0.001", "sgd:lr=0.05", "--restart-optimizer"):
            self.assertIn(word, message)
        said = self.run_steps(faster, 4, "--resume", self.saved)
        self.assertIn("note: the optimizer's lr is 0.01 from now on, it was 0.001 in the checkpoint", said.err)
        self.run_steps(sgd, 4, "--resume", self.saved, "--restart-optimizer", "--log", self.log)
        momentum = self.plan("--optimizer", "sgd:lr=0.05,momentum=0.9")
        other = self.folder / "sgd"
        self.run_steps(sgd, 2, "--save", other)
        self.assertIn("'fc1.bias/sgd.velocity'", self.refused(momentum, 4, "--resume", other))

    def test_a_restarted_optimizer_begins_with_the_parameters_and_without_moments(self):
        """SGD's checkpoint under AdamW: the first step after it has AdamW's loss on these parameters, and its states are new."""
        adamw, sgd = self.plan(), self.plan(*SGD)
        self.run_steps(sgd, 2, "--save", self.saved)
        through, _ = cleave.train(sgd, cleave.MLP["data"], 3, self.folder / "sgd.jsonl")
        steps, _ = cleave.train(adamw, cleave.MLP["data"], 4, self.log, "--resume", self.saved, "--restart-optimizer")
        self.assertEqual(steps[0]["loss"], through[2]["loss"])
        self.assertNotEqual(steps[1]["loss"], steps[0]["loss"])

    # Losses that are not numbers.

    def data(self, name, batches):
        """The MLP's data in this order of batches; the batch None has a value that is not a number."""
        arrays = cleave.read_npz(cleave.MLP["data"])
        x, labels = arrays["x"][1], arrays["logits.label"][1]
        rows, classes = [], []
        for batch in batches:
            rows += x[(batch or 0) * 160 : (batch or 0) * 160 + 160]
            classes += labels[(batch or 0) * 8 : (batch or 0) * 8 + 8]
            if batch is None:
                rows[-160] = float("nan")
        file = self.folder / f"{name}.safetensors"
        file.write_bytes(damage.safetensors({"x": ("F32", [len(rows) // 20, 20], "f", rows),
                                             "logits.label": ("I64", [len(classes)], "q", classes)}))
        return file

    def test_a_run_stops_after_a_loss_that_is_no_number_and_keeps_the_checkpoint_before(self):
        for ranks in (1, 2):
            saved, log = self.folder / f"saved{ranks}", self.folder / f"{ranks}.jsonl"
            bad = self.data("bad", [0, 1, 2, None, 4])
            options = ["--save", saved, "--save-every", 1, "--keep", 1, "--log", log]
            message = self.refused(self.plan(ranks=ranks), 10, *options, data=bad)
            for word in ("loss is nan in step 3", f"resume from '{saved / 'step-00000003'}'", "--on-nan"):
                self.assertIn(word, message)
            self.assertEqual(names_in(saved), ["step-00000003"])
            self.assertEqual([line["loss"] is None for line in cleave.read_log(log)[0]], [False, False, False, True])
        message = self.refused(self.plan(), 10, data=bad)
        self.assertIn("no checkpoint was saved", message)

    def test_parameters_that_became_infinite_are_not_saved(self):
        """The loss and the gradients of the step are still numbers; the next loss is none."""
        plan = self.plan("--optimizer", "sgd:lr=1e39")
        answer = cleave.tool(*self.command(plan, 4, "--save", self.saved, "--save-every", 1))
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("has values that are infinite or not numbers; the next attempt", answer.err)
        self.assertIn("in step 1; no checkpoint was saved (see --save-every)", answer.errors()[0])
        self.assertEqual(names_in(self.saved), [])

    def test_a_skipped_step_leaves_no_trace_in_the_training(self):
        for ranks, options in ((1, []), (2, ["--pin", "zero3"])):
            plan = self.plan(*options, ranks=ranks)
            through, _ = cleave.train(plan, self.data("good", [0, 1, 2, 4]), 4, self.folder / "good.jsonl")
            bad = self.data("bad", [0, 1, 2, None, 4])
            said = self.run_steps(plan, 5, "--on-nan", "skip", "--log", self.log, "--save", self.folder / f"s{ranks}",
                                  "--memory-report", data=bad)
            steps, _ = cleave.read_log(self.log)
            self.assertEqual([line.get("skipped", False) for line in steps], [False, False, False, True, False])
            self.assertEqual([line["loss"] for line in steps if line["step"] != 3], [line["loss"] for line in through])
            self.assertIn("warning: loss is nan in step 3; its update is undone", said.err)
            self.assertIn("copy of parameters and states", said.out)

    def test_a_run_that_goes_on_keeps_the_last_finite_checkpoint(self):
        plan, bad = self.plan(), self.data("bad", [0, 1, 2, None, 4])
        said = self.run_steps(plan, 8, "--on-nan", "continue", "--save", self.saved, "--save-every", 1, data=bad)
        self.assertIn("warning: loss is nan in step 3; the run goes on", said.err)
        self.assertEqual(names_in(self.saved), ["step-00000003", "step-00000007", "step-00000008"])
        steps, _ = cleave.train(plan, cleave.MLP["data"], 5, self.log, "--resume", self.saved, "--save", self.saved)
        self.assertEqual([line["step"] for line in steps], [3, 4])
        self.assertEqual(names_in(self.saved), ["step-00000003", "step-00000005"])

    def test_a_program_that_scales_its_loss_goes_on(self):
        text, plan = self.folder / "scaled.mlir", self.folder / "scaled.plan"
        text.write_text(SCALED)
        cleave.must("cleave-compile", text, "--start-from", "train", "--train", "--loss", "output:loss", "-o", plan)
        data = self.folder / "x.safetensors"
        data.write_bytes(damage.safetensors({"x": ("F32", [6, 2], "f", [1, 2, float("nan"), 4, 5, float("inf"), 7, 8, 9, 10, 11, 12])}))
        said = self.run_steps(plan, 6, "--log", self.log, data=data)
        self.assertEqual([line["loss"] for line in cleave.read_log(self.log)[0]], [3, None, None, 15, 19, 23])
        self.assertEqual(said.err.count("warning: loss is nan in step 1; the program leaves the step out"), 1)
        self.assertIn("the updates of 2 of 6 steps were left out", said.err)

    # Logs.

    def test_the_log_of_a_resumed_run_goes_on(self):
        plan = self.plan()
        through, ranks = cleave.train(plan, cleave.MLP["data"], 8, self.folder / "through.jsonl")
        cleave.train(plan, cleave.MLP["data"], 6, self.log, "--save", self.saved, "--save-every", 4)
        with self.log.open("a") as log:
            log.write('{"note": "kept"}\n{"step": 6, "lo')  # the line that a dying run did not finish
        steps, ends = cleave.train(plan, cleave.MLP["data"], 8, self.log, "--resume", self.saved / "step-00000004")
        self.assertEqual([line["step"] for line in steps], list(range(8)))
        self.assertEqual(cleave.losses(steps), cleave.losses(through))
        self.assertEqual(len(ends), len(ranks))
        self.assertIn('{"note": "kept"}\n', self.log.read_text())
        cleave.train(plan, cleave.MLP["data"], 1, self.log)
        self.assertEqual(len(cleave.read_log(self.log)[0]), 1, "a run that does not resume begins a new log")

    # Disks that are full, here files that may not become larger: GPT's checkpoint may not, its kernels may.

    @staticmethod
    def limit(hard=LARGEST_FILE):
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, hard))

    def gpt(self, *options, ranks=1):
        return self.plan(*options, ranks=ranks, model=cleave.GPT)

    def start_gpt(self, plan, steps, *options, **how):
        return self.start(plan, steps, *options, data=cleave.GPT["data"], **how)

    def test_a_failed_save_is_reported_and_tried_again(self):
        first = self.start_gpt(self.gpt(), FOREVER, "--save", self.saved, "--save-every", 300,
                               preexec_fn=lambda: self.limit(resource.RLIM_INFINITY))
        line = first.stderr.readline()
        self.assertRegex(line, r"warning: saved nothing: checkpoint .*step-0*300: cannot write '.*rank-00000\.safetensors': "
                               r"File too large; the next attempt is after 300 more steps")
        self.assertEqual([name for name in names_in(self.saved) if name != ".lock"], [])
        for rank in cleave.children(first.pid):
            resource.prlimit(rank, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.wait_for(lambda: any(self.saved.glob("step-*")), first)
        first.kill()

    def test_the_last_save_has_to_succeed(self):
        last = self.start_gpt(self.gpt(), 4, "--save", self.saved, preexec_fn=self.limit)
        err = last.communicate(timeout=600)[1]
        self.assertEqual(last.returncode, 1, err)
        self.assertRegex(cleave.errors(err)[0], "checkpoint .*step-00000004: cannot write .*: File too large")
        self.assertEqual(names_in(self.saved), [])

    def test_the_rank_that_could_not_write_is_named_by_all(self):
        plan, port, ranks = self.gpt("--pin", "zero3", ranks=2), launchers.free_port(), []
        for rank in (0, 1):
            variables = {name: str(value) for name, value in launchers.torchrun(rank, 2, port).items()}
            how = {"env": {**os.environ, **variables, "CLEAVE_COMM": "gloo"}}
            if rank == 1:
                how["preexec_fn"] = self.limit
            ranks.append(self.start_gpt(plan, 4, "--save", self.saved, **how))
        for process in ranks:
            err = process.communicate(timeout=600)[1]
            self.assertEqual(process.returncode, 1, err)
            self.assertRegex(err, r"rank 1: cannot write '.*rank-00001\.safetensors': File too large")

    def test_a_full_disk_is_named(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = shutil.which("mount") and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True).returncode == 0
        if not mounted:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(lambda: subprocess.run(["umount", disk], check=True))
        self.assertIn("No space left on device", self.refused(self.plan(), 4, "--save", disk / "saved"))
        self.assertEqual(names_in(disk / "saved"), [])

    # Files that dead processes have left.

    def test_a_plan_that_a_dead_compiler_left_is_removed(self):
        left, other = self.folder / "p.plan.partial.4194000", self.folder / "p.plan.partial.txt"
        left.write_text("half")
        other.write_text("the user's")
        cleave.compile_model(cleave.MLP["model"], self.folder / "p.plan")
        self.assertFalse(left.exists())
        self.assertTrue(other.exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
