#!/usr/bin/env python3
"""Writes operators/: the families of corners_operators.py as torch.export archives, with what PyTorch computes.

    test/models/torch/record_operators.py [FAMILY...]

`FAMILY.pt2` is in float64, as torch.export wrote it, `FAMILY.decomposed.pt2` the same after run_decompositions(). `FAMILY.npz` has the
input `i`, a `0.label`, the output `0`, and per parameter its value after one step of plain SGD with a rate of 1 on the mean squared
error. Needs torch. test/e2e/operators.py compares Cleave with them.
"""

import pathlib
import sys
import warnings

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import corners  # noqa: E402
import export_pt2  # noqa: E402
import modules  # noqa: E402

FOLDER = HERE / "operators"
# Families whose decompositions by PyTorch have other gradients: sinc, xlogy and xlog1py at 0; writes through as_strided.
NOT_DECOMPOSED = {"functions", "places"}


def trained(module, inputs, label):
    """The output, and the parameters after one step."""
    out = module(*inputs)
    torch.nn.functional.mse_loss(out, label).backward()
    after = {name: (p - p.grad if p.grad is not None else p).detach().numpy() for name, p in module.named_parameters()}
    return out.detach().numpy(), after


def record(family):
    module, inputs = modules.build(f"corner.{family}")
    program = torch.export.export(module, inputs)
    export_pt2.save(program, FOLDER / f"{family}.pt2")
    if family not in NOT_DECOMPOSED:
        export_pt2.save(program.run_decompositions(), FOLDER / f"{family}.decomposed.pt2")
    shape = module(*inputs).shape
    label = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    out, after = trained(module, inputs, label)
    numpy.savez(FOLDER / f"{family}.npz", **{"i": inputs[0].numpy(), "0.label": label.numpy(), "0": out}, **after)


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    modules.use_double()
    FOLDER.mkdir(exist_ok=True)
    for family in sys.argv[1:] or corners.OPERATORS:
        record(family)


if __name__ == "__main__":
    main()
