"""Composed recipes: what they split, and that four ranks train like one under each of them."""

import json
import pathlib
import tempfile
import unittest

import cleave
import zoo

STEPS = 3
# Recipe: the layout of a weight that is split by rows under tp, and that of its optimizer's states.
RECIPES = {
    "megatron+zero1": ("_", "dp"),
    "fsdp+tp:2": ("dp", "dp"),
    "hsdp:2+tp:2": ("shard", "shard"),
    "dp+sp:2": ("_", "_"),
    "zero1+cp:2": ("_", "cp"),
    "fsdp+cp:2": ("cp", "cp"),
}


class Recipes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def losses_of(self, model, name, data, *options):
        plan = self.folder / "plan"
        cleave.must("cleave-compile", model, *zoo.options(name), "--cluster", "local-cpu", *options, "-o", plan)
        steps, _ = cleave.train(plan, data, STEPS, self.folder / "log.jsonl")
        return [line["loss"] for line in steps], json.loads(cleave.must("cleave-dump", plan, "--json").out)

    def check_model(self, name, weight):
        model, data = zoo.write_model(name, self.folder), zoo.write_samples(name, self.folder, STEPS)
        wanted, _ = self.losses_of(model, name, data, "--ranks", 1)
        for recipe, (stored, updated) in RECIPES.items():
            with self.subTest(model=name, recipe=recipe):
                mesh = ["--mesh", "dp=2,tp=2"] if ":" not in recipe else []
                found, plan = self.losses_of(model, name, data, "--ranks", 4, "--pin", recipe, *mesh)
                self.assertLess(cleave.apart(found, wanted), 2e-5, (found, wanted))
                layouts = {tensor["name"]: str(tensor["sharding"]) for tensor in plan["tensors"]}
                if "tp" in recipe or "sp" in recipe or "megatron" in recipe:
                    self.assertIn("tp", layouts[weight])
                for tensor, axis in ((weight, stored), (weight + "/adam.m", updated)):
                    (self.assertNotIn if axis == "_" else self.assertIn)("dp" if axis == "_" else axis, layouts[tensor])

    def test_a_llama_trains_like_on_one_rank(self):
        self.check_model("llama2-7b", "model.layers.1.mlp.down_proj.weight")

    def test_a_gpt_trains_like_on_one_rank(self):
        self.check_model("gpt2", "transformer.h.1.mlp.c_proj.weight")


if __name__ == "__main__":
    unittest.main(verbosity=2)
