#!/usr/bin/env python3
"""Compares gradients at ties, kinks and borders with PyTorch's, in float64, and records them.

    test/models/torch/borders.py [--bin build/bin] [--forms pt2,decomposed,script,dynamo,onnx] [--ranks N] [--keep DIR] [FAMILY[.CASE]...]
    test/models/torch/borders.py --record

Every case is a parameter that begins exactly where an operator has no unique slope, and a function of it (borders_….py). One module
holds all cases of a family; the gradient of the mean square of its output is compared parameter by parameter, infinities and NaN
included. A case that Cleave refuses is reported and left out. One line per difference and refusal, then counts; exit code 1 if any is
unexpected: REFUSED and KNOWN give reasons. `--record` writes what `../../e2e/borders.py` repeats without PyTorch: one archive per
family and the gradients. Needs torch and safetensors, and onnx for its formats.
"""

import argparse
import json
import math
import pathlib
import shutil
import sys
import tempfile
import warnings

import numpy
import safetensors.numpy
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent)]
torch.set_default_dtype(torch.float64)  # also of the constants in the cases

import borders_elementwise as elementwise  # noqa: E402
import borders_empty as empty  # noqa: E402
import borders_layers as layers  # noqa: E402
from sweep import Off, call  # noqa: E402

RATE, CLOSE = 100.0, 1e-7
PREFIX = "at_"  # of parameters, whose names else are those of nodes
RECORDS = ROOT / "test/golden/borders"
FAMILIES = {
    "extremes": elementwise.EXTREMES, "activations": elementwise.ACTIVATIONS, "numbers": elementwise.NUMBERS, "losses": elementwise.LOSSES,
    "reductions": layers.REDUCTIONS, "order": layers.ORDER, "scalars": layers.RANK_0, "einsum": layers.EINSUM, "scatters": layers.SCATTERS,
    "pools": layers.POOLS, "sampling": layers.SAMPLING, "resize": layers.RESIZE, "empty": empty.EMPTY,
}
# case -> why Cleave refuses it.
REFUSED = {
    name: "not supported" for name in (
        "activations.rrelu", "losses.multi_margin", "losses.multilabel_margin", "numbers.copysign", "numbers.entropy", "numbers.erf",
        "numbers.erfinv", "numbers.float_power", "numbers.sinc", "order.logcumsumexp", "order.logcumsumexp_empty", "order.mode",
        "order.mode_0", "order.nanmedian", "order.nanmedian_dim", "order.quantile", "order.quantiles", "pools.max_indices",
        "scalars.logcumsumexp", "scalars.mode", "scalars.nanmedian", "scalars.quantile", "scatters.index_amax",
        "scatters.index_amax_without", "scatters.index_amin", "scatters.index_amin_without", "scatters.index_mean",
        "scatters.index_mean_without", "scatters.index_prod", "scatters.index_prod_without",
    )
}
# case -> why Cleave's gradient differs.
NAN = "PyTorch's gradient is NaN, Cleave's 0"
CHOICE = "PyTorch does not define which of equal elements is chosen"
KNOWN = {
    "extremes.logaddexp_empties": NAN, "losses.kl_target": "PyTorch's slope of t log(t) at 0 is infinite, Cleave's 0", "numbers.hypot": NAN, "numbers.xlogy_zero": NAN, "order.topk_all": CHOICE, "order.kthvalue_ties": CHOICE,
}


class Borders(nn.Module):
    """All cases of a family; the outputs one behind the other."""

    def __init__(self, cases):
        super().__init__()
        self.functions = {name: function for name, (_, function) in cases.items()}
        for name, (values, _) in cases.items():
            self.register_parameter(PREFIX + name, nn.Parameter(torch.tensor(values, dtype=torch.float64)))

    def forward(self, x):
        return torch.cat([x] + [function(getattr(self, PREFIX + name)).to(x.dtype).flatten() for name, function in self.functions.items()])


def sample():
    return torch.zeros(1)


# -- formats --------------------------------------------------------------------------------------
def export_pt2(module, path):
    torch.export.save(torch.export.export(module, (sample(),)), path)


def export_decomposed(module, path):
    torch.export.save(torch.export.export(module, (sample(),)).run_decompositions(), path)


def export_script(module, path):
    torch.jit.trace(module, (sample(),), check_trace=False).save(str(path))


def export_dynamo(module, path):
    torch.onnx.export(module, (sample(),), path, input_names=["x"], dynamo=True, optimize=False, verbose=False)


def export_onnx(module, path):
    torch.onnx.export(module, (sample(),), path, input_names=["x"], dynamo=False, training=torch.onnx.TrainingMode.TRAINING,
                      do_constant_folding=False, opset_version=20)


FORMS = {"pt2": (export_pt2, "pt2"), "decomposed": (export_decomposed, "pt2"), "script": (export_script, "pt"), "dynamo": (export_dynamo, "onnx"), "onnx": (export_onnx, "onnx")}


# -- one file -------------------------------------------------------------------------------------
def expected(module, cases):
    """(label, gradient by case) of PyTorch; `module` has the cases' parameters."""
    out = module(sample())
    label = torch.randn(out.shape, generator=torch.Generator().manual_seed(5))
    nn.functional.mse_loss(out, label).backward()
    parameters = dict(module.named_parameters())
    return label.numpy(), {n: (torch.zeros_like(parameters[PREFIX + n]) if parameters[PREFIX + n].grad is None else parameters[PREFIX + n].grad).numpy() for n in cases}


def output_of(path):
    """The name of the file's only output."""
    if path.suffix != ".onnx":
        return "0"
    import onnx

    return onnx.load(str(path), load_external_data=False).graph.output[0].name


