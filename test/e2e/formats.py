"""The same model gives the same plan cost and the same losses, whichever of PyTorch's formats it comes in."""

import json
import pathlib
import tempfile
import unittest

import cleave

# model -> (its input, its files)
FILES = {
    "gpt": ("tokens", ["gpt.dynamo-noopt.onnx", "gpt.pt2", "gpt.decomposed.pt2"]),
    "mlp": ("x", ["mlp.dynamo-noopt.onnx", "mlp.pt2", "mlp.decomposed.pt2"]),
    "resnet": ("image", ["resnet.dynamo-noopt.onnx", "resnet.pt2", "resnet.decomposed.pt2"]),
    "vit": ("image", ["vit.dynamo-noopt.onnx", "vit.pt2", "vit.decomposed.pt2"]),
}
DATA = {"tokens": "gpt.npz", "x": "mlp.npz", "image": "image.npz"}
TRAINING = ["--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", cleave.ADAMW]


class Formats(unittest.TestCase):
    def compile(self, file, name, folder, cluster, ranks):
        symbol = "batch" if file.endswith(".onnx") else f"{name}.0"
        plan = pathlib.Path(folder) / f"{file}.plan"
        cleave.must("cleave-compile", cleave.MODELS / file, *TRAINING, "--set", f"{symbol}=8", "--cluster", cluster,
                    "--ranks", ranks, "-o", plan)
        return plan

    def cost(self, plan):
        return json.loads(cleave.must("cleave-dump", plan, "--json").out)["predicted"]["step_seconds"]

    def losses(self, plan, name, folder):
        log = pathlib.Path(folder) / "log.jsonl"
        steps, _ = cleave.train(plan, cleave.GOLDEN / DATA[name], 20, log)
        return [step["loss"] for step in steps]

    def test_plans_cost_the_same_for_eight_gpus(self):
        for model, (name, files) in FILES.items():
            if model == "resnet":
                continue  # the archive counts batches, too (num_batches_tracked), which ONNX files do not
            files = [file for file in files if "decomposed" not in file]  # other operators, other costs
            with self.subTest(model=model), tempfile.TemporaryDirectory() as folder:
                costs = [self.cost(self.compile(file, name, folder, "h100-node", 8)) for file in files]
                for cost in costs[1:]:
                    self.assertLessEqual(abs(cost - costs[0]), 1e-6 * costs[0], dict(zip(files, costs)))

    def test_training_gives_the_same_losses(self):
        for model, (name, files) in FILES.items():
            with self.subTest(model=model), tempfile.TemporaryDirectory() as folder:
                losses = [self.losses(self.compile(file, name, folder, "local-cpu", 1), name, folder) for file in files]
                for other in losses[1:]:
                    self.assertLess(cleave.apart(other, losses[0]), 1e-5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
