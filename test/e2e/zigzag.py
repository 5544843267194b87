"""Causal attention in zigzag: ranks train like one, and exchange what closed forms say."""

import json
import pathlib
import re
import tempfile
import unittest

import cleave
import zoo

STEPS = 3
MODEL = "llama2-7b"  # of zoo.MODELS
LAYERS, HEADS, GROUPS, COLUMNS, TOKENS = 4, 4, 2, 64, 128


class Zigzag(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = zoo.write_model(MODEL, self.folder)
        # Attention so slow that sharing it evenly pays, whatever this machine is.
        cluster = json.loads((cleave.ROOT / "compiler/cluster/presets/h100-node.json").read_text())
        cluster["attention_flops"] = 1e8
        self.cluster = self.folder / "slow.json"
        self.cluster.write_text(json.dumps(cluster))

    def plan_of(self, ranks, recipe, tokens=TOKENS, batch=zoo.BATCH):
        plan = self.folder / "plan"
        options = zoo.options(MODEL)[:-1] + [f"batch={batch},seq={tokens}"]
        cleave.must("cleave-compile", self.model, *options, "--cluster", self.cluster, "--device", "cpu", "--ranks", ranks,
                    *(["--pin", recipe] if recipe else []), "-o", plan)
        return plan

    def losses_of(self, plan, tokens):
        """Losses on the first tokens of each random sample."""
        arrays = cleave.read_npz(zoo.write_samples(MODEL, self.folder, STEPS))
        data = self.folder / "data.npz"
        cut = {name: ((shape[0], tokens), [number for at in range(shape[0]) for number in numbers[at * shape[1]:at * shape[1] + tokens]])
               for name, (shape, numbers) in arrays.items()}
        cleave.write_npz(data, cut)
        return [line["loss"] for line in cleave.train(plan, data, STEPS, self.folder / "log.jsonl")[0]]

    @staticmethod
    def exchanges_of(plan):
        return len(re.findall(r" reversed:", cleave.must("cleave-dump", plan, "--program", 0).out))

    def check_training(self, tokens, cases):
        wanted = self.losses_of(self.plan_of(1, "", tokens), tokens)
        for ranks, recipe, is_zigzag in cases:
            with self.subTest(tokens=tokens, ranks=ranks, recipe=recipe):
                plan = self.plan_of(ranks, recipe, tokens)
                self.assertEqual(self.exchanges_of(plan) > 0, is_zigzag)
                self.assertLess(cleave.apart(self.losses_of(plan, tokens), wanted), 1e-5)

    def test_ranks_train_like_one(self):
        self.check_training(TOKENS, [(2, "cp", True), (4, "cp", True), (4, "dp+cp:2", True), (4, "fsdp+cp:2", True),
                                     (4, "cp:2+tp:2", True)])

    def test_odd_lengths_stay_in_order(self):
        self.check_training(TOKENS - 2, [(2, "cp", False), (4, "cp", False)])

    def test_the_plan_says_so(self):
        for tokens, is_zigzag in ((TOKENS, True), (TOKENS - 2, False)):
            plan = self.plan_of(4, "cp", tokens)
            name = re.search(r"^ *\d+  attention  *(\S+)", cleave.must("cleave-dump", plan, "--program", 0).out, re.M)[1]
            told = " ".join(cleave.must("cleave-dump", plan, "--explain", name).out.split())
            self.assertEqual("in zigzag; gives" in told, is_zigzag, told)

    def test_bytes_are_those_of_closed_forms(self):
        ranks, batch = 4, 3  # no weight has as many bytes as all keys of 3 samples
        plan = json.loads(cleave.must("cleave-dump", self.plan_of(ranks, "cp", batch=batch), "--json").out)
        moved = {}
        for call in plan["programs"][0]["collectives"]:
            moved.setdefault(call["kind"], []).append(call["bytes"])
        half = batch * HEADS * TOKENS // ranks // 2  # rows of a rank's half, in all heads
        # Query, result and log-sum-exp; for the gradients these, the gradient of the result, and that of the query.
        forward, backward = half * (2 * COLUMNS + 1), half * (4 * COLUMNS + 1)
        self.assertEqual(sum(moved["permute"]), 4 * LAYERS * (forward + backward))
        # All keys, or all values: gathered in the forward and in the backward pass; their gradients are reduce-scattered.
        whole = 4 * batch * GROUPS * TOKENS * COLUMNS
        self.assertEqual(moved["all-gather"].count(whole), 2 * 2 * LAYERS)
        self.assertEqual(moved["reduce-scatter"].count(whole), 2 * LAYERS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
