"""A small task by Python: a character GPT learns this repository's text, is evaluated, stopped and resumed, and its best weights are exported.
test/e2e/tasks.py is the same by the tools. Standard library alone."""

import collections
import math
import pathlib
import tempfile
import unittest

import cleave

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 320


class Tasks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_gpt_learns_the_text_of_this_repository(self):
        text = b"".join(path.read_bytes() for path in sorted((ROOT / "docs").rglob("*.md")))
        train, held_out = self.folder / "text.bin", self.folder / "held-out.bin"
        train.write_bytes(text[: -len(text) // 10])
        held_out.write_bytes(text[-len(text) // 10 :])

        model = cleave.zoo("gpt2", self.folder / "gpt.onnx", layers=2, hidden=64, heads=4, vocab=256, context=32)
        plan = cleave.compile(model, loss="softmax-cross-entropy:logits", optimizer="adamw:lr=2e-3,weight-decay=0.1", clip_norm=1,
                              optimizer_group="no-decay", eval=True, set={"batch": 16, "seq": 32}, ranks=2)
        options = {"steps": STEPS, "shuffle": True, "threads": 1, "progress": False, "eval": held_out, "eval_every": STEPS // 4,
                   "eval_steps": 20, "keep_best": "eval_loss", "save": self.folder / "saved",
                   "lr_schedule": f"cosine:warmup=10%,steps={STEPS}"}

        def stop_half_way(step):
            if step.number == STEPS // 2:
                raise cleave.Stop("half of it")

        begun = plan.run(train, callbacks=stop_half_way, **options)
        self.assertEqual(begun.stopped, "half of it")
        run = plan.run(train, resume=begun, **options)
        self.assertEqual(run.steps[0].number, begun.steps[-1].number + 1)
        rates = begun.metric("lr") + run.metric("lr")
        self.assertEqual((len(rates), rates[0]), (STEPS, 0))
        self.assertAlmostEqual(max(rates), 2e-3)

        last = run.evaluations[-1]
        self.assertEqual(last.step, STEPS - 1)
        # Better than the frequencies of single bytes, which test/e2e/tasks.py states as a formula.
        counts = collections.Counter(train.read_bytes())
        scored = held_out.read_bytes()
        by_frequencies = -sum(math.log((counts[byte] + 1) / (counts.total() + 256)) for byte in scored) / len(scored)
        self.assertLess(last.metrics["eval_loss"], 0.9 * by_frequencies)
        self.assertTrue(run.export(self.folder / "best.safetensors", best=True).is_file())


if __name__ == "__main__":
    unittest.main()
