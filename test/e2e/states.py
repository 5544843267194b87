"""What a model's forward writes is state of the training: buffers, frozen parameters and plain attributes, written in any region and through
any view, have PyTorch's values after the steps, on any number of ranks, with micro-batches, within the least memory, after a resume and
in exported files. `../models/states.py` writes the models and what PyTorch computes."""

import json
import pathlib
import struct
import tempfile
import unittest
from array import array

import cleave

FOLDER = cleave.MODELS / "states"
STEPS, MICRO_BATCHES, LOSSES = 3, 2, "losses"
TOLERANCE = 2e-5
# How a plan is made: ranks, micro-batches, further options.
PLANS = [(1, 1, []), (2, 1, []), (1, MICRO_BATCHES, []), (2, MICRO_BATCHES, ["--pin", "dp"]), (1, 1, ["--pin", "full-recompute"])]
ELEMENTS = {"F32": "f", "F64": "d", "I64": "q", "I32": "i"}


def read_safetensors(path):
    """Name -> flat list."""
    content = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    found = {}
    for name, entry in json.loads(content[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            found[name] = array(ELEMENTS[entry["dtype"]], content[8 + size + begin : 8 + size + end]).tolist()
    return found


def recorded(model, micro_batches):
    """What PyTorch has after the steps: name -> flat list."""
    prefix = f"{micro_batches}/"
    return {name.removeprefix(prefix): values for name, (_, values) in cleave.read_npz(FOLDER / f"{model}.npz").items()
            if name.startswith(prefix)}


class States(unittest.TestCase):
    def compile(self, file, plan, ranks, micro_batches, options):
        if file.suffix == ".pt":
            options = [*options, "--input", "x=float32[4,6]"]
        cleave.must("cleave-compile", file, "--train", "--loss", "output:0", "--optimizer", "sgd:lr=0.1", "--ranks", ranks,
                    "--accumulate", micro_batches, *options, "-o", plan)

    def compare(self, found, wanted):
        """Every tensor that the plan has, by name."""
        apart = {name: cleave.apart(found[name], wanted[name]) for name in found if name in wanted}
        self.assertGreater(len(apart), 1)
        self.assertEqual({name: distance for name, distance in apart.items() if distance > TOLERANCE}, {})

    def check(self, file, ranks, micro_batches, options):
        with tempfile.TemporaryDirectory() as folder:
            return self.check_in(pathlib.Path(folder), file, ranks, micro_batches, options)

    def check_in(self, folder, file, ranks, micro_batches, options):
        model = file.name.partition(".")[0]
        plan, saved, log = folder / "plan", folder / "saved", folder / "log.jsonl"
        self.compile(file, plan, ranks, micro_batches, options)
        data, wanted = FOLDER / "x.npz", recorded(model, micro_batches)
        steps, _ = cleave.train(plan, data, STEPS - 1, log, "--save", saved)
        steps += cleave.train(plan, data, STEPS, log, "--resume", saved, "--save", saved)[0]
        self.assertLess(cleave.apart([cleave.losses(steps)[i] for i in range(STEPS)], wanted.pop(LOSSES)), TOLERANCE)
        cleave.must("cleave-export", plan, "--checkpoint", saved, "-o", folder / "exported.safetensors")
        exported = read_safetensors(folder / "exported.safetensors")
        self.compare(exported, wanted)
        return exported

    def test_all_formats_under_all_plans(self):
        for file in sorted(FOLDER.glob("*.p*t*")):
            wanted = recorded(file.name.partition(".")[0], 1)
            for ranks, micro_batches, options in PLANS:
                with self.subTest(file=file.name, ranks=ranks, micro_batches=micro_batches, options=options):
                    exported = self.check(file, ranks, micro_batches, options)
                    self.assertEqual(set(wanted) - set(exported) - {LOSSES} - NOT_KEPT, set(), "written, and not exported")

    def test_micro_batches_in_the_least_memory(self):
        for file in sorted(FOLDER.glob("others.*.p*t*")):
            with self.subTest(file=file.name):
                self.check(file, 2, MICRO_BATCHES, ["--memory", "least"])


# Parameters that no loss reads, so that they are not trained; plain attributes that are set before they are read; a count that nothing writes.
NOT_KEPT = {f"norms.{i}.{name}" for i in (0, 1) for name in ("weight", "bias")} | {"scratch", "history.0", "samplewise.num_batches_tracked"}


if __name__ == "__main__":
    unittest.main(verbosity=2)
