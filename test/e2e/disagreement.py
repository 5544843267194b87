"""Ranks that another launcher has started with different plans, options or files end before the first step, all with one
message that names the ranks and the values; a rank of another job is turned away without harm."""

import contextlib
import os
import shutil
import subprocess
import time
import unittest
import zipfile

import cleave
import fixture
from launchers import free_port, torchrun

STEPS = 3


class Disagreement(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan = cls.compile("two", "--pin", "dp", ranks=2)
        cls.data = cls.folder / "mlp.npz"
        shutil.copy(cleave.MLP["data"], cls.data)

    @classmethod
    def compile(cls, name, *options, **how):
        plan = cls.folder / f"{name}.plan"
        cleave.compile_model(cleave.MLP["model"], plan, *options, **how)
        return plan

    def options(self, *more, plan=None, data=None, steps=STEPS, timeout=120):
        files = [plan or self.plan, "--data", data or self.data]
        return [*files, "--steps", steps, "--threads", 1, "--timeout", timeout, *more]

    @contextlib.contextmanager
    def started(self, *ranks, size=None, port=None):
        """Starts one process per (options, variables); variables of None are those of the launcher only."""
        port, processes = port or free_port(), []
        try:
            for rank, (options, variables) in enumerate(ranks):
                given = {**torchrun(rank, size or len(ranks), port), **(variables or {})}
                command = [str(word) for word in [cleave.BIN / "cleave-run", *options]]
                processes.append(subprocess.Popen(
                    command, env={**os.environ, **{name: str(value) for name, value in given.items()}},
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
            yield processes
        finally:
            for process in processes:
                process.kill()
                process.wait()
                process.stderr.close()

    def ends(self, *ranks, **how):
        """The exit codes and error messages of processes that end by themselves."""
        with self.started(*ranks, **how) as processes:
            said = [process.communicate(timeout=600)[1] for process in processes]
            return [process.returncode for process in processes], [cleave.errors(text) for text in said]

    def first_to_end(self, processes):
        while all(process.poll() is None for process in processes):
            time.sleep(0.05)
        return next(process for process in processes if process.poll() is not None)

    def disagree(self, *ranks, words):
        """All ranks end with exit code 1 and the same message, which has the words."""
        codes, messages = self.ends(*[(options, None) for options in ranks])
        self.assertEqual(codes, [1] * len(ranks), messages)
        self.assertEqual([len(lines) for lines in messages], [1] * len(ranks), messages)
        self.assertEqual(len({lines[0] for lines in messages}), 1, messages)
        for word in words:
            self.assertIn(word, messages[0][0])

    def test_equal_ranks_train(self):
        codes, messages = self.ends((self.options(), None), (self.options(), None))
        self.assertEqual(codes, [0, 0], messages)

    def test_another_plan(self):
        other = self.compile("other", "--pin", "dp", "--clip-norm", 1, ranks=2)
        self.disagree(self.options(), self.options(plan=other), words=["the ranks differ in the plan: ", " on rank 0, ", " on rank 1"])

    def test_plans_for_another_number_of_ranks(self):
        four = self.compile("four", "--pin", "dp", ranks=4)
        self.disagree(self.options(), self.options(plan=four),
                      words=["rank 1: the plan is for 4 ranks, but torchrun gives 2"])
        self.disagree(self.options(plan=four), self.options(plan=four),
                      words=["the plan is for 4 ranks, but torchrun gives 2"])

    def test_other_options(self):
        for option, value, other, words in [
            ("--seed", 1, 2, ["--seed: 1 on rank 0, 2 on rank 1"]),
            ("--shuffle", 1, 2, ["--shuffle: 1 on rank 0, 2 on rank 1"]),
            ("--save", self.folder / "a", self.folder / "b", ["--save: '", "/a' on rank 0, ", "/b' on rank 1"]),
            ("--profile-steps", 1, 2, ["the steps of --profile: 1 on rank 0, 2 on rank 1"]),
        ]:
            with self.subTest(option=option):
                more = ["--profile", self.folder / "trace.json"] if option == "--profile-steps" else []
                self.disagree(self.options(option, value, *more), self.options(option, other, *more), words=words)
        with self.subTest(option="--steps"):
            self.disagree(self.options(), self.options(steps=5), words=["--steps: 3 on rank 0, 5 on rank 1"])
        with self.subTest(option="--memory-report"):
            self.disagree(self.options(), self.options("--memory-report"), words=["--memory-report: no on rank 0, yes on rank 1"])

    def test_all_ranks_are_named(self):
        plan = self.compile("three", "--pin", "dp", ranks=3)
        self.disagree(*[self.options("--seed", seed, plan=plan) for seed in (7, 8, 7)],
                      words=["--seed: 7 on ranks 0, 2, 8 on rank 1"])

    def test_other_data(self):
        reordered, copy = self.folder / "reordered" / "mlp.npz", self.folder / "copy.npz"
        reordered.parent.mkdir()
        with zipfile.ZipFile(self.data) as old, zipfile.ZipFile(reordered, "w") as new:
            for entry in reversed(old.infolist()):
                new.writestr(entry, old.read(entry))
        shutil.copy(self.data, copy)
        for other, name in [(reordered, "mlp.npz"), (copy, "copy.npz")]:
            with self.subTest(other=other):
                self.disagree(self.options(), self.options(data=other),
                              words=["data file 1: mlp.npz, ", f" on rank 0, {name}, ", " on rank 1"])

    def test_another_step(self):
        save = self.folder / "saved"
        cleave.train(self.plan, self.data, 2, self.folder / "log.jsonl", "--save", save)
        older = self.folder / "older"
        shutil.copytree(save, older)
        cleave.train(self.plan, self.data, 4, self.folder / "log.jsonl", "--resume", save, "--save", save)
        self.disagree(self.options("--resume", save, steps=6), self.options("--resume", older, steps=6),
                      words=["the first step: 4 on rank 0, 2 on rank 1", "the checkpoint"])

    def test_a_rank_without_its_files_is_named_by_all(self):
        self.disagree(self.options(), self.options(data=self.folder / "missing.npz"), words=["rank 1: ", "missing.npz"])

    def test_nothing_is_overwritten_by_a_run_that_does_not_begin(self):
        log = self.folder / "old.jsonl"
        log.write_text("the log of another run\n")
        self.disagree(self.options("--seed", 1, "--log", log), self.options("--seed", 2, "--log", log), words=["--seed"])
        self.assertEqual(log.read_text(), "the log of another run\n")

    def test_different_transports(self):
        ranks = [(self.options(), {"CLEAVE_COMM": "gloo"}), (self.options(), None)]
        codes, messages = self.ends(*ranks)
        self.assertEqual(codes, [1, 1], messages)
        for lines in messages:
            self.assertIn("rank 1 has no CLEAVE_COMM, rank 0 has CLEAVE_COMM=gloo", lines[0])

    def test_two_processes_of_one_rank(self):
        port = free_port()
        options = self.options(steps=10_000_000)
        with self.started((options, None), (options, None), (options, {"RANK": 1}), size=2, port=port) as processes:
            refused = self.first_to_end(processes[1:])
            said = refused.communicate(timeout=600)[1]
            self.assertEqual(refused.returncode, 1, said)
            self.assertIn("another process has joined this job as rank 1", said)
            self.assertEqual([process.poll() for process in processes if process is not refused], [None, None])

    def test_a_missing_rank_is_named_by_rank_0(self):
        for variables in (None, {"CLEAVE_COMM": "gloo"}):
            port = free_port()
            codes, messages = self.ends((self.options(timeout=3), variables), size=2, port=port)
            self.assertEqual(codes, [3], messages)
            self.assertIn(f"rank 1 did not come to the rendezvous at 127.0.0.1:{port} within 3 s", messages[0][0])

    def test_a_rank_with_another_secret_is_turned_away(self):
        secret = {"CLEAVE_JOB_SECRET": "0123456789abcdef"}
        port = free_port()
        with self.started((self.options(), secret), port=port, size=2) as processes:
            for stranger in (None, {"CLEAVE_JOB_SECRET": "0123456789abcdeX"}):
                variables = {"RANK": 1, **(stranger or {})}
                codes, messages = self.ends((self.options(), variables), size=2, port=port)
                self.assertEqual(codes, [3], messages)
                self.assertEqual(messages[0], [
                    f"cleave-run: error: rank 1, before its first step: the store at 127.0.0.1:{port} belongs to another job, "
                    "or CLEAVE_JOB_SECRET differs"])
            codes, messages = self.ends((self.options(), {**secret, "RANK": 1}), size=2, port=port)  # the true rank 1
            self.assertEqual(codes, [0], messages)
            self.assertEqual(processes[0].wait(timeout=600), 0)

    def test_a_secret_that_is_easy_to_guess_is_refused(self):
        codes, messages = self.ends((self.options(), {"CLEAVE_JOB_SECRET": "secret"}), size=2)
        self.assertEqual(codes, [1], messages)
        self.assertIn("expected at least 16", messages[0][0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
