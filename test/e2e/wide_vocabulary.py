#!/usr/bin/env python3
"""A GPT with GPT-2's vocabulary of 50257, which no number of ranks divides, on 8 ranks under every plan: the losses are
those of one rank. The model is test/models/gpt.ts-train.onnx with a larger embedding table.

"""

import random
import sys
import unittest
from array import array

import cleave
import fixture
import onnx_edit

VOCABULARY, WIDTH, SEQUENCE, STEPS = 50257, 32, 16, 3
PLANS = {
    "solver": [],
    "dp": ["--pin", "dp"],
    "zero3": ["--pin", "zero3"],
    "megatron": ["--pin", "megatron"],
    "2x4": ["--mesh", "dp=2,tp=4", "--pin", "megatron"],
}


def write_model(path):
    """The committed GPT with a table of VOCABULARY rows, drawn anew."""
    draw = random.Random(5)
    rows = array("f", (draw.uniform(-0.05, 0.05) for _ in range(VOCABULARY * WIDTH)))
    onnx_edit.replace_initializer(
        cleave.MODELS / "gpt.ts-train.onnx", path, "tok.weight", (VOCABULARY, WIDTH), rows.tobytes(),
        output_dims={"logits": {2: VOCABULARY}},
    )


def write_data(path, samples):
    """Tokens and labels from the whole vocabulary, its first and last word among them."""
    draw = random.Random(7)
    words = lambda: [0, VOCABULARY - 1, *(draw.randrange(VOCABULARY) for _ in range(samples * SEQUENCE - 2))]
    cleave.write_npz(path, {name: ((samples, SEQUENCE), words()) for name in ("tokens", "logits.label")})


class WideVocabulary(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model, cls.data = cls.folder / "gpt.onnx", cls.folder / "data.npz"
        write_model(cls.model)
        write_data(cls.data, 8 * STEPS)

    def losses_of(self, ranks, batch, *options):
        plan, log = self.folder / "gpt.plan", self.folder / "log.jsonl"
        cleave.compile_model(self.model, plan, *options, ranks=ranks, batch=batch)
        steps, lines = cleave.train(plan, self.data, STEPS, log)
        self.assertEqual(len(lines), ranks)
        for line in lines:
            self.assertEqual(line["planned_bytes"], line["allocated_bytes"])
        return [line["loss"] for line in steps]

    def test_eight_ranks_give_the_losses_of_one(self):
        for batch in (8, 7):
            one = self.losses_of(1, batch)
            self.assertGreater(one[0], 5)  # about log(50257)
            for name in PLANS if batch == 8 else ("dp", "2x4"):
                with self.subTest(plan=name, batch=batch):
                    self.assertLessEqual(cleave.apart(self.losses_of(8, batch, *PLANS[name]), one), 1e-5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
