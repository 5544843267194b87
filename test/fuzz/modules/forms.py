"""The formats in which a case is exported, and what each cannot hold."""

import contextlib
import logging
import os
import sys
import warnings

import torch

# What a file of the format cannot say, or PyTorch's exporter leaves out: a case with one of these features is exported in another format.
LACKS = {
    "pt2": set(),
    "strict": {"checkpoint"},  # PyTorch's strict export fails
    # run_decompositions() drops detach and no_grad, writes zeros for such a dropout, and clears what a write through unfold() does not reach.
    "decomposed": {"stop", "nothing", "windows"},
    "script": {"checkpoint", "renorm"},  # has no functions in functions, and does not keep what lookups write
    # Tracing drops no_grad and writes to `.data`, stores an attribute as its own run leaves it, and counts batches to 1.
    "trace": {"stop", "attribute", "data", "average"},
    # The first four ONNX does not know; numbers are float32. An element that a scatter leaves out is overwritten first, so that it no longer shares
    # the gradient of a tie.
    "dynamo": {"stop", "state", "autocast", "random", "nothing", "digits", "root", "renorm", "leftout", "logs"},
    "noopt": {"stop", "state", "autocast", "random", "nothing", "digits", "root", "renorm", "leftout", "logs"},
    "legacy": {"stop", "rows", "state", "autocast", "random", "frozen", "root", "renorm", "leftout"},
}
ONNX = {"dynamo", "noopt", "legacy"}


class NotExported(Exception):
    """What PyTorch says."""


def suffix(form):
    return ".onnx" if form in ONNX else ".pt" if form in ("trace", "script") else ".pt2"


def output(form, index):
    """The name of an output."""
    return f"out{index}" if form in ONNX else str(index)


@contextlib.contextmanager
def silence():
    """No standard output and no warnings: the exporters print what they cannot do, some from C++."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    logging.disable(logging.CRITICAL)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
        for number, saved in zip((1, 2), kept):
            os.dup2(saved, number)
            os.close(saved)
        os.close(nowhere)


def export(build, form, inputs, path, dynamic):
    """Writes the file of a model that `build` makes. Returns (whether the batch is symbolic, a function that gives what PyTorch itself makes of the file, or
    ONNX Runtime of an ONNX file: a module)."""
    for symbolic in (True, False) if dynamic and form not in ("trace", "script") else (False,):
        shapes = {name: {0: torch.export.Dim("batch", min=1, max=1024)} for name in inputs} if symbolic else None
        try:
            with silence():
                return symbolic, write(build, form, inputs, path, shapes)
        except Exception as error:  # whatever PyTorch says
            if not symbolic:
                raise NotExported(f"{type(error).__name__}: {(str(error).strip() or '-').splitlines()[0][:160]}") from None
        finally:
            torch._dynamo.reset() if form == "strict" else None


def write(build, form, inputs, path, shapes):
    model, tensors = build(), tuple(inputs.values())
    if form in ONNX:
        write_onnx(model, form, inputs, path, shapes, len(as_tuple(build()(*tensors))))
        return lambda: Runtime(path)
    if form in ("trace", "script"):
        state = build().state_dict()
        made = torch.jit.script(model) if form == "script" else torch.jit.trace(model, tensors, check_trace=False)
        made.load_state_dict(state)  # tracing runs the model
        made.save(str(path))
        torch.jit.load(str(path))(*tensors)  # fails where the script does
        return lambda: torch.jit.load(str(path))
    program = torch.export.export(model, tensors, dynamic_shapes=shapes, strict=form == "strict")
    if form == "decomposed":
        program = program.run_decompositions()
    torch.export.save(program, path)
    return program.module  # torch.export.load() refuses some files that torch.export.save() writes


class Fresh:
    """A script as a fresh process runs it, with the default type float32. The file does not store the default type."""

    def __init__(self, script):
        self.script = script

    def __getattr__(self, name):
        return getattr(self.script, name)

    def __call__(self, *inputs):
        kept = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
        try:
            return self.script(*inputs)
        finally:
            torch.set_default_dtype(kept)


def without_dead_code(model):
    """A model that was read from a file, without the statements that no output needs. Such a statement may refuse its data."""
    if isinstance(model, torch.fx.GraphModule):
        model.graph.eliminate_dead_code()
        model.recompile()
    elif isinstance(model, torch.jit.ScriptModule):
        torch._C._jit_pass_dce(model.forward.graph)
    return model


class Runtime(torch.nn.Module):
    """The outputs of an ONNX file as ONNX Runtime computes them, or the reference in the package onnx where that lacks an operator in float64; without
    gradients of its parameters."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors
        try:
            session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            self.names, self.run = [given.name for given in session.get_inputs()], session.run
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            from onnx.reference import ReferenceEvaluator

            session = ReferenceEvaluator(str(path))
            self.names, self.run = session.input_names, session.run

    def has_other_buffers(self, model):
        """Whether the file stores other buffers, such as running statistics that the exporter's own run has moved."""
        stored = self.stored()
        return any(not torch.equal(stored[name], buffer) for name, buffer in model.named_buffers() if name in stored and stored[name].shape == buffer.shape)

    def lacks_parameters(self, model, reached):
        """Whether the file has fewer tensors than there are parameters in `reached` with certain values, up to transposition: the exporter has merged
        parameters that are equal before the first step only, or computed with them."""
        stored, parameters = self.stored().values(), [value for name, value in model.named_parameters() if name in reached]
        same = lambda a, b: torch.equal(a, b) or (a.ndim == b.ndim == 2 and torch.equal(a, b.T))
        return any(sum(same(value, one) for one in stored) < sum(same(value, other) for other in parameters) for value in parameters)

    def stored(self):
        import onnx
        from onnx import numpy_helper

        return {tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy()) for tensor in onnx.load(self.path).graph.initializer}

    def forward(self, *inputs):
        named = {name: value.numpy() for name, value in zip(self.names, inputs)}
        return [torch.from_numpy(value).requires_grad_() for value in self.run(None, named)]


def write_onnx(model, form, inputs, path, shapes, outputs):
    names = {"input_names": list(inputs), "output_names": [output(form, i) for i in range(outputs)]}
    if form == "legacy":
        axes = {"dynamic_axes": {name: {0: "batch"} for name in inputs}} if shapes else {}
        torch.onnx.export(model, tuple(inputs.values()), str(path), dynamo=False, opset_version=17, training=torch.onnx.TrainingMode.TRAINING,
                          do_constant_folding=False, **names, **axes)
    else:
        torch.onnx.export(model, tuple(inputs.values()), str(path), dynamo=True, optimize=form == "dynamo", external_data=False, verbose=False,
                          dynamic_shapes=shapes, **names)
    import onnx

    if renamed := {given.name for given in onnx.load(path, load_external_data=False).graph.input} - set(inputs):
        raise ValueError(f"the exporter names an input {min(renamed)}: an output of the model is that input")


def as_tuple(result):
    return result if isinstance(result, (tuple, list)) else (result,)
