#!/usr/bin/env python3
"""What the compiler predicted beside what was measured, per kind of instruction.

    test/bench/predicted.py MODEL.onnx --data FILE [--bin build/bin] [--cluster FILE] [--ranks 1] [--steps 12]
                            [--all] [-- OPTION...]      (options of cleave-compile)

Measured is the fastest of all steps and ranks, instruction by instruction, since other work on the machine only makes
things slower, and of a collective since the rank that comes last waits for nobody. With more ranks than cores the
prediction counts on a share of a core, the fastest run of an instruction had a whole one: the step then says more.
Calibrate first: build/bin/cleave-calibrate -o FILE.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRAIN = ["--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", "adamw:lr=3e-4", "--set", "batch=8"]


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def family(kind):
    """matmul, convolution, kernel, or the name of a collective or other instruction."""
    first = kind.split()[0]
    return first if first in ("matmul", "convolution", "kernel") else kind


def fastest(trace):
    """(kind, predicted, measured) of every instruction of a step: the least seconds over steps and ranks."""
    events = [e for e in trace["traceEvents"] if e.get("ph") == "X" and e["tid"] != 1]  # 1: the prediction
    steps = collections.defaultdict(list)  # (rank, step) -> events in order
    for event in events:
        steps[event["pid"], event["args"]["step"]].append(event)
    return [
        (rows[0]["args"]["kind"], rows[0]["args"]["predicted_us"] * 1e-6, min(row["dur"] for row in rows) * 1e-6)
        for rows in zip(*steps.values())
    ]


def print_table(title, rows):
    sums = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for kind, predicted, measured in rows:
        for key in (kind, None):
            sums[key][0] += 1
            sums[key][1] += predicted
            sums[key][2] += measured
    print(f"{title:<52}{'count':>6}{'predicted':>12}{'measured':>12}{'pred./meas.':>12}")
    for key, (count, predicted, measured) in sorted(sums.items(), key=lambda item: -item[1][2]):
        ratio = f"{predicted / measured:.2f}" if measured else ""
        print(f"{key or 'all':<52}{count:>6}{predicted * 1e3:>9.3f} ms{measured * 1e3:>9.3f} ms{ratio:>12}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--data", required=True)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--cluster", default="local-cpu")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--all", action="store_true", help="every kernel and shape on a line of its own")
    parser.add_argument("options", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plan, trace, log = (pathlib.Path(folder) / name for name in ("a.plan", "trace.json", "log.jsonl"))
        run([options.bin / "cleave-compile", options.model, *TRAIN, "--cluster", options.cluster, "--ranks", options.ranks,
             *options.options, "-o", plan])
        run([options.bin / "cleave-run", plan, "--data", options.data, "--steps", options.steps, "--threads", 1,
             "--profile", trace, "--profile-steps", options.steps, "--log", log])
        rows = fastest(json.loads(trace.read_text()))
        seconds = [step["seconds"] for step in map(json.loads, log.read_text().splitlines()) if "step" in step]
        planned = json.loads(run([options.bin / "cleave-dump", plan, "--json"]))["predicted"]["step_seconds"]
    print_table(pathlib.Path(options.model).name + f", {options.ranks} rank(s)",
                rows if options.all else [(family(kind), *rest) for kind, *rest in rows])
    print(f"predicted step {planned * 1e3:.3f} ms; fastest step {min(seconds) * 1e3:.3f} ms; ratio {planned / min(seconds):.2f}")


if __name__ == "__main__":
    main()
