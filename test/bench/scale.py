#!/usr/bin/env python3
"""How long the compiler takes to plan for many GPUs: models of cleave-zoo, from the file to the plan's attributes.

    test/bench/scale.py [--bin build/bin] [--full] [CASE …]

Prints per case the CPU seconds of every phase, the most memory, the mesh, the seconds predicted for a step and how far at most the best
plan is from it. A case is MODEL[/LAYERS]@RANKS:BATCHxSEQ, as gpt3/24@64:16x2048; without cases a few of them. --full also makes
the plan file, kernels included.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ["gpt3@64:8x2048", "gpt3@1024:128x2048", "gpt3@4096:512x2048", "llama2-70b@64:16x2048", "mixtral-8x7b@64:16x2048"]


def parse(case):
    found = re.fullmatch(r"([\w-]+)(?:/(\d+))?@(\d+):(\d+)x(\d+)", case)
    if not found:
        sys.exit(f"found case {case}, expected MODEL[/LAYERS]@RANKS:BATCHxSEQ")
    return found.groups()


def measure(options, case, folder):
    model, layers, ranks, batch, seq = parse(case)
    path = folder / "model.onnx"
    subprocess.run([options.bin / "cleave-zoo", model, *(["--layers", layers] if layers else []), "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    command = [options.bin / "cleave-compile", path, "--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", "adamw",
               "--set", f"batch={batch},seq={seq}", "--cluster", options.cluster, "--ranks", ranks, "--timing", "-o", folder / "out"]
    command += [] if options.full else ["--stop-after", "planned"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = child.stdout.read()
    _, _, usage = os.wait4(child.pid, 0)
    phases = re.findall(r"^phase (\w+): .*\(CPU (.*)\)$", text, re.M)
    print(f"{case}: CPU {usage.ru_utime + usage.ru_stime:.1f} s, at most {usage.ru_maxrss / 2**20:.2f} GiB")
    print("   ", ", ".join(f"{phase} {seconds}" for phase, seconds in phases))
    for line in text.splitlines():
        if line.startswith(("plan:", "mesh:", "cleave-compile: error")):
            print("   ", line)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--cluster", default="h100-node")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("cases", nargs="*", default=CASES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for case in options.cases:
            measure(options, case, pathlib.Path(folder))


if __name__ == "__main__":
    main()
