"""Writes the reference of Cleave's passes from `cleave-opt --help`, read from standard input. MLIR's own passes are left out."""

import re
import sys

PASS = re.compile(r"^(\s+)--(cleave-\S+)\s+-\s+(.*)$")
OPTION = re.compile(r"^(\s+)--(\S+)\s+-\s+(.*)$")


def passes(lines):
    """[(name, summary, [(option, meaning)])] in the order of the help."""
    found, depth = [], None
    for line in lines:
        start, option = PASS.match(line), OPTION.match(line)
        if start:
            found.append((start[2], start[3].strip(), []))
            depth = len(start[1])
        elif option and depth is not None and len(option[1]) > depth:
            found[-1][2].append((option[2], option[3].strip()))
        elif line.strip() and depth is not None and (not option or len(option[1]) <= depth):
            depth = None
    return found


def main():
    found = passes(sys.stdin.read().split("\n"))
    print("# Cleave's passes\n")
    print(f"{len(found)} passes, run one by one as `cleave-opt --NAME[=OPTION=VALUE…] FILE`. Written by `tools/dev/generate-docs.sh`.\n")
    print("| pass | what it does |\n|---|---|")
    for name, summary, options in found:
        extra = "".join(f"<br>`{option}`: {meaning}" for option, meaning in options)
        print(f"| `--{name}` | {summary}{extra} |".replace("|<", "\\|<"))


if __name__ == "__main__":
    main()
