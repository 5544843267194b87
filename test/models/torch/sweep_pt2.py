#!/usr/bin/env python3
"""Exports the modules of modules.py as torch.export archives and compares Cleave with PyTorch on the same file.

    test/models/torch/sweep_pt2.py [--bin build/bin] [--forms exported,decomposed] [--keep DIR] [MODULE...]

As sweep.py does for TorchScript: outputs in inference within 1e-4, then the gradient of every parameter and the new value of every
buffer after one step within 1e-3 of the largest element. One line each, then counts; exit code 1 if any is off. Forms that PyTorch
cannot make of a module are skipped. Needs torch; modules marked so need torchvision or transformers.
"""

import argparse
import pathlib
import sys
import tempfile
import warnings

import numpy
import torch

import modules
from sweep import FORWARD, GRADIENT, RATE, ROOT, Off, call, distance, farthest, read_checkpoint


def export(name, form, path):
    """Writes the archive; returns the inputs, or None where PyTorch cannot."""
    module, inputs = modules.build(name)
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
        wanted = loaded(*inputs)
    numpy.savez(folder / "in.npz", **{n: t.numpy() for n, t in zip(names, inputs)})
    call(tools / "cleave-compile", path, "-o", folder / "f.plan")
    call(tools / "cleave-run", folder / "f.plan", "--data", folder / "in.npz", "--steps", 1, "--threads", 1, "--out", folder / "out.npz")
    return distance(numpy.load(folder / "out.npz")["0"], wanted)


def run_gradients(tools, path, inputs, folder, training):
    """(distance of gradients, of buffers, the parameter that is farthest off)."""
    loaded, names = load(path)
    before = {n: p.detach().numpy().copy() for n, p in loaded.named_parameters()}
    out = loaded(*inputs)
    label = torch.randn(out.shape, generator=torch.Generator().manual_seed(3))
    try:
        torch.nn.functional.mse_loss(out, label).backward()
    except RuntimeError:  # PyTorch has no gradient for some operator
        return 0.0, 0.0, "(none in PyTorch)"
    numpy.savez(folder / "in.npz", **{n: t.numpy() for n, t in zip(names, inputs)}, **{"0.label": label.numpy()})
    call(tools / "cleave-compile", path, "--train", "--loss", "mse:0", "--optimizer", f"sgd:lr={RATE}",
         "--batch-norm", "train" if training else "frozen", "-o", folder / "g.plan")
    call(tools / "cleave-run", folder / "g.plan", "--data", folder / "in.npz", "--steps", 1, "--threads", 1, "--save", folder / "saved")
    return farthest(loaded, before, with_ties(loaded, read_checkpoint(folder / "saved")))


def with_ties(loaded, arrays):
    """The arrays, also under the other names of tied parameters."""
    first = {}
    for name, parameter in loaded.named_parameters(remove_duplicate=False):
        if name in arrays:
            first.setdefault(id(parameter), arrays[name])
    every = loaded.named_parameters(remove_duplicate=False)
    return {**arrays, **{name: first[id(parameter)] for name, parameter in every if id(parameter) in first}}


def check(tools, name, form, folder):
    """One line on one module in one form; returns `ok`, `skip` or `FAIL`."""
    path, training = folder / f"{name}.{form}.pt2", name in modules.TRAIN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = export(name, form, path)
        if inputs is None:
            return "skip", "PyTorch makes no such file of it"
        try:
            forward = 0.0 if training else run_forward(tools, path, inputs, folder)
            gradient, buffers, where = run_gradients(tools, path, inputs, folder, training)
        except Off as off:
            return "FAIL", str(off)
    good = forward <= FORWARD and gradient <= GRADIENT and buffers <= FORWARD
    return "ok" if good else "FAIL", f"forward {forward:.1e} gradients {gradient:.1e} {where} buffers {buffers:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--forms", default="exported,decomposed", type=lambda text: text.split(","))
    parser.add_argument("--keep", type=pathlib.Path, help="where the files go that are made")
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    counts = {"ok": 0, "skip": 0, "FAIL": 0}
    for name in arguments.modules or modules.MODULES:
        for form in arguments.forms:
            with tempfile.TemporaryDirectory() as temporary:
                folder = arguments.keep / f"{name}.{form}" if arguments.keep else pathlib.Path(temporary)
                folder.mkdir(parents=True, exist_ok=True)
                result, text = check(arguments.bin, name, form, folder)
            counts[result] += 1
            print(f"{result:4} {name:20} {form:10} {text}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
