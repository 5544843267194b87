"""Gradients at ties, kinks and borders, and of tensors without elements, are those that PyTorch recorded in ../golden/borders.

Every record is one training step of a module with many small cases, each a parameter of its own (../models/torch/borders.py)."""

import json
import struct
import unittest

import cleave
from fixture import Plans

RATE, CLOSE = 100.0, 1e-7
RECORDS = cleave.GOLDEN / "borders"


def read_safetensors(path):
    """Name -> flat list of its float64 numbers."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    bounds = {name: entry["data_offsets"] for name, entry in header.items() if name != "__metadata__"}
    return {name: struct.unpack(f"<{(end - begin) // 8}d", body[begin:end]) for name, (begin, end) in bounds.items()}


class Borders(Plans):
    def check(self, family, ranks):
        record = json.loads((RECORDS / f"{family}.json").read_text())
        name = f"{family}.{ranks}"
        plan = self.compile(name, RECORDS / f"{family}.pt2", "--train", "--loss", "mse:0", "--optimizer", f"sgd:lr={RATE}", ranks=ranks)
        data, saved, weights = (self.folder / f"{name}{ending}" for ending in (".npz", "", ".safetensors"))
        cleave.write_npz(data, {"x": ((1,), [0.0]), "0.label": ((len(record["label"]),), record["label"])}, double=True)
        cleave.must("cleave-run", plan, "--data", data, "--steps", 1, "--threads", 1, "--save", saved)
        cleave.must("cleave-export", plan, "--checkpoint", saved, "-o", weights)
        after = read_safetensors(weights)
        self.assertEqual(set(after), {f"at_{case}" for case in record["cases"]})
        for case, numbers in record["cases"].items():
            with self.subTest(family=family, case=case, ranks=ranks):
                found = [(first - last) / RATE for first, last in zip(numbers["first"], after[f"at_{case}"], strict=True)]
                scale = max(1e-3, *map(abs, numbers["gradient"]))
                for got, wanted in zip(found, numbers["gradient"], strict=True):
                    self.assertLess(abs(got - wanted), CLOSE * scale, f"{found} instead of {numbers['gradient']}")

    def test_gradients_are_as_recorded_on_any_number_of_ranks(self):
        families = sorted(path.stem for path in RECORDS.glob("*.json"))
        self.assertGreater(len(families), 10)
        for family in families:
            for ranks in (1, 2, 3) if family == "empty" else (1, 2):
                self.check(family, ranks)


if __name__ == "__main__":
    unittest.main()
