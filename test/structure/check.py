"""Checks the source tree at ROOT (default: this one) against every rule; prints one line per violation, then exits with 1."""

import os
import sys

sys.dont_write_bytecode = True

import batches
import classes
import layers
import named_tests
import names
import sizes
import style
from sources import Tree

RULES = layers.RULES + sizes.RULES + classes.RULES + names.RULES + style.RULES + batches.RULES + named_tests.RULES


def violations(root):
    tree = Tree(root)
    return [line for rule in RULES for line in rule(tree)]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "..")
    found = violations(root)
    for line in found:
        print(line)
    print(f"{len(found)} violations" if found else "no violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
