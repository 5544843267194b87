"""Dropout draws the same masks however training is spread: over ranks, over micro-batches of the same size, over time."""

import pathlib
import tempfile
import unittest

import cleave

DATA, STEPS = cleave.GOLDEN / "mlp.npz", 8


class Dropout(unittest.TestCase):
    model = cleave.MODELS / "dropout.onnx"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def losses(self, ranks, *options, steps=STEPS, how=()):
        plan, log = self.folder / "dropout.plan", self.folder / "log.jsonl"
        cleave.compile_model(self.model, plan, *options, ranks=ranks)
        found = cleave.losses(cleave.train(plan, DATA, steps, log, *how)[0])
        return [found[step] for step in sorted(found)]

    def test_any_number_of_ranks_drops_what_one_rank_drops(self):
        alone = self.losses(1)
        for ranks, options in ((2, ["--pin", "dp"]), (4, ["--pin", "zero3"]), (2, ["--pin", "megatron"]), (4, [])):
            with self.subTest(ranks=ranks, options=options):
                self.assertLessEqual(cleave.apart(self.losses(ranks, *options), alone), 1e-5)

    def test_every_micro_batch_has_a_mask_of_its_own_on_any_number_of_ranks(self):
        alone = self.losses(1, "--accumulate", 2)
        self.assertLessEqual(cleave.apart(self.losses(2, "--pin", "dp", "--accumulate", 2), alone), 1e-5)

    def test_resumed_training_goes_on_with_the_next_masks(self):
        saved = self.folder / "saved"
        through = self.losses(2)
        first = self.losses(2, steps=3, how=("--save", saved))
        self.assertEqual(len(first), 3)
        self.assertEqual(self.losses(2, how=("--resume", saved)), through)  # the log goes on


class AttentionDropout(Dropout):
    """The same of attention that drops its weights."""

    model = cleave.MODELS / "attention-dropout.onnx"

    def test_the_attention_is_recognised(self):
        said = cleave.compile_model(self.model, self.folder / "dropout.plan", "-v").err
        self.assertIn("1 attention dropout", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
