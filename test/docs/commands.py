"""The commands on the pages for users work (pages.py lists the pages).

All blocks of a page run in order, in bash, in one folder. Files that a page does not make are small ones (files.py), `…` stands for the
options of a training, and runs have few steps (stand_in.py). What a page shows as output has to be printed by the commands above it, but
for numbers. `commands.py [PAGE…]` tests these pages only."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import files
import pages

BIN = pathlib.Path(os.environ.get("CLEAVE_BIN", pages.ROOT / "build/bin")).resolve()
STAND_INS = ["cleave", *(path.name for path in BIN.glob("cleave-*")), "torchrun", "mpirun", "srun"]

# Beginnings of commands that do not run here, and why.
NOT_RUN = {
    "tools/build.sh": "the build has run",
    "tools/demo.sh": "tools/dev/fresh-machine.sh runs it",
    "tools/test.sh": "tools/dev/fresh-machine.sh runs it",
    "pip install": "test/python/wheel.py installs the wheel",
    "apt install": "e2e-package installs the package",
    "cleave-compile contrastive.pt2": "needs the file that the Python above it writes: python_code.py runs it",
    "cleave-run gpt2.plan": "needs a GPU",
    "kill -9": "the few steps are over before",
    "podman": "needs podman and a network",
}
# Programs that need not be installed.
NOT_RUN |= {f"{program} ": "it is not installed" for program in ("man", "openssl") if not shutil.which(program)}
# Beginnings of blocks of text that no command on their page prints, and why.
NOT_PRINTED = {
    "cluster.json": "a picture",
    "model.onnx ──►": "a picture",
    "import →": "phases: names.py",
    "dialects/ ": "folders: names.py",
    "cleave-run: warning: rank 2 was ended": "a rank has to be killed for it: e2e-restarting",
}
# Pages that show plans of large models; these have two layers here, and other plans.
OTHER_PLANS = ["plan-llama-3-70b.md"]
# Blocks that are files, by the beginning of their text: the name, and a command that reads the file.
READ_BY = {
    '{"pins"': ("rules.json", "cleave-compile gpt.onnx … --ranks 4 --mesh dp=2,tp=2 --host-memory 1GiB --file-memory 1GiB --pin rules.json"),
    '{"dtype"': ("rules.json", "cleave-compile gpt.pt2 … --dtype rules.json"),
    "[compile]": ("train.toml", "cleave-compile --config train.toml && cleave-run --config train.toml --steps 200"),
    "# step rate": ("rates.txt", "cleave-run gpt.plan … --lr-schedule rates.txt"),
}
# Blocks that show the form of a file in JSON, by the beginning of their text: the command that prints such a file.
FORMS = {
    '{"mesh": {"dp"': "cleave-dump gpt.plan --json",
    '{"mesh": {"dim_names"': "cat gpt.json",
    '{"symbols"': f"cleave-profile gpt.onnx {files.TRAINING} --by operator --format json",
}
# Drawings of schedules, whose lengths are times: the command that draws them.
DRAWN = {"stage 0  F0": f"cleave-compile gpt.onnx {files.TRAINING} --ranks 2 --stages 2 --accumulate 3 -o drawn.plan && cleave-dump drawn.plan --schedule"}
# A line that shows the arguments of a tool.
USAGE = re.compile(r"cleave-[a-z]+ [A-Z]{4,}\b")
NUMBER = r"(?:\d+ min )?[-+]?\d[\d.,]*(?:e-?\d+)?(?: (?:[kMGT]|us|ms|s|min|B|[KMGT]iB)\b)?"
FAILURE = re.compile(r"^([^#]*)# exit code (\d)$")


def commands_of(lines):
    return "\n".join(lines).replace("\\\n", " ").replace("build/bin/", "").splitlines()


def is_run(command):
    return not command.startswith(tuple(NOT_RUN)) and not USAGE.match(command)


def script(commands):
    """A script of bash that stops at the first command that fails, but for those whose comment says `exit code N`."""
    kept = [FAILURE.sub(r"\1 || [ $? = \2 ]", command) for command in commands if is_run(command)]
    return "\n".join(["set -e -o pipefail", "trap 'echo \"failed: $BASH_COMMAND\" >&2' ERR", *kept])


def pattern(line):
    """A regular expression for the line with any numbers and spaces, and anything in the place of `…`."""
    parts = re.split(f"({NUMBER}|…| +)", line.strip())
    wild = {"…": ".*", " ": r"\s+"}
    return "".join(NUMBER if number % 2 and part[0] not in wild else wild.get(part[:1], "") or re.escape(part) for number, part in enumerate(parts))


def one_line(text):
    """The text without indentation and line breaks, to find quotations in."""
    return re.sub(r"\s+", " ", text)


def parts_of(text):
    """The parts of micro-batches on each stage, in their order."""
    return [re.findall(r"[FBRIW]\d+", line) for line in text.splitlines() if re.match(r"stage \d", line)]


def form_of(text):
    """The JSON of a block, with `…` left out where it ends a list or an object, and null elsewhere."""
    return json.loads(re.sub(r"(?:, |(?<=[\[{]))…(?=[\]}])", "", text).replace("…", "null"))


def lacking(form, value, place=""):
    """The keys of the form that the value has not. A list has an element of each form in it."""
    if isinstance(form, dict):
        known = value if isinstance(value, dict) else {}
        return [lack for key in form for lack in (lacking(form[key], known[key], f"{place}/{key}") if key in known else [f"{place}/{key}"])]
    if not isinstance(form, list):
        return []
    if not isinstance(value, list) or form and not value:
        return [place]
    return [lack for element in form for lack in min((lacking(element, one, place) for one in value), key=len)]


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.tools = cls.folder / "tools"
        cls.tools.mkdir()
        for name in STAND_INS:
            (cls.tools / name).symlink_to(pathlib.Path(__file__).with_name("stand_in.py"))
        (cls.tools / "python").symlink_to(sys.executable)
        files.write_all(cls.folder / "files")
        # Plans are those for the machine of the file, on any machine.
        (cls.folder / "cache/cleave").mkdir(parents=True)
        shutil.copyfile(pathlib.Path(__file__).with_name("local-cpu.json"), cls.folder / "cache/cleave/local-cpu.json")
        cls.sources = " ".join(one_line(path.read_text()) for folder in ("dialects", "passes", "compiler")
                               for path in (pages.ROOT / folder).rglob("*.*") if path.suffix in (".cpp", ".td"))

    def run_lines(self, lines, here, both=True):
        """The outputs of the lines, which have to succeed, or the standard one only."""
        commands = commands_of(lines)
        for command in commands:
            if command.startswith("cleave-") and not is_run(command):
                self.check_options(command)
        environment = {**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}", "CLEAVE_BIN": str(BIN), "COLUMNS": "200",
                       "XDG_CACHE_HOME": str(self.folder / "cache"), "PYTHONPATH": str(pages.ROOT / "tools/python"), "MANPATH": str(BIN.parent / "share/man")}
        done = subprocess.run(["bash", "-c", script(commands)], cwd=here, env=environment, capture_output=True, text=True, errors="replace",
                              timeout=3600)
        self.assertEqual(done.returncode, 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout + done.stderr * both

    def check_options(self, command):
        """Every option of a command that does not run is one of its tool."""
        offered = subprocess.run([BIN / command.split()[0], "--help"], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"[ \[](--[a-z][a-z-]+)", command):
            self.assertRegex(offered, rf"{option}\b")

    def is_quoted(self, line):
        """Whether Cleave's sources have the line, up to `…`."""
        return all(part.strip() in self.sources for part in one_line(line).split("…"))

    def check_text(self, block, printed):
        """Pages on additions to Cleave quote its sources, others show output."""
        for line in block.lines:
            if block.page.name.startswith("add-"):
                self.assertTrue(self.is_quoted(line), f"not in the sources: {line}")
            else:
                self.assertTrue(re.search(pattern(line), printed), f"not printed: {line}")

    def check_block(self, block, here, printed):
        """What the block's commands print."""
        if block.kind == "commands":
            return self.run_lines(block.lines, here)
        if block.kind == "options":
            return "".join(self.run_lines([f"cleave-compile {files.model_of(line)} … {line}"], here) for line in block.lines)
        shown = next((FORMS[begin] for begin in FORMS if block.text.startswith(begin)), None)
        if shown:
            self.assertEqual(lacking(form_of(block.text), json.loads(self.run_lines([shown], here, both=False))), [])
        file = next((READ_BY[begin] for begin in READ_BY if block.text.startswith(begin)), None)
        if file:
            (here / file[0]).write_text(block.text)
            return self.run_lines([file[1]], here)
        self.assertTrue(shown or block.kind not in ("json", "toml"), f"found {block.kind} that no command reads, expected an entry of READ_BY or FORMS")
        drawn = next((DRAWN[begin] for begin in DRAWN if block.text.startswith(begin)), None)
        if drawn:
            self.assertEqual(parts_of(block.text), parts_of(self.run_lines([drawn], here)))
            return ""
        if block.lines[0].startswith("# torchtitan"):
            printed = (here / "gpt.toml").read_text()
        if block.kind == "text" and block.page.name not in OTHER_PLANS and not block.text.lstrip().startswith(tuple(NOT_PRINTED)):
            self.check_text(block, printed)
        return ""

    def check(self, page):
        here = self.folder / page.stem
        shutil.copytree(self.folder / "files", here)
        files.write_for(page.name, here)
        printed = self.run_lines(files.BEFORE.get(page.name, []), here)
        for block in pages.blocks(page):
            with self.subTest(block.place):
                printed += self.check_block(block, here, printed)


def test_of(page):
    return lambda self: self.check(page)


for page in pages.PAGES:
    setattr(Commands, f"test_{page.stem}", test_of(page))

if __name__ == "__main__":
    chosen = [f"Commands.test_{name}" for name in sys.argv[1:] if not name.startswith("-")]
    unittest.main(argv=[sys.argv[0], *chosen], verbosity=2)
