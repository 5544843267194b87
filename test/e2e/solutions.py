"""Plans from solutions of the planner's network: written by --problem, solved by cleave-solve, read back by --solution."""

import json
import pathlib
import tempfile
import unittest

import cleave

MESH = ("--mesh", "dp=2,tp=2")


class Solutions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.problem, self.solution = self.folder / "problem.json", self.folder / "solution.json"

    def compile(self, name, *options):
        return cleave.tool("cleave-compile", *cleave.compile_options(cleave.GPT["model"], *MESH, *options, ranks=4), "-o", self.folder / name)

    def first_choices(self):
        """The first permitted choice of every node."""
        nodes = json.loads(self.problem.read_text())["nodes"]
        return [next(i for i, choice in enumerate(node["choices"]) if choice["cost"] is not None) for node in nodes]

    def predicted(self, name):
        return json.loads(cleave.must("cleave-dump", self.folder / name, "--json").out)["predicted"]

    def refuses(self, answer, code, words):
        self.assertEqual(answer.code, code, answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        self.assertIn(words, answer.errors()[0])

    def test_a_solution_is_the_plan(self):
        self.assertEqual(self.compile("searched.plan", "--problem", self.problem).code, 0)
        cleave.must("cleave-solve", self.problem, "--effort", 1, "-o", self.solution)
        answer = self.compile("given.plan", "--solution", self.solution)
        self.assertEqual(answer.code, 0, answer)
        searched, given = self.predicted("searched.plan"), self.predicted("given.plan")
        self.assertAlmostEqual(given["planned_seconds"] / searched["planned_seconds"], 1, delta=0.01)
        # The first permitted choice of every node is a plan as well, or it is refused; it is no faster.
        self.solution.write_text(json.dumps(self.first_choices()))
        if self.compile("first.plan", "--solution", self.solution).code == 0:
            self.assertGreater(self.predicted("first.plan")["planned_seconds"], given["planned_seconds"])

    def test_what_is_no_solution_is_refused(self):
        self.assertEqual(self.compile("searched.plan", "--problem", self.problem).code, 0)
        cleave.must("cleave-solve", self.problem, "--effort", 1, "-o", self.solution)
        choices = json.loads(self.solution.read_text())["choices"]
        self.solution.write_text(json.dumps(choices[1:]))
        self.refuses(self.compile("a.plan", "--solution", self.solution), 1, f"has {len(choices) - 1} choices, but the network")
        self.solution.write_text(json.dumps([10**6, *choices[1:]]))
        self.refuses(self.compile("a.plan", "--solution", self.solution), 2, "violation")
        small = ("--memory", "100KiB")
        self.assertEqual(self.compile("a.plan", "--problem", self.problem, *small).code, 2)
        self.solution.write_text(json.dumps(self.first_choices()))
        self.refuses(self.compile("a.plan", "--solution", self.solution, *small), 2, "budget")
        self.solution.write_text("nothing")
        self.refuses(self.compile("a.plan", "--solution", self.solution), 1, "solution.json")
        answer = cleave.tool("cleave-compile", *cleave.compile_options(cleave.GPT["model"], "--problem", self.problem, ranks=4), "-o",
                             self.folder / "a.plan")
        self.refuses(answer, 1, "give --mesh")


if __name__ == "__main__":
    unittest.main()
