"""The script of a GPU session, tried on CPUs with small models: every part gives a result or says why there is none."""

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
        cls.said = cls.call(cleave.ROOT / "tools/dev/gpu-session.sh", place / "bundle.tar.gz", place / "out", "--device", "cpu", "--steps", "4",
                            "--parts", "machine,losses,host,memory,calibration,speed,eager")
        results = json.loads((place / "out/session.json").read_text())
        cls.parts, cls.text = results["parts"], (place / "out/session.txt").read_text()

    @staticmethod
    def call(*command):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True,
                              env={**os.environ, "PYTHON": sys.executable})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def test_losses_are_compared_on_1_2_and_4_ranks(self):
        for name in ("mlp.b8", "gpt.b8"):
            for ranks in ("1", "2", "4"):
                found = self.parts["losses"][name]["ranks"][ranks]
                self.assertTrue(found["ok"] and found["memory_ok"], found)
                self.assertLess(found["apart"], 1e-4)

    def test_allocations_are_counted(self):
        self.assertGreater(self.parts["host"]["allocations_per_step"], 0)
        self.assertLess(self.parts["host"]["allocations_per_step"], 1e5)

    def test_a_large_model_has_measured_and_predicted_times(self):
        found = self.parts["speed"]["gpt"]
        for key in ("seconds", "predicted_seconds", "flops_per_second", "memory_bytes"):
            self.assertGreater(found[key], 0, key)

    def test_what_is_missing_is_said_and_the_rest_goes_on(self):
        self.assertIn("failure", self.parts["calibration"])  # no GPU
        self.assertIn("eager", self.parts)

    def test_the_text_holds_every_part(self):
        self.assertEqual(self.said, self.text)
        for part in self.parts:
            self.assertIn(f"== {part} (", self.text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
