"""Training in low types: f16 skips steps whose gradients overflow, keeps its scale in checkpoints, and is close to f32 otherwise.
Positions, and regions in which the model disables autocast, stay f32."""

import json
import math
import pathlib
import struct
import tempfile
import unittest
import zipfile
from array import array

import cleave

STEPS = 24


def write_floats(path, arrays):
    """An .npz file of f32 arrays: name -> (shape, flat list)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, (shape, values) in arrays.items():
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
            header += " " * (-(len(header) + 11) % 64) + "\n"
            body = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array("f", values).tobytes()
            archive.writestr(f"{name}.npy", body)


class Precision(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        data = cleave.read_npz(cleave.GOLDEN / "mlp-mse.npz")
        (samples, classes), values = data["logits.label"]
        self.data = self.folder / "far.npz"  # labels so far away that scaled gradients exceed f16
        write_floats(self.data, {"x": data["x"], "logits.label": ((samples, classes), [4096 * v for v in values])})

    def train(self, dtype, ranks=1, *options, steps=STEPS, how=(), name="model"):
        plan, log = self.folder / f"{name}.plan", self.folder / f"{name}.jsonl"
        cleave.must(
            "cleave-compile", cleave.MLP["model"], "--train", "--loss", "mse:logits", "--optimizer", "sgd:lr=1e-6,momentum=0.9",
            "--set", "batch=8", "--ranks", ranks, "--dtype", dtype, *options, "-o", plan,
        )
        return cleave.train(plan, self.data, steps, log, *how)[0]

    def test_steps_that_overflow_change_nothing_and_halve_the_scale(self):
        for ranks, options in ((1, []), (2, ["--pin", "dp"]), (4, ["--pin", "zero3"]), (2, ["--accumulate", 2])):
            with self.subTest(ranks=ranks, options=options):
                steps = self.train("f16", ranks, *options)
                skipped = [step for step in steps if step["grad_norm"] == 0]
                self.assertGreater(len(skipped), 2)
                self.assertEqual(skipped, steps[: len(skipped)])  # at the beginning, until the scale is small enough
                self.assertEqual([s["loss_scale"] for s in skipped], [2.0 ** (16 - i) for i in range(len(skipped))])
                self.assertEqual({s["loss_scale"] for s in steps[len(skipped) :]}, {2.0 ** (16 - len(skipped))})
                self.assertTrue(all(math.isfinite(s["loss"]) for s in steps))

    def test_after_skipped_steps_training_is_that_of_f32(self):
        low = self.train("f16")
        self.train("f32", steps=1)
        skipped = sum(step["grad_norm"] == 0 for step in low)
        plan = self.folder / "model.plan"
        # The first update of f16 sees the batch of step `skipped`; so does an f32 run whose data begin there.
        data = cleave.read_npz(self.data)
        turned = self.folder / "turned.npz"
        start = skipped * 8 % data["x"][0][0]
        write_floats(turned, {
            name: (shape, values[start * shape[1] :] + values[: start * shape[1]]) for name, (shape, values) in data.items()
        })
        full = cleave.train(plan, turned, STEPS - skipped, self.folder / "turned.jsonl")[0]
        self.assertLessEqual(cleave.apart([s["loss"] for s in low[skipped:]], [s["loss"] for s in full]), 2e-3)

    def test_the_scale_is_in_checkpoints(self):
        saved = self.folder / "saved"
        through = self.train("f16", 2)
        self.train("f16", 2, steps=3, how=("--save", saved), name="first")
        resumed = self.train("f16", 2, how=("--resume", saved), name="first")
        self.assertEqual([s["loss_scale"] for s in resumed], [s["loss_scale"] for s in through])
        self.assertEqual([s["loss"] for s in resumed], [s["loss"] for s in through])

    def test_bf16_has_no_scale(self):
        self.assertNotIn("loss_scale", self.train("bf16", 2)[0])

    def test_tf32_is_f32_on_a_cpu(self):
        losses = [[s["loss"] for s in self.train(dtype)] for dtype in ("tf32", "f32")]
        self.assertEqual(*losses)

    def test_an_unknown_type_is_refused(self):
        said = cleave.tool("cleave-compile", cleave.MLP["model"], "--set", "batch=8", "--dtype", "int8", "-o", self.folder / "x.plan")
        self.assertEqual(said.code, 1, said)
        self.assertIn("--dtype: unknown type 'int8': expected f32, tf32, bf16, f16 or a JSON file", said.err)


# File of test/models/precision -> the model whose record it has.
KEPT = {"rotary.pt2": "rotary", "rotary.decomposed.pt2": "rotary", "timesteps.pt2": "timesteps"}


class KeptF32(unittest.TestCase):
    """PyTorch's losses under autocast (test/models/low_precision.py); rounded positions or regions make them 2 to 30 times as large."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.models = cleave.MODELS / "precision"
        self.records = json.loads((self.models / "records.json").read_text())

    def compile(self, file, dtype, ranks):
        plan = self.folder / "model.plan"
        return plan, cleave.must("cleave-compile", self.models / file, "--train", "--loss", "mse:y", "--optimizer", "sgd:lr=0.005",
                                 "--ranks", ranks, "--dtype", dtype, "-v", "-o", plan)

    def test_losses_are_those_of_autocast(self):
        for file, model in KEPT.items():
            for dtype in ("bf16", "f16"):
                for ranks in (1, 2):
                    with self.subTest(file=file, dtype=dtype, ranks=ranks):
                        plan, _ = self.compile(file, dtype, ranks)
                        record = self.records[model][dtype]
                        steps = cleave.train(plan, self.models / f"{model}.npz", len(record), self.folder / "log.jsonl")[0]
                        self.assertLessEqual(cleave.apart([step["loss"] for step in steps], record), 0.05)
                        self.assertGreater(min(self.records[model][f"{dtype} without regions"]), 1.05 * max(record))

    def test_a_remark_says_what_stays_f32(self):
        for file, expected in (("rotary.decomposed.pt2", r"precision: \d+ products in bf16; 1 in f32, of positions or angles \(.*\)"),
                               ("timesteps.pt2", r"precision: \d+ products in bf16; \d+ ops in regions that stay f32")):
            said = self.compile(file, "bf16", 1)[1]
            self.assertRegex(said.out + said.err, expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
