"""What tests share that need a folder, compile several models into it and expect refusals."""

import pathlib
import tempfile
import unittest

import cleave


class InFolder(unittest.TestCase):
    """A class of tests with a folder of its own, `folder`, which is removed behind them."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)


class Plans(InFolder):
    """Tests that compile models into their folder, and expect refusals."""

    @classmethod
    def compile(cls, name, model, *options, ranks=1):
        """The plan NAME.plan in the folder, which the compiler has to manage."""
        plan = cls.folder / f"{name}.plan"
        cleave.must("cleave-compile", model, *options, "--cluster", "local-cpu", "--ranks", ranks, "-o", plan)
        return plan

    def trained(self, plan, samples, steps, *options):
        """(loss, gradient norm) of each step that ran; every rank allocated what was planned."""
        log = plan.with_suffix(".jsonl")
        log.unlink(missing_ok=True)
        found, ranks = cleave.train(plan, samples, steps, log, *options)
        for rank in ranks:
            self.assertEqual(rank["planned_bytes"], rank["allocated_bytes"])
        return [(step["loss"], step["grad_norm"]) for step in found]

    def refuses(self, answer, *words, code=1):
        """The tool ended with this code and one message, which has all the words."""
        self.assertEqual(answer.code, code, answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        for word in words:
            self.assertIn(word, answer.err, answer)
