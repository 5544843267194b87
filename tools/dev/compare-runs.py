#!/usr/bin/env python3
"""Compares two runs of one training: losses, and step time and memory beside the prediction.

    compare-runs.py ONE.jsonl OTHER.jsonl [--plans ONE.json OTHER.json] [--tolerance 1e-5]

The runs are files of `cleave-run --log`, the plans files of `cleave-dump --json`. Exits with 1 if a loss of the first 20 steps
differs by more than the tolerance; later steps are only printed, because training amplifies rounding differences.
"""
import argparse
import json
import os
import statistics
import sys


def read(path):
    """The lines of a log: steps, and ranks."""
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    return [r for r in records if "loss" in r and "step" in r], [r for r in records if "rank" in r and "planned_bytes" in r]


def plural(count, word):
    return f"{count} {word}" + ("" if count == 1 else "s")


def compare_losses(names, runs, tolerance):
    """Prints some steps of both; returns whether the first 20 agree."""
    one, other = ([step["loss"] for step in steps] for steps, _ in runs)
    if not one or len(one) != len(other):
        sys.exit(f"the runs have {len(one)} and {len(other)} steps, expected equal numbers above 0")
    differences = [abs(a - b) / max(abs(a), 1e-12) for a, b in zip(one, other)]
    print(f"{'loss of step':>14} {names[0]:>14} {names[1]:>14} {'difference':>12}")
    for step in sorted(s for s in {0, 9, 19, len(one) // 2, len(one) - 1} if s < len(one)):
        print(f"{step + 1:14d} {one[step]:14.6f} {other[step]:14.6f} {differences[step]:12.0e}")
    head = max(differences[:20])
    print(f"largest relative difference: {head:.1e} in the first {plural(min(20, len(one)), 'step')}, {max(differences):.1e} in all")
    return head <= tolerance


def compare_with_plans(names, runs, plans):
    """Prints seconds of a step and bytes of the fullest rank, as predicted and as measured."""
    cores = os.cpu_count() or 1
    print(f"\n{'':>14} {'step predicted':>15} {'measured':>10} {'memory planned':>15} {'allocated':>10}")
    for name, (steps, ranks), path in zip(names, runs, plans):
        with open(path) as file:
            plan = json.load(file)
        predicted = plan["predicted"]["step_seconds"] * 1e3
        measured = statistics.median(step["seconds"] for step in steps) * 1e3
        planned, allocated = (max(rank[key] for rank in ranks) / 2**20 for key in ("planned_bytes", "allocated_bytes"))
        note = f"   {plan['ranks']} ranks share {plural(cores, 'core')}; predicted for one each" if plan["ranks"] > cores else ""
        print(f"{name:>14} {predicted:12.2f} ms {measured:7.2f} ms {planned:11.2f} MiB {allocated:6.2f} MiB{note}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one")
    parser.add_argument("other")
    parser.add_argument("--plans", nargs=2, metavar=("ONE", "OTHER"))
    parser.add_argument("--tolerance", type=float, default=1e-5)
    options = parser.parse_args()
    runs = [read(options.one), read(options.other)]
    names = [plural(len(ranks), "rank") for _, ranks in runs]
    agree = compare_losses(names, runs, options.tolerance)
    if options.plans:
        compare_with_plans(names, runs, options.plans)
    if not agree:
        sys.exit(f"the runs differ by more than {options.tolerance:.0e}")


if __name__ == "__main__":
    main()
