"""Plans made without --train: `cleave-run --out` gives PyTorch's logits, on any number of ranks."""

import pathlib
import tempfile
import unittest

import cleave

# model file -> (record of inputs and logits, which of its logits)
CASES = {
    "gpt.dynamo": ("gpt.forward", "logits"),
    "gpt.ts-eval": ("gpt.forward", "logits"),
    "gpt2.dynamo": ("gpt2.forward", "logits"),
    "mlp.ts-eval": ("mlp.forward", "logits"),
    "vit.dynamo": ("vit.forward", "logits"),
    "resnet.dynamo": ("resnet.forward", "logits.eval"),
    "resnet.ts-eval": ("resnet.forward", "logits.eval"),
    "resnet.dynamo-noopt": ("resnet.forward", "logits.eval"),
}


class Inference(unittest.TestCase):
    def logits(self, model, data, ranks, batch=8):
        with tempfile.TemporaryDirectory() as folder:
            plan, out = pathlib.Path(folder) / "model.plan", pathlib.Path(folder) / "out.npz"
            cleave.compile_model(model, plan, ranks=ranks, batch=batch, train=False)
            cleave.must("cleave-run", plan, "--data", data, "--steps", 1, "--threads", 1, "--out", out)
            return cleave.read_npz(out)["logits"]

    def compare(self, ranks):
        for model, (record, name) in CASES.items():
            with self.subTest(model=model, ranks=ranks):
                data = cleave.GOLDEN / f"{record}.npz"
                shape, found = self.logits(cleave.MODELS / f"{model}.onnx", data, ranks)
                wanted_shape, wanted = cleave.read_npz(data)[name]
                self.assertEqual(shape, wanted_shape)
                self.assertLess(cleave.apart(found, wanted), 1e-4)

    def test_one_rank_gives_pytorchs_logits(self):
        self.compare(1)

    def test_two_ranks_give_pytorchs_logits(self):
        self.compare(2)

    def test_four_ranks_give_pytorchs_logits(self):
        self.compare(4)

    def test_a_batch_that_ranks_do_not_divide_loses_no_sample(self):
        data = cleave.GOLDEN / "mlp.forward.npz"
        shape, found = self.logits(cleave.MODELS / "mlp.dynamo.onnx", data, ranks=4, batch=7)
        self.assertEqual(shape, (7, 7))
        self.assertLess(cleave.apart(found, cleave.read_npz(data)["logits"][1][: 7 * 7]), 1e-4)

    def test_integers_of_64_bits_are_exact(self):
        """2^53 + 1, which no double represents, as an operand of kernels and of a whole tensor."""
        step = """func.func @step(%x: tensor<4xi64> {graph.name = "x", graph.role = "input"})
            -> (tensor<4xi64> {graph.name = "y", graph.role = "output"},
                tensor<2x4xi64> {graph.name = "z", graph.role = "output"}) {
          %a = graph.constant dense<9007199254740993> : tensor<i64>
          %b = graph.broadcast %a to [] : tensor<i64> -> tensor<4xi64>
          %y = graph.add %x, %b : tensor<4xi64>
          %c = graph.constant dense<-9007199254740995> : tensor<2x4xi64>
          %d = graph.broadcast %y to [1] : tensor<4xi64> -> tensor<2x4xi64>
          %z = graph.add %c, %d : tensor<2x4xi64>
          return %y, %z : tensor<4xi64>, tensor<2x4xi64>
        }"""
        for ranks in 1, 2:
            with self.subTest(ranks=ranks), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / "step.mlir").write_text(step)
                cleave.write_npz(folder / "x.npz", {"x": ((4,), [0, 1, 2, 3])})
                cleave.must("cleave-compile", folder / "step.mlir", "--start-from", "import", "--cluster", "local-cpu",
                            "--ranks", ranks, "-o", folder / "step.plan")
                cleave.must("cleave-run", folder / "step.plan", "--data", folder / "x.npz", "--steps", 1, "--threads", 1,
                            "--out", folder / "out.npz")
                found = cleave.read_npz(folder / "out.npz")
                self.assertEqual(list(found["y"][1]), [2**53 + 1 + i for i in range(4)])
                self.assertEqual(list(found["z"][1]), 2 * [-2 + i for i in range(4)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
