"""Trained weights under plans that did not train them (`cleave-run --weights`): for every file format, on any number of ranks, from a
checkpoint or a safetensors file; weights that are damaged or not the model's are told."""

import json
import math
import shutil
import struct
import unittest

import cleave
import fixture

STEPS = 3
ARCHIVE, ONNX = cleave.MODELS / "resnet.pt2", cleave.MODELS / "resnet.ts-train.onnx"
IMAGES, FORWARD = cleave.GOLDEN / "image.npz", cleave.GOLDEN / "resnet.forward.npz"
SGD = ["--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", "sgd:lr=0.05"]


def write_safetensors(path, tensors, metadata=None):
    """Writes tensors of f32: name -> (shape, flat list)."""
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, (shape, numbers) in tensors.items():
        part = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Weights(fixture.Plans):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.training = cls.compile("training", ARCHIVE, *SGD, "--set", "image.0=8", ranks=2)
        cls.saved = cls.folder / "saved"
        cleave.train(cls.training, IMAGES, STEPS, cls.folder / "log.jsonl", "--save", cls.saved)
        cls.file = cls.folder / "trained.safetensors"
        cleave.must("cleave-export", cls.training, "--checkpoint", cls.saved, "-o", cls.file)
        cls.inference = {n: cls.compile(f"inference{n}", ARCHIVE, "--batch-norm", "frozen", "--set", "image.0=8", ranks=n)
                         for n in (1, 2)}

    def run_with(self, plan, *options, data=FORWARD):
        return cleave.tool("cleave-run", plan, "--data", data, "--steps", 1, "--threads", 1, *options)

    def logits(self, plan, *options):
        out = self.folder / "out.npz"
        answer = self.run_with(plan, "--out", out, *options)
        self.assertEqual(answer.code, 0, answer)
        return cleave.read_npz(out)["logits"][1]

    def test_an_archive_infers_with_what_was_trained(self):
        """The same training from the ONNX twin, exported and compiled again."""
        plan = self.compile("onnx", ONNX, *SGD, "--set", "batch=8")
        cleave.train(plan, IMAGES, STEPS, self.folder / "log.jsonl", "--save", self.folder / "onnx")
        exported = self.folder / "exported.onnx"
        cleave.must("cleave-export", plan, "--checkpoint", self.folder / "onnx", "-o", exported)
        again = self.compile("again", exported, "--batch-norm", "frozen", "--set", "batch=8")
        wanted, saved = self.logits(again), self.folder / "onnx"
        original = self.compile("original", ONNX, "--batch-norm", "frozen", "--set", "batch=8")
        self.assertEqual(self.logits(original, "--weights", saved), wanted)
        file = self.folder / "onnx.safetensors"
        cleave.must("cleave-export", plan, "--checkpoint", saved, "-o", file)
        for ranks, archive in self.inference.items():
            found = self.logits(archive, "--weights", saved)
            self.assertLess(cleave.apart(found, wanted), 1e-4)
            for same in (saved / f"step-{STEPS:08}", file):
                self.assertEqual(self.logits(archive, "--weights", same), found, (ranks, same))
            self.assertGreater(cleave.apart(self.logits(archive), wanted), 1e-3)

    def test_batch_norms_of_inference_are_as_in_the_file_or_as_asked_for(self):
        record = cleave.read_npz(FORWARD)
        self.assertLess(cleave.apart(self.logits(self.inference[1]), record["logits.eval"][1]), 1e-4)
        answer = cleave.must("cleave-compile", ARCHIVE, "--set", "image.0=8", "-o", self.folder / "exported.plan")
        self.assertIn("--batch-norm frozen uses the running ones", answer.err)
        self.assertLess(cleave.apart(self.logits(self.folder / "exported.plan"), record["logits"][1]), 1e-4)

    def test_parameters_that_were_not_trained_are_those_of_the_model(self):
        plan, saved = self.compile("frozen", ARCHIVE, *SGD, "--set", "image.0=8", "--freeze", "*.weight"), self.folder / "half"
        cleave.train(plan, IMAGES, STEPS, self.folder / "log.jsonl", "--save", saved)
        file = self.folder / "half.safetensors"
        cleave.must("cleave-export", plan, "--checkpoint", saved, "-o", file)
        found = self.logits(self.inference[1], "--weights", saved)
        self.assertEqual(self.logits(self.inference[1], "--weights", file), found)
        self.assertNotEqual(self.logits(self.inference[1]), found)

    def test_a_training_begins_with_weights(self):
        log = self.folder / "begun.jsonl"
        wanted = cleave.losses(cleave.train(self.training, IMAGES, STEPS + 1, log, "--resume", self.saved)[0])[STEPS]
        same = self.folder / "same.npz"  # the samples of step STEPS
        images = cleave.read_npz(IMAGES)
        cleave.write_npz(same, {name: ((8, *shape[1:]), values[len(values) // 5 * STEPS : len(values) // 5 * (STEPS + 1)])
                                for name, (shape, values) in images.items()})
        for weights in (self.saved, self.file):
            found = cleave.losses(cleave.train(self.training, same, 1, log, "--weights", weights)[0])[0]
            self.assertEqual(found, wanted)

    def test_several_files_with_an_index_and_names_with_a_prefix(self):
        wanted, plan = self.logits(self.inference[2], "--weights", self.file), self.training
        folder = self.folder / "several"
        folder.mkdir()
        answer = cleave.must("cleave-export", plan, "--checkpoint", self.saved, "--max-shard-size", "20KiB", "--rename", "=net.",
                             "-o", folder / "model.safetensors")
        files = sorted(path.name for path in folder.glob("*.safetensors"))
        self.assertGreater(len(files), 1)
        self.assertIn(f"in {len(files)} files", answer.out)
        index = json.loads((folder / "model.safetensors.index.json").read_text())
        self.assertEqual(sorted(set(index["weight_map"].values())), files)
        self.assertTrue(all(name.startswith("net.") for name in index["weight_map"]))
        for path in (folder, folder / "model.safetensors.index.json"):
            out = self.folder / "prefixed.npz"
            answer = self.run_with(self.inference[2], "--out", out, "--weights", path)
            self.assertEqual(answer.code, 0, answer)
            self.assertRegex(answer.err, "note: all names in '.*' have the prefix 'net.', which is taken away")
            self.assertEqual(cleave.read_npz(out)["logits"][1], wanted)
        (folder / files[0]).unlink()
        self.refuses(self.run_with(self.inference[2], "--weights", folder), files[0])
        (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../b.safetensors"}}')
        self.refuses(self.run_with(self.inference[2], "--weights", folder), "names no .safetensors file beside it for `a`")

    def test_names_of_an_export_that_cannot_be(self):
        export = ["cleave-export", self.training, "--checkpoint", self.saved, "-o", self.folder / "x.safetensors"]
        self.refuses(cleave.tool(*export, "--rename", "nothing"), "expected FROM=TO")
        self.refuses(cleave.tool(*export, "--rename", "nothing.=x."), "no tensor has a name that begins so")
        self.refuses(cleave.tool(*export, "--max-shard-size", "much"), "--max-shard-size")
        export[-1] = self.folder / "x.onnx"
        self.refuses(cleave.tool(*export, "--rename", "a=b"), "--rename is for .safetensors files")

    def test_weights_of_another_model_are_told_in_one_message(self):
        mlp = self.compile("mlp", cleave.MODELS / "mlp.pt2", "--set", "x.0=8")
        self.refuses(self.run_with(mlp, "--weights", self.file), "it lacks", "and", "more", "which the plan does not have",
                     "expected weights of the plan's model")
        typo, none = self.folder / "typo.safetensors", self.folder / "nothing.safetensors"
        tensors = {"fc1.weight": ((64, 32), [0.0] * 2048), "fc2.wieght": ((2, 2), [0.0] * 4)}
        write_safetensors(typo, tensors)
        self.refuses(self.run_with(mlp, "--weights", typo), "'fc2.weight' (similar: 'fc2.wieght')", "it has 'fc2.wieght', which the plan does not have")
        write_safetensors(none, {"x": ((2, 2), [0.0] * 4)})
        self.refuses(self.run_with(mlp, "--weights", none), "it lacks", "it has 'x'")
        other = self.folder / "other.safetensors"
        write_safetensors(other, {"fc1.weight": ((2, 2), [0.0] * 4)})
        self.refuses(self.run_with(mlp, "--weights", other), "'fc1.weight' has the shape [2, 2], expected [")

    def test_a_tensor_may_have_another_name_in_the_metadata(self):
        """As safetensors' save_model() writes tied weights: one of their names is an entry of the metadata."""
        plan = self.compile("named", cleave.MODELS / "mlp.pt2", "--set", "x.0=8")
        plan_json = json.loads(cleave.must("cleave-dump", plan, "--json").out)
        tensors = {t["name"]: (t["shape"], [0.5] * math.prod(t["shape"])) for t in plan_json["tensors"] if t["role"] in ("parameter", "constant")}
        name = sorted(tensors)[0]
        renamed = {("elsewhere" if key == name else key): value for key, value in tensors.items()}
        file = self.folder / "aliased.safetensors"
        write_safetensors(file, renamed)
        self.refuses(self.run_with(plan, "--weights", file, data=cleave.MLP["data"]), f"it lacks '{name}'")
        write_safetensors(file, renamed, {name: "elsewhere", "format": "pt"})
        answer = self.run_with(plan, "--weights", file, data=cleave.MLP["data"])
        self.assertEqual(answer.code, 0, answer)

    def test_tensors_that_the_plan_does_not_read_are_a_warning(self):
        more = self.folder / "more.safetensors"
        data = self.file.read_bytes()
        begin = 8 + struct.unpack("<Q", data[:8])[0]
        header, end = json.loads(data[8:begin]), len(data) - begin
        for name in ("decoder.a", "decoder.b", "decoder.c", "decoder.d"):
            header[name] = {"dtype": "F32", "shape": [2], "data_offsets": [end, end + 8]}
            end += 8
        text = json.dumps(header).encode()
        more.write_bytes(struct.pack("<Q", len(text)) + text + data[begin:] + bytes(32))
        out = self.folder / "more.npz"
        answer = self.run_with(self.inference[2], "--out", out, "--weights", more)
        self.assertEqual(answer.code, 0, answer)
        self.assertRegex(answer.err, "^cleave-run: warning: '.*more.safetensors' has 4 tensors which the plan does not have and does not read: "
                                     "'decoder.a', 'decoder.b', 'decoder.c' and 1 more\n$")
        self.assertEqual(cleave.read_npz(out)["logits"][1], self.logits(self.inference[2], "--weights", self.file))

    def test_weights_that_are_none_or_damaged(self):
        plan = self.inference[1]
        self.refuses(self.run_with(plan, "--weights", self.folder / "none"), "which does not exist", "cleave-run --save")
        self.refuses(self.run_with(plan, "--weights", FORWARD), "found '", ".safetensors")
        self.refuses(self.run_with(plan, "--weights", self.folder), "no complete checkpoint")
        cut = self.folder / "cut.safetensors"
        cut.write_bytes(self.file.read_bytes()[:-100])
        self.refuses(self.run_with(plan, "--weights", cut), "cut.safetensors")
        damaged = self.folder / "damaged"
        shutil.copytree(self.saved, damaged)
        part = next(damaged.glob("*/rank-00000.safetensors"))
        data = bytearray(part.read_bytes())
        data[len(data) // 2] ^= 1
        part.write_bytes(data)
        self.refuses(self.run_with(plan, "--weights", damaged), "damaged", "have changed since they were written")

    def test_options_that_contradict_each_other_name_the_way(self):
        self.refuses(self.run_with(self.inference[1], "--resume", self.saved), "for inference", "--weights")
        self.refuses(self.run_with(self.inference[1], "--model", self.file), "holds weights", "--weights takes weights")
        both = ["--data", IMAGES, "--resume", self.saved, "--weights", self.saved]
        self.refuses(cleave.tool("cleave-run", self.training, *both), "leave one of them out")


if __name__ == "__main__":
    unittest.main(verbosity=2)
