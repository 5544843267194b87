"""Small models with attention, norms, gates and rotary in every exporter's spelling: `cleave-run --out` gives what PyTorch
computes, on one rank and on two."""

import pathlib
import tempfile
import unittest

import cleave

PATTERNS = cleave.MODELS / "patterns"
# Files whose weights are half precision.
COARSE = {"mixed-norms": 2e-2}


class Patterns(unittest.TestCase):
    def compare(self, ranks):
        files = sorted(PATTERNS.glob("*.onnx"))
        self.assertTrue(files)
        for model in files:
            name = model.name.split(".")[0]
            with self.subTest(model=model.name, ranks=ranks), tempfile.TemporaryDirectory() as folder:
                plan, out = pathlib.Path(folder) / "model.plan", pathlib.Path(folder) / "out.npz"
                data = PATTERNS / f"{name}.npz"
                cleave.must("cleave-compile", model, "--ranks", ranks, "-o", plan)
                cleave.must("cleave-run", plan, "--data", data, "--steps", 1, "--threads", 1, "--out", out)
                wanted_shape, wanted = cleave.read_npz(data)["output"]
                shape, found = cleave.read_npz(out)["output"]
                self.assertEqual(shape, wanted_shape or (1,))  # single numbers come one per step
                self.assertLess(cleave.apart(found, wanted), COARSE.get(name, 1e-5))

    def test_one_rank_gives_pytorchs_output(self):
        self.compare(1)

    def test_two_ranks_give_pytorchs_output(self):
        self.compare(2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
