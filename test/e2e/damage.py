"""Damaged files of every format are refused: one line that names the file and the reason, and nothing is overwritten."""

import json
import pathlib
import re
import shutil
import struct
import unittest

import cleave
import fixture

PT, PT2 = cleave.MODELS / "torch/mlp.trace.pt", cleave.MODELS / "mlp.pt2"
# Of a file's bytes: where it is cut off. One byte before the end is a format's hardest case.
CUTS = [0.02, 0.1, 0.35, 0.6, 0.9, 0.99]
# Words of which a refusal has one: what is wrong, not only that something is.
REASONS = r"damaged|truncated|cut off|incomplete|not a complete|is empty|an empty file|checksum|ends|beyond|too early|expected|missing|" \
          r"bytes|no JSON|not a"


class Damage(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan, cls.output = cls.folder / "mlp.plan", cls.folder / "output.onnx"
        cleave.compile_model(cleave.MLP["model"], cls.plan)
        cls.saved = cls.folder / "saved"
        cleave.must("cleave-run", cls.plan, "--data", cleave.MLP["data"], "--steps", 1, "--save", cls.saved)
        cls.arrays = cls.folder / "mlp.safetensors"
        shape, pixels = cleave.read_npz(cleave.MLP["data"])["x"]
        labels = cleave.read_npz(cleave.MLP["data"])["logits.label"]
        cls.arrays.write_bytes(safetensors({"x": ("F32", shape, "f", pixels), "logits.label": ("I64", labels[0], "q", labels[1])}))

    def commands(self, file, kind):
        """What reads a file of this kind, and would write `output`."""
        if kind in ("onnx", "pt", "pt2"):
            symbols = {"onnx": ["--set", "batch=8"], "pt": ["--input", "x=float32[8,20]"], "pt2": ["--set", "x.0=8"]}[kind]
            yield ["cleave-compile", file, *symbols, "-o", self.output]
            yield ["cleave-profile", file, *symbols]
        elif kind in ("npz", "safetensors"):
            yield ["cleave-run", self.plan, "--data", file, "--steps", 1, "--save", f"{self.output}.d"]
        elif kind == "plan":
            yield ["cleave-run", file, "--data", cleave.MLP["data"], "--steps", 1, "--save", f"{self.output}.d"]
            yield ["cleave-dump", file]
            yield ["cleave-export", file, "--checkpoint", self.saved, "-o", self.output]

    def refuses(self, answer, name, *words, reason=REASONS):
        self.assertIn(answer.code, (1, 2), answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        self.assertEqual(len(answer.err.strip().splitlines()), 1, answer)
        self.assertIn(name, answer.err, answer)
        self.assertRegex(answer.err, re.compile(reason), answer)
        for word in words:
            self.assertIn(word, answer.err, answer)

    def check(self, file, kind, *words):
        """Every tool that reads `file` refuses it, and leaves what it would write as it is."""
        for command in self.commands(file, kind):
            with self.subTest(tool=command[0], file=file.name):
                self.clear()
                self.output.write_text("mine")
                self.refuses(cleave.tool(*command), file.name, *words)
                self.assertEqual(self.output.read_text(), "mine")
                self.assertFalse(pathlib.Path(f"{self.output}.d").exists())

    def clear(self):
        self.output.unlink(missing_ok=True)
        shutil.rmtree(f"{self.output}.d", ignore_errors=True)

    FILES = {"onnx": cleave.MLP["model"], "pt": PT, "pt2": PT2, "npz": cleave.MLP["data"]}

    def files(self):
        return {**self.FILES, "safetensors": self.arrays, "plan": self.plan}

    def test_the_whole_files_are_taken(self):
        for kind, file in self.files().items():
            for command in self.commands(file, kind):
                with self.subTest(tool=command[0], kind=kind):
                    self.clear()
                    self.assertEqual((answer := cleave.tool(*command)).code, 0, answer)

    def test_files_that_are_cut_off(self):
        for kind, file in self.files().items():
            whole = file.read_bytes()
            for length in [0, *(int(len(whole) * cut) for cut in CUTS), len(whole) - 1]:
                damaged = self.folder / f"cut-{length}.{kind}"
                damaged.write_bytes(whole[:length])
                self.check(damaged, kind)

    def test_files_whose_middle_is_lost(self):
        """Zeros, as a disk or a download leaves them; in the formats that have checksums."""
        for kind in ("pt", "pt2", "plan"):
            whole = self.files()[kind].read_bytes()
            end = self.directory(whole) if kind != "plan" else len(whole)
            for share in (0.1, 0.5, 0.9):
                at = int(end * share)
                damaged = self.folder / f"zeros-{at}.{kind}"
                damaged.write_bytes(whole[:at] + bytes(64) + whole[at + 64 :])
                for command in self.commands(damaged, kind):
                    answer = cleave.tool(*command)
                    if kind in ("pt", "pt2") and answer.code == 0:
                        continue  # weights, which stay where they are and are not read for this
                    with self.subTest(tool=command[0], file=damaged.name):
                        self.refuses(answer, damaged.name)

    @staticmethod
    def directory(archive):
        return struct.unpack("<I", archive[archive.rindex(b"PK\x05\x06") + 16 :][:4])[0]

    def test_flipped_bits_never_crash(self):
        """Anywhere in a file: it is refused like every other damage, or it makes no difference that a reader could see."""
        for kind, file in self.files().items():
            whole = bytearray(file.read_bytes())
            for i in range(12):
                at = (len(whole) - 1) * i // 11
                whole[at] ^= 0x10
                damaged = self.folder / f"flip-{at}.{kind}"
                damaged.write_bytes(whole)
                whole[at] ^= 0x10
                command = next(iter(self.commands(damaged, kind)))
                self.clear()
                answer = cleave.tool(*command)
                with self.subTest(tool=command[0], file=damaged.name):
                    if answer.code != 0:
                        self.refuses(answer, damaged.name, reason="")
                        self.assertFalse(self.output.exists() or pathlib.Path(f"{self.output}.d").exists())

    def test_checkpoints_that_are_damaged(self):
        step = next(path for path in self.saved.iterdir() if path.is_dir())
        for file in sorted(step.iterdir()):
            for cut in (0, 0.5, 0.99):
                copy = self.folder / "copy"
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(self.saved, copy)
                whole = file.read_bytes()
                (copy / step.name / file.name).write_bytes(whole[: int(len(whole) * cut)])
                with self.subTest(file=file.name, cut=cut):
                    answer = cleave.tool("cleave-run", self.plan, "--data", cleave.MLP["data"], "--steps", 2, "--resume", copy)
                    self.refuses(answer, file.name)
                    export = cleave.tool("cleave-export", self.plan, "--checkpoint", copy, "-o", self.folder / "none.onnx")
                    self.refuses(export, file.name)
                    self.assertFalse((self.folder / "none.onnx").exists())

    def test_a_file_that_is_no_model_is_called_what_it_is(self):
        npy = b"\x93NUMPY\x01\x00" + bytes(100)
        others = {"notes.txt": (b"\n  To whom it may concern\nhello", "text that begins with 'To whom it may concern'"),
                  "page.onnx": (b"<!DOCTYPE html><html>", "text that begins with '<!DOCTYPE html>"),
                  "array.npy": (npy, "NumPy array"), "nothing.onnx": (b"", "an empty file"),
                  "keras.h5": (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"), "old.pth": (b"\x80\x02\x8a\x0al", "pickle"),
                  "w.safetensors": (self.arrays.read_bytes(), "safetensors"), "random.bin": (bytes(range(255, 100, -1)), "ff fe fd"),
                  "model.tar.gz": (b"\x1f\x8b\x08" + bytes(30), "gzip"), "mine.plan": (self.plan.read_bytes(), "a plan of Cleave's"),
                  "data.npz": (cleave.MLP["data"].read_bytes(), "NumPy arrays")}
        for name, (content, found) in others.items():
            file = self.folder / name
            if file != self.plan:
                file.write_bytes(content)
            with self.subTest(file=name):
                answer = cleave.tool("cleave-compile", file, "-o", self.folder / "none.plan")
                self.refuses(answer, name, found, ".pt2", "ONNX", "TorchScript")


def safetensors(arrays):
    """Name -> (type, shape, struct's letter, values) as the bytes of a file."""
    head, data = {}, b""
    for name, (kind, shape, letter, values) in arrays.items():
        part = struct.pack(f"<{len(values)}{letter}", *values)
        head[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


if __name__ == "__main__":
    unittest.main(verbosity=2)
