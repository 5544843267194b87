"""Puts faults into a copy of the tree, one at a time, and measures the time until a generator finds each: programs/faults.py and
modules/faults.py, which have the faults.

A fault replaces texts of sources by others. A text that is not there (any more) is an error: the tables follow the code.
"""

import argparse
import dataclasses
import pathlib
import sys
import time

from clone import ROOT, compile_targets, fresh_clone


@dataclasses.dataclass
class Fault:
    name: str
    edits: list  # (source, text, the text with the fault)
    tool: str = ""  # of several generators the one that is to find it


class Seeded:
    """The sources with a fault; whole again on leaving."""

    def __init__(self, source, fault):
        self.source, self.fault, self.before = source, fault, {}

    def __enter__(self):
        for path, text, wrong in self.fault.edits:
            file = self.source / path
            held = file.read_text()
            if text not in held:
                sys.exit(f"{self.fault.name}: {path} does not hold its text any more")
            self.before.setdefault(file, held)
            file.write_text(held.replace(text, wrong, 1))

    def __exit__(self, *_):
        for file, held in self.before.items():
            file.write_text(held)


def options(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default="build/faults", type=pathlib.Path)
    parser.add_argument("--seconds", default=600, type=int, help="how long a generator may look for one fault")
    parser.add_argument("--only", help="part of a fault's name")
    parser.add_argument("--check", action="store_true", help="only checks that the sources hold the texts that faults replace")
    return parser.parse_args()


def hunt(given, faults, targets, search, clean):
    """Prints the seconds until `search(fault, build, seconds)` gives what it found, per fault; returns the exit code: 1 if a fault is not
    found in time. `clean(build)` ends the script if the generators find something without a fault. Builds `targets`."""
    if given.check:
        return check_texts(faults)
    source, build = fresh_clone(given.work, "-DCLEAVE_UNITY=ON")
    compile_targets(build, targets)
    clean(build)
    missed = 0
    for fault in faults:
        if given.only and given.only not in fault.name:
            continue
        with Seeded(source, fault):
            compile_targets(build, targets)
            begin = time.time()
            found = search(fault, build, given.seconds)
        missed += found is None
        print(f"{fault.name:44}", f"{time.time() - begin:6.1f} s  {found[:140]}" if found else "not found", flush=True)
    return 1 if missed else 0


def check_texts(faults):
    """Prints the texts that the tree does not hold; returns the exit code."""
    stale = [(fault.name, path) for fault in faults for path, text, _ in fault.edits if text not in (ROOT / path).read_text()]
    for name, path in stale:
        print(f"{name}: {path} does not hold its text any more")
    print(f"{len(faults)} faults, {len(stale)} texts that the sources do not hold")
    return 1 if stale else 0
