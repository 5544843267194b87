"""Mixtures of experts of transformers train like in PyTorch, on any number of ranks and however their experts are split."""

import json
import pathlib
import tempfile
import unittest

import cleave

RECORD = json.loads((cleave.GOLDEN / "experts.json").read_text())
DATA = cleave.GOLDEN / "experts.npz"


class Experts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plan(self, name, ranks, *options):
        plan = self.folder / "plan"
        training = ["--train", "--loss", "softmax-cross-entropy", "--optimizer", RECORD["optimizer"]]
        cleave.compile_model(cleave.GOLDEN / f"experts-{name}.pt2", plan, *training, *options, ranks=ranks, batch=4, train=False)
        return plan

    def losses(self, name, ranks, *options):
        plan, log = self.plan(name, ranks, *options), self.folder / "log.jsonl"
        found = cleave.losses(cleave.train(plan, DATA, len(RECORD["losses"][name]), log)[0])
        return [found[step] for step in sorted(found)]

    def pins(self, layout):
        """Every weight of experts is stored and used in this layout."""
        path = self.folder / "pins.json"
        path.write_text(json.dumps({"pins": [{"name": "*.experts.*", "layout": layout, "use": layout}]}))
        return path

    def test_any_number_of_ranks_trains_like_pytorch(self):
        for name, expected in RECORD["losses"].items():
            for ranks, options in ((1, []), (2, []), (4, []), (4, ["--pin", "zero3"])):
                with self.subTest(name=name, ranks=ranks, options=options):
                    self.assertLessEqual(cleave.apart(self.losses(name, ranks, *options), expected), 1e-5)

    def test_experts_are_split_by_number_by_inputs_and_by_outputs(self):
        expected = RECORD["losses"]["top2"]
        for ranks in 2, 4:
            for layout in ([["dp"], [], []], [[], ["dp"], []], [[], [], ["dp"]]):
                with self.subTest(ranks=ranks, layout=layout):
                    losses = self.losses("top2", ranks, "--mesh", f"dp={ranks}", "--pin", self.pins(layout))
                    self.assertLessEqual(cleave.apart(losses, expected), 1e-5)

    def test_products_are_grouped(self):
        shown = cleave.tool("cleave-dump", self.plan("top2", 1), "--program", 0).out
        self.assertEqual(shown.count("grouped matmul "), 2 * 2)  # both products of an expert, and the gradients of their rows
        self.assertEqual(shown.count("grouped weight"), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
