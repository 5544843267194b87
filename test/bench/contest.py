#!/usr/bin/env python3
"""Solves instances of the ASPLOS 2025 contest on intra-operator parallelism and prints cost, cost / best of the contest, gap and seconds.

    test/bench/contest.py FOLDER [--only ABV] [--seeds 1,2,3] [--threads 2] [--share 0.1 | --effort N] [--target 0.5] [--bin build/bin]

FOLDER holds the instances (A.json.gz …), which are not part of the repository; without them it says so and ends. The limit of a
run is `share` times that of the contest, in wall seconds, or, with --effort, a number of iterations (cleave-solve --effort), which
gives the same result on every machine. Every solution is written, read back and priced by cleave-solve --solution. CPU seconds are
printed beside wall seconds, since machines differ in what else they do.

The last table says what the bounds prove: by how much the contest's best cost can be undercut at most on each instance, and on how many of them
undercutting it by --target per cent is possible at all.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

# instance: (limit of the contest in seconds, best cost of the contest)
CONTEST = {
    "A": (60, 6548641531),
    "B": (60, 532843),
    "C": (60, 84102445260),
    "G": (120, 217039),
    "K": (180, 2274276676),
    "M": (180, 49928460991),
    "P": (240, 662197407330),
    "V": (300, 1632051),
}


def cpu_seconds():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def solve(tool, path, seconds, seed, threads, effort):
    """(cost, bound, wall seconds, CPU seconds) of one run, priced again from its solution file."""
    with tempfile.TemporaryDirectory() as folder:
        solution = os.path.join(folder, "solution.json")
        command = [tool, path, str(seconds), "--seed", str(seed), "--threads", str(threads), "-o", solution]
        if effort:
            command += ["--effort", str(effort)]
        begin, used = time.time(), cpu_seconds()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall, used = time.time() - begin, cpu_seconds() - used
        if done.returncode != 0:
            sys.exit(f"{path}: {done.stderr.strip()}")
        cost, bound = map(float, re.match(r"cost (\S+)  bound (\S+)", done.stdout).groups())
        priced = subprocess.run([tool, path, "--solution", solution], capture_output=True, text=True, check=False)
        if not priced.stdout.startswith(f"cost {cost:.12g}  feasible"):
            sys.exit(f"{path}: cost {cost:.12g} is not confirmed: {priced.stdout}{priced.stderr}")
        return cost, bound, wall, used


def report(runs, target):
    """What the best cost and the best bound of every instance leave open."""
    print("\n| instance | below the best of the contest: found | possible at most, by the bound | gap |\n|---|---|---|---|")
    possible, reached = [], []
    for name, found in runs.items():
        best, cost, bound = CONTEST[name][1], min(cost for cost, _ in found), max(bound for _, bound in found)
        below, most = 100 * (1 - cost / best), 100 * (1 - bound / best)
        print(f"| {name} | {below:.3f} % | 1 - {bound:.0f} / {best} = {most:.3f} % | {100 * (cost - bound) / cost:.2f} % |")
        possible += [name] * (most >= target)
        reached += [name] * (below >= target)
    print(f"{target} % below the best: reached on {len(reached)} of {len(runs)} ({', '.join(reached) or 'none'}); "
          f"the bounds leave it open on {len(possible)} ({', '.join(possible) or 'none'})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--only", default="".join(CONTEST), help="letters of the instances")
    parser.add_argument("--seeds", default="1,2,3", help="of the random search, separated by commas")
    parser.add_argument("--share", type=float, default=1.0, help="of the contest's limit")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--effort", type=int, default=0, help="limits in iterations instead")
    parser.add_argument("--target", type=float, default=0.5, help="per cent below the best of the contest")
    parser.add_argument("--bin", default="build/bin", help="folder of cleave-solve")
    options = parser.parse_args()
    tool = os.path.join(options.bin, "cleave-solve")
    present = [name for name in options.only if os.path.exists(f"{options.folder}/{name}.json.gz")]
    if not present:
        print(f"skipped: no instances of the contest in {options.folder}")
        return
    print("| instance | seed | cost | / best of the contest | gap | wall s | CPU s |\n|---|---|---|---|---|---|---|")
    runs = {name: [] for name in present}
    for name in present:
        limit, best = CONTEST[name]
        seconds = 86400 if options.effort else limit * options.share
        for seed in options.seeds.split(","):
            cost, bound, wall, used = solve(tool, f"{options.folder}/{name}.json.gz", seconds, seed, options.threads, options.effort)
            runs[name].append((cost, bound))
            print(f"| {name} | {seed} | {cost:.0f} | {cost / best:.5f} | {100 * (cost - bound) / cost:.2f} % | {wall:.0f} | {used:.0f} |",
                  flush=True)
    report(runs, options.target)


if __name__ == "__main__":
    main()
