"""Writes the reference of phases from the table in passes/driver/Phases.cpp and the rules in passes/promise.

    tools/dev/phase-reference.py ROOT > docs/generated/phases.md

Every file of passes/promise begins with a comment that lists its phase's rules: `//  P1  Text.`, with continued lines.
"""

import os
import re
import sys

PHASE = re.compile(r'\{\s*"(\w+)",\s*((?:"[^"]*"\s*)+),')
RULE = re.compile(r"^//  ([PS]\d+(?:–S\d+)?)\s+(.*)$")


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def rules_of(root, phase):
    """[(label, text)] from the first comment of the phase's file; none where the phase has no file."""
    path = f"passes/promise/{phase.capitalize()}.cpp"
    if not os.path.exists(os.path.join(root, path)):
        return []
    found = []
    for line in read(root, path).split("\n"):
        if not line.startswith("//"):
            break
        rule = RULE.match(line)
        if rule:
            found.append([rule[1], rule[2]])
        elif found and line.startswith("//   "):
            found[-1][1] += " " + line[2:].strip()
        elif found:
            break
    return found


def main():
    root = sys.argv[1]
    print("# The phases of a compilation\n")
    print("Written by `tools/dev/generate-docs.sh` from `passes/driver/Phases.cpp` and `passes/promise`. `cleave-compile --dump-phases DIR`")
    print("writes the module that each phase leaves; `--stop-after` and `--start-from` run some of them. Each phase's promise is checked")
    print("after every run.\n")
    print("| phase | what it leaves |\n|---|---|")
    phases = PHASE.findall(read(root, "passes/driver/Phases.cpp"))
    for name, summary in phases:
        words = "".join(re.findall(r'"([^"]*)"', summary))
        print(f"| `{name}` | {words} |")
    print("\n## signature\n\nRules on the arguments and results of @step from `import` to `partitioned`.\n")
    for label, text in rules_of(root, "signature"):
        print(f"* **{label}** {text}")
    for name, _ in phases:
        rules = rules_of(root, name)
        if rules:
            print(f"\n## {name}\n")
        for label, text in rules:
            print(f"* **{label}** {text}")
    print("\n## artifact\n\nThe rules are in `runtime/artifact/Verify.h`.")


if __name__ == "__main__":
    main()
