#!/usr/bin/env python3
"""Exports the modules of modules.py as torch.export archives and compares Cleave with PyTorch on the same file.

    test/models/torch/sweep_pt2.py [--bin build/bin] [--forms exported,decomposed] [--double] [--keep DIR] [MODULE...]

As sweep.py does for TorchScript: outputs in inference, then the gradient of every parameter and the new value of every buffer after
one step, with the same bounds. One line each, then counts; exit code 1 if any is off. Forms that PyTorch cannot make of a module are
skipped. Needs torch; modules marked so need torchvision or transformers.
"""

import sys

import numpy
import torch

import modules
from sweep import call, compare, compare_step, distance, first, sweep


def export(name, form, path):
    """Writes the archive; returns the inputs, or None where PyTorch cannot or the file is another model."""
    if form == "decomposed" and name in modules.NOT_DECOMPOSED:
        return None
    try:
        module, inputs = modules.build(name)
    except modules.families.NotBuilt:
        return None
    try:
        program = torch.export.export(module, inputs)
        torch.export.save(program.run_decompositions() if form == "decomposed" else program, path)
    except Exception:  # whatever PyTorch says: it is not ours to judge
        return None
    return inputs


def load(path):
    """(the module in the file, its inputs' names)."""
    program = torch.export.load(path)
    return program.module(), list(program.graph_signature.user_inputs)


def run_forward(tools, path, inputs, folder):
    loaded, names = load(path)
    with torch.no_grad():
        wanted = first(loaded(*inputs))
    numpy.savez(folder / "in.npz", **{n: t.numpy() for n, t in zip(names, inputs)})
    call(tools / "cleave-compile", path, "-o", folder / "f.plan")
    call(tools / "cleave-run", folder / "f.plan", "--data", folder / "in.npz", "--steps", 1, "--threads", 1, "--out", folder / "out.npz")
    return distance(numpy.load(folder / "out.npz")["0"], wanted)


def run_gradients(tools, path, inputs, folder, training):
    """As sweep.run_gradients."""
    loaded, names = load(path)
    return compare_step(tools, path, [], loaded, names, inputs, folder, training)


def check(tools, name, form, folder):
    """As sweep.check."""
    path, training = folder / f"{name}.{form}.pt2", name in modules.TRAIN
    return compare(name, lambda: export(name, form, path), lambda inputs: run_forward(tools, path, inputs, folder),
                   lambda inputs: run_gradients(tools, path, inputs, folder, training))


if __name__ == "__main__":
    sys.exit(sweep(__doc__, "exported,decomposed", check))
