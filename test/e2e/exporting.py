"""What a run has trained goes back into ONNX and safetensors files: with everything undone that the import repaired, so that the
file trains on as the run would have."""

import json
import pathlib
import struct
import tempfile
import unittest

import cleave

try:
    import onnx  # what is written is checked where there is somebody to check it
except ImportError:
    onnx = None

SGD = ["--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", "sgd:lr=0.05"]
PASS = 5  # steps of 8 samples until the 40 samples of the records begin again
IMAGE = {"model": cleave.MODELS / "resnet.ts-train.onnx", "data": cleave.GOLDEN / "image.npz"}


def read_safetensors(path):
    """Name -> bytes."""
    content = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    data = content[8 + size :]
    return {name: data[slice(*entry["data_offsets"])] for name, entry in header.items() if name != "__metadata__"}


class Exporting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log.jsonl"

    def compile(self, model, name, *options, ranks=1):
        plan = self.folder / f"{name}.plan"
        cleave.must("cleave-compile", model, *SGD, *options, "--set", "batch=8", "--ranks", ranks, "-o", plan)
        return plan

    def export(self, plan, saved, name, *options):
        path = self.folder / name
        cleave.must("cleave-export", plan, "--checkpoint", saved, "-o", path, *options)
        return path

    def check(self, model, data, *options, ranks=1):
        plan, saved = self.compile(model, "first", *options, ranks=ranks), self.folder / "saved"
        cleave.train(plan, data, PASS, self.log, "--save", saved)
        exported = self.export(plan, saved, "exported.onnx")
        if onnx:
            onnx.checker.check_model(str(exported), full_check=True)
        state = read_safetensors(self.export(plan, saved, "exported.safetensors"))
        wanted = cleave.losses(cleave.train(plan, data, PASS + 3, self.log, "--resume", saved)[0])
        again = self.compile(exported, "again", ranks=ranks)
        found = cleave.losses(cleave.train(again, data, 3, self.log)[0])
        distance = cleave.apart([found[i] for i in range(3)], [wanted[PASS + i] for i in range(3)])
        self.assertLessEqual(distance, 1e-6, f"{found} instead of {wanted}")
        # What the exported file is read as is what was written, to the last bit.
        begun = self.folder / "begun"
        cleave.train(again, data, 0, self.log, "--save", begun)
        self.assertEqual(read_safetensors(self.export(again, begun, "again.safetensors")), state)

    def test_a_file_with_functions_trains_on(self):
        self.check(cleave.MODELS / "mlp-functions.onnx", cleave.MLP["data"])

    def test_a_file_in_which_every_parameter_has_its_place_trains_on(self):
        self.check(cleave.MODELS / "mlp.ts-train.onnx", cleave.MLP["data"])

    def test_parameters_that_the_exporter_merged_or_transposed_get_their_own_values(self):
        self.check(**cleave.GPT)

    def test_the_parameters_of_four_ranks_are_put_together(self):
        self.check(**cleave.GPT, ranks=4)

    def test_running_statistics_are_written(self):
        self.check(**IMAGE)

    def test_weights_beside_the_file_are_taken_into_it(self):
        self.check(cleave.MODELS / "gpt-external.onnx", cleave.GPT["data"])

    def test_a_model_of_the_zoo_is_trained_from_the_start_and_written_with_its_weights(self):
        model, data = self.folder / "gpt2.onnx", self.folder / "gpt2.npz"
        record = cleave.read_npz(cleave.GOLDEN / "gpt.npz")
        names = {"tokens": "input_ids", "logits.label": "logits.label"}
        cleave.write_npz(data, {names[key]: value for key, value in record.items()})
        cleave.must("cleave-zoo", "gpt2", "--layers", 2, "--hidden", 32, "--heads", 4, "--vocab", 64, "--context", 16,
                    "--seq", 16, "-o", model)
        losses = {}
        for ranks, seed in ((1, 0), (2, 0), (1, 1)):
            plan = self.compile(model, f"zoo{ranks}", ranks=ranks)
            losses[ranks, seed] = cleave.losses(cleave.train(plan, data, 2 * PASS, self.log, "--seed", seed)[0])
        one, two, other = (list(losses[key].values()) for key in ((1, 0), (2, 0), (1, 1)))
        self.assertLess(cleave.apart(two, one), 1e-5)
        self.assertNotEqual(one[0], other[0])
        self.assertLess(sum(one[PASS:]), sum(one[:PASS]))
        self.check(model, data)

    def test_what_is_frozen_keeps_its_values_where_the_file_had_merged_it_with_what_is_trained(self):
        frozen = ["--freeze", "blocks.0.*"]
        plan, saved = self.compile(cleave.GPT["model"], "first", *frozen), self.folder / "saved"
        cleave.train(plan, cleave.GPT["data"], PASS, self.log, "--save", saved)
        exported = self.export(plan, saved, "exported.onnx")
        wanted = cleave.losses(cleave.train(plan, cleave.GPT["data"], PASS + 3, self.log, "--resume", saved)[0])
        again = self.compile(exported, "again", *frozen)
        found = cleave.losses(cleave.train(again, cleave.GPT["data"], 3, self.log)[0])
        self.assertLessEqual(cleave.apart([found[i] for i in range(3)], [wanted[PASS + i] for i in range(3)]), 1e-6)

    def test_a_file_without_a_place_for_a_parameter_leaves_what_was_there(self):
        plan, saved = self.compile(cleave.MLP["model"], "first"), self.folder / "saved"
        cleave.train(plan, cleave.MLP["data"], 1, self.log, "--save", saved)
        output = self.folder / "there.onnx"
        output.write_text("mine")
        answer = cleave.tool("cleave-export", plan, "--checkpoint", saved, "-o", output, "--model", cleave.GPT["model"])
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("has no parameter", answer.err)
        self.assertEqual(output.read_text(), "mine")

    def train_archive(self, model, data, symbol):
        plan, saved = self.folder / "archive.plan", self.folder / "saved"
        cleave.must("cleave-compile", cleave.MODELS / model, *SGD, "--set", f"{symbol}=8", "-o", plan)
        cleave.train(plan, data, PASS, self.log, "--save", saved)
        return plan, saved

    def test_an_archive_of_pytorch_is_written_as_safetensors_under_its_own_names(self):
        plan, saved = self.train_archive("mlp.pt2", cleave.MLP["data"], "x.0")
        found = read_safetensors(self.export(plan, saved, "archive.safetensors"))
        onnx = self.compile(cleave.MODELS / "mlp.ts-train.onnx", "onnx")
        cleave.train(onnx, cleave.MLP["data"], PASS, self.log, "--save", self.folder / "onnx")
        wanted = read_safetensors(self.export(onnx, self.folder / "onnx", "onnx.safetensors"))
        self.assertEqual(set(found), set(wanted))
        for name, data in wanted.items():
            values = [struct.unpack(f"<{len(part) // 4}f", part) for part in (found[name], data)]
            self.assertLess(cleave.apart(*values), 1e-5, name)

    def test_an_archives_counts_of_batches_are_written(self):
        plan, saved = self.train_archive("resnet.pt2", cleave.GOLDEN / "image.npz", "image.0")
        state = read_safetensors(self.export(plan, saved, "archive.safetensors"))
        counts = [data for name, data in state.items() if name.endswith("num_batches_tracked")]
        self.assertTrue(counts)
        self.assertEqual({struct.unpack("<q", data)[0] for data in counts}, {PASS})
        self.assertTrue(any(name.endswith("running_var") for name in state))

    def test_an_archive_is_not_written_as_onnx(self):
        plan, saved = self.train_archive("mlp.pt2", cleave.MLP["data"], "x.0")
        answer = cleave.tool("cleave-export", plan, "--checkpoint", saved, "-o", self.folder / "x.onnx")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("write a .safetensors file", answer.err)

    def test_the_states_of_the_optimizer_are_written_under_the_names_of_their_parameters(self):
        plan, saved = self.folder / "adam.plan", self.folder / "saved"
        cleave.must("cleave-compile", cleave.MLP["model"], *SGD[:-1], "adam", "--set", "batch=8", "--ranks", 2, "--pin", "zero1", "-o", plan)
        cleave.train(plan, cleave.MLP["data"], PASS, self.log, "--save", saved)
        found = read_safetensors(self.export(plan, saved, "states.safetensors", "--states"))
        sizes = {name: len(data) for name, data in read_safetensors(self.export(plan, saved, "weights.safetensors")).items()}
        self.assertEqual(struct.unpack("<d", found.pop("step"))[0], PASS)
        self.assertEqual({name: len(data) for name, data in found.items()},
                         {f"{name}/{state}": size for name, size in sizes.items() for state in ("adam.m", "adam.v")})
        answer = cleave.tool("cleave-export", plan, "--checkpoint", saved, "-o", self.folder / "x.onnx", "--states")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("--states is for .safetensors files", answer.err)

    def test_the_models_own_file_is_not_overwritten(self):
        plan, saved = self.compile(cleave.MLP["model"], "first"), self.folder / "saved"
        cleave.train(plan, cleave.MLP["data"], 1, self.log, "--save", saved)
        answer = cleave.tool("cleave-export", plan, "--checkpoint", saved, "-o", cleave.MLP["model"])
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("expected another one", answer.err)

    def test_a_checkpoint_of_another_plan_is_refused_by_name(self):
        plan, saved = self.compile(cleave.MLP["model"], "first"), self.folder / "saved"
        cleave.train(plan, cleave.MLP["data"], 1, self.log, "--save", saved)
        other = self.compile(cleave.GPT["model"], "other")
        answer = cleave.tool("cleave-export", other, "--checkpoint", saved, "-o", self.folder / "x.onnx")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("has no tensor", answer.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
