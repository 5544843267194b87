"""Man pages and completions name every option that `--help` shows, and their values. What a shell or `man` must read is read by it; the
parts for programs that this machine lacks are skipped."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import cleave

SHARE = cleave.BIN.resolve().parent / "share"
BASH = SHARE / "bash-completion/completions"
ZSH = SHARE / "zsh/vendor-completions"
MANUALS = SHARE / "man/man1"
TOOLS = ["cleave", *(f"cleave-{name}" for name in "compile dump run export profile zoo solve calibrate".split())]
COMPLETE = """source "$0/$1"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_${1//-/_}"; printf '%s\\n' "${COMPREPLY[@]}" """


def completions(*words, folder=MANUALS):
    """What bash completes the last word to, in a folder where no file has a name like a value."""
    done = subprocess.run(["bash", "-c", COMPLETE, BASH, *words], capture_output=True, text=True, cwd=folder, check=False)
    assert not done.stderr, done.stderr
    return done.stdout.split("\n")[:-1]


def options(tool):
    """The long options that `--help` shows, at the beginning of its lines."""
    return set(re.findall(r"^ +(?:-\w, *)?(--[a-z][a-z-]+)", cleave.must(tool, "--help").out, re.M))


class Bash(unittest.TestCase):
    def test_every_option_of_every_tool(self):
        for tool in TOOLS:
            found = set(completions(tool, "--"))
            self.assertEqual(found, options(tool), tool)

    def test_commands(self):
        self.assertEqual(completions("cleave", "co"), ["compile"])
        self.assertEqual(set(completions("cleave", "")) & {"run", "zoo", "opt"}, {"run", "zoo", "opt"})

    def test_options_of_a_command_are_those_of_its_tool(self):
        self.assertEqual(completions("cleave", "run", "gpt.plan", "--lr-s"), ["--lr-schedule"])
        self.assertEqual(completions("cleave", "teleport", "--"), [""])

    def test_values_of_an_enumeration(self):
        for words, expected in {
            ("cleave-compile", "m.onnx", "--cluster", "h100"): ["h100-500w-node", "h100-node"],
            ("cleave", "compile", "--dtype", "b"): ["bf16"],
            ("cleave", "compile", "--dtype", "=", "b"): ["bf16"],
            ("cleave", "compile", "--schedule", "zb"): ["zb-h1", "zb-h2", "zb-v"],
            ("cleave-run", "p", "--lr-schedule", "co"): ["constant", "cosine"],
            ("cleave-run", "p", "--last-batch", "="): ["drop", "pad", "wrap"],
            ("cleave-zoo", "llama3-8"): ["llama3-8b"],
            ("cleave-profile", "--format", "j"): ["json"],
        }.items():
            self.assertEqual(completions(*words), expected, words)

    def test_files_and_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "my gpt.plan").touch()
            Path(folder, "my runs").mkdir()
            both = ["my gpt.plan", "my runs"]
            for words in (["run", "my"], ["run", "--data", "my"], ["dump", "--diff", "="]):
                self.assertEqual(sorted(completions("cleave", *words, folder=folder)), both, words)
            self.assertEqual(completions("cleave-run", "p", "--save", "my", folder=folder), ["my runs"])

    def test_free_text_has_no_completion(self):
        self.assertEqual(completions("cleave-run", "p", "--seed", ""), [""])


class Zsh(unittest.TestCase):
    def test_every_option_has_a_specification(self):
        for tool in TOOLS:
            text = (ZSH / f"_{tool}").read_text()
            self.assertTrue(text.startswith(f"#compdef {tool}\n"), tool)
            found = set(re.findall(r"^  '(?:\([^)]*\))?\*?(--[a-z-]+)=?\[", text, re.M))
            self.assertEqual(found, options(tool), tool)

    @unittest.skipUnless(shutil.which("zsh"), "found no zsh")
    def test_zsh_reads_the_files(self):
        for tool in TOOLS:
            subprocess.run(["zsh", "-n", ZSH / f"_{tool}"], check=True)


class Manuals(unittest.TestCase):
    def test_every_option_has_an_entry(self):
        for tool in TOOLS:
            text = (MANUALS / f"{tool}.1").read_text()
            entries = re.findall(r"^\.TP\n(.*)", text, re.M)
            found = {name.replace("\\", "") for entry in entries for name in re.findall(r"\\fB(\\-\\-[^,]*?)\\fR", entry)}
            self.assertEqual(found, options(tool), tool)
            self.assertRegex(text, rf'^\.TH \S+ 1 .*\n\.SH NAME\n{tool}'.replace("-", r"\\-") + r" \\- \w")

    def test_arguments_that_may_be_repeated(self):
        self.assertIn("\\fIPLAN\\fR...\n", (MANUALS / "cleave-dump.1").read_text())
        self.assertIn("'*:PLAN:_files'", (ZSH / "_cleave-dump").read_text())
        self.assertIn("':plan:_files'", (ZSH / "_cleave-run").read_text())

    def test_commands_have_purposes(self):
        self.assertIn("\\fBcompile\\fR\ncompiles a model file to a plan.", (MANUALS / "cleave.1").read_text())

    @unittest.skipUnless(shutil.which("man"), "found no man")
    def test_man_has_no_warnings(self):
        for tool in TOOLS:
            page = subprocess.run(["man", "--warnings", "-l", MANUALS / f"{tool}.1"], capture_output=True, text=True,
                                  env={"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"}, check=True)
            self.assertEqual(page.stderr, "", tool)
            self.assertRegex(page.stdout, rf"NAME\n +{tool} +- +\w")

    @unittest.skipUnless(shutil.which("mandoc"), "found no mandoc")
    def test_mandoc_finds_no_errors(self):
        for tool in TOOLS:
            subprocess.run(["mandoc", "-Tlint", "-Werror", MANUALS / f"{tool}.1"], check=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
