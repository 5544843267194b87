"""Both calls of a GPU session, tried on CPUs with small models: every part gives a result or says why there is none."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import cleave

GPU = cleave.ROOT / "tools/dev/gpu"


class GpuSession(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        place = pathlib.Path(cls.folder.name)
        cls.call(GPU / "bundle.py", "--small", "--cluster", "local-cpu", "--build", cleave.BIN.parent, "--only", "mlp.b8,gpt.b8,gpt",
                 "-o", place / "bundle.tar.gz")
        cls.parts, cls.texts, cls.files = {}, {}, {}
        for name in ("first", "second"):
            out = place / name
            said = cls.call(cleave.ROOT / "tools/dev/gpu-session.sh", place / "bundle.tar.gz", out, "--call", name, "--device", "cpu",
                            "--steps", "4", "--budget", "3600")
            cls.parts[name] = json.loads((out / "session.json").read_text())["parts"]
            cls.texts[name] = said, (out / "session.txt").read_text()
            cls.files[name] = {str(path.relative_to(out)) for path in out.rglob("*")}

    @staticmethod
    def call(*command):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True,
                              env={**os.environ, "PYTHON": sys.executable})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def check_losses(self, found, ranks):
        for name in ("mlp.b8", "gpt.b8"):
            run = found[name]["ranks"][ranks]
            self.assertTrue(run["ok"] and run["memory_ok"], run)
            self.assertLess(run["apart"], 1e-4)

    def test_losses_are_compared_on_1_rank_then_on_2_and_4(self):
        self.check_losses(self.parts["first"]["smoke"], "1")
        for ranks in ("2", "4"):
            self.check_losses(self.parts["second"]["losses"], ranks)

    def test_allocations_are_counted(self):
        allocations = self.parts["second"]["host"]["allocations_per_step"]
        self.assertGreater(allocations, 0)
        self.assertLess(allocations, 1e5)

    def test_a_large_model_has_measured_and_predicted_times(self):
        for found in (self.parts["first"]["speed"]["gpt"], self.parts["second"]["pairs"]["gpt"]["Cleave"]):
            for key in ("seconds", "predicted_seconds", "flops_per_second", "memory_bytes"):
                self.assertGreater(found[key], 0, key)

    def test_the_kinds_of_instructions_of_a_step_are_summed(self):
        kinds = self.parts["first"]["profile"]["gpt"]["kinds"]
        self.assertGreater(len(kinds), 10)
        for row in kinds:
            self.assertEqual(row["count"], round(row["count"]), row)
        self.assertTrue(any(row["kind"].startswith("matmul") and row["ratio"] > 0 for row in kinds))

    def test_missing_tools_are_named_and_the_rest_goes_on(self):
        self.assertIn("failure", self.parts["second"]["calibration"])  # no GPU
        self.assertIn("torch.compile", self.parts["second"]["pairs"]["gpt"])  # a time, or the reason: no PyTorch
        self.assertIn("gpt", self.parts["first"]["compiled"])

    def test_the_text_holds_every_part(self):
        for name, (said, text) in self.texts.items():
            self.assertEqual(said, text)
            for part in self.parts[name]:
                self.assertIn(f"== {part} (", text)

    def test_the_output_is_a_few_files(self):
        results = {"session.json", "session.txt"}
        logs = {"failures.txt", "libraries.txt"}
        self.assertEqual(self.files["first"] - logs, results | {"gpt.trace.json.gz"})
        self.assertEqual(self.files["second"] - logs, results)


if __name__ == "__main__":
    unittest.main(verbosity=2)
