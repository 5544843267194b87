#!/usr/bin/env python3
"""Compares the losses of two runs (files of cleave-run --log) step by step.

    compare-losses.py ONE.jsonl OTHER.jsonl [--tolerance 1e-5]

Prints some steps of both and the largest relative difference. Exits with 1 if a difference in the first 20 steps is above the
tolerance; later steps are only printed, because training amplifies rounding differences.
"""
import argparse
import json
import sys


def losses(path):
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    return [record["loss"] for record in records if "step" in record]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one")
    parser.add_argument("other")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    options = parser.parse_args()
    one, other = losses(options.one), losses(options.other)
    if not one or len(one) != len(other):
        sys.exit(f"the runs have {len(one)} and {len(other)} steps")
    differences = [abs(a - b) / max(abs(a), 1e-12) for a, b in zip(one, other)]
    print(f"{'step':>6} {'1 rank':>12} {'4 ranks':>12} {'difference':>12}" if "-1." in options.one else
          f"{'step':>6} {'one':>12} {'other':>12} {'difference':>12}")
    shown = sorted({0, 1, 2, 9, 19, len(one) // 4, len(one) // 2, len(one) - 1})
    for step in (s for s in shown if s < len(one)):
        print(f"{step:6d} {one[step]:12.6f} {other[step]:12.6f} {differences[step]:12.1e}")
    head = max(differences[:20])
    print(f"largest relative difference: {head:.1e} in the first {min(20, len(one))} steps, {max(differences):.1e} in all")
    if head > options.tolerance:
        sys.exit(f"the runs differ by more than {options.tolerance:.0e}")


if __name__ == "__main__":
    main()
