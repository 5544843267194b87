"""`cleave-run --prompt`: a language model continues a sequence of tokens."""

import pathlib
import tempfile
import unittest

import cleave

WINDOW, VOCABULARY = 16, 64  # of test/models/gpt.*


class Generating(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plan(self, ranks=1, batch=1, model="gpt.dynamo.onnx", **how):
        plan = self.folder / f"{model}.{ranks}.{batch}.plan"
        cleave.compile_model(cleave.MODELS / model, plan, ranks=ranks, batch=batch, train=how.get("train", False))
        return plan

    def written(self, plan, prompt, steps, *options):
        said = cleave.must("cleave-run", plan, "--prompt", prompt, "--steps", steps, "--threads", 1, "-q", *options)
        return [int(token) for token in said.out.split(",")]

    def greedy(self, tokens, steps):
        """The most probable continuation, from one inference per token."""
        plan, data, out = self.plan(), self.folder / "window.npz", self.folder / "out.npz"
        for _ in range(steps):
            window = tokens[-WINDOW:]
            cleave.write_npz(data, {"tokens": ((1, WINDOW), window + [0] * (WINDOW - len(window)))})
            cleave.must("cleave-run", plan, "--data", data, "--steps", 1, "--threads", 1, "--out", out)
            logits = cleave.read_npz(out)["logits"][1]
            row = logits[(len(window) - 1) * VOCABULARY : len(window) * VOCABULARY]
            tokens = tokens + [max(range(VOCABULARY), key=lambda token: row[token])]
        return tokens

    def test_without_temperature_it_is_the_most_probable_continuation(self):
        """Past the end of the window, too, and on any number of ranks."""
        prompt, steps = [3, 14, 15, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9], 6
        wanted = self.greedy(prompt, steps)
        text = ",".join(map(str, prompt))
        for ranks, batch in (1, 1), (2, 1), (2, 4):
            with self.subTest(ranks=ranks, batch=batch):
                self.assertEqual(self.written(self.plan(ranks, batch), text, steps, "--temperature", 0), wanted)

    def test_draws_depend_on_the_seed_alone(self):
        one = self.written(self.plan(), "1,2,3", 12, "--temperature", 4, "--seed", 1)
        self.assertEqual(one[:3], [1, 2, 3])
        self.assertEqual(len(one), 15)
        self.assertEqual(self.written(self.plan(ranks=2), "1,2,3", 12, "--temperature", 4, "--seed", 1), one)
        self.assertNotEqual(self.written(self.plan(), "1,2,3", 12, "--temperature", 4, "--seed", 2), one)

    def refused(self, plan, prompt, *wanted):
        answer = cleave.tool("cleave-run", plan, "--prompt", prompt)
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        for words in wanted:
            self.assertIn(words, answer.err)

    def test_what_cannot_be_continued_is_refused(self):
        self.refused(self.plan(), "The", "found 'The', expected tokens from 0 to 63 with commas")
        for prompt in "64", "-1", "1,,2", "1,2,", "1 2":
            self.refused(self.plan(), prompt, f"found '{prompt}'")
        self.refused(self.plan(), "", "--prompt is empty")
        self.refused(self.plan(train=True), "1", "the plan trains", "without --train")
        self.refused(self.plan(model="mlp.dynamo.onnx"), "1", "found a model with 1 inputs and 1 outputs",
                     "expected a language model")


if __name__ == "__main__":
    unittest.main(verbosity=2)
