#!/usr/bin/env python3
"""Exports the modules of modules.py as TorchScript and compares Cleave with PyTorch on the same file.

    test/models/torch/sweep.py [--bin build/bin] [--forms trace,script,frozen] [--double] [--keep DIR] [MODULE...]

Per module and form: cleave-compile and cleave-run in inference, outputs within 1e-4; then one step of plain SGD on the squared
error, from which every parameter's gradient and every buffer follows, within 1e-3 of the largest element. With --double all is in
float64, within 1e-9 and 1e-7. Where the argument of a ReLU is smaller than its rounding, its sign, and with it a whole summand of a
gradient, is chance: so gradients in float32 that are farther off, up to 2e-1, are right if those of the row in float64 are.
PyTorch's numbers come from the file itself, loaded by torch.jit.load. One line each, then counts; exit code 1 if any is off. Forms
that PyTorch cannot make of a module are skipped. Needs torch; modules marked so need torchvision or transformers.
"""

import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import modules  # noqa: E402

ROOT = HERE.parent.parent.parent
RATE = 100.0
# What may be off, by the type of floats: of outputs and buffers, of gradients; and what of the largest gradient counts as zero.
LIMITS = {"float32": (1e-4, 1e-3, 1e-6), "float64": (1e-9, 1e-7, 1e-12)}
ROUNDING = 2e-1  # how far off gradients of float32 may be that are right in float64


class Off(Exception):
    """What is wrong, in one line."""


def export(name, form, path):
    """Writes the module as TorchScript; returns its inputs, or None where PyTorch cannot."""
    try:
        module, inputs = modules.build(name)
    except (ImportError, AttributeError, TypeError):  # a library, or PyTorch, without it
        return None
    state = copy.deepcopy(module.state_dict())
    try:
        made = torch.jit.script(module) if form == "script" else trace(module, inputs)
        if form == "frozen":
            if name in modules.TRAIN | modules.NOT_FROZEN:
                return None
            made = torch.jit.freeze(made.eval())
        else:
            made.load_state_dict(state, strict=False)  # tracing a batch norm moves its statistics
    except Exception:  # whatever PyTorch says: it is not ours to judge
        return None
    made.save(str(path))
    try:
        torch.jit.load(str(path))(*inputs)
    except Exception:  # such as "parametrization is not working with scripting"
        return None
    return inputs


def trace(module, inputs):
    return torch.jit.trace(module, inputs, check_trace=False)


