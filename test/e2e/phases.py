"""A plan made from the IR that any phase wrote is the plan made from the model: weights, decisions, predictions."""

import pathlib
import shutil
import tempfile
import unittest

import cleave

PHASES = ["import", "forward", "train", "primitive", "planned", "partitioned", "scheduled", "program"]
# file -> (size of the batch, the output with the logits, data)
FILES = {
    "mlp.pt2": (["--set", "x.0=8"], "logits", cleave.MLP["data"]),
    "mlp.dynamo.onnx": (["--set", "batch=8"], "logits", cleave.MLP["data"]),
    "gpt.pt2": (["--set", "tokens.0=8"], "logits", cleave.GPT["data"]),
    "torch/mlp.trace.pt": (["--input", "x=float32[8,20]"], "0", cleave.MLP["data"]),
    "gpt-external.onnx": (["--set", "batch=8"], "logits", cleave.GPT["data"]),
}
# Fields of the message Plan that differ: they say how it was made.
MADE = {2, 14, 20}  # content_hash, command_line, compile_options
HEADER = 20  # bytes before the message


def varint(data, at):
    """(number, position behind it) in Protobuf's encoding."""
    number = shift = 0
    while True:
        byte, at = data[at], at + 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def message(plan, leave_out):
    """The bytes of the fields of a plan file, in order: (number, bytes)."""
    data = pathlib.Path(plan).read_bytes()
    at, fields = HEADER, []
    while at < len(data):
        begin = at
        key, at = varint(data, at)
        length, at = varint(data, at)
        at += length if key & 7 == 2 else 0  # wire type 2: `length` bytes follow; 0: a number
        fields.append((key >> 3, data[begin:at]))
    return [field for field in fields if field[0] not in leave_out]


class Phases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, model, plan, sizes, output, ranks, *options):
        cleave.must("cleave-compile", model, "--train", "--loss", f"softmax-cross-entropy:{output},logits.label", "--optimizer", cleave.ADAMW,
                    *sizes, "--ranks", ranks, *options, "-o", plan)
        return plan

    def test_every_phase_leads_to_the_same_plan(self):
        for file, (sizes, output, data) in FILES.items():
            for ranks in (1, 4):
                dumps = self.folder / f"{pathlib.Path(file).name}-{ranks}"
                direct = self.compile(cleave.MODELS / file, self.folder / "direct.plan", sizes, output, ranks, "--dump-phases", dumps)
                for number, phase in enumerate(PHASES):
                    with self.subTest(file=file, ranks=ranks, phase=phase):
                        resumed = self.compile(dumps / f"{number}-{phase}.mlir", self.folder / "resumed.plan", [], output, ranks,
                                               *(["--start-from", phase] if ranks == 1 else []))  # the IR says its phase itself
                        self.assertEqual(message(resumed, MADE), message(direct, MADE))
                losses = [[step["loss"] for step in cleave.train(plan, data, 3, self.folder / "log.jsonl")[0]] for plan in (direct, resumed)]
                self.assertEqual(*losses)

    def test_ir_is_shown_and_read_by_people(self):
        sizes, output, _ = FILES["mlp.pt2"]
        plan = self.compile(cleave.MODELS / "mlp.pt2", self.folder / "mlp.plan", sizes, output, 2, "--dump-phases", self.folder)
        planned, whole = ([line.split() for line in cleave.must("cleave-dump", file, "-v").out.splitlines()]
                          for file in (self.folder / "4-planned.mlir", plan))
        decisions = whole[whole.index(["Decisions"]):whole.index(["Remarks"])]
        self.assertGreater(len(decisions), 8)
        self.assertEqual(planned[planned.index(["Decisions"]):planned.index(["Remarks"])], decisions)
        layouts = lambda file: [line.split() for line in cleave.must("cleave-dump", file, "--sharding").out.splitlines() if " parameter " in line]
        self.assertEqual(layouts(self.folder / "4-planned.mlir"), layouts(plan))
        for number, phase in enumerate(PHASES):
            lines = (self.folder / f"{number}-{phase}.mlir").read_text().splitlines()
            self.assertLess(max(map(len, lines)), 400, phase)
        early = cleave.tool("cleave-dump", self.folder / "3-primitive.mlir")
        self.assertEqual(early.code, 1)
        self.assertIn("is IR of a phase before the planner, found no mesh; cleave-compile --stop-after planned writes IR with decisions", early.err)
        programless = cleave.tool("cleave-dump", self.folder / "4-planned.mlir", "--memory")
        self.assertEqual(programless.code, 1)
        self.assertIn("--memory: ", programless.err)
        self.assertIn("is IR, expected a plan; make one of it with cleave-compile", programless.err)

    def test_the_weights_are_those_of_the_model_when_it_was_read(self):
        sizes, output, data = FILES["mlp.dynamo.onnx"]
        model, text = self.folder / "mlp.onnx", self.folder / "mlp.mlir"
        shutil.copy(cleave.MODELS / "mlp.dynamo.onnx", model)
        cleave.must("cleave-compile", model, *sizes, "--stop-after", "import", "-o", text)
        plan = self.compile(text, self.folder / "mlp.plan", [], output, 1, "--start-from", "import")
        model.rename(self.folder / "moved.onnx")
        lost = cleave.tool("cleave-run", plan, "--data", data, "--steps", 1)
        self.assertEqual(lost.code, 1)
        self.assertIn(f"cannot read model file '{model}'", lost.err)
        cleave.must("cleave-run", plan, "--data", data, "--steps", 1, "--model", self.folder / "moved.onnx")
        model.write_bytes((self.folder / "moved.onnx").read_bytes() + b"\0")
        changed = cleave.tool("cleave-run", plan, "--data", data, "--steps", 1)
        self.assertEqual(changed.code, 1)
        self.assertIn("has changed since the plan was made", changed.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
