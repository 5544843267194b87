"""What a plan promises: the same bytes from the same input, the stable fields of --json, memory as predicted."""

import json
import pathlib
import re
import tempfile
import unittest

import cleave


class Plans(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def json_of(self, plan):
        return json.loads(cleave.must("cleave-dump", plan, "--json").out)

    def test_the_same_input_gives_the_same_bytes(self):
        plan, first = self.folder / "gpt.plan", None
        for _ in range(2):
            cleave.compile_model(cleave.GPT["model"], plan, ranks=4)
            data, first = plan.read_bytes(), first or plan.read_bytes()
            self.assertEqual(data, first)

    def test_the_solver_alone_finds_what_the_planner_found(self):
        plan, dumps = self.folder / "gpt.plan", self.folder / "phases"
        cleave.compile_model(cleave.GPT["model"], plan, "--mesh", "dp=2,tp=2", "--dump-phases", dumps, ranks=4)
        network, solution = dumps / "network-dp=2,tp=2.json", self.folder / "solution.json"
        found = cleave.must("cleave-solve", network, 20, "-o", solution, "--choices").out
        cost = float(re.match(r"cost (\S+) ", found).group(1))
        priced = cleave.must("cleave-solve", network, "--solution", solution).out
        self.assertRegex(priced, r"cost \S+  feasible\ndevice: peak \d+ of \d+ bytes at time \d+")
        self.assertAlmostEqual(float(priced.split()[1]), cost, delta=1e-9 * cost)
        choices = json.loads(solution.read_text())["choices"]
        self.assertEqual(json.loads(found.splitlines()[-1]), choices)
        solution.write_text(json.dumps(choices[:-1] + [10**6]))
        refused = cleave.tool("cleave-solve", network, "--solution", solution)
        self.assertEqual(refused.code, 2, refused)
        self.assertIn(f"1 violation: node {len(choices) - 1} has no choice 1000000", refused.err)
        self.assertLessEqual(cost, self.json_of(plan)["predicted"]["planned_seconds"] * (1 + 1e-6), found)
        remarks = json.loads((dumps / "planner.json").read_text())["remarks"]
        self.assertLessEqual({"mesh", "bound", "memory", "parameter", "op"}, {remark["kind"] for remark in remarks})

    def test_json_has_the_fields_that_scripts_rely_on(self):
        plan = self.folder / "gpt.plan"
        cleave.compile_model(cleave.GPT["model"], plan, "--mesh", "dp=2,tp=2", ranks=4)
        found = self.json_of(plan)
        self.assertEqual(found["mesh"], {"dp": 2, "tp": 2})
        self.assertEqual(found["ranks"], 4)
        predicted = found["predicted"]
        self.assertGreater(predicted["step_seconds"], 0)
        self.assertGreater(predicted["bound_seconds"], 0)
        self.assertGreaterEqual(predicted["planned_seconds"], predicted["bound_seconds"])
        self.assertAlmostEqual(predicted["step_seconds"], predicted["compute_seconds"] + predicted["communication_seconds"])
        self.assertAlmostEqual(predicted["planned_seconds"], predicted["step_seconds"], delta=0.01 * predicted["step_seconds"])
        gap = (predicted["planned_seconds"] - predicted["bound_seconds"]) / predicted["planned_seconds"]
        self.assertAlmostEqual(predicted["gap"], gap, delta=0.01)
        kinds = {decision["kind"] for decision in found["decisions"]}
        self.assertIn("parameter", kinds)
        names = {decision["name"] for decision in found["decisions"] if decision["kind"] == "parameter"}
        self.assertIn("blocks.0.attn.qkv.weight", names)

    def test_the_predicted_peak_is_what_the_largest_rank_takes(self):
        for options in ([], ["--pin", "zero3"], ["--pin", "megatron"]):
            with self.subTest(options=options):
                plan, log = self.folder / "gpt.plan", self.folder / "log.jsonl"
                cleave.compile_model(cleave.GPT["model"], plan, *options, ranks=4)
                _, ranks = cleave.train(plan, cleave.GPT["data"], 2, log)
                self.assertEqual([line["rank"] for line in ranks], [0, 1, 2, 3])
                for line in ranks:
                    self.assertEqual(line["planned_bytes"], line["allocated_bytes"])
                    self.assertGreater(line["peak_rss_bytes"], line["allocated_bytes"])
                peak = self.json_of(plan)["predicted"]["peak_bytes"]
                self.assertEqual(max(line["allocated_bytes"] for line in ranks), peak)

    def test_resident_memory_is_explained_within_five_percent(self):
        plan, log = self.folder / "gpt.plan", self.folder / "log.jsonl"
        cleave.compile_model(cleave.GPT["model"], plan, ranks=2)
        _, ranks = cleave.train(plan, cleave.GPT["data"], 5, log)
        for line in ranks:
            self.assertGreaterEqual(line["explained"], 0.95, line)
            self.assertLessEqual(line["explained"], 1.05, line)

    def test_a_budget_is_kept_and_costs_time(self):
        free, tight = self.folder / "free.plan", self.folder / "tight.plan"
        cleave.compile_model(cleave.GPT["model"], free, ranks=4)
        peak = self.json_of(free)["predicted"]["peak_bytes"]
        budget = int(peak * 0.9)
        cleave.compile_model(cleave.GPT["model"], tight, "--memory", budget, ranks=4)
        found = self.json_of(tight)["predicted"]
        self.assertLessEqual(found["peak_bytes"], budget)

    def test_a_plan_for_machines_that_are_not_here(self):
        plan = self.folder / "far.plan"
        options = ["--train", "--loss", "softmax-cross-entropy:logits", "--set", "batch=64", "--cluster", "h100-node"]
        cleave.must("cleave-compile", cleave.GPT["model"], *options, "--ranks", 16, "-o", plan)
        self.assertEqual(self.json_of(plan)["ranks"], 16)

    def test_every_view_of_a_plan_is_printed(self):
        plan = self.folder / "gpt.plan"
        cleave.compile_model(cleave.GPT["model"], plan, "--pin", "megatron", ranks=2)
        views = [[], ["--sharding"], ["--memory"], ["--collectives"], ["--kinds"], ["--program", "1"]]
        for view in [*views, ["--explain", "blocks.0.attn.qkv.weight"]]:
            self.assertGreater(len(cleave.must("cleave-dump", plan, *view).out.splitlines()), 3, view)


if __name__ == "__main__":
    unittest.main(verbosity=2)
