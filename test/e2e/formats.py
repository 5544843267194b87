"""The same model gives the same plan cost and the same losses, whichever of PyTorch's formats it comes in."""

import json
import pathlib
import tempfile
import unittest

import cleave

# model -> (its input, type and dims of one sample, its files). Not here, since they are other models: files in which
# batch norms are folded into convolutions, and gpt2.dynamo.onnx, which has only the positions that are used of a longer table.
FILES = {
    "mlp": ("x", "float32", "20", ["mlp.pt2", "mlp.decomposed.pt2", "mlp.dynamo-noopt.onnx", "mlp.dynamo.onnx", "mlp.ts-train.onnx",
                                   "mlp.ts-eval.onnx", "torch/mlp.trace.pt", "torch/mlp.frozen.pt", "torch/mlp.script-1.13.pt"]),
    "gpt": ("tokens", "int64", "16", ["gpt.pt2", "gpt.decomposed.pt2", "gpt.dynamo-noopt.onnx", "gpt.dynamo.onnx", "gpt.ts-train.onnx",
                                      "gpt.ts-eval.onnx", "torch/gpt.script.pt", "torch/gpt.frozen.pt"]),
    "gpt2": ("tokens", "int64", "16", ["gpt2.pt2", "gpt2.dynamo-noopt.onnx", "gpt2.ts-train.onnx", "gpt2.ts-eval.onnx",
                                       "torch/gpt2.trace-1.13.pt"]),
    "resnet": ("image", "float32", "3,16,16", ["resnet.pt2", "resnet.decomposed.pt2", "resnet.dynamo-noopt.onnx", "resnet.ts-train.onnx",
                                               "resnet.ts-train-13.onnx", "torch/resnet.script.pt", "torch/resnet.trace-1.13.pt"]),
    "vit": ("image", "float32", "3,16,16", ["vit.pt2", "vit.decomposed.pt2", "vit.dynamo-noopt.onnx", "vit.dynamo.onnx", "vit.ts-train.onnx",
                                            "vit.ts-eval.onnx", "torch/vit.trace.pt"]),
    "llama": ("tokens", "int64", "16", [f"forms/llama.{form}" for form in ("exported.pt2", "decomposed.pt2", "dynamo.onnx", "trace.pt")]),
    "bert": ("tokens", "int64", "16", [f"forms/bert.{form}" for form in ("exported.pt2", "legacy.onnx", "trace.pt")]),
}
DATA = {"tokens": "gpt.npz", "x": "mlp.npz", "image": "image.npz"}
BATCH, STEPS = 8, 10
COUNTED = {"resnet"}  # ONNX files do not count batches (num_batches_tracked), the others do, in a few nanoseconds


class Formats(unittest.TestCase):
    def compile(self, file, model, folder, cluster, ranks):
        name, element, dims, _ = FILES[model]
        plan = pathlib.Path(folder) / f"{pathlib.Path(file).name}.plan"
        output, symbol = "logits", "batch" if file.endswith(".onnx") else f"{name}.0"
        sizes = ["--set", f"{symbol}={BATCH}"]
        if file.endswith(".pt"):  # TorchScript names neither outputs nor dims
            output, sizes = "0", ["--input", f"{name}={element}[{BATCH},{dims}]"]
        cleave.must("cleave-compile", cleave.MODELS / file, "--train", "--loss", f"softmax-cross-entropy:{output},logits.label", "--optimizer",
                    cleave.ADAMW, *sizes, "--cluster", cluster, "--ranks", ranks, "-o", plan)
        return plan

    def cost(self, plan):
        return json.loads(cleave.must("cleave-dump", plan, "--json").out)["predicted"]["step_seconds"]

    def losses(self, plan, model, folder):
        log = pathlib.Path(folder) / "log.jsonl"
        steps, _ = cleave.train(plan, cleave.GOLDEN / DATA[FILES[model][0]], STEPS, log)
        return [step["loss"] for step in steps]

    def test_plans_cost_the_same_for_eight_gpus(self):
        for model, (*_, files) in FILES.items():
            with tempfile.TemporaryDirectory() as folder:
                first = self.cost(self.compile(files[0], model, folder, "h100-node", 8))
                for file in files[1:]:
                    with self.subTest(file=file):
                        cost = self.cost(self.compile(file, model, folder, "h100-node", 8))
                        self.assertLessEqual(abs(cost - first), 5e-9 if model in COUNTED else 1e-6 * first)

    def test_training_gives_the_same_losses(self):
        for model, (*_, files) in FILES.items():
            with tempfile.TemporaryDirectory() as folder:
                first = self.losses(self.compile(files[0], model, folder, "local-cpu", 1), model, folder)
                for file in files[1:]:
                    with self.subTest(file=file):
                        other = self.losses(self.compile(file, model, folder, "local-cpu", 1), model, folder)
                        self.assertLess(cleave.apart(other, first), 1e-5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
