"""A runtime-only build runs plans as the usual build does, and says in one line what it lacks."""

import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

import cleave

BUILD = cleave.BIN.parent / "runtime-only"


class RuntimeOnly(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = pathlib.Path(cls.folder.name)
        (cls.place / "note").write_text("carried")
        bundle = cls.place / "bundle.tar.gz"
        packed = subprocess.run([cleave.ROOT / "tools/dev/runtime-bundle.sh", "--build", BUILD, bundle, cls.place / "note"],
                                capture_output=True, text=True)
        assert packed.returncode == 0, packed.stdout + packed.stderr
        with tarfile.open(bundle) as archive:
            archive.extractall(cls.place / "unpacked")

    def run_tool(self, name, *arguments, **environment):
        """A tool of the bundle, in an environment without Cleave's libraries."""
        return subprocess.run([self.place / "unpacked/bin" / name, *map(str, arguments)], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], **environment})

    def test_the_bundle_holds_the_given_files(self):
        self.assertEqual((self.place / "unpacked/note").read_text(), "carried")

    def test_the_version_names_what_is_missing(self):
        for tool in ("cleave-run", "cleave-dump", "cleave-calibrate"):
            answer = self.run_tool(tool, "--version")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertRegex(answer.stdout, rf"^{tool} [0-9.]+ \(runtime only: .*\)\n$")

    def compile_mlp(self, ranks):
        plan = self.place / f"mlp{ranks}.plan"
        cleave.compile_model(cleave.MLP["model"], plan, ranks=ranks)
        return plan

    def test_losses_are_those_of_the_usual_build(self):
        for ranks in (1, 2):
            plan = self.compile_mlp(ranks)
            usual, _ = cleave.train(plan, cleave.MLP["data"], 4, self.place / "usual.jsonl")
            log = self.place / "plain.jsonl"
            answer = self.run_tool("cleave-run", plan, "--data", cleave.MLP["data"], "--steps", 4, "--log", log)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            plain, _ = cleave.read_log(log)
            self.assertEqual(len(usual), 4)
            self.assertLess(cleave.apart([line["loss"] for line in plain], [line["loss"] for line in usual]), 1e-4)
            self.assertEqual(self.run_tool("cleave-dump", plan).stdout, cleave.must("cleave-dump", plan).out)

    def test_gloo_is_refused_in_one_line(self):
        answer = self.run_tool("cleave-run", self.compile_mlp(2), "--data", cleave.MLP["data"], "--steps", 1, CLEAVE_COMM="gloo")
        self.assertNotEqual(answer.returncode, 0)
        lines = cleave.errors(answer.stderr)
        self.assertEqual(len(lines), 1, answer.stderr)
        self.assertIn("built without Gloo", lines[0])

    def test_a_file_that_is_no_plan_is_refused_in_one_line(self):
        answer = self.run_tool("cleave-run", self.place / "note", "--steps", 1)
        self.assertNotEqual(answer.returncode, 0)
        self.assertEqual(len(cleave.errors(answer.stderr)), 1, answer.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
