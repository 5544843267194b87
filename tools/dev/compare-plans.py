#!/usr/bin/env python3
"""Compares the plans of two builds, byte by byte: tools/dev/compare-plans.py OLD_BIN NEW_BIN [--jobs N].

OLD_BIN and NEW_BIN are folders with cleave-compile and cleave-dump. Every training run of test/golden is compiled on
1 and 4 ranks, unpinned and with each recipe, and every bundled ONNX, torch.export and TorchScript model for inference.
Prints one line per difference, with the first sections of `cleave-dump --json` that differ, and the counts; the exit
code is 1 if any plan differs.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, f"{ROOT}/test/golden")
sys.dont_write_bytecode = True
import check  # the options of the recorded runs

LAYOUTS = [["--ranks", "1"], ["--ranks", "4"]] + [["--ranks", "4", "--pin", pin] for pin in ("dp", "zero3", "megatron")]


def training_runs():
    """(name, arguments of cleave-compile) of every record: its first file in all layouts, the others on 4 ranks."""
    for path in sorted(glob.glob(f"{ROOT}/test/golden/*.json")):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        for model in record.get("files", []):  # results of losses and metrics have none
            file = os.path.normpath(f"{ROOT}/test/models/{model}")
            for layout in LAYOUTS if model == record["files"][0] else LAYOUTS[1:2]:
                yield (f"{os.path.basename(path)} {os.path.basename(model)} {' '.join(layout)}",
                       [file, *check.options_of(record, file), *layout])


def inference_runs():
    """(name, arguments of cleave-compile) of every bundled model, on one rank."""
    for ending in ("onnx", "pt2", "pt"):
        for path in sorted(glob.glob(f"{ROOT}/test/models/**/*.{ending}", recursive=True)):
            if "/bad/" not in path:
                name = os.path.relpath(path, f"{ROOT}/test/models")
                yield f"{name} inference", [os.path.normpath(path), "--set", "batch=4", "--ranks", "1"]


def compile_in(folder, tools, arguments):
    """(exit code, message) of one compilation to FOLDER/out.plan; the recorded command line is the same for all tools."""
    os.mkdir(folder)
    done = subprocess.run(["cleave-compile", *arguments, "-o", "out.plan"], executable=f"{tools}/cleave-compile",
                          cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stderr.strip()


def sections(tools, plan):
    done = subprocess.run([f"{tools}/cleave-dump", plan, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def difference(run, old, new):
    """None for equal outcomes, else one line."""
    name, arguments = run
    with tempfile.TemporaryDirectory() as folder:
        places = [f"{folder}/old", f"{folder}/new"]
        (old_code, old_text), (new_code, new_text) = [
            compile_in(place, tools, arguments) for tools, place in zip((old, new), places)]
        if old_code != new_code:
            return f"{name}: exit codes {old_code} and {new_code}: {new_text or old_text}"
        if old_code != 0:
            return None
        plans = [f"{place}/out.plan" for place in places]
        with open(plans[0], "rb") as first, open(plans[1], "rb") as second:
            if first.read() == second.read():
                return None
        dumps = [sections(new, plan) for plan in plans]
        changed = [key for key in dumps[0] if dumps[0].get(key) != dumps[1].get(key) and key != "content_hash"]
        return f"{name}: plans differ in {', '.join(changed) or 'bytes that cleave-dump does not show'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    runs = [*training_runs(), *inference_runs()]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        lines = [line for line in pool.map(lambda run: difference(run, options.old, options.new), runs) if line]
    for line in lines:
        print(line)
    print(f"{len(runs)} compilations, {len(lines)} with different outcomes")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
