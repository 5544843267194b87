"""docs/interface.md and `--help` name the same options: what is promised is there, what is there is described."""

import re
import unittest

import cleave

PAGE = (cleave.ROOT / "docs/interface.md").read_text()


def documented(tool):
    """The long options in the tables of the tool's section."""
    section = re.search(rf"^## {tool}.*?(?=^## )", PAGE, re.M | re.S)[0]
    cells = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    return {option for cell in cells for option in re.findall(r"(--[a-z][a-z-]+)", cell)}


def offered(tool):
    """The long options that `--help` shows, at the beginning of its lines."""
    lines = cleave.must(tool, "--help").out.splitlines()
    found = [re.match(r" +(?:-\w, *)?(--[a-z][a-z-]+)", line) for line in lines]
    return {match[1] for match in found if match} - {"--help", "--output", "--quiet", "--verbose", "--version"}


class Interface(unittest.TestCase):
    def check(self, tool):
        self.assertEqual(documented(tool) - {"--output"}, offered(tool))

    def test_cleave_compile(self):
        self.check("cleave-compile")

    def test_cleave_dump(self):
        self.check("cleave-dump")

    def test_cleave_run(self):
        self.check("cleave-run")

    def test_cleave_export(self):
        self.check("cleave-export")

    def test_cleave_profile(self):
        self.check("cleave-profile")

    def test_cleave_zoo(self):
        self.check("cleave-zoo")


if __name__ == "__main__":
    unittest.main(verbosity=2)
