"""Files, names of code, options of tools, environment variables and folders that the pages for users mention exist."""

import os
import pathlib
import re
import subprocess
import unittest

import pages

FOLDERS = ("dialects", "compiler", "passes", "runtime", "tools", "test", "third_party", "docs")
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]+)`")
MEMBER = re.compile(r"`(\w+)::(\w+)`")
OPTION = re.compile(r"(?<=[` ])(--[a-z][a-z-]+)")
# Options of other programs and scripts.
OTHERS = {"--no-python": "torchrun", "--per-file": "tools/build.sh", "--include": "grep", "--no-deps": "pip", "--shm-size": "podman", "--nproc-per-node": "torchrun", "--rdzv-id": "torchrun"}
VARIABLE = re.compile(r"`((?!GEN_PASS_)[A-Z]+_[A-Z_]+)\b")
PLACEHOLDER = re.compile(r"\b[A-Z]{4,}\b") # passes/FOLDER/NAME.h


class Names(unittest.TestCase):
    def mentions(self, pattern):
        """(page, match) of all pages."""
        for page in pages.PAGES:
            for match in pattern.finditer(page.read_text(encoding="utf-8")):
                if not PLACEHOLDER.search(match[1]):
                    yield page.name, match

    def test_paths_exist(self):
        for page, match in self.mentions(PATH):
            self.assertTrue((pages.ROOT / match[1]).exists(), f"{page} mentions {match[1]}, which does not exist")

    def test_options_are_those_of_a_tool(self):
        tools = pathlib.Path(os.environ.get("CLEAVE_BIN", pages.ROOT / "build/bin"))
        helps = [subprocess.run([tool, "--help"], capture_output=True, text=True).stdout for tool in tools.glob("cleave-*")]
        offered = set(re.findall(r"--[a-z][a-z-]+", "".join(helps))) | set(OTHERS)
        for page, match in self.mentions(re.compile(r"`([^`\n]*--[a-z][^`\n]*)`")):
            for option in OPTION.findall(f" {match[1]}"):
                self.assertIn(option, offered, f"{page} mentions {option} in {match[0]}")

    def test_members_are_those_of_a_class_or_namespace(self):
        code = "".join(path.read_text(encoding="utf-8", errors="replace") for folder in FOLDERS[:5]
                       for path in sorted((pages.ROOT / folder).rglob("*")) if path.suffix in (".h", ".cpp", ".td"))
        for page, match in self.mentions(MEMBER):
            owner, member = match.groups()
            body = rf"\b(?:class|struct|namespace) (?:\w+::)*{owner}\b[^;]*?{{(?:(?!\n}}).)*?\b{member}\b"
            found = match[0].strip("`") in code or re.search(body, code, re.S)
            self.assertTrue(found, f"{page} mentions {match[0]}, which does not exist")

    def test_environment_variables_are_read(self):
        sources = (path for folder in ("runtime", "tools", "passes") for path in (pages.ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp", ".py"))
        read = {name for path in sources for name in re.findall(r'"([A-Z_]+)"', path.read_text(encoding="utf-8", errors="replace"))}
        for page, match in self.mentions(VARIABLE):
            self.assertIn(match[1], read, f"{page} mentions {match[1]}, which no tool reads")

    def test_the_map_of_folders_is_the_tree(self):
        block = next(block for block in pages.blocks(pages.ROOT / "docs/architecture.md") if block.lines[0].startswith("dialects/"))
        mapped = {}
        for line in block.lines:
            top, names = [*re.split(r"/? {2,}", line.strip()), ""][:2] if line[0] != " " else (top, re.split(" {2,}", line.strip())[0])
            if top != "tools":
                mapped.setdefault(top, set()).update(word.split("/")[0].split("{")[0] for word in re.sub(r"{[^}]*}", "", names).split())
        for top, names in mapped.items():
            folders = {path.name for path in (pages.ROOT / top).iterdir() if path.is_dir() and path.name != "__pycache__"}
            self.assertEqual(names, folders, f"folders of {top}/")

    def test_phases_are_those_of_the_compiler(self):
        tools = pathlib.Path(os.environ.get("CLEAVE_BIN", pages.ROOT / "build/bin"))
        offered = re.search(r"--stop-after (\S+)", subprocess.run([tools / "cleave-compile", "--help"], capture_output=True, text=True).stdout)[1].split("|")
        for page in pages.PAGES:
            for block in pages.blocks(page):
                if block.lines[0].startswith("import →"):
                    self.assertEqual(block.lines[0].split(" → "), offered, block.place)


if __name__ == "__main__":
    unittest.main(verbosity=2)
