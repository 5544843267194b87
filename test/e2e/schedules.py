"""Optimizers, schedules of the learning rate, groups of parameters and moving averages: what PyTorch computes (test/golden), on one
rank and on two, also when a run is resumed in the middle; and what is said where they do not fit."""

import json
import math
import pathlib
import tempfile
import unittest
from array import array

import cleave
import fixture
from exporting import read_safetensors

# Losses of float32 in PyTorch differ from those in float64 by 2e-6 at most.
TO_RECORD, TO_ONE_RANK = 2e-5, 2e-5
HALF = 100


def norms(path):
    """The Euclidean norm of every float32 tensor of a safetensors file."""
    return {name: math.sqrt(sum(x * x for x in array("f", content))) for name, content in read_safetensors(path).items()}


class Schedules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.plan, self.log, self.saved = self.folder / "model.plan", self.folder / "log.jsonl", self.folder / "saved"

    def compile(self, record, *options):
        groups = [word for group in record.get("groups", ()) for word in ("--optimizer-group", group)]
        averages = ["--ema", record["ema"]] if "ema" in record else []
        cleave.must("cleave-compile", cleave.MODELS / record["files"][0], "--train", "--loss", record["loss"], "--set", "batch=8",
                    "--optimizer", record["optimizer"], *groups, *averages, *options, "-o", self.plan)

    def run_steps(self, record, *options, log=None):
        return cleave.train(self.plan, cleave.GOLDEN / record["data"], record["steps"], log or self.log, *options)[0]

    def weights(self, *options):
        path = self.folder / "weights.safetensors"
        cleave.must("cleave-export", self.plan, "--checkpoint", self.saved, "-o", path, *options)
        return norms(path)

    def assert_close(self, found, wanted, closeness):
        self.assertEqual(sorted(found), sorted(wanted))
        keys = sorted(wanted)
        distance = max(abs(found[key] - wanted[key]) / abs(wanted[key]) for key in keys)
        self.assertLessEqual(distance, closeness)

    def check(self, optimizer, *options):
        """All steps, then the second half again from the checkpoint in the middle."""
        record = json.loads((cleave.GOLDEN / f"mlp.{optimizer}.scheduled.json").read_text())
        torch, schedule = record["float32"], ["--lr-schedule", record["lr_schedule"]]
        self.compile(record, *options)
        steps = self.run_steps(record, *schedule, "--save", self.saved, "--save-every", HALF)
        self.assert_close(cleave.losses(steps), dict(enumerate(torch["loss"])), TO_RECORD)
        for line, rate in zip(steps, torch["lr"], strict=True):
            self.assertAlmostEqual(line["lr"], rate, delta=1e-12 * rate + 1e-18)
        self.assert_close(self.weights(), torch["final_norms"], TO_RECORD)
        if "ema" in record:
            self.assert_close(self.weights("--ema"), torch["ema_norms"], TO_RECORD)
        second = self.run_steps(record, *schedule, "--resume", self.saved / f"step-{HALF:08}", log=self.folder / "second.jsonl")
        self.assertEqual(cleave.losses(second), cleave.losses(steps[HALF:]), "to the last bit")
        return record

    def test_sgd_with_steps(self):
        self.check("sgd", "--ranks", 2, "--pin", "zero3")

    def test_adam_with_one_cycle(self):
        self.check("adam")

    def test_adamw_with_groups_and_averages(self):
        record = self.check("adamw", "--ranks", 2, "--pin", "zero1")
        steps = cleave.read_log(self.log)[0]
        self.assertAlmostEqual(steps[HALF]["lr/fc2.*"], 3 * steps[HALF]["lr"])
        # The same on one rank.
        self.compile(record)
        alone = self.run_steps(record, "--lr-schedule", record["lr_schedule"])
        self.assert_close(cleave.losses(alone), cleave.losses(steps), TO_ONE_RANK)

    def test_lamb_with_a_stable_phase(self):
        self.check("lamb", "--ranks", 2, "--pin", "zero3")

    def test_lion_with_a_line(self):
        self.check("lion")

    def test_rmsprop_with_a_polynomial(self):
        self.check("rmsprop", "--ranks", 2)

    def test_adagrad_with_warmup(self):
        self.check("adagrad")

    def test_adafactor_with_a_cosine(self):
        self.check("adafactor", "--ranks", 2, "--pin", "zero3")


