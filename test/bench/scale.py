#!/usr/bin/env python3
"""How long the compiler takes to plan for many GPUs: models of cleave-zoo, from the file to the plan's attributes.

    test/bench/scale.py [--bin build/bin] [--full] [CASE …] [-- OPTION …]

Prints per case the user CPU seconds of every phase, the most memory, the mesh, the seconds predicted for a step and how far at most the best
plan is from it. A case is MODEL[/LAYERS]@RANKS:BATCHxSEQ, as gpt3/24@64:16x2048; without cases a few of them. LAYERS may be a list,
as llama3-8b/12,24,48@64:64x4096: then follows per phase the exponent of its seconds in the layers, the slope of a line through their
logarithms. --full also makes the plan file, kernels included. Options behind `--` go to cleave-compile, as --dtype bf16.
"""
import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ["gpt3@64:8x2048", "gpt3@1024:128x2048", "gpt3@4096:512x2048", "llama2-70b@64:16x2048", "mixtral-8x7b@64:16x2048"]


def parse(case):
    found = re.fullmatch(r"([\w-]+)(?:/([\d,]+))?@(\d+):(\d+)x(\d+)", case)
    if not found:
        sys.exit(f"found case {case}, expected MODEL[/LAYERS[,LAYERS…]]@RANKS:BATCHxSEQ")
    return found.groups()


def seconds_of(text):
    """Seconds of a time as --timing prints it: `1.23 s`, `45.6 ms`, `7.8 us`."""
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


def measure(options, case, layers, folder):
    """Compiles the case with this many layers (None: the model's own) and returns the CPU seconds per phase."""
    model, _, ranks, batch, seq = parse(case)
    path = folder / "model.onnx"
    subprocess.run([options.bin / "cleave-zoo", model, *(["--layers", layers] if layers else []), "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    command = [options.bin / "cleave-compile", path, "--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", "adamw",
               "--set", f"batch={batch},seq={seq}", "--cluster", options.cluster, "--ranks", ranks, "--timing", "-o", folder / "out",
               *options.more]
    command += [] if options.full else ["--stop-after", "planned"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = child.stdout.read()
    _, _, usage = os.wait4(child.pid, 0)
    phases = re.findall(r"^phase (\w+): .*\(CPU (.*)\)$", text, re.M)
    print(f"{case}{f' with {layers} layers' if layers else ''}: user CPU {usage.ru_utime:.1f} s, "
          f"at most {usage.ru_maxrss / 2**20:.2f} GiB")
    print("   ", ", ".join(f"{phase} {seconds}" for phase, seconds in phases))
    for line in text.splitlines():
        if line.startswith(("plan:", "mesh:", "cleave-compile: error")):
            print("   ", line)
    sys.stdout.flush()
    return {phase: seconds_of(seconds) for phase, seconds in phases}


def exponent(layers, seconds):
    """The slope of the line of least squares through the logarithms."""
    xs, ys = [math.log(n) for n in layers], [math.log(t) for t in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def measure_depths(options, case, folder):
    depths = (parse(case)[1] or "").split(",")
    runs = [measure(options, case, layers, folder) for layers in depths]
    if len(runs) > 1:
        layers = [int(depth) for depth in depths]
        common = [phase for phase in runs[0] if all(phase in run for run in runs)]
        print("    exponents in the layers:",
              ", ".join(f"{phase} {exponent(layers, [run[phase] for run in runs]):.2f}" for phase in common))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--cluster", default="h100-node")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("cases", nargs="*", default=CASES)
    own = sys.argv[1:]
    more = own[own.index("--") + 1:] if "--" in own else []
    options = parser.parse_args(own[:own.index("--")] if "--" in own else own)
    options.more = more
    with tempfile.TemporaryDirectory() as folder:
        for case in options.cases:
            measure_depths(options, case, pathlib.Path(folder))


if __name__ == "__main__":
    main()
