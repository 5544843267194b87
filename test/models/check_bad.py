#!/usr/bin/env python3
"""Gives broken models to cleave-compile and looks at its answer.

    test/models/check_bad.py [--bin build/bin] [--flips 200]

Every file of bad/cases.json must end with exit code 1 and one message that holds the words listed there. Then a good
model is cut at many places and has single bits flipped: a cut file must end with exit code 1 and a message, a flipped
one may also compile; neither may crash, hang, or be called a defect. Needs Python's standard library only.
"""

import argparse
import json
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


# Processor time of one compilation, which other work on the machine does not shorten.
MOST_SECONDS = 600


def limit_work():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 10))


def compile_model(tools, model):
    """(exit code, message) of cleave-compile on `model`."""
    command = [
        tools / "cleave-compile",
        model,
        "--train",
        "--loss",
        "softmax-cross-entropy:logits",
        "--optimizer",
        "sgd:lr=0.1",
        "--set",
        "batch=4",
        "--cluster",
        "local-cpu",
        "--ranks",
        "2",
        "-o",
        "/dev/null",
    ]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", preexec_fn=limit_work)
    if done.returncode == -signal.SIGXCPU:
        return f"used {MOST_SECONDS} s of processor time", ""
    return done.returncode, done.stderr.strip()


def complaint(code, message, words=(), may_compile=False):
    """What is wrong with an answer, or None."""
    if code == 0:
        return None if may_compile else "was accepted"
    if code != 1:
        return f"ends with {code}: {message[-200:]}"
    if not message:
        return "gives no message"
    errors = [line for line in message.splitlines() if "error" in line.lower()]
    if len(errors) > 1:
        return f"gives {len(errors)} errors: {message[:200]}"
    missing = [word for word in words if word.lower() not in message.lower()]
    return f"does not say {missing}: {message[:200]}" if missing else None


def damaged(data, flips):
    """(title, bytes, whether it may compile) of cut and flipped copies of `data`."""
    for part in range(1, 20):
        size = len(data) * part // 20
        yield f"cut at {size}", data[:size], False
    for size in (1, 2, 7, len(data) - 1):
        yield f"cut at {size}", data[:size], False
    chance = random.Random(5)
    for _ in range(flips):
        at, bit = chance.randrange(len(data)), chance.randrange(8)
        copy = bytearray(data)
        copy[at] ^= 1 << bit
        yield f"bit {bit} of byte {at} flipped", bytes(copy), True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent.parent / "build/bin")
    parser.add_argument("--flips", type=int, default=200)
    arguments = parser.parse_args()
    found = []
    for name, words in json.loads((HERE / "bad/cases.json").read_text()).items():
        found.append((name, complaint(*compile_model(arguments.bin, HERE / "bad" / name), words)))
    code, message = compile_model(arguments.bin, HERE / "bad/good.onnx")
    found.append(("good.onnx", None if code == 0 else f"ends with {code}: {message[-200:]}"))
    source = (HERE / "mlp.dynamo.onnx").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "damaged.onnx"
        for title, data, may_compile in damaged(source, arguments.flips):
            file.write_bytes(data)
            found.append((title, complaint(*compile_model(arguments.bin, file), (), may_compile)))
    wrong = [f"{title}: {what}" for title, what in found if what]
    print("\n".join(wrong + [f"{len(found)} files, {len(wrong)} answers are wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
