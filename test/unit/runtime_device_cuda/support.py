#!/usr/bin/env python3
"""Asks cuDNN of this machine, without a GPU, for all attention and convolutions of plans of models for an H100.

    support.py --bin build/bin --dnn-support build/test/unit/dnn-support

Fails if cuDNN refuses an instruction, or wants more workspace than its plan has. Exit code 77 if this machine has no cuDNN that can be
asked (9.8).
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
TRAIN = ["--train", "--loss", "softmax-cross-entropy:logits", "--dtype", "bf16", "--cluster", "h100-node", "-q"]


def gpt(hidden, heads, seq):
    return ("gpt2", {"layers": 1, "hidden": hidden, "heads": heads, "ffn": 64, "vocab": 128, "context": seq}, {"batch": 2, "seq": seq})


# Architecture, sizes of cleave-zoo, and sizes of the step: widths of heads from 8 to 128, sequences that are multiples of no tile, heads
# that share keys, attention that is not causal, of other sequences, and convolutions.
MODELS = {
    "narrow": gpt(32, 4, 30),
    "width 64": gpt(128, 2, 1024),
    "width 128": gpt(256, 2, 300),
    "grouped": ("llama2-7b", {"layers": 1, "hidden": 256, "heads": 4, "kv-heads": 2, "ffn": 64, "vocab": 128}, {"batch": 2, "seq": 200}),
    "image": ("vit_b_16", {"layers": 1, "hidden": 128, "heads": 2, "ffn": 64, "classes": 10}, {"batch": 2}),
    "sound": ("whisper-tiny", {"layers": 1, "hidden": 128, "heads": 2, "ffn": 64, "vocab": 128, "frames": 70}, {"batch": 2, "seq": 33}),
    "residual": ("resnet18", {"image": 64, "classes": 10}, {"batch": 4}),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--dnn-support", type=pathlib.Path, required=True)
    a = parser.parse_args()
    if subprocess.run([a.dnn_support], stderr=subprocess.PIPE).returncode == SKIPPED:
        print("skipped: this machine has no cuDNN that can be asked without a GPU")
        return SKIPPED
    plans = []
    with tempfile.TemporaryDirectory() as place:
        for name, (architecture, sizes, step) in MODELS.items():
            model, plan = pathlib.Path(place) / "a.onnx", pathlib.Path(place) / f"{name}.plan"
            subprocess.run([a.bin / "cleave-zoo", architecture, *[f"--{key}={value}" for key, value in sizes.items()], "-o", model],
                           check=True)
            given = ",".join(f"{key}={value}" for key, value in step.items())
            subprocess.run([a.bin / "cleave-compile", model, *TRAIN, "--set", given, "-o", plan], check=True)
            plans.append(plan)
        done = subprocess.run([a.dnn_support, *plans], stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
    attention = sum(line.startswith("attention") for line in done.stdout.splitlines())
    if attention < 2 * 5:
        sys.exit(f"found {attention} instructions of attention, expected at least those of five models")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
