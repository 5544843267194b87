#!/usr/bin/env python3
"""Operators of rare use, control flow and numbers that depend on data, against what PyTorch computed in float64.

test/models/torch/record_operators.py wrote the archives and the results; each family is one model, of which every case has a parameter
of its own. Compared are the output and every parameter after one step, and that step on 2 ranks.
"""

import json
import pathlib
import struct
import unittest

import cleave
from fixture import Plans

FOLDER = cleave.MODELS / "torch/operators"
FAMILIES = sorted(path.stem for path in FOLDER.glob("*.npz"))


def read_checkpoint(folder):
    """Name -> flat list of float64, of a checkpoint."""
    out = {}
    for path in sorted(pathlib.Path(folder).glob("step-*/*.safetensors")):
        data = path.read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if entry.get("dtype") == "F64":
                begin, end = (8 + length + offset for offset in entry["data_offsets"])
                out[name] = list(struct.unpack(f"<{(end - begin) // 8}d", data[begin:end]))
    return out


class OperatorsComputeWhatPyTorchDoes(Plans):
    def check(self, family, form):
        model, recorded = FOLDER / f"{family}{form}.pt2", FOLDER / f"{family}.npz"
        wanted = {name: numbers for name, (_, numbers) in cleave.read_npz(recorded).items()}
        plan = self.compile(f"{family}{form}", model)
        out = self.folder / "out.npz"
        cleave.must("cleave-run", plan, "--data", recorded, "--steps", 1, "--threads", 1, "--out", out)
        self.assertLess(cleave.apart(cleave.read_npz(out)["0"][1], wanted["0"]), 1e-9)
        saved, steps = self.folder / f"{family}{form}", {}
        for ranks in (1, 2):
            plan = self.compile(f"{family}{form}.train", model, "--train", "--loss", "mse:0", "--optimizer", "sgd:lr=1", ranks=ranks)
            save = ["--save", saved] if ranks == 1 else []
            (steps[ranks],), _ = cleave.train(plan, recorded, 1, self.folder / "log.jsonl", *save)
        after = read_checkpoint(saved)
        for name in sorted(wanted.keys() - {"i", "0", "0.label"}):
            with self.subTest(case=name):
                self.assertLess(cleave.apart(after[name], wanted[name]), 1e-9)
        for number in ("loss", "grad_norm"):
            self.assertAlmostEqual(steps[1][number], steps[2][number], delta=1e-9 * abs(steps[1][number]))


for _family in FAMILIES:
    for _form in ("", ".decomposed"):
        if not (FOLDER / f"{_family}{_form}.pt2").exists():
            continue  # record_operators.py says why
        setattr(OperatorsComputeWhatPyTorchDoes, f"test_{_family}{_form.replace('.', '_')}",
                lambda self, family=_family, form=_form: self.check(family, form))

if __name__ == "__main__":
    assert FAMILIES, "nothing is recorded"
    unittest.main()
