"""Answers beside a plan: differences of plans, memory against time, other options, numbers of micro-batches and ranks."""

import csv
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

import cleave

STEPS = 3


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, name, *options, **how):
        """The plan as JSON."""
        cleave.compile_model(cleave.GPT["model"], self.folder / name, *options, **how)
        return json.loads(cleave.must("cleave-dump", self.folder / name, "--json").out)

    def decisions(self, plan, kind):
        return [decision for decision in plan["decisions"] if decision["kind"] == kind]

    def test_what_if_is_part_of_the_plan(self):
        plan = self.compile("gpt.plan", "--what-if", ranks=2)
        answers = {answer["name"]: answer for answer in self.decisions(plan, "what-if")}
        self.assertLessEqual({"--ranks 4", "--ranks 1", "--micro-batch 2", "--pin full-recompute"}, set(answers))
        other = self.compile("four.plan", ranks=4)
        self.assertAlmostEqual(answers["--ranks 4"]["seconds"], other["predicted"]["planned_seconds"])
        self.assertIn("what-if", cleave.must("cleave-dump", self.folder / "gpt.plan").out)

    def test_pareto_writes_lines_and_a_picture(self):
        plan = self.compile("gpt.plan", "--pareto", self.folder / "front")
        with open(self.folder / "front.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertGreaterEqual(len(rows), 3)
        self.assertAlmostEqual(float(rows[-1]["planned_seconds"]), plan["predicted"]["planned_seconds"])
        sizes = [int(row["bytes"]) for row in rows]
        seconds = [float(row["planned_seconds"]) for row in rows]
        self.assertEqual(sizes, sorted(set(sizes)))
        self.assertEqual(seconds, sorted(set(seconds), reverse=True))
        picture = xml.etree.ElementTree.parse(self.folder / "front.svg")
        self.assertEqual(len(picture.findall(".//{http://www.w3.org/2000/svg}circle")), len(rows))
        small = self.compile("small.plan", "--memory", rows[0]["budget_bytes"])
        self.assertAlmostEqual(small["predicted"]["planned_seconds"], seconds[0])

    def test_the_difference_names_recomputation_layouts_and_collectives(self):
        free = self.compile("free.plan", "--pin", "dp", ranks=2)
        self.compile("split.plan", "--pin", "fsdp,full-recompute", ranks=2)
        found = cleave.must("cleave-dump", "--diff", self.folder / "free.plan", self.folder / "split.plan").out
        for part in (r"all-reduce over dp", r"reduce-scatter over dp", r"blocks\.\{0,1\}\.attn\.qkv\.weight x2 +\[_, _\] +\[dp=2, _\]",
                     r"kept +recomputed", r"(?m)^ +step .* \+\d"):
            self.assertRegex(found, part)
        same = cleave.must("cleave-dump", "--diff", self.folder / "free.plan", self.folder / "free.plan").out
        self.assertIn("No instruction, layout, recomputation or buffer differs", same)
        self.assertGreater(free["predicted"]["step_seconds"], 0)

    def test_every_recompute_decision_is_explained_with_the_price_of_memory_that_would_change_it(self):
        plan = self.compile("gpt.plan")
        kept = self.decisions(plan, "kept")
        self.assertGreater(len(kept), 10)
        recomputed = self.decisions(self.compile("full.plan", "--pin", "full-recompute"), "recompute")
        for name, decision in (("gpt.plan", next(each for each in kept if each["alternatives"])), ("full.plan", recomputed[0])):
            text = cleave.must("cleave-dump", self.folder / name, "--explain", decision["name"]).out
            self.assertRegex(" ".join(text.split()), r"per GiB")
        text = cleave.must("cleave-dump", self.folder / "full.plan", "--recompute").out
        self.assertRegex(text, r"input of blocks\.\{0,1\}\.\S+ +2 ")

    def test_a_cut_batch_trains_as_accumulation_does(self):
        plan, log = self.folder / "gpt.plan", self.folder / "log.jsonl"
        cleave.compile_model(cleave.GPT["model"], plan, "--micro-batch", 4)
        cut, _ = cleave.train(plan, cleave.GPT["data"], STEPS, log)
        cleave.compile_model(cleave.GPT["model"], plan, "--accumulate", 4, batch=2)
        typed, _ = cleave.train(plan, cleave.GPT["data"], STEPS, log)
        self.assertEqual(cleave.losses(cut), cleave.losses(typed))

    def test_the_number_of_micro_batches_is_chosen_where_memory_binds(self):
        peak = self.compile("gpt.plan", batch=64)["predicted"]["peak_bytes"]
        plan = self.compile("cut.plan", "--micro-batch", "auto", "--memory", peak // 4, batch=64)
        told = [remark["reason"] for remark in self.decisions(plan, "remark") if remark["name"] == "micro-batch"]
        self.assertEqual(len(told), 1)
        self.assertRegex(told[0], r"^\d+ micro-batches of batch=\d+ chosen: 1: none of the plans tried fits")
        self.assertLessEqual(plan["predicted"]["peak_bytes"], peak // 4)

    def test_the_fewest_ranks_are_found(self):
        peak = self.compile("gpt.plan")["predicted"]["peak_bytes"]
        cleave.compile_model(cleave.GPT["model"], self.folder / "least.plan", "--memory", peak // 2, ranks="least")
        plan = json.loads(cleave.must("cleave-dump", self.folder / "least.plan", "--json").out)
        self.assertGreater(plan["ranks"], 1)
        fewer = cleave.tool("cleave-compile", *cleave.compile_options(cleave.GPT["model"], "--memory", peak // 2, ranks=plan["ranks"] // 2),
                            "-o", self.folder / "fewer.plan")
        self.assertEqual(fewer.code, 2)
        self.assertTrue(re.search(rf"\n +suggestion .*\n +--ranks {plan['ranks'] // 2 * 2} ", fewer.err, re.DOTALL), fewer.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
