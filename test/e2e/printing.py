"""What the tools print: on a terminal, in a pipe, more and less of it."""

import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

import cleave

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


class Printing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.plan = cls.folder / "gpt.plan"
        cls.said = cleave.compile_model(cleave.GPT["model"], cls.plan, ranks=4)

    def views(self):
        for view in ([], ["-v"], ["-q"], ["--sharding"], ["--memory"], ["--collectives"], ["--fates"], ["--program", "0"], ["--explain", "tok.weight"],
                     ["--explain", "head.weight"], ["--diff", self.plan]):
            yield [cleave.BIN / "cleave-dump", self.plan, *view]

    def test_a_compilation_prints_about_ten_lines(self):
        self.assertLess(len((self.said.out + self.said.err).splitlines()), 16)
        more = cleave.compile_model(cleave.GPT["model"], self.plan, "-v", ranks=4)
        self.assertGreater(len((more.out + more.err).splitlines()), 40)
        less = cleave.compile_model(cleave.GPT["model"], self.plan, "-q", ranks=4)
        self.assertEqual(less.out + less.err, "")

    def test_no_line_is_wider_than_the_terminal(self):
        for columns in (60, 100):
            for command in self.views():
                with self.subTest(columns=columns, command=command[2:]):
                    lines = STYLE.sub("", on_terminal(columns, *command)).splitlines()
                    self.assertGreater(len(lines), 2)
                    self.assertLessEqual(max(map(len, lines)), columns)

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
