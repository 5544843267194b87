"""Files that are not what they seem: truncated while they are read, without an end, larger than memory, or links to elsewhere.
Each gives one message that names the file and the exit code 1, never a signal."""

import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time
import unittest
import zipfile

import cleave
import onnx_chain


class HostileFiles(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.plan = self.folder / "mlp.plan"

    def compiled(self):
        cleave.compile_model(cleave.MLP["model"], self.plan)

    def refused(self, answer, *words):
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        for word in words:
            self.assertIn(word, answer.err, answer)

    def test_data_truncated_while_they_are_read(self):
        self.compiled()
        data = self.folder / "data.npz"
        shutil.copy(cleave.MLP["data"], data)
        log = self.folder / "log.jsonl"
        process = subprocess.Popen([cleave.BIN / "cleave-run", self.plan, "--data", data, "--steps", "100000000", "--log", log],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (log.exists() and log.read_text().count("\n") > 2):
            time.sleep(0.02)
        os.truncate(data, 0)
        message = process.communicate(timeout=1200)[1]
        self.assertEqual(process.returncode, 1, message)
        self.assertIn(f"'{data}' has become shorter", message)

    def test_pipes_and_devices(self):
        self.compiled()
        pipe = self.folder / "pipe.npz"
        os.mkfifo(pipe)
        for file, kind in ((pipe, "a pipe"), ("/dev/zero", "a device")):
            said = (str(file), f"it is {kind}, expected a regular file")
            self.refused(cleave.tool("cleave-compile", file, "-o", self.folder / "x.plan"), *said)
            self.refused(cleave.tool("cleave-compile", file, "--start-from", "import", "-o", self.folder / "x.plan"), *said)
            self.refused(cleave.tool("cleave-run", file, "--steps", 1), *said)
            self.refused(cleave.tool("cleave-dump", file), *said)
            self.refused(cleave.tool("cleave-run", self.plan, "--data", f"x={file}", "--steps", 1), str(file))
            model = [cleave.MLP["model"], "--set", "batch=8", "-o", self.folder / "x.plan"]
            self.refused(cleave.tool("cleave-compile", *model, "--pin", file), *said)
            self.refused(cleave.tool("cleave-compile", *model, "--cluster", file), str(file))
        self.refused(cleave.tool("cleave-run", self.plan, "--data", pipe, "--steps", 1), str(pipe), "it is a pipe")

    def limited(self, limit, *command):
        """Runs a tool that may have `limit` bytes of memory."""
        if cleave.SANITIZED:
            self.skipTest("the address sanitizer reserves more address space than any limit")
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=1200,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        return done.returncode, done.stderr

    def test_memory_for_data(self):
        self.compiled()
        data, megabyte = self.folder / "large.npz", 1_000_000
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            header = "{'descr': '<f4', 'fortran_order': False, 'shape': (250000000,), }\n".encode()
            with archive.open("x.npy", "w") as file:
                file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
                for _ in range(1000):
                    file.write(bytes(megabyte))
        code, message = self.limited(1000 * megabyte, cleave.BIN / "cleave-run", self.plan, "--data", data, "--steps", 1)
        self.assertEqual(code, 1, message)
        self.assertRegex(message, "large.npz: could not allocate 1000000[0-9]{3} bytes for array `x`")

    def test_memory_for_a_model(self):
        compiler, step = cleave.BIN / "cleave-compile", 32 << 20
        limit = step
        while self.limited(limit, compiler, "--help")[0] != 0:  # what it takes to start at all
            limit += step
        chain = self.folder / "chain.onnx"
        onnx_chain.write_chain(chain, "add", 20_000)
        for steps in (1, 2, 3):
            code, message = self.limited(limit + steps * step, compiler, chain, "--set", "batch=4", "-o", self.folder / "x.plan")
            self.assertEqual(code, 1, message)
            self.assertIn("could not allocate memory", message)

    def test_links_out_of_the_models_folder(self):
        model, data = cleave.MODELS / "gpt-external.onnx", cleave.MODELS / "gpt-external.onnx.data"
        inside, secret = self.folder / "model", self.folder / "secret"
        inside.mkdir()
        shutil.copy(data, secret)
        shutil.copy(model, inside)
        link = inside / data.name
        link.symlink_to("../secret")
        compile_it = ("--set", "batch=2", "-o", self.folder / "x.plan")
        answer = cleave.tool("cleave-compile", inside / model.name, *compile_it)
        self.refused(answer, data.name, f"is a link to '{secret.resolve()}', outside the model's folder")
        # A cache that keeps files by their hash links the model, too.
        shutil.copy(model, self.folder / "7f3a")
        (inside / model.name).unlink()
        (inside / model.name).symlink_to("../7f3a")
        self.assertEqual(cleave.tool("cleave-compile", inside / model.name, *compile_it).code, 0)


class LongChains(unittest.TestCase):
    """The compile time grows with the number of operators, not with its square."""

    def seconds(self, form, length, *options):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "chain.onnx"
            onnx_chain.write_chain(model, form, length)
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            cleave.must("cleave-compile", model, *options, "--set", "batch=4", "--cluster", "h100-node",
                        "-o", pathlib.Path(folder) / "x.plan")
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def test_inference(self):
        for form in onnx_chain.FORMS:
            few, many = self.seconds(form, 2000), self.seconds(form, 8000)
            self.assertLess(many, 9 * few + 1, f"{form}: {few} s for 2,000 operators, {many} s for 8,000")

    def test_training(self):
        options = ("--train", "--loss", "softmax-cross-entropy:y", "--optimizer", "sgd:lr=0.1")
        few, many = self.seconds("matmul", 1000, *options), self.seconds("matmul", 4000, *options)
        self.assertLess(many, 9 * few + 1, f"{few} s for 1,000 operators, {many} s for 4,000")


if __name__ == "__main__":
    unittest.main()
