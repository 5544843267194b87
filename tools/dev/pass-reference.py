"""Writes the reference of Cleave's passes from their TableGen records (passes/PassBase.td).

    echo 'include "passes/fuse/Passes.td"' | llvm-tblgen --dump-json -I . -I INCLUDE - | tools/dev/pass-reference.py

Reads the records as JSON from standard input.
"""

import json
import sys


def options_of(records, entry):
    """[(flag, meaning)] in the order of the record."""
    found = []
    for reference in entry["options"]:
        option = records[reference["def"]]
        default = (option.get("defaultValue") or "").strip('"')
        default = "" if default.startswith("k") else default  # a constant of the source
        meaning = option["description"] + (f" (default: {default})" if default else "")
        found.append((option["argument"], meaning))
    return found


def main():
    records = json.load(sys.stdin)
    passes = sorted((records[name] for name in records["!instanceof"]["Cleave_Pass"]), key=lambda entry: entry["argument"])
    print("# Cleave's passes\n")
    print(f"{len(passes)} passes, run one by one as `cleave-opt --NAME[=\"OPTION=VALUE …\"] FILE`. Written by `tools/dev/generate-docs.sh`.")
    for entry in passes:
        level = "@step and other functions" if "FuncOp" in entry["baseClass"] else "the module"
        print(f"\n## `--{entry['argument']}`\n\n{entry['summary']}. Runs on {level}.\n")
        print(f"* **Precondition:** {entry['before']}")
        print(f"* **Postcondition:** {entry['after']}")
        for flag, meaning in options_of(records, entry):
            print(f"* `{flag}`: {meaning}")


if __name__ == "__main__":
    main()