class LearningRates(fixture.InFolder):
    """One plan under several learning rates."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan = cls.folder / "model.plan"
        cleave.must("cleave-compile", cleave.MLP["model"], "--train", "--loss", "softmax-cross-entropy:logits", "--set", "batch=8",
                    "--optimizer", "sgd:lr=0.5", "--optimizer-group", "fc2.*:lr=0.25", "-o", cls.plan)

    def rates(self, *options, steps=4):
        log = self.folder / "log.jsonl"
        length = [] if steps is None else ["--steps", steps]
        cleave.must("cleave-run", self.plan, "--data", cleave.MLP["data"], "--threads", 1, "--log", log, *length, *options)
        lines, _ = cleave.read_log(log)
        return [(line["lr"], line["lr/fc2.*"]) for line in lines]

    def refused(self, *options):
        answer = cleave.tool("cleave-run", self.plan, "--data", cleave.MLP["data"], "--steps", 1, *options)
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        return answer.errors()[0]

    def test_the_plan_has_the_rates_of_a_run_without_options(self):
        self.assertEqual(self.rates(steps=1), [(0.5, 0.25)])

    def test_options_change_them(self):
        self.assertEqual(self.rates("--lr", 0.125, "--lr", "fc2.*=1", steps=1), [(0.125, 1)])

    def test_a_rate_of_zero_trains_nothing(self):
        saved, path = self.folder / "zero", self.folder / "zero.safetensors"
        self.rates("--lr", 0, "--lr", "fc2.*=0", "--save", saved, steps=2)
        cleave.must("cleave-export", self.plan, "--checkpoint", saved, "-o", path)
        before = read_safetensors(path)
        self.rates("--save", self.folder / "more", "--resume", saved, steps=3)
        cleave.must("cleave-export", self.plan, "--checkpoint", self.folder / "more", "-o", path)
        self.assertEqual(sorted(before), sorted(read_safetensors(path)))
        self.assertNotEqual(before, read_safetensors(path))
        self.rates("--lr", 0, "--lr", "fc2.*=0", "--save", self.folder / "again", "--resume", saved, steps=3)
        cleave.must("cleave-export", self.plan, "--checkpoint", self.folder / "again", "-o", path)
        self.assertEqual(before, read_safetensors(path))

    def test_a_file_gives_them(self):
        rates = self.folder / "rates.txt"
        rates.write_text("# step rate\n0 1\n2 0.5\n2 0.125\n")
        self.assertEqual(self.rates("--lr-schedule", rates), [(1, 0.5), (0.75, 0.375), (0.125, 0.0625), (0.125, 0.0625)])
        self.assertEqual(self.rates("--lr-schedule", f"{rates}:factors", steps=2), [(0.5, 0.25), (0.375, 0.1875)])

    def test_epochs_are_counted_in_steps(self):
        rates = self.rates("--lr-schedule", "step:every=1epoch,gamma=0.5", "--epochs", 2, steps=None)
        self.assertEqual(rates, 5 * [(0.5, 0.25)] + 5 * [(0.25, 0.125)])

    def test_differences_from_a_checkpoint_are_noted(self):
        saved = self.folder / "noted"
        self.rates("--save", saved, "--lr-schedule", "linear:steps=8", steps=2)
        again = [self.plan, "--data", cleave.MLP["data"], "--steps", 3, "--resume", saved]
        same = cleave.must("cleave-run", *again, "--lr-schedule", "linear:steps=8")
        self.assertNotIn("note", same.err)
        other = cleave.must("cleave-run", *again, "--lr", 0.75, "--lr", "fc2.*=0.5")
        self.assertIn("note: the optimizer's lr is 0.75 from now on, it was 0.5 in the checkpoint\n", other.err)
        self.assertIn("note: the optimizer's lr of group fc2.* is 0.5 from now on, it was 0.25 in the checkpoint\n", other.err)
        self.assertIn("note: the learning-rate schedule is constant:warmup=0,warmup-start=0 from now on, it was linear:", other.err)

    def test_mistakes_are_told(self):
        self.assertIn("--lr: found 'fast', expected a number of at least 0, or GROUP=NUMBER", self.refused("--lr", "fast"))
        self.assertIn("--lr: no parameter has the learning rate of a group 'fc9'; the plan's learning rates are: the optimizer's, fc2.*",
                      self.refused("--lr", "fc9=1"))
        self.assertIn("--lr-schedule: unknown schedule `cosin`; did you mean cosine?", self.refused("--lr-schedule", "cosin"))
        answer = cleave.tool("cleave-run", self.plan, "--data-command", "true", "--steps", 1, "--lr-schedule", "step:every=1epoch")
        self.assertEqual(answer.code, 1)
        self.assertIn("--lr-schedule counts epochs, but the number of samples is not known; count steps", answer.err)
        plan, path = self.folder / "inference.plan", self.folder / "w.safetensors"
        cleave.compile_model(cleave.MLP["model"], plan, train=False)
        answer = cleave.tool("cleave-run", plan, "--data", cleave.MLP["data"], "--lr", 1)
        self.assertEqual(answer.code, 1)
        self.assertIn("--lr: the plan has no learning rate; compile the model with --train", answer.err)
        saved = self.folder / "plain"
        self.rates("--save", saved, steps=1)
        answer = cleave.tool("cleave-export", self.plan, "--checkpoint", saved, "--ema", "-o", path)
        self.assertEqual(answer.code, 1)
        self.assertIn("--ema needs the checkpoint of a plan that was compiled with --ema", answer.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
