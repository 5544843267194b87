#!/usr/bin/env python3
"""Measures which lines of the passes the two tools execute.

    test/fuzz/programs/coverage.py [--work DIR] [--kernels 1500] [--programs 1500] [--list]

Builds both tools with GCC's coverage in the folders below, runs so many seeds, and prints the part of lines that ran, per
folder and per file. --list prints the lines that did not.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from clone import compile_targets, fresh_clone  # noqa: E402

FOLDERS = ["passes/codegen", "passes/fuse", "passes/bufferize", "passes/shard"]


def counts_of(source, build):
    """File -> line -> number of executions, over all translation units."""
    counts = collections.defaultdict(lambda: collections.defaultdict(int))
    for data in build.rglob("*.gcda"):
        text = subprocess.run(["gcov", "--json-format", "--stdout", str(data)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, cwd=build, check=True).stdout
        for report in text.splitlines():
            for file in json.loads(report)["files"]:
                path = pathlib.Path(file["file"])
                path = (build / path).resolve() if not path.is_absolute() else path
                if not path.is_relative_to(source):
                    continue
                name = str(path.relative_to(source))
                if name.startswith(tuple(FOLDERS)):
                    for line in file["lines"]:
                        counts[name][line["line_number"]] += line["count"]
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default="build/coverage", type=pathlib.Path)
    parser.add_argument("--kernels", default="1500")
    parser.add_argument("--programs", default="1500")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    source, build = fresh_clone(arguments.work, "-DCLEAVE_COVERAGE=" + ";".join(FOLDERS))
    compile_targets(build, ["fuzz-kernels", "fuzz-programs"])
    for data in build.rglob("*.gcda"):
        data.unlink()
    for tool, cases in (("fuzz-kernels", arguments.kernels), ("fuzz-programs", arguments.programs)):
        subprocess.run([str(build / "bin" / tool), "--cases", cases, "--shrinks", "0", "--out", str(build)])
    counts = counts_of(source, build)
    for folder in FOLDERS:
        files = {name: lines for name, lines in counts.items() if name.startswith(folder + "/")}
        ran = sum(1 for lines in files.values() for count in lines.values() if count)
        total = sum(len(lines) for lines in files.values())
        print(f"{folder:44} {ran:5} of {total:5} lines  {100 * ran / max(total, 1):5.1f} %")
        for name, lines in sorted(files.items()):
            missed = [number for number, count in sorted(lines.items()) if not count]
            print(f"  {name:42} {len(lines) - len(missed):5} of {len(lines):5}"
                  + ("  not: " + ", ".join(map(str, missed)) if arguments.list and missed else ""))


main()
