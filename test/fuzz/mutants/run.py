"""Mutants of the plans of three models on one to four ranks, some with values in host memory or files, with kernels that check every access."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
BIN = pathlib.Path(os.environ.get("CLEAVE_BIN", ROOT / "build/bin"))
EVERYTHING = "offload:states,offload:parameters,offload:activations"
# Name, model, data, options of cleave-compile.
PLANS = [
    ("mlp.2", "mlp.dynamo.onnx", "mlp.npz", ["--ranks", "2", "--pin", "zero3", "--accumulate", "2"]),
    ("gpt.2", "gpt.dynamo.onnx", "gpt.npz", ["--ranks", "2", "--pin", "megatron"]),
    ("gpt.4", "gpt.dynamo.onnx", "gpt.npz", ["--ranks", "4", "--mesh", "dp=2,tp=2"]),
    ("mlp.host", "mlp.dynamo.onnx", "mlp.npz", ["--pin", EVERYTHING, "--host-memory", "1GiB", "--accumulate", "2"]),
    ("gpt.file", "gpt.dynamo.onnx", "gpt.npz", ["--ranks", "2", "--pin", f"zero3,{EVERYTHING}", "--file-memory", "1GiB"]),
    ("resnet.1", "resnet.dynamo.onnx", "image.npz", ["--optimizer", "sgd:lr=0.1,momentum=0.9"]),
]


def compile_plan(folder, name, model, options):
    plan = folder / f"{name}.plan"
    command = [BIN / "cleave-compile", ROOT / "test/models" / model, "--train", "--loss", "softmax-cross-entropy:logits",
               "--set", "batch=8", *options, "-o", plan]
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # leaks of the compiler are not the question here
    environment = {**os.environ, "CLEAVE_CHECK_KERNELS": "1", "ASAN_OPTIONS": sanitizer}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return plan


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=ROOT / "build/test/fuzz/plan-mutants", help="path of plan-mutants")
    parser.add_argument("--count", type=int, default=2500, help="mutants of each plan")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--plans", help="keep or reuse the plans in this folder")
    parser.add_argument("--limit", type=int, default=120, help="seconds that a mutant may take")
    arguments = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.plans or temporary)
        folder.mkdir(exist_ok=True)
        for name, model, data, options in PLANS:
            plan = folder / f"{name}.plan"
            if not plan.exists():
                compile_plan(folder, name, model, options)
            print(name, flush=True)
            bad |= subprocess.run([arguments.program, plan, "--data", ROOT / "test/golden" / data, "--count", str(arguments.count),
                                   "--first", str(arguments.first), "--limit", str(arguments.limit)]).returncode
    return bad


if __name__ == "__main__":
    sys.exit(main())
