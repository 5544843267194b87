"""Memory is honest at every budget: planned = allocated <= budget, and on one rank the losses keep every bit.

Five models at BUDGETS budgets from the peak of the plan that keeps everything down to the smallest that is found to fit, on 1 and
4 ranks. Each budget is a plan and a training, so this takes minutes: label slow. CLEAVE_SHOW=1 prints a table.
"""

import json
import os
import pathlib
import tempfile
import unittest

import cleave
import zoo

BUDGETS = 6
STEPS = 3


class Budgets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plan(self, name, model, ranks, *options):
        """What cleave-dump says of the plan; nothing if none fits."""
        path = self.folder / "model.plan"
        answer = cleave.tool("cleave-compile", model, *zoo.options(name), "--cluster", "h100-node", "--device", "cpu", "--ranks", ranks, *options,
                             "-o", path)
        if answer.code:
            self.assertIn("fit", " ".join(answer.errors()), str(answer))
            return None
        return json.loads(cleave.must("cleave-dump", path, "--json").out)

    def smallest(self, name, model, ranks, most):
        """The smallest of 32 even parts of `most` that fits."""
        low, high = 0, 32
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.plan(name, model, ranks, "--memory", most * middle // 32) else (middle, high)
        return most * high // 32

    def train(self, data):
        log = self.folder / "log.jsonl"
        steps, ranks = cleave.train(self.folder / "model.plan", data, STEPS, log)
        return cleave.losses(steps), [(line["planned_bytes"], line["allocated_bytes"]) for line in ranks]

    def walk(self, name, ranks):
        model, data = zoo.write_model(name, self.folder), zoo.write_samples(name, self.folder, STEPS)
        most = self.plan(name, model, ranks)["predicted"]["peak_bytes"]
        least = self.smallest(name, model, ranks, most)
        kept, seconds = None, 0
        for point in range(BUDGETS):
            budget = most - (most - least) * point // (BUDGETS - 1)
            found = self.plan(name, model, ranks, "--memory", budget)
            self.assertIsNotNone(found, f"{budget} bytes, between {least} and {most}, do not fit")
            losses, used = self.train(data)
            predicted = found["predicted"]
            if os.environ.get("CLEAVE_SHOW"):
                recomputed = sum(decision["kind"] == "recompute" for decision in found["decisions"])
                print(f"{name:<14}{ranks:>3}{budget:>14}{predicted['peak_bytes']:>14}{used[0][1]:>14}{recomputed:>6}"
                      f"{predicted['step_seconds'] * 1e6:>12.1f} us", flush=True)
            for planned, allocated in used:
                self.assertEqual(planned, allocated)
                self.assertLessEqual(allocated, budget)
            kept = kept or losses
            if ranks == 1:
                self.assertEqual(losses, kept)
            # What the planner compares; those of the program's instructions differ a little on several ranks.
            self.assertGreaterEqual(predicted["planned_seconds"], seconds * (1 - 1e-9), "less memory was faster")
            seconds = predicted["planned_seconds"]

    def test_every_budget_is_kept(self):
        for name in ("gpt2", "resnet50", "vit_b_16", "unet", "mixtral-8x7b"):
            for ranks in (1, 4):
                with self.subTest(model=name, ranks=ranks):
                    self.walk(name, ranks)


if __name__ == "__main__":
    unittest.main(verbosity=2)
