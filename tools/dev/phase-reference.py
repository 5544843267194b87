"""Writes the table of phases from passes/driver/Phases.cpp, read from standard input."""

import re
import sys

PHASE = re.compile(r'\{\s*"(\w+)",\s*((?:"[^"]*"\s*)+),')


def main():
    print("# The phases of a compilation\n")
    print("Written by `tools/dev/generate-docs.sh` from `passes/driver/Phases.cpp`. `cleave-compile --dump-phases DIR` writes")
    print("what each left behind, `--stop-after` and `--start-from` cut the way short.\n")
    print("| phase | what holds after it |\n|---|---|")
    for name, summary in PHASE.findall(sys.stdin.read()):
        words = "".join(re.findall(r'"([^"]*)"', summary))
        print(f"| `{name}` | {words} |")


if __name__ == "__main__":
    main()
