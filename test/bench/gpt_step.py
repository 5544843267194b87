#!/usr/bin/env python3
"""Cleave's training step of the benchmark's GPT beside PyTorch's eager one, on the same cores in one run.

    PYTHON_WITH_TORCH test/bench/gpt_step.py [--bin build/bin] [--threads 1] [--rounds 3] [--steps 12]

Exports the model (4 layers, 256 wide, vocabulary 256, sequence 256), compiles it for one rank, then lets the two take turns: each
round is one run of PyTorch and one of Cleave over the same samples. Prints seconds per step and GFLOP/s of both, the ratio of
the medians, and how far the losses are apart, which says whether the two did the same work.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def torch_step(options, data):
    text = run([sys.executable, ROOT / "test/bench/torch_gpt.py", "--threads", options.threads, "--steps", options.steps,
                "--data", data])
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


def cleave_step(options, plan, data, log):
    run([options.bin / "cleave-run", plan, "--data", data, "--steps", options.steps, "--threads", options.threads,
         "--log", log])
    steps = [json.loads(line) for line in open(log)]
    return [step for step in steps if "step" in step]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model = folder / "gpt.onnx"
        run([sys.executable, ROOT / "test/models/export.py", "--bench", model])
        compiled = subprocess.run(
            [str(options.bin / "cleave-compile"), str(model), "--train", "--loss", "softmax-cross-entropy:logits", "--optimizer",
             "adamw:lr=3e-4,weight-decay=0.01", "--set", "batch=8", "--timing", "-o", str(folder / "gpt.plan")],
            capture_output=True, text=True)
        if compiled.returncode:
            sys.exit(compiled.stderr)
        print("\n".join(line for line in compiled.stderr.splitlines() if line.startswith("phase")))
        theirs, ours, flops = [], [], 0
        for _ in range(options.rounds):
            torch = torch_step(options, folder / "data.npz")
            steps = cleave_step(options, folder / "gpt.plan", folder / "data.npz", folder / "log.jsonl")
            theirs.append(torch["seconds_per_step"])
            ours.append(statistics.median(step["seconds"] for step in steps[2:]))
            flops = torch["gflop"]
            apart = max(abs(a - b["loss"]) / abs(a) for a, b in zip(torch["loss"], steps))
            print(f"round: PyTorch {theirs[-1]:.3f} s, Cleave {ours[-1]:.3f} s; losses apart by {apart:.1e} relative")
        theirs, ours = statistics.median(theirs), statistics.median(ours)
        print(f"PyTorch {theirs:.3f} s ({flops / theirs:.0f} GFLOP/s), Cleave {ours:.3f} s ({flops / ours:.0f} GFLOP/s), "
              f"ratio {theirs / ours:.2f}")


if __name__ == "__main__":
    main()
