#!/usr/bin/env python3
"""Stands in for Cleave's tools, and for launchers, while commands.py runs the commands of a page: the tool runs with what is left open
filled in, and with small numbers of steps. Launched commands run on this machine, without their launcher."""

import os
import pathlib
import re
import sys

# Options in the place of `…`, where the command does not have them.
OPEN = {
    "cleave-compile": [["--train"], ["--loss", "softmax-cross-entropy:logits"], ["--set", "batch=8"]],
    "cleave-run": [["--data", "text.bin"], ["--steps", "200"]],
}
# The largest values of options. Steps are more than a checkpoint's, which are more than an evaluation's.
MOST = {"--steps": 6, "--save-every": 3, "--eval-every": 2, "--epochs": 1}


def complete(tool, words):
    """The words with `…` replaced, and an output file where a compilation has none."""
    if "…" in words:
        place = words.index("…")
        words[place : place + 1] = [word for option in OPEN[tool] if option[0] not in words for word in option]
        if tool == "cleave-compile" and "-o" not in words:
            words += ["-o", "unnamed.plan"]
    return words


def small(tool, words):
    words = [word.replace("/shared/", "shared/").replace("hf.=", "blocks.=") for word in words] # no model here has names with `hf.`
    for place, word in enumerate(words[:-1]):
        if tool == "cleave-run" and word in MOST and words[place + 1].isdigit():
            words[place + 1] = str(min(int(words[place + 1]), MOST[word]))
        if word == "--lr-schedule":
            words[place + 1] = re.sub(r"warmup=\d+(?![\d%])", "warmup=2", words[place + 1])
    if tool == "cleave-zoo" and "-o" in words and "--layers" not in words:
        words += ["--layers", "2"]
    return words + ["--threads", "1"] * (tool == "cleave-run" and "--threads" not in words)


def main():
    name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
    if name in ("torchrun", "mpirun", "srun"):
        words = words[words.index("cleave-run"):]
        name = words.pop(0)
    if name == "cleave" and words[0] in ("compile", "dump", "run", "export", "profile", "zoo", "calibrate"):
        name = f"cleave-{words.pop(0)}"
    words = small(name, complete(name, words))
    os.execv(pathlib.Path(os.environ["CLEAVE_BIN"]) / name, [name, *words])


if __name__ == "__main__":
    main()
