"""The pages for users, and their blocks of code: indented by four spaces, by eight in a list, or between fences."""

import pathlib
import re
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "docs/tutorials", ROOT / "docs/howto"]
PAGES = [ROOT / "README.md", *(ROOT / f"docs/{name}.md" for name in ("tour", "architecture", "interface", "trust")),
         *(page for folder in FOLDERS for page in sorted(folder.glob("[a-z]*.md")))]

TOOL = r"cleave-[a-z]+(?= )|cleave(?= [a-z])|tools/\S+\.sh|build/bin/\S+"
OTHER_COMMANDS = r"pip|apt|man|podman|python3?|torchrun|mpirun|srun|openssl|export|source|for|mkdir|cp|rm|head|kill|grep"
COMMAND = re.compile(rf"^(?:{TOOL}|(?:{OTHER_COMMANDS}) )")
PYTHON = re.compile(r"^(?:import [\w.]+(?: as|,|$)|from \w+ import |class \w+|def \w+\(|@|plan = |plan +#|run\.|plan\.run\(|dataset = )")
TABLE = re.compile(r"\[\w+\]$")

LIST_ITEM = re.compile(r"(?:\d+\.|[*-]) ")


@dataclass
class Block:
    page: pathlib.Path
    line: int      # of its first line
    lines: list    # without the indentation of the block
    section: str   # the heading above it

    @property
    def place(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    @property
    def kind(self):
        """commands, python, json, toml, options (`--loss …`), or text: what a tool prints, a file, a quotation."""
        if self.lines[0].startswith("{\"") and self.lines[-1].endswith("}"):
            return "json"
        if TABLE.match(self.lines[0]):
            return "toml"
        if self.lines[0].startswith("--"):
            return "options"
        if any(PYTHON.match(line) for line in self.lines):
            return "python"
        return "commands" if any(COMMAND.match(line) for line in self.lines) else "text"


def without_indentation(lines):
    """The lines, without empty ones at the end."""
    while not lines[-1]:
        lines.pop()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line)
    return [line[indent:] for line in lines]


def raw_blocks(page):
    """The blocks of a page as they stand."""
    lines, number, section, indent = page.read_text(encoding="utf-8").splitlines(), 0, "", "    "
    while number < len(lines):
        begin, line, after_empty = number, lines[number], not lines[number - 1]
        if line.startswith("#"):
            section = line.lstrip("# ")
        if LIST_ITEM.match(line):
            indent = 8 * " "
        elif after_empty and line[:1].strip():
            indent = 4 * " "
        if line.startswith("```"):
            number = lines.index("```", number + 1)
            yield Block(page, begin + 2, lines[begin + 1 : number], section)
        elif after_empty and line.startswith(indent):
            while number < len(lines) and (lines[number].startswith(indent) or not lines[number]):
                number += 1
            yield Block(page, begin + 1, without_indentation(lines[begin:number]), section)
            continue
        number += 1


def blocks(page):
    """The blocks of a page, in order. An empty line separates commands from what they print, which is a block of its own."""
    for block in raw_blocks(page):
        if block.kind != "commands":
            yield block
            continue
        begin = 0
        for number in [*(k for k, line in enumerate(block.lines) if not line), len(block.lines)]:
            yield Block(page, block.line + begin, block.lines[begin:number], block.section)
            begin = number + 1
