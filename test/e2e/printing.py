"""What the tools print: on a terminal, in a pipe, more and less of it."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

import cleave
import fixture

TOOLS = ["cleave-compile", "cleave-dump", "cleave-run", "cleave-export", "cleave-profile", "cleave-zoo", "cleave-solve", "cleave-calibrate"]
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(columns, *command, **variables):
    """What a command prints on a terminal of this width."""
    own, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen([str(word) for word in command], stdin=other, stdout=other, stderr=other,
                               env={**environment, "TERM": "xterm", **variables})
    os.close(other)
    text = b""
    while True:
        try:
            part = os.read(own, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(own)
    process.wait()
    return text.decode().replace("\r\n", "\n")


class Printing(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan = cls.folder / "gpt.plan"
        cls.said = cleave.compile_model(cleave.GPT["model"], cls.plan, ranks=4)

    def views(self):
        for view in ([], ["-v"], ["-q"], ["--sharding"], ["--memory"], ["--collectives"], ["--kinds"], ["--recompute"], ["--program", "0"], ["--explain", "tok.weight"],
                     ["--explain", "head.weight"], ["--diff", self.plan]):
            yield [cleave.BIN / "cleave-dump", self.plan, *view]

    def test_a_compilation_prints_about_ten_lines(self):
        self.assertLess(len((self.said.out + self.said.err).splitlines()), 16)
        more = cleave.compile_model(cleave.GPT["model"], self.plan, "-v", ranks=4)
        self.assertGreater(len((more.out + more.err).splitlines()), 40)
        less = cleave.compile_model(cleave.GPT["model"], self.plan, "-q", ranks=4)
        self.assertEqual(less.out + less.err, "")

    def go(self, *options):
        return cleave.tool("cleave-run", self.plan, "--data", cleave.GPT["data"], "--threads", 1, *options)

    def test_a_run_tells_what_it_is_asked_for(self):
        dump = json.loads(cleave.must("cleave-dump", self.plan, "--json").out)
        saved = self.folder / "told"
        usual, more = self.go("--steps", 4), self.go("--steps", 4, "--save", saved, "--save-every", 2, "-v")
        self.assertEqual((usual.code, more.code), (0, 0))
        self.assertLess(len(usual.out.splitlines()), 8)
        for rank in range(4):
            self.assertRegex(more.out, rf"\nrank {rank}: process \d+ on .*; 1 thread; arenas \d")
        collectives = dump["programs"][0]["collectives"]
        said = re.findall(r"communicator (.*) of rank 0: with ranks 0, .*; (\d+) collectives? a step", more.out)
        self.assertEqual(sum(int(count) for _, count in said), len(collectives))
        self.assertEqual({axes for axes, _ in said}, {one["axes"] for one in collectives})
        self.assertRegex(more.out, r"\nmemory of rank 0: parameters [\d.]+ \w+, states ")
        for file in (cleave.GPT["model"], cleave.GPT["data"]):
            self.assertIn(f"'{file}', ", more.out)
        for step in (2, 4):
            self.assertRegex(more.out, rf"\nsaved '{saved}/step-0000000{step}' in [\d.]+ ")
        told = [line for line in more.out.splitlines() if re.search(r"(tokens|samples)/s", line)]
        self.assertEqual(len(told), 5, "every step and the summary: " + more.out)

    def test_progress_counts_the_steps_that_are_done_and_the_rest_numbers_them_from_0(self):
        log = self.folder / "counted.jsonl"
        answer = self.go("--steps", 4, "--log", log)
        self.assertRegex(answer.out, r"\n1/4 steps  loss [\d.]+")
        self.assertRegex(answer.out, r"\n4/4 steps  loss [\d.]+")
        losses = cleave.losses(cleave.read_log(log)[0])
        self.assertIn(f"in step {min(losses, key=losses.get)}\n", answer.out)

    def test_the_measured_time_of_a_step_stands_beside_the_predicted_one(self):
        log = self.folder / "measured.jsonl"
        answer = self.go("--steps", 4, "--log", log)
        self.assertRegex(answer.out, r"\n4 steps in .*, [\d.]+ .?s per step \(predicted [\d.]+ .?s\), ")
        summary = next(line["summary"] for line in map(json.loads, log.read_text().splitlines()) if "summary" in line)
        predicted = json.loads(cleave.must("cleave-dump", self.plan, "--json").out)["predicted"]
        self.assertEqual(summary["predicted_step_seconds"], predicted["step_seconds"])
        self.assertGreater(summary["step_seconds"], 0)

    def test_ranks_that_share_cores_are_warned_about(self):
        shared = len(os.sched_getaffinity(0)) < 4
        self.assertEqual(shared, "cleave-run: warning: 4 ranks share " in self.go("--steps", 1).err)
        self.assertEqual(shared, "note: 4 ranks would share " in self.said.err)

    def test_the_line_of_progress_fits_the_terminal(self):
        command = [cleave.BIN / "cleave-run", self.plan, "--data", cleave.GPT["data"], "--threads", 1, "--steps", 3]
        for columns in (50, 100):
            with self.subTest(columns=columns):
                redrawn = re.findall(r"\r([^\r\n]*)\x1b\[K", on_terminal(columns, *command))
                self.assertGreaterEqual(len(redrawn), 2)
                self.assertLess(max(map(len, redrawn)), columns)
                self.assertIn("3/3  loss ", redrawn[-1])

    def test_a_quiet_run_prints_errors_only(self):
        data = self.folder / "few.npz"
        cleave.write_npz(data, {name: ((3, *shape[1:]), values[: 3 * shape[1]]) for name, (shape, values) in cleave.read_npz(cleave.GPT["data"]).items()})
        few = ["--data", data, "--steps", 2]
        self.assertIn("warning: found 3 samples", cleave.must("cleave-run", self.plan, *few).err)
        quiet = cleave.must("cleave-run", self.plan, *few, "-q")
        self.assertEqual(quiet.out + quiet.err, "")
        bad = self.go("--steps", 1, "--lr", "x", "-q")
        self.assertEqual((bad.code, bad.out, len(bad.errors())), (1, "", 1))

    def test_utilization_is_that_of_the_plan_at_the_measured_speed(self):
        predicted = json.loads(cleave.must("cleave-dump", self.plan, "--json").out)["predicted"]
        steps, _ = cleave.train(self.plan, cleave.GPT["data"], 3, self.folder / "log.jsonl")
        for step in steps:
            wanted = predicted["mfu"] * predicted["step_seconds"] / step["seconds"]
            self.assertAlmostEqual(step["mfu"], wanted, delta=1e-9)
            self.assertGreater(step["mfu"], 0)

    def test_no_line_is_wider_than_the_terminal(self):
        for columns in (60, 100):
            for command in self.views():
                with self.subTest(columns=columns, command=command[2:]):
                    lines = STYLE.sub("", on_terminal(columns, *command)).splitlines()
                    self.assertGreater(len(lines), 2)
                    self.assertLessEqual(max(map(len, lines)), columns)

    def test_a_profile_leaves_out_columns_where_there_is_no_room(self):
        command = [cleave.BIN / "cleave-profile", cleave.GPT["model"], "--train", "--loss", "softmax-cross-entropy:logits"]
        narrow, wide = ([STYLE.sub("", line) for line in on_terminal(columns, *command).splitlines()] for columns in (80, 400))
        self.assertLessEqual(max(map(len, narrow)), 80)
        self.assertTrue(any("columns are left out" in line for line in narrow))
        self.assertFalse(any("left out" in line for line in wide))

    def test_an_evaluation_is_no_part_of_a_step(self):
        plan = self.folder / "evaluated.plan"
        cleave.compile_model(cleave.GPT["model"], plan, "--eval", "--mesh", "dp=2", ranks=2)
        summary = cleave.must("cleave-dump", plan).out
        self.assertRegex(summary, r"\n *0-1, evaluation +device ")
        kinds = re.findall(r"\n *micro +(\S+) ", summary)  # of the collectives of a step, each in one line
        self.assertIn("all-reduce", kinds)
        self.assertEqual(len(kinds), len(set(kinds)))
        self.assertRegex(cleave.must("cleave-dump", plan, "--collectives").out, "segment micro, runs once an evaluation")

    def test_colours_are_for_terminals_and_for_those_who_want_them(self):
        command = [cleave.BIN / "cleave-dump", self.plan]
        self.assertRegex(on_terminal(100, *command), STYLE)
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotRegex(on_terminal(100, *command, **variables), STYLE)
        self.assertNotRegex(cleave.must("cleave-dump", self.plan).out, STYLE)
        refused = [cleave.BIN / "cleave-dump", self.folder / "none.plan"]
        self.assertRegex(on_terminal(100, *refused), STYLE)
        self.assertNotRegex(cleave.tool("cleave-dump", self.folder / "none.plan").err, STYLE)

    def test_a_tied_weight_is_explained_by_either_name(self):
        one, other = (cleave.must("cleave-dump", self.plan, "--explain", name).out for name in ("tok.weight", "head.weight"))
        self.assertEqual(one, other)
        self.assertIn("tied", one)

    def test_every_tool_has_the_same_basic_options(self):
        for tool in TOOLS:
            with self.subTest(tool=tool):
                self.assertRegex(cleave.must(tool, "--version").out, rf"^{tool} [0-9]+\.[0-9]+")
                help_text = cleave.must(tool, "--help").out
                for option in ("-q,--quiet", "-v,--verbose", "--version"):
                    self.assertIn(option, help_text)
        self.assertRegex(cleave.must("cleave-opt", "--version").out, r"cleave-opt [0-9]+\.[0-9]+")
        first = cleave.must("cleave-opt", "--help").out.splitlines()[:8]
        self.assertTrue(any("--cleave-autodiff" in line for line in first), first)


if __name__ == "__main__":
    unittest.main(verbosity=2)
