"""docs/interface.md and `--help` name the same options, README.md and `cleave --help` the same tools; `cleave` runs them as commands."""

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

    def test_readme_and_help_list_the_same_commands(self):
        table = re.findall(r"^\| `cleave-(\w+)` \| (.*) \|$", (cleave.ROOT / "README.md").read_text(), re.M)
        listed = cleave.must("cleave", "--help").out.split("Commands:")[1]
        self.assertEqual(table, re.findall(r"^  (\w+) +(.*)$", listed, re.M))

    def test_a_command_is_the_tool_beside_it(self):
        for words in (["zoo", "--list"], ["run", "--version"], ["dump", "none.plan"]):
            command, tool = cleave.tool("cleave", *words), cleave.tool(f"cleave-{words[0]}", *words[1:])
            self.assertEqual((command.code, command.out, command.err), (tool.code, tool.out, tool.err))

    def test_an_unknown_command_gets_a_suggestion(self):
        self.assertIn("unknown command 'comple'; did you mean compile?", cleave.tool("cleave", "comple").err)
        far = cleave.tool("cleave", "quantize")
        self.assertEqual(far.code, 1)
        self.assertIn("`cleave --help` lists the commands", far.err)

    def test_no_command_is_a_mistake_that_lists_them(self):
        answer = cleave.tool("cleave")
        self.assertEqual((answer.code, answer.out), (1, cleave.must("cleave", "--help").out))


if __name__ == "__main__":
    unittest.main(verbosity=2)
