#!/usr/bin/env python3
"""Labels that count: the loss of a step is that of one batch with all its samples, whatever the number of micro-batches and ranks, and
of padding; labels out of range are refused before the first update."""

import math
import unittest

import cleave
import fixture

BATCH, STEPS, CLASSES = 12, 3, 7
LOSSES = ["", ",label-smoothing=0.1", ",class-weights=1:2:0.5:1:0:3:1", ",reduction=sum,factor=0.01"]
CUTS = [["--micro-batch", 3], ["--micro-batch", 12]]


class Labels(fixture.Plans):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.arrays = cleave.read_npz(cleave.MLP["data"])

    def data(self, name, labels):
        """A file of as many samples as labels."""
        shape, values = self.arrays["x"]
        path = self.folder / f"{name}.npz"
        cleave.write_npz(path, {"x": ((len(labels), shape[1]), values[: len(labels) * shape[1]]), "logits.label": ((len(labels),), labels)})
        return path

    def labels(self, count, ignored, first=4):
        """Micro-batches with many labels that count, few and none; the first ones of each batch do not count."""
        values = self.arrays["logits.label"][1][:count]
        return [ignored if i % BATCH < first or i % 5 == 3 or i == 6 else label for i, label in enumerate(values)]

    def plan(self, name, loss, *options, ranks=1, batch=BATCH):
        return self.compile(name, cleave.MLP["model"], "--train", "--loss", loss, "--optimizer", "sgd:lr=0.1", "--set", f"batch={batch}",
                            *options, ranks=ranks)

    def run_steps(self, plan, data, *options):
        """Losses and gradient norms."""
        steps, _ = cleave.train(plan, data, STEPS, self.folder / "log.jsonl", *options)
        return [step[name] for step in steps for name in ("loss", "grad_norm")]

    def test_micro_batches_and_ranks_change_nothing(self):
        for number, options in enumerate(LOSSES):
            for ignored in (-100, 255) if number == 0 else (-100,):
                loss = f"softmax-cross-entropy:logits,ignore-index={ignored}{options}"
                data = self.data("uneven", self.labels(36, ignored))
                whole = self.run_steps(self.plan("whole", loss), data)
                self.assertTrue(all(math.isfinite(number) for number in whole))
                for cut in CUTS:
                    for ranks in (1, 2):
                        with self.subTest(loss=loss, cut=cut, ranks=ranks):
                            found = self.run_steps(self.plan("cut", loss, *cut, ranks=ranks), data)
                            self.assertLess(cleave.apart(found, whole), 1e-5)

    def test_padding_is_a_smaller_batch(self):
        """Five samples in the last step, as one batch of five that begins with the same parameters."""
        for number, options in enumerate(LOSSES):
            loss = f"softmax-cross-entropy:logits,ignore-index=255{options}"
            data, saved = self.data("padded", self.labels(29, 255, first=2)), self.folder / f"saved{number}"
            whole = self.plan("whole", loss)
            cleave.train(whole, data, 2, self.folder / "log.jsonl", "--save", saved)
            small = self.plan("small", loss, batch=5)
            rest, _ = cleave.train(small, data, 3, self.folder / "log.jsonl", "--resume", saved)
            for cut in ([], *CUTS):
                for ranks in (1, 2):
                    with self.subTest(loss=loss, cut=cut, ranks=ranks):
                        plan = self.plan("cut", loss, *cut, ranks=ranks)
                        found = self.run_steps(plan, data, "--last-batch", "pad")[-2:]
                        self.assertLess(cleave.apart(found, [rest[-1]["loss"], rest[-1]["grad_norm"]]), 1e-5)

    def test_labels_out_of_range_are_refused_by_every_loss(self):
        for loss in [f"softmax-cross-entropy:logits{options}" for options in LOSSES] + ["nll:logits"]:
            plan = self.plan("checked", loss)
            for bad in (CLASSES, -1):
                labels = self.labels(36, -100)
                labels[17] = bad
                with self.subTest(loss=loss, label=bad):
                    answer = cleave.tool("cleave-run", plan, "--data", self.data("bad", labels), "--steps", 3)
                    self.refuses(answer, f"found label {bad} for input `logits.label` in sample 17 of", "expected 0 to 6, or -100 to ignore it")

    def test_the_default_label_is_not_ignored_beside_another_one(self):
        plan = self.plan("other", "softmax-cross-entropy:logits,ignore-index=255")
        labels = [-100, *self.labels(35, 255)]
        self.refuses(cleave.tool("cleave-run", plan, "--data", self.data("default", labels), "--steps", 1),
                     "found label -100", "expected 0 to 6, or 255 to ignore it")

    def test_padding_is_refused_where_something_else_counts_samples(self):
        plan = self.compile("norms", cleave.MODELS / "resnet.pt2", "--train", "--loss", "softmax-cross-entropy:logits", "--set", "image.0=8")
        self.refuses(cleave.tool("cleave-run", plan, "--data", cleave.GOLDEN / "image.npz", "--last-batch", "pad"),
                     "--last-batch pad: batch norms count every sample", "--batch-norm frozen", "use --last-batch drop or wrap")

    def test_padding_is_refused_where_samples_depend_on_one_another(self):
        """The model subtracts a weighted sum over all samples from the numbers of each."""
        (self.folder / "mixing.mlir").write_text("""func.func @step(%x: tensor<8x7xf32> {graph.name = "x", graph.role = "input"},
            %w: tensor<7xf32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 2.0 : f64}})
            -> (tensor<8x7xf32> {graph.name = "logits", graph.role = "output"}) {
          %sum = graph.reduce sum %x over [0] : tensor<8x7xf32> -> tensor<7xf32>
          %0 = graph.mul %sum, %w : tensor<7xf32>
          %1 = graph.broadcast %0 to [1] : tensor<7xf32> -> tensor<8x7xf32>
          %2 = graph.sub %x, %1 : tensor<8x7xf32>
          return %2 : tensor<8x7xf32>
        }""")
        plan = self.compile("mixing", self.folder / "mixing.mlir", "--start-from", "import", "--train", "--eval", "--loss",
                            "softmax-cross-entropy:logits")
        data = self.folder / "mixing.npz"
        cleave.write_npz(data, {"x": ((20, 7), [i % 11 / 11 for i in range(140)]), "logits.label": ((20,), [i % 7 for i in range(20)])})
        self.refuses(cleave.tool("cleave-run", plan, "--data", data, "--last-batch", "pad"),
                     "--last-batch pad: `reduce` combines the samples of a batch", "use --last-batch drop or wrap")
        answer = cleave.must("cleave-run", plan, "--data", data, "--steps", 0, "--eval", data)
        self.assertIn("--eval leaves out the last 4 of 20 samples, since `reduce` combines the samples of a batch", answer.err)

    def test_a_step_without_labels_says_so(self):
        for cut in ([], CUTS[0]):
            plan = self.plan("none", "softmax-cross-entropy:logits", *cut)
            answer = cleave.tool("cleave-run", plan, "--data", self.data("none", [-100] * 36), "--steps", 3)
            self.refuses(answer, "no label of the step counts, all are ignored", "start again with labels that count")
            self.assertNotIn("--lr", answer.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
