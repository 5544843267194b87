"""docs/interface.md says what the tools do: values and defaults of options, losses and optimizers with their options, lines of logs, names of
the Python package. test/e2e/interface.py compares the names of options."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import files
import pages

BIN = pathlib.Path(os.environ.get("CLEAVE_BIN", pages.ROOT / "build/bin"))
PAGE = (pages.ROOT / "docs/interface.md").read_text(encoding="utf-8").replace("\\|", "|")
TOOLS = ("cleave-compile", "cleave-run", "cleave-profile", "cleave-calibrate")
# Options whose default the page puts into other words than `--help`.
OTHER_WORDS = {"--device"}
# Options with values that the page explains in full.
EXPLAINED = ("--pin", "--loss", "--optimizer", "--lr-schedule", "--dtype", "--batch-norm", "--last-batch", "--on-nan", "--image-crop", "--by", "--format")
# Values of the options of losses, for outputs of 64 classes.
VALUES = {"label-smoothing": "0.1", "class-weights": ":".join(64 * "1"), "class-dim": "-1", "ignore-index": "3", "pos-weight": "2", "delta": "0.5", "beta": "0.5"}
COMPILE = ("cleave-compile", files.MODELS["gpt.pt2"], "--train", "--set", "batch=8", "--stop-after", "train", "-q", "-o", "-")


def call(tool, *words, **options):
    return subprocess.run([BIN / tool, *words], capture_output=True, text=True, **options)


def section(title):
    return re.search(rf"^## {title}.*?(?=^## |\Z)", PAGE, re.M | re.S)[0]


def table(title):
    """The rows of the table that begins with this title, as lists of cells."""
    lines = PAGE[PAGE.index(f"| {title} |"):].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line[2:].removesuffix("|").split(" | ")] for line in lines[2:]]


def row(tool, option):
    """What the section of a tool says about an option; for the options that cleave-profile shares, what that of cleave-compile says."""
    rows = [line for line in section(tool).splitlines() if line.startswith("| ") and re.search(rf"{option}\b(?!-)", line.split(" | ")[0])]
    return " ".join(rows) if tool != "cleave-profile" else " ".join(rows) + row("cleave-compile", option)


def offered(tool):
    """What `--help` shows as the values of every option, and its default or none."""
    shown = re.findall(r"^ +(?:-\w,)?(--[a-z-]+) ?(\S*)", call(tool, "--help").stdout, re.M)
    return {option: re.fullmatch(r"(.*?)(?:=([\w./-]+))?", values).groups() for option, values in shown}


def choices(values):
    """The names in a list of values."""
    parts = re.sub(r"^TEXT:{|}|\[[^]]*\]", "", values).replace(",", "|").split("|")
    return {part for part in parts if re.fullmatch(r"[a-z0-9][\w:-]*", part)}


class Options(unittest.TestCase):
    def test_defaults(self):
        for tool in TOOLS:
            for option, (_, default) in offered(tool).items():
                if default and option not in OTHER_WORDS:
                    stated = rf"[Dd]efault: `?{re.escape(default)}\b|(?<!\w){re.escape(default)}`? \(the default\b"
                    self.assertRegex(row(tool, option), stated, f"{tool} {option}={default}")

    def test_values(self):
        for tool in TOOLS:
            for option, (values, _) in offered(tool).items():
                if option in EXPLAINED:
                    named = set(re.findall(r"[\w:-]+", " ".join(re.findall(r"`[^`]*`", PAGE))))
                    self.assertLessEqual(choices(values), named, f"{tool} {option}")

    def test_values_in_the_first_column_are_offered(self):
        for tool in TOOLS:
            for option, (values, _) in offered(tool).items():
                shown = re.search(rf"`{option} ([a-z][^` ]*\|[^` ]*)`", row(tool, option))
                if shown:
                    self.assertLessEqual(choices(shown[1]), choices(values) | {"auto", "cuda"}, f"{tool} {option}")


class Training(unittest.TestCase):
    def compiled(self, *words):
        done = call(*COMPILE, *words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return done.stdout

    def test_defaults_of_optimizers(self):
        for kinds, options in table("optimizer"):
            for kind in kinds.replace("`", "").split(", "):
                expected = dict(word.split("=") for word in re.findall(r"`([^`]+=[^`]+)`", options))
                override = re.search(rf"\({kind}: ([\d.]+)\)", options)
                if override:
                    expected["weight-decay"] = override[1]
                text = re.search(r'graph.optimizer = "\w+:([^"]*)"', self.compiled("--loss", "softmax-cross-entropy", "--optimizer", kind))[1]
                found = dict(word.split("=") for word in text.split(","))
                flags = set(re.findall(r"`([a-z]+)`", options))
                self.assertEqual({name: float(value) for name, value in expected.items()},
                                 {name: float(value) for name, value in found.items() if name not in flags}, kind)
                self.assertEqual({name for name, value in found.items() if name in flags and value == "false"}, flags, kind)

    def test_options_of_losses(self):
        for kinds, _, options in table("kind"):
            names = re.findall(r"`([\w-]+)(?:=[A-Z]+)?`", options)
            for place, kind in enumerate(re.findall(r"`([\w-]+)`", kinds)):
                own = names[place : place + 1] if kind in ("huber", "smooth-l1") else names
                for option in ["factor=2", "reduction=sum", "reduction=mean", *(f"{name}={VALUES[name]}" for name in own)]:
                    if kind != "output":
                        self.compiled("--loss", f"{kind}:{option}")


class Log(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        here = pathlib.Path(folder.name)
        (here / "text.bin").write_bytes(bytes(k % 64 for k in range(2000)))
        for command in (
            f"cleave-compile {files.MODELS['gpt.pt2']} --train --loss softmax-cross-entropy --optimizer-group no-decay --optimizer-group pos.*:lr=1e-2 --set batch=8 --eval -q -o gpt.plan",
            "cleave-run gpt.plan --data text.bin --steps 2 --threads 1 --log log.jsonl --eval text.bin --save saved --keep-best eval_loss -q",
        ):
            tool, *words = command.split()
            done = call(tool, *words, cwd=here)
            assert done.returncode == 0, done.stderr
        cls.lines = [json.loads(line) for line in (here / "log.jsonl").read_text().splitlines()]
        cls.best = json.loads((here / "saved/best.json").read_text())

    def documented(self, option, begin):
        """The names in the object that begins so in the row of an option."""
        shown = row("cleave-run", option)
        return set(re.findall(r'"([\w]+)"', shown[shown.index(begin):].split("}")[0]))

    def test_steps(self):
        line = set(self.lines[0])
        named = set(re.findall(r'"([\w/]+)"', row("cleave-run", "--log")))
        self.assertLessEqual(self.documented("--log", '{"step"'), line)
        self.assertEqual({name for name in line if not name.startswith("lr/")} - named, set())
        self.assertTrue(any(name.startswith("lr/") for name in line))

    def test_summary(self):
        summary = next(line["summary"] for line in self.lines if "summary" in line)
        self.assertEqual(self.documented("--log", '{"summary"') - {"summary"}, set(summary))

    def test_ranks(self):
        self.assertLessEqual(self.documented("--log", '{"rank"'), next(set(line) for line in self.lines if "rank" in line))

    def test_evaluations(self):
        found = next(set(line) for line in self.lines if line.get("event") == "eval")
        self.assertLessEqual(self.documented("--log", '{"event"') - {"eval"}, found)
        self.assertLessEqual({name for name in found if name.startswith("eval_")}, set(re.findall(r"`(eval_\w+)`", row("cleave-run", "--eval"))))

    def test_the_best_checkpoint(self):
        self.assertEqual(self.documented("--keep-best", '{"step"'), set(self.best))


class Package(unittest.TestCase):
    def test_names(self):
        text = (pages.ROOT / "tools/python/cleave/__init__.py").read_text(encoding="utf-8")
        offered_names = set(re.findall(r'"(\w+)"', text[text.index("__all__"):]))
        named = {name.removeprefix("cleave.") for name in re.findall(r"`([\w.]+)`", section("cleave: the Python package"))}
        self.assertEqual(named, offered_names)


if __name__ == "__main__":
    unittest.main(verbosity=2)