def call(tool, *arguments):
    done = subprocess.run([str(tool), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["without a word"]
        raise Off(f"{pathlib.Path(tool).name} exits with {done.returncode}: {said[-1][:400]}")


def names_of(loaded):
    return [argument.name for argument in loaded._c._get_method("forward").schema.arguments[1:]]


def types_of(names, inputs):
    return [f"--input={n}={name_of(t.dtype)}[{','.join(map(str, t.shape))}]" for n, t in zip(names, inputs)]


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def limits():
    return LIMITS[name_of(torch.get_default_dtype())]


def first(output):
    """The tensor that a module returns, if need be the first of several."""
    return output if isinstance(output, torch.Tensor) else first(output[0])


def distance(found, wanted):
    """Largest difference relative to the largest element."""
    wanted = wanted.detach().numpy().astype(numpy.float64)
    if found.shape != wanted.shape:
        return float("inf")
    if not wanted.size:
        return 0.0
    apart = numpy.abs(found.astype(numpy.float64) - wanted).max()
    return float(apart / max(numpy.abs(wanted).max(), 1e-6)) if numpy.isfinite(apart) else float("inf")


def read_checkpoint(folder):
    """Name -> array, of a checkpoint that one rank wrote."""
    step = next(p for p in sorted(pathlib.Path(folder).iterdir()) if p.name.startswith("step-"))
    data = next(step.glob("*.safetensors")).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    types = {"F32": numpy.float32, "I64": numpy.int64, "F64": numpy.float64, "BOOL": numpy.bool_}
    out = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            out[name] = numpy.frombuffer(body[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    return out


def run_forward(tools, path, inputs, folder):
    loaded = torch.jit.load(str(path))
    with torch.no_grad():
        wanted = first(loaded(*inputs))
    names = names_of(loaded)
    numpy.savez(folder / "in.npz", **{n: t.numpy() for n, t in zip(names, inputs)})
    call(tools / "cleave-compile", path, *types_of(names, inputs), "-o", folder / "f.plan")
    call(tools / "cleave-run", folder / "f.plan", "--data", folder / "in.npz", "--steps", 1, "--threads", 1,
         "--out", folder / "out.npz")
    return distance(numpy.load(folder / "out.npz")["0"], wanted)


def run_gradients(tools, path, inputs, folder, training):
    """(distance of gradients, of buffers, the parameter that is farthest off); None where PyTorch has no gradient."""
    loaded = torch.jit.load(str(path))
    names = names_of(loaded)
    return compare_step(tools, path, types_of(names, inputs), loaded, names, inputs, folder, training)


def parameters_of(module):
    """(name, parameter) under every name that it has."""
    for prefix, child in module.named_modules(remove_duplicate=False):
        for name, parameter in child.named_parameters(recurse=False):
            yield (f"{prefix}.{name}" if prefix else name), parameter


def compare_step(tools, path, options, loaded, names, inputs, folder, training, output="0"):
    """As run_gradients; `loaded` is the module in the file, `names` are its inputs', `options` cleave-compile's on them, `output` is the
    name of the output that is trained."""
    before = {n: p.detach().numpy().copy() for n, p in parameters_of(loaded)}
    out = first(loaded(*inputs))
    label = torch.randn(out.shape, generator=torch.Generator().manual_seed(3))
    try:
        torch.nn.functional.mse_loss(out, label).backward()
    except RuntimeError:  # PyTorch has no gradient for some operator
        return None
    numpy.savez(folder / "in.npz", **{n: t.numpy() for n, t in zip(names, inputs)}, **{f"{output}.label": label.numpy()})
    call(tools / "cleave-compile", path, *options, "--train", "--loss", f"mse:{output}", "--optimizer", f"sgd:lr={RATE}",
         "--batch-norm", "train" if training else "frozen", "-o", folder / "g.plan")
    call(tools / "cleave-run", folder / "g.plan", "--data", folder / "in.npz", "--steps", 1, "--threads", 1, "--save", folder / "saved")
    after = read_checkpoint(folder / "saved")
    return farthest(loaded, before, after)


def farthest(loaded, before, after):
    """(distance of gradients, of buffers, the parameter that is farthest off)."""
    # Tied parameters are one: whichever name the checkpoint has, and the sum of what reaches them.
    tied = {}
    for name, parameter in parameters_of(loaded):
        tied.setdefault(parameter.data_ptr(), {})[name] = parameter
    gradients = {}
    for parameters in tied.values():
        each = {id(p): p.grad for p in parameters.values() if p.grad is not None}
        name = next((n for n in parameters if n in after), next(iter(parameters)))
        if each:
            gradients[name] = sum(each.values())
        elif name in after and not numpy.array_equal(before[name], after[name]):
            return float("inf"), 0.0, f"{name} (has no gradient)"
    worst = (0.0, "")
    largest = max((g.abs().max().item() for g in gradients.values()), default=0.0)
    for name, wanted in gradients.items():
        if wanted.abs().max().item() < limits()[2] * largest:
            continue  # zero up to rounding
        if name not in after:
            worst = max(worst, (float("inf"), name))
        else:
            worst = max(worst, (distance((before[name].astype(numpy.float64) - after[name]) / RATE, wanted), name))
    buffers = [distance(after[n], b.double()) for n, b in loaded.named_buffers() if n in after]
    return worst[0], max(buffers, default=0.0), worst[1]


def verdict(forward, gradients):
    """`ok`, `noisy` (float64 has to tell) or `FAIL`, and what was measured; `skip` where there was nothing to compare (None)."""
    measured, good, noisy = [], True, False
    outputs_bound, gradients_bound, _ = limits()
    if forward is not None:
        measured.append(f"forward {forward:.1e}")
        good &= forward <= outputs_bound
    if gradients is not None:
        gradient, buffers, where = gradients
        measured.append(f"gradients {gradient:.1e} {where} buffers {buffers:.1e}")
        noisy = gradients_bound < gradient <= ROUNDING and name_of(torch.get_default_dtype()) == "float32"
        good &= (noisy or gradient <= gradients_bound) and buffers <= outputs_bound
    if not measured:
        return "skip", "nothing to compare: PyTorch has no gradient, or the file none"
    return ("noisy" if noisy else "ok") if good else "FAIL", " ".join(measured)


def compare(name, inputs, forward, gradients):
    """One line on one module in one form; returns as verdict does. `inputs` makes the file, and none where PyTorch cannot;
    `forward` and `gradients` take inputs and compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = inputs()
        if made is None:
            return "skip", "PyTorch makes no such file of it, or does not run it"
        try:
            return verdict(None if name in modules.TRAIN else forward(made), gradients(made))
        except Off as off:
            return "FAIL", str(off)


def check(tools, name, form, folder):
    path, training = folder / f"{name}.{form}.pt", name in modules.TRAIN
    return compare(name, lambda: export(name, form, path), lambda inputs: run_forward(tools, path, inputs, folder),
                   lambda inputs: None if form == "frozen" else run_gradients(tools, path, inputs, folder, training))


def in_double(tools, name, form):
    """The same row in float64: `ok` or `FAIL`, and its line."""
    command = [sys.executable, sys.argv[0], "--bin", tools, "--double", "--forms", form, name]
    line = subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[0]
    return "ok" if line.startswith("ok") else "FAIL", f"in float64: {line}"


def sweep(description, forms, check):
    """Checks the modules that the command line names, in all forms; returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--forms", default=forms, type=lambda text: text.split(","))
    parser.add_argument("--double", action="store_true", help="compute in float64")
    parser.add_argument("--keep", type=pathlib.Path, help="where the files go that are made")
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.double:
        modules.use_double()
    counts = {"ok": 0, "skip": 0, "FAIL": 0}
    for name in arguments.modules or modules.MODULES:
        for form in arguments.forms:
            with tempfile.TemporaryDirectory() as temporary:
                folder = arguments.keep / f"{name}.{form}" if arguments.keep else pathlib.Path(temporary)
                folder.mkdir(parents=True, exist_ok=True)
                result, text = check(arguments.bin, name, form, folder)
            if result == "noisy":
                result, exact = in_double(arguments.bin, name, form)
                text = f"{text}; {exact}"
            counts[result] += 1
            print(f"{result:4} {name:20} {form:10} {text}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(sweep(__doc__, "trace,script,frozen", check))
