#!/usr/bin/env python3
"""Attacks the tools and prints a table: attack, tried, survived, lost. Exit code 1 if one was lost. See README.md."""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import disk  # noqa: E402
import jobs  # noqa: E402
import kills  # noqa: E402
import mutants  # noqa: E402
import network  # noqa: E402
import pairs  # noqa: E402
import restarts  # noqa: E402
import store  # noqa: E402
from jobs import Case  # noqa: E402
from processes import Lost, Missed, Skipped  # noqa: E402

MODULES = (kills, disk, network, store, pairs, mutants, restarts)
ATTACKS = {name: attack for module in MODULES for name, attack in module.ATTACKS.items()}
ATTEMPTS = 5  # of a case that comes too late


def attempt(arena, name, run, number):
    """(case, outcome, reason) of one attempt."""
    case = Case(arena, name, number)
    outcome, reason = "survived", ""
    try:
        run(case, *name.split("/")[1:])
    except Lost as error:
        outcome, reason = "lost", str(error)
    except Missed:
        outcome = "missed"
    except Skipped as error:
        outcome, reason = "skipped", str(error)
    except Exception:  # of the script or of its assumptions: to be looked at, so not survived
        outcome, reason = "lost", traceback.format_exc()
    finally:
        case.close()
    if outcome != "lost":
        shutil.rmtree(case.root, ignore_errors=True)
    return case, outcome, reason


def play(arena, name, run):
    for number in range(ATTEMPTS):
        result = attempt(arena, name, run, number)
        if result[1] != "missed":
            break
    return result


class Table:
    """Counts per attack."""

    COLUMNS = ["survived", "lost", "missed", "skipped"]

    def __init__(self):
        self.rows = {}

    def add(self, case, outcome, reason, verbose):
        row = self.rows.setdefault(case.name.split("/")[0], dict.fromkeys(self.COLUMNS, 0))
        losses = case.losses if outcome == "lost" else 0
        row["lost"] += losses
        row["survived" if losses else outcome] += case.weight - losses
        seconds = time.monotonic() - case.begin
        text = f"{outcome}: {case.name}: {'; '.join(case.story)} ({seconds:.1f} s)"
        if reason:
            text += "\n    " + reason.replace("\n", "\n    ")
        if outcome == "lost":
            text += f"\n    repeat: python3 test/attack/run.py --case {case.name}"
        if outcome in ("lost", "skipped") or verbose:
            print(text, flush=True)

    def show(self):
        print("| attack | tried | survived | lost | came too late | skipped |\n|---|---|---|---|---|---|")
        for name, row in self.rows.items():
            counts = [row["survived"] + row["lost"], *(row[column] for column in self.COLUMNS)]
            print(f"| {name} | {' | '.join(map(str, counts))} |")

    def lost(self):
        return sum(row["lost"] for row in self.rows.values())


def chosen(options, arena):
    """The names of the cases to play."""
    if options.case:
        return options.case
    wanted = options.only.split(",") if options.only else list(ATTACKS)
    for name in wanted:
        if name not in ATTACKS:
            raise SystemExit(f"run.py: found attack '{name}', expected some of {', '.join(ATTACKS)}")
    return [f"{name}/{words}" for name in wanted for words in ATTACKS[name][0](arena, options.cases, options.seed)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200, help="kills and stops, together; others follow. Default: 200")
    parser.add_argument("--seed", type=int, default=1, help="number of the first case. Default: 1")
    parser.add_argument("--only", help=f"some of {','.join(ATTACKS)}; default: all")
    parser.add_argument("--case", action="append", help="plays this case, as printed for a lost one; may be repeated")
    parser.add_argument("--parallel", type=int, default=2, help="cases at a time. Default: 2")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after this time")
    parser.add_argument("--folder", help="where jobs run; those of lost cases stay there. Default: a temporary one")
    parser.add_argument("-v", "--verbose", action="store_true", help="prints every case")
    options = parser.parse_args()
    begin, table = time.monotonic(), Table()
    os.nice(10)
    folder = options.folder or tempfile.mkdtemp(prefix="cleave-attack-")
    os.makedirs(folder, exist_ok=True)
    arena = jobs.Arena(folder)
    names = chosen(options, arena)
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        def one(name):
            if time.monotonic() - begin < options.seconds:
                table.add(*play(arena, name, ATTACKS[name.split("/")[0]][1]), options.verbose)
        for future in [pool.submit(one, name) for name in names]:
            future.result()
    table.show()
    print(f"{time.monotonic() - begin:.0f} s")
    if not table.lost() and not options.folder:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if table.lost() else 0


if __name__ == "__main__":
    sys.exit(main())
