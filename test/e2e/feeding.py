"""Data of a run: epochs, the last batch of an epoch, several files, and the place in them when a run is resumed."""

import json
import sys
import unittest

import cleave
import fixture

# 40 samples: five steps of 8, or two and a half of 16.
SAMPLES = 40


class Feeding(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plans = {}
        for batch, ranks in ((16, 1), (16, 2), (8, 1), (64, 1)):
            cls.plans[batch, ranks] = cls.folder / f"{batch}.{ranks}.plan"
            cleave.compile_model(cleave.MLP["model"], cls.plans[batch, ranks], batch=batch, ranks=ranks)

    def train(self, name, *options, batch=16, ranks=1, data=cleave.MLP["data"]):
        """The losses by step, and what the run printed."""
        log = self.folder / f"{name}.jsonl"
        answer = cleave.must("cleave-run", self.plans[batch, ranks], "--data", data, "--threads", 1, "--log", log, *options)
        return cleave.losses(cleave.read_log(log)[0]), answer

    def shards(self, name, sizes):
        """The samples of the record, cut into files; returns a pattern for them."""
        arrays, first = cleave.read_npz(cleave.MLP["data"]), 0
        for number, size in enumerate(sizes):
            part = {}
            for key, (shape, values) in arrays.items():
                row = len(values) // shape[0]
                part[key] = ((size, *shape[1:]), values[first * row : (first + size) * row])
            cleave.write_npz(self.folder / f"{name}-{number}.npz", part)
            first += size
        return self.folder / f"{name}-*.npz"

    def test_epochs_end_with_the_last_sample_and_the_run_says_so(self):
        for how, steps, said in (("wrap", 8, "2.5 steps of 16 an epoch; a step at its end goes on with the next"),
                                 ("drop", 6, "2 steps of 16 an epoch; its last 8 samples are left out"),
                                 ("pad", 9, "3 steps of 16 an epoch; its last step has 8 samples and padding")):
            with self.subTest(how=how):
                losses, answer = self.train(how, "--epochs", 3, "--last-batch", how)
                self.assertEqual(len(losses), steps)
                self.assertIn(f"data: 40 samples; {said} (--last-batch {how})", answer.out)
                self.assertRegex(answer.out, rf"\n{steps}/{steps} steps  .*  epoch 3(.2)?/3\n")

    def test_a_padded_batch_is_a_smaller_one_and_a_resumed_run_takes_the_next_sample_also_with_another_batch(self):
        saved = self.folder / "padded"
        padded, _ = self.train("whole", "--epochs", 1, "--last-batch", "pad")
        self.train("begin", "--steps", 2, "--save", saved)
        rest, _ = self.train("rest", "--epochs", 1, "--resume", saved, batch=8)
        self.assertEqual(list(rest), [2])
        self.assertLess(cleave.apart([rest[2]], [padded[2]]), 1e-6)

    def test_a_run_is_resumed_inside_of_an_epoch_on_other_ranks_in_the_same_order(self):
        for how in ("wrap", "drop", "pad"):
            with self.subTest(how=how):
                more = ["--epochs", 3, "--last-batch", how, "--shuffle", 5]
                through, _ = self.train("through", *more)
                saved = self.folder / f"saved-{how}"
                first, _ = self.train("first", "--steps", 4, *more[2:], "--save", saved)
                second, answer = self.train("second", *more, "--resume", saved, ranks=2)
                self.assertEqual(answer.err, "")
                found = {**first, **second}
                self.assertEqual(list(found), list(through))
                self.assertLess(cleave.apart(list(found.values()), list(through.values())), 1e-5)

    def test_other_data_or_another_order_after_a_checkpoint_are_said(self):
        saved = self.folder / "other"
        self.train("before", "--steps", 2, "--save", saved)
        _, answer = self.train("order", "--steps", 3, "--resume", saved, "--shuffle")
        self.assertIn("note: the order of samples is shuffled with seed 0 from now on, it was as stored before", answer.err)
        pattern = self.shards("fewer", [24])
        losses, answer = self.train("after", "--epochs", 2, "--resume", saved, data=pattern)
        self.assertIn("note: the data have 24 samples, those before the checkpoint had 40: epoch 2 begins with them", answer.err)
        self.assertEqual(list(losses), [2, 3])

    def test_several_files_are_as_one(self):
        pattern = self.shards("part", [7, 13, 20])
        whole, _ = self.train("one", "--epochs", 2, "--shuffle", 3)
        parts, answer = self.train("parts", "--epochs", 2, "--shuffle", 3, data=pattern, ranks=2)
        self.assertIn("data: 40 samples in 3 files, shuffled with seed 3;", answer.out)
        self.assertLess(cleave.apart(list(parts.values()), list(whole.values())), 1e-5)

    def test_fewer_samples_than_a_step_takes(self):
        _, answer = self.train("few", batch=64)
        self.assertIn("warning: found 40 samples, but a step takes 64: every step takes samples several times", answer.err)
        answer = cleave.tool("cleave-run", self.plans[64, 1], "--data", cleave.MLP["data"], "--last-batch", "drop")
        self.assertEqual(answer.code, 1)
        self.assertIn("found 40 samples, but a step takes 64, and --last-batch drop", answer.err)

    def test_a_label_that_is_no_class_is_called_so_with_its_place(self):
        arrays = cleave.read_npz(cleave.MLP["data"])
        arrays["logits.label"][1][17] = 99
        data = self.folder / "wrong.npz"
        cleave.write_npz(data, arrays)
        answer = cleave.tool("cleave-run", self.plans[16, 1], "--data", data)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn(f"found label 99 for input `logits.label` in sample 17 of {data}, expected 0 to ", answer.err)

    def test_the_summary_has_epochs_speed_and_losses(self):
        saved = self.folder / "summed"
        losses, answer = self.train("summed", "--epochs", 2, "--save", saved)
        self.assertRegex(answer.out, r"\n5 steps in .*, epochs 0 to 2, 80 samples, .*samples/s, .*FLOP/s per rank; loss [\d.]+, least [\d.]+ in step \d\n")
        lines = [json.loads(line) for line in (self.folder / "summed.jsonl").read_text().splitlines()]
        summary = next(line["summary"] for line in lines if "summary" in line)
        self.assertEqual((summary["steps"], summary["epochs"], summary["samples"]), (5, 2, 80))
        self.assertEqual(summary["least_loss"], min(losses.values()))
        self.assertEqual(losses[summary["least_loss_step"]], summary["least_loss"])
        self.assertEqual(summary["checkpoint"], str(saved / "step-00000005"))
        self.assertEqual([line["epoch"] for line in lines if "step" in line], [0.4, 0.8, 1.2, 1.6, 2])
        self.train("summed", "--epochs", 3, "--resume", saved)
        self.assertEqual((self.folder / "summed.jsonl").read_text().count('"summary"'), 1, "that of the run before is cut")

    def command(self, source, ranks=2, steps=4, more=(), code=0):
        """Runs a Python program as data command; `arrays` and `npy` are there as in this file."""
        program = self.folder / "feed.py"
        head = f"""
import os, sys
sys.path.insert(0, {str(cleave.ROOT / "test/e2e")!r})
import cleave
arrays = cleave.read_npz({str(cleave.MLP["data"])!r})
first = int(os.environ["CLEAVE_FIRST_STEP"])
def put(step):
    for shape, values in arrays.values():
        row = len(values) // shape[0]
        rows = [values[(step * 16 + i) % 40 * row : ((step * 16 + i) % 40 + 1) * row] for i in range(16)]
        sys.stdout.buffer.write(cleave.write_npy((16, *shape[1:]), [value for part in rows for value in part]))
"""
        program.write_text(head + source)
        log = self.folder / "command.jsonl"
        answer = cleave.tool("cleave-run", self.plans[16, ranks], "--data-command", f"exec '{sys.executable}' -B '{program}'", "--steps",
                             steps, "--threads", 1, "--log", log, *more)
        self.assertEqual(answer.code, code, answer)
        return cleave.losses(cleave.read_log(log)[0]), answer

    def test_a_command_feeds_all_ranks_as_a_file_does_and_begins_where_a_run_is_resumed(self):
        wanted, _ = self.train("fed", "--steps", 6, ranks=2)
        feed = "for step in range(first, first + 99): put(step)"
        first, _ = self.command(feed, more=["--save", self.folder / "fed"])
        second, _ = self.command(feed, steps=6, more=["--resume", self.folder / "fed"])
        self.assertEqual({**first, **second}, wanted)

    def test_a_command_that_ends_early_ends_the_run_and_one_that_fails_is_an_error(self):
        saved = self.folder / "early"
        losses, answer = self.command("put(0); put(1)", more=["--save", saved])
        self.assertEqual(list(losses), [0, 1])
        self.assertIn("warning: the data command ended after step 2 of 4", answer.err)
        self.assertTrue((saved / "step-00000002").exists())
        for source, words in [("put(0); sys.exit(5)", "ended with exit code 5 after 1 batch"),
                              ("pass", "has written 0 batches, expected 1 for each step"),
                              ("put(0); sys.stdout.buffer.write(b'x' * 7)", "where a batch should begin"),
                              ("arrays['x'] = ((40, 10), arrays['x'][1][:400]); put(0)", "wrote `x` as f32[16, 10], expected f32[16, 20], in the batch of step 0")]:
            with self.subTest(source=source):
                _, answer = self.command(source, code=1)
                self.assertEqual(len(answer.errors()), 1, answer)
                self.assertIn(words, answer.err)

    def test_options_that_contradict_each_other_or_the_plan(self):
        for options, words in [(["--epochs", 1, "--steps", 1], "--steps excludes --epochs"),
                               (["--last-batch", "keep"], "--last-batch"),
                               (["--data-command", "true"], "--data excludes --data-command"),
                               (["--epochs", 0], "expected a number above 0")]:
            answer = cleave.tool("cleave-run", self.plans[16, 1], "--data", cleave.MLP["data"], *options)
            self.assertEqual(answer.code, 1, answer)
            self.assertEqual(len(answer.errors()), 1, answer)
            self.assertIn(words, answer.err)
        mse, more = self.folder / "mse.plan", ["--train", "--loss", "mse:logits", "--set", "batch=16"]
        cleave.must("cleave-compile", cleave.MLP["model"], *more, "-o", mse)
        answer = cleave.tool("cleave-run", mse, "--data", cleave.GOLDEN / "mlp-mse.npz", "--last-batch", "pad")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("the loss cannot ignore values of the label `logits.label`", answer.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
