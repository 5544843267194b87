#!/usr/bin/env python3
"""Exports the modules of modules.py as ONNX files and compares Cleave with PyTorch.

    test/models/torch/sweep_onnx.py [--bin build/bin] [--forms dynamo,noopt,legacy] [--double] [--keep DIR] [MODULE...]

As sweep.py does for TorchScript: outputs in inference, then the gradient of every parameter and the new value of every buffer after
one step, with the same bounds. `dynamo` is the current exporter as it comes, `noopt` the same with optimize=False, `legacy` the old one. PyTorch's
numbers are the module's. Exporters make mistakes: a file whose outputs onnxruntime, too, computes otherwise than the module is skipped. So are
files that PyTorch cannot make. One line each, then counts; exit code 1 if any is off. Needs torch, onnxscript, onnxruntime; modules marked
so need torchvision or transformers. Gradients of `dynamo` are compared where it kept all parameters: it folds batch norms, and what
is computed of weights alone.
"""

import contextlib
import os
import sys

import numpy
import onnx
import onnx.numpy_helper
import onnxruntime
import torch

import modules
from sweep import call, compare, compare_step, distance, first, limits, name_of, sweep

OUTPUT = "out"
# ONNX does not say which values take no gradient: parts of these modules that are detached or frozen are trained.
UNSAID = {"detach", "no-grad", "padding"}
# What Cleave refuses, by module and form.
REFUSED = {("bags", "legacy"): "the file has NonZero, whose result's shape depends on data"}


@contextlib.contextmanager
def silence():
    """No standard output: the exporters print what they cannot do, the old one from C++."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def names_of(inputs):
    return [f"in{i}" for i in range(len(inputs))]


def write(module, inputs, form, path, training):
    common = dict(input_names=names_of(inputs), output_names=[OUTPUT])
    if form == "legacy":
        mode = torch.onnx.TrainingMode.TRAINING if training else torch.onnx.TrainingMode.PRESERVE
        torch.onnx.export(module, inputs, str(path), dynamo=False, opset_version=17, training=mode, do_constant_folding=False, **common)
    else:
        torch.onnx.export(module, inputs, str(path), dynamo=True, optimize=form == "dynamo", external_data=False, verbose=False, **common)


def by_onnxruntime(path, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    given = dict(zip(names_of(inputs), (t.numpy() for t in inputs)))
    return session.run(None, {i.name: given[i.name] for i in session.get_inputs()})[0]


def is_module(name, path, inputs):
    """Whether the file computes what the module does, as far as onnxruntime can run it (in float64 it has few operators)."""
    wanted = first(modules.build(name)[0](*inputs))
    try:
        return distance(by_onnxruntime(path, inputs), wanted) <= limits()[0]
    except Exception:
        return name_of(torch.get_default_dtype()) == "float64"


def export(name, form, path):
    """Writes the file; returns the inputs, or None where PyTorch cannot or the file is another model."""
    training = name in modules.TRAIN
    try:
        module, inputs = modules.build(name)
        with silence():
            write(module, inputs, form, path, training)
    except Exception:  # whatever PyTorch says: it is not ours to judge
        return None
    return inputs if training or is_module(name, path, inputs) else None


def run_forward(tools, name, path, inputs, folder):
    module, _ = modules.build(name)
    with torch.no_grad():
        wanted = first(module(*inputs))
    numpy.savez(folder / "in.npz", **{n: t.numpy() for n, t in zip(names_of(inputs), inputs)})
    call(tools / "cleave-compile", path, "-o", folder / "f.plan")
    call(tools / "cleave-run", folder / "f.plan", "--data", folder / "in.npz", "--steps", 1, "--threads", 1, "--out", folder / "out.npz")
    return distance(numpy.load(folder / "out.npz")[OUTPUT], wanted)


def is_folded(module, stored):
    """Whether the file lacks parameters, or has weights besides them."""
    known, parameters = set(module.state_dict()), dict(module.named_parameters())
    floats = {n for n, t in stored.items() if t.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE) and numpy.prod(t.dims) > 1}
    return not (stored.keys() >= parameters.keys() and floats <= known)


def run_gradients(tools, name, form, path, inputs, folder):
    """As sweep.run_gradients; None, too, where the exporter folded parameters into others."""
    module, _ = modules.build(name)
    stored = {initializer.name: initializer for initializer in onnx.load(str(path)).graph.initializer}
    if name in UNSAID or (form == "dynamo" and is_folded(module, stored)):
        return None
    frozen = []
    for buffer_name, buffer in module.named_buffers():
        if buffer_name in stored and buffer.is_floating_point():
            if "running_" in buffer_name:  # the old exporter runs the module, which moves its statistics
                buffer.copy_(torch.tensor(onnx.numpy_helper.to_array(stored[buffer_name])))
            elif form == "legacy":  # for which it is a weight like others
                frozen.append(f"--freeze={buffer_name}")
    return compare_step(tools, path, frozen, module, names_of(inputs), inputs, folder, name in modules.TRAIN, OUTPUT)


def check(tools, name, form, folder):
    """As sweep.check."""
    if (name, form) in REFUSED:
        return "skip", REFUSED[name, form]
    path = folder / f"{name}.{form}.onnx"
    return compare(name, lambda: export(name, form, path), lambda inputs: run_forward(tools, name, path, inputs, folder),
                   lambda inputs: run_gradients(tools, name, form, path, inputs, folder))


if __name__ == "__main__":
    sys.exit(sweep(__doc__, "dynamo,noopt,legacy", check))
