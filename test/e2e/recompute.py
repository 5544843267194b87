"""Recomputation: any choice of what is recomputed leaves every bit of the losses, saves memory, and is paid with time."""

import json
import pathlib
import tempfile
import unittest

import cleave

STEPS = 4
MODELS = {
    "gpt": (cleave.GPT["model"], cleave.GPT["data"]),
    "resnet": (cleave.MODELS / "resnet.ts-train.onnx", cleave.GOLDEN / "image.npz"),
    "vit": (cleave.MODELS / "vit.dynamo-noopt.onnx", cleave.GOLDEN / "image.npz"),
    "dropout": (cleave.MODELS / "dropout.onnx", cleave.GOLDEN / "mlp.npz"),
}


class Recompute(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_model(self, name, *options, ranks=1):
        """The losses of a training, and what the plan says: recomputed ops, seconds, bytes."""
        model, data = MODELS[name]
        plan, log = self.folder / "model.plan", self.folder / "log.jsonl"
        cleave.compile_model(model, plan, *options, ranks=ranks)
        steps, logged = cleave.train(plan, data, STEPS, log)
        found = json.loads(cleave.must("cleave-dump", plan, "--json").out)
        for line in logged:
            self.assertEqual(line["planned_bytes"], line["allocated_bytes"])
        recomputed = [decision for decision in found["decisions"] if decision["kind"] == "recompute"]
        predicted = found["predicted"]
        return cleave.losses(steps), len(recomputed), predicted["step_seconds"], predicted["peak_bytes"]

    def rules(self, *rules):
        path = self.folder / "rules.json"
        path.write_text(json.dumps({"pins": list(rules)}))
        return path

    def test_losses_keep_every_bit_on_one_rank(self):
        for name in MODELS:
            kept, none, seconds, _ = self.run_model(name, "--pin", "no-recompute")
            self.assertEqual(none, 0)
            for pin in ("full-recompute", "selective-recompute", self.rules({"op": "*", "recompute": True})):
                with self.subTest(model=name, pin=pin):
                    losses, recomputed, longer, _ = self.run_model(name, "--pin", pin)
                    self.assertEqual(losses, kept)
                    self.assertEqual(recomputed > 0, longer > seconds)
                    if name != "dropout" or pin not in ("full-recompute", "selective-recompute"):  # too small for recipes
                        self.assertGreater(recomputed, 0)

    def test_micro_batches_recompute_what_they_computed(self):
        kept, *_ = self.run_model("resnet", "--accumulate", 2, "--pin", "no-recompute")
        losses, recomputed, *_ = self.run_model("resnet", "--accumulate", 2, "--pin", "full-recompute")
        self.assertEqual(losses, kept)
        self.assertGreater(recomputed, 0)

    def test_losses_keep_every_bit_on_several_ranks(self):
        for ranks, layouts in ((2, "dp"), (4, "dp"), (4, "zero3"), (2, "megatron")):
            with self.subTest(ranks=ranks, layouts=layouts):
                kept, *_ = self.run_model("gpt", "--pin", f"{layouts},no-recompute", ranks=ranks)
                losses, recomputed, *_ = self.run_model("gpt", "--pin", f"{layouts},full-recompute", ranks=ranks)
                self.assertGreater(recomputed, 0)
                self.assertEqual(losses, kept)

    def test_less_memory_is_paid_with_time_and_not_with_losses(self):
        kept, _, seconds, peak = self.run_model("gpt")
        *_, least = self.run_model("gpt", "--pin", "full-recompute")
        self.assertLess(least, peak)
        for part in (1.0, 0.66, 0.33, 0.0):
            budget = int(least + part * (peak - least))
            with self.subTest(budget=budget):
                losses, recomputed, longer, used = self.run_model("gpt", "--memory", budget)
                self.assertLessEqual(used, budget)
                self.assertEqual(losses, kept)
                self.assertGreaterEqual(longer, seconds * (1 - 1e-9))
                self.assertEqual(recomputed > 0, part < 1)
                seconds = longer

    def test_full_recomputation_saves_most_of_a_transformers_activations(self):
        model, plan = self.folder / "gpt4.onnx", self.folder / "gpt4.plan"
        sizes = {"layers": 4, "hidden": 256, "heads": 4, "ffn": 1024, "vocab": 256, "context": 256}
        cleave.must("cleave-zoo", "gpt2", *(word for name, size in sizes.items() for word in (f"--{name}", size)), "-o", model)
        parameters = 3_290_624 * 4 * 3  # f32, with the two states of adamw

        def predicted(recipe):
            cleave.compile_model(model, plan, "--set", "seq=256", "--pin", recipe)
            found = json.loads(cleave.must("cleave-dump", plan, "--json").out)["predicted"]
            return found["peak_bytes"] - parameters, found["step_seconds"]

        kept, seconds = predicted("no-recompute")
        left, longer = predicted("full-recompute")
        self.assertLess(left, 0.3 * kept)
        self.assertLess(longer, 1.25 * seconds)

    def test_ops_are_recomputed_twice_where_once_does_not_fit(self):
        model = self.folder / "gpt16.onnx"
        sizes = {"layers": 16, "hidden": 32, "heads": 2, "ffn": 128, "vocab": 256, "context": 32}
        cleave.must("cleave-zoo", "gpt2", *(word for name, size in sizes.items() for word in (f"--{name}", size)), "-o", model)

        def run(*options):
            plan, log = self.folder / "gpt16.plan", self.folder / "gpt16.jsonl"
            cleave.compile_model(model, plan, "--set", "seq=32", *options, batch=16)
            steps, _ = cleave.train(plan, __file__, STEPS, log)
            found = json.loads(cleave.must("cleave-dump", plan, "--json").out)
            recomputed = [decision["name"] for decision in found["decisions"] if decision["kind"] == "recompute"]
            twice = [name for name in recomputed if name.endswith("recomputed 2")]
            return cleave.losses(steps), len(recomputed), len(twice), found["predicted"]["peak_bytes"]

        kept, *_ = run("--pin", "no-recompute")
        losses, once, twice, least = run("--pin", "full-recompute")
        self.assertEqual((losses, twice), (kept, 0))
        budget = int(0.9 * least)
        losses, recomputed, twice, used = run("--memory", budget)
        self.assertEqual(losses, kept)
        self.assertLessEqual(used, budget)
        self.assertGreater(twice, 0)
        self.assertGreater(recomputed, once)

    def test_a_rule_decides_whether_an_op_is_recomputed(self):
        keep, recompute = {"op": "*", "recompute": False}, {"op": "*gelu*", "recompute": True}
        self.assertEqual(self.run_model("gpt", "--pin", self.rules(keep))[1], 0)
        self.assertEqual(self.run_model("gpt", "--pin", self.rules(keep, recompute))[1], 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
