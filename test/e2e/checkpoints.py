"""Training that is saved and resumed gives the losses of training that is not interrupted, also under another plan."""

import pathlib
import shlex
import signal
import subprocess
import tempfile
import time
import unittest

import cleave

STEPS, STOP = 12, 6

# What a run is compiled with: (ranks, options)
ONE = (1, [])
ZERO3 = (2, ["--pin", "zero3"])
MEGATRON = (4, ["--pin", "megatron"])


class Checkpoints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plan(self, model, how):
        ranks, options = how
        plan = self.folder / f"{ranks}{''.join(options)}.plan"
        if not plan.exists():
            cleave.compile_model(model["model"], plan, *options, ranks=ranks)
        return plan

    def check(self, model, before, after, closeness):
        """Trains to STOP under `before`, resumes under `after`, and compares with a run that goes through."""
        log = self.folder / "log.jsonl"
        through, _ = cleave.train(self.plan(model, after), model["data"], STEPS, log)
        saved = self.folder / "saved"
        first, _ = cleave.train(self.plan(model, before), model["data"], STOP, log, "--save", saved)
        second, _ = cleave.train(self.plan(model, after), model["data"], STEPS, self.folder / "second.jsonl", "--resume", saved)
        self.assertEqual([line["step"] for line in second], list(range(STOP, STEPS)))
        found = {**cleave.losses(first), **cleave.losses(second)}
        wanted = cleave.losses(through)
        self.assertEqual(sorted(found), sorted(wanted))
        distance = cleave.apart([found[s] for s in sorted(found)], [wanted[s] for s in sorted(wanted)])
        self.assertLessEqual(distance, closeness, f"{found} instead of {wanted}")

    def test_one_rank_resumes_where_it_stopped_to_the_last_bit(self):
        self.check(cleave.MLP, ONE, ONE, 0)

    def test_sharded_parameters_and_optimizer_state_resume_to_the_last_bit(self):
        self.check(cleave.GPT, ZERO3, ZERO3, 0)

    def test_one_ranks_checkpoint_resumes_on_four(self):
        self.check(cleave.GPT, ONE, MEGATRON, 1e-5)

    def test_four_ranks_checkpoint_resumes_on_two_under_another_plan(self):
        self.check(cleave.GPT, MEGATRON, ZERO3, 1e-5)

    def test_running_statistics_of_batch_norm_are_kept(self):
        resnet = {"model": cleave.MODELS / "resnet.ts-train.onnx", "data": cleave.GOLDEN / "image.npz"}
        self.check(resnet, ONE, (2, ["--pin", "dp"]), 1e-5)

    def test_an_interrupted_training_saves_and_goes_on_to_the_last_bit(self):
        plan, saved = self.plan(cleave.GPT, ZERO3), self.folder / "saved here"
        log = self.folder / "log.jsonl"
        command = [cleave.BIN / "cleave-run", plan, "--data", cleave.GPT["data"], "--steps", 10_000_000, "--threads", 1, "--log", log,
                   "--save", saved, "--report", self.folder / "run.html"]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stderr.close()))
        end = time.monotonic() + 600
        while time.monotonic() < end and not (log.exists() and log.read_text().count("\n") >= 3):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assertRegex(err, r"(?m)^cleave-run: ended by signal 2 \(Interrupt\) after step \d+; resume with: .*\n$")
        steps, ranks = cleave.read_log(log)
        self.assertEqual(len(ranks), 2, "the log is complete")
        self.assertEqual([path.name for path in saved.iterdir() if path.name.startswith("step")], [f"step-{len(steps):08}"])
        self.assertTrue((self.folder / "run.html").exists())
        words = shlex.split(err.rsplit("resume with: ", 1)[1])
        self.assertEqual(words, [*map(str, command), "--resume", str(saved)])
        words[words.index("10000000")] = str(len(steps) + 2)
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
        through, _ = cleave.train(plan, cleave.GPT["data"], len(steps) + 2, self.folder / "through.jsonl")
        self.assertEqual(cleave.losses(cleave.read_log(log)[0]), cleave.losses(through))

    def test_a_failure_before_the_first_step_offers_nothing_to_resume(self):
        plan, saved, log = self.plan(cleave.MLP, ONE), self.folder / "saved", self.folder / "log.jsonl"
        cleave.train(plan, cleave.MLP["data"], 2, log, "--save", saved)
        answer = cleave.tool("cleave-run", plan, "--data", self.folder / "none.npz", "--resume", saved, "--save", saved)
        self.assertEqual(answer.code, 1, answer)
        self.assertNotIn("resume with", answer.err)

    def test_a_run_that_does_not_resume_a_checkpoint_leaves_it(self):
        plan, saved, log = self.plan(cleave.MLP, ONE), self.folder / "saved", self.folder / "log.jsonl"
        cleave.train(plan, cleave.MLP["data"], 3, log, "--save", saved)
        before = sorted(saved.rglob("*"))
        for steps in (2, 4):
            answer = cleave.tool("cleave-run", plan, "--data", cleave.MLP["data"], "--steps", steps, "--save", saved)
            self.assertEqual(answer.code, 1, answer)
            self.assertIn("is the checkpoint of another run and would be lost", answer.err, answer)
            self.assertEqual(sorted(saved.rglob("*")), before)
        cleave.train(plan, cleave.MLP["data"], 5, log, "--resume", saved, "--save", saved)
        self.assertEqual(sorted(path.name for path in saved.iterdir()), ["step-00000003", "step-00000005", "train.toml"])

    def test_a_checkpoint_of_another_model_is_refused_by_name(self):
        saved, log = self.folder / "saved", self.folder / "log.jsonl"
        cleave.train(self.plan(cleave.MLP, ONE), cleave.MLP["data"], 2, log, "--save", saved)
        plan = self.folder / "gpt.plan"
        cleave.compile_model(cleave.GPT["model"], plan)
        answer = cleave.tool("cleave-run", plan, "--data", cleave.GPT["data"], "--steps", 4, "--resume", saved)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn(str(saved), answer.err, answer)


if __name__ == "__main__":
    unittest.main(verbosity=2)