def train(tools, path, label, folder, ranks=1):
    """Name -> value of the parameters after a step."""
    output = output_of(path)
    shutil.rmtree(folder / "saved", ignore_errors=True)
    numpy.savez(folder / "in.npz", **{"x": numpy.zeros(1), f"{output}.label": label})
    typed = ["--input=x=float64[1]"] if path.suffix == ".pt" else []
    call(tools / "cleave-compile", path, *typed, "--train", "--loss", f"mse:{output}", "--optimizer", f"sgd:lr={RATE}", "--ranks", ranks, "-o", folder / "g.plan")
    call(tools / "cleave-run", folder / "g.plan", "--data", folder / "in.npz", "--steps", 1, "--threads", 1, "--save", folder / "saved")
    call(tools / "cleave-export", folder / "g.plan", "--checkpoint", folder / "saved", "-o", folder / "g.safetensors")
    return safetensors.numpy.load_file(folder / "g.safetensors")


def difference(found, wanted):
    """How far the gradient is off, relative to the largest element."""
    if found.shape != wanted.shape or not (numpy.isfinite(found).all() and numpy.isfinite(wanted).all()):
        return math.inf
    return float(numpy.abs(found - wanted).max() / max(numpy.abs(wanted).max(), 1e-3))


def export_case(cases, form, path):
    """Writes the cases; returns the module whose gradients are right for the file."""
    module, export = Borders(cases), FORMS[form][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            export(module, path)
        except Exception as failure:  # of PyTorch's exporter
            raise Off(f"not exported: {type(failure).__name__} {str(failure).splitlines()[:1]}")
        return torch.export.load(path).module() if form == "decomposed" else module


def compare(tools, cases, form, folder, ranks=1):
    """(case -> difference, case -> why it was refused): halves the cases until what is refused stands alone."""
    if not cases:
        return {}, {}
    path = folder / f"borders.{FORMS[form][1]}"
    try:
        module = export_case(cases, form, path)
        before = {n: p.detach().numpy().copy() for n, p in module.named_parameters()}
        label, wanted = expected(module, cases)
        infinite = [n for n, g in wanted.items() if not numpy.isfinite(g).all()]
        if infinite and len(cases) > 1:  # such a step is not saved
            parts = [compare(tools, part, form, folder, ranks) for part in
                     [{n: cases[n]} for n in infinite] + [{n: case for n, case in cases.items() if n not in infinite}]]
            return {n: d for part in parts for n, d in part[0].items()}, {n: w for part in parts for n, w in part[1].items()}
        after = train(tools, path, label, folder, ranks)
        return {n: difference((before[PREFIX + n] - after[PREFIX + n]) / RATE if PREFIX + n in after else numpy.zeros_like(g), g) for n, g in wanted.items()}, {}
    except Off as off:
        error = str(off)
    if len(cases) == 1:
        name = next(iter(cases))
        if "grad_norm is" in error:
            return {name: 0.0 if infinite else math.inf}, {}
        return {}, {name: error}
    names = list(cases)
    parts = [compare(tools, {n: cases[n] for n in half}, form, folder, ranks) for half in (names[: len(names) // 2], names[len(names) // 2 :])]
    return parts[0][0] | parts[1][0], parts[0][1] | parts[1][1]


# -- records --------------------------------------------------------------------------------------
def record():
    import export_pt2

    RECORDS.mkdir(exist_ok=True)
    for family, cases in FAMILIES.items():
        cases = {n: case for n, case in cases.items() if f"{family}.{n}" not in REFUSED | KNOWN}
        _, all_gradients = expected(Borders(cases), cases)
        cases = {n: case for n, case in cases.items() if numpy.isfinite(all_gradients[n]).all()}  # other steps are not saved
        module = Borders(cases)
        export_pt2.save(torch.export.export(module, (sample(),)), RECORDS / f"{family}.pt2")
        label, gradients = expected(module, cases)
        rounded = lambda array: [float(f"{x:.10g}") for x in numpy.asarray(array).ravel()]
        text = {"label": rounded(label), "cases": {n: {"first": getattr(module, PREFIX + n).detach().flatten().tolist(), "gradient": rounded(g)} for n, g in gradients.items()}}
        (RECORDS / f"{family}.json").write_text(json.dumps(text, separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--forms", default="pt2", type=lambda text: text.split(","))
    parser.add_argument("--ranks", default=1, type=int)
    parser.add_argument("--keep", type=pathlib.Path, help="where the files go that are made")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("names", nargs="*", metavar="FAMILY[.CASE]")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.record:
        return record()
    counts = {"ok": 0, "differs": 0, "refused": 0}
    for name in arguments.names or FAMILIES:
        family, _, case = name.partition(".")
        cases = {case: FAMILIES[family][case]} if case else FAMILIES[family]
        for form in arguments.forms:
            with tempfile.TemporaryDirectory() as temporary:
                folder = arguments.keep or pathlib.Path(temporary)
                folder.mkdir(parents=True, exist_ok=True)
                differences, refused = compare(arguments.bin, cases, form, folder, arguments.ranks)
            for n, why in refused.items():
                counts["refused"] += f"{family}.{n}" not in REFUSED
                print(f"refused  {form:10} {family}.{n}: {why}", flush=True)
            for n, off in differences.items():
                if off <= CLOSE:
                    counts["ok"] += 1
                    continue
                why = KNOWN.get(f"{family}.{n}")
                counts["differs"] += why is None
                print(f"differs  {form:10} {family}.{n}: {off:.1e}{f' ({why})' if why else ''}", flush=True)
            print(f"         {form:10} {family}: {len(differences)} compared", flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["differs"] or counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
