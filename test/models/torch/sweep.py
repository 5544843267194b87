#!/usr/bin/env python3
"""Exports the modules of modules.py as TorchScript and compares Cleave with PyTorch on the same file.

    test/models/torch/sweep.py [--bin build/bin] [--forms trace,script,frozen] [--keep DIR] [MODULE...]

Per module and form: cleave-compile and cleave-run in inference, outputs within 1e-4; then one step of plain SGD on the squared
error, from which every parameter's gradient and every buffer follows, within 1e-3 of the largest element; what rounding alone does
to the true gradients (conditioning.py) is allowed on top, and named. PyTorch's numbers come from the file itself, loaded by
torch.jit.load. One line each, then counts; exit code 1 if any is off. Forms that
PyTorch cannot make of a module are skipped. Needs torch; modules marked so need torchvision or transformers.
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

import conditioning  # noqa: E402
import modules  # noqa: E402

ROOT = HERE.parent.parent.parent
FORWARD, GRADIENT, RATE = 1e-4, 1e-3, 100.0


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
            if name in modules.TRAIN:
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
    kinds = {torch.float32: "float32", torch.int64: "int64", torch.bool: "bool"}
    return [f"--input={n}={kinds[t.dtype]}[{','.join(map(str, t.shape))}]" for n, t in zip(names, inputs)]


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
    options = types_of(names, inputs)
    return compare_step(tools, path, options, lambda: torch.jit.load(str(path)), names, inputs, folder, training)


def parameters_of(module):
    """(name, parameter) under every name that it has."""
    for prefix, child in module.named_modules(remove_duplicate=False):
        for name, parameter in child.named_parameters(recurse=False):
            yield (f"{prefix}.{name}" if prefix else name), parameter


def compare_step(tools, path, options, load, names, inputs, folder, training):
    """As run_gradients; `load` gives the module in the file, `names` are its inputs', `options` cleave-compile's on them."""
    loaded = load()
    before = {n: p.detach().numpy().copy() for n, p in parameters_of(loaded)}
    out = first(loaded(*inputs))
    label = torch.randn(out.shape, generator=torch.Generator().manual_seed(3))
    try:
        torch.nn.functional.mse_loss(out, label).backward()
    except RuntimeError:  # PyTorch has no gradient for some operator
        return None
    numpy.savez(folder / "in.npz", **{n: t.numpy() for n, t in zip(names, inputs)}, **{"0.label": label.numpy()})
    call(tools / "cleave-compile", path, *options, "--train", "--loss", "mse:0", "--optimizer", f"sgd:lr={RATE}",
         "--batch-norm", "train" if training else "frozen", "-o", folder / "g.plan")
    call(tools / "cleave-run", folder / "g.plan", "--data", folder / "in.npz", "--steps", 1, "--threads", 1, "--save", folder / "saved")
    after = read_checkpoint(folder / "saved")
    measured = farthest(loaded, before, after)
    if GRADIENT < measured[0] < float("inf"):
        return farthest(loaded, before, after, conditioning.noise(load, inputs, label, first))
    return measured


def farthest(loaded, before, after, noise=None):
    """(distance of gradients, of buffers, the parameter that is farthest off, the largest noise that was forgiven).

    `noise`: name -> what rounding does to the parameter's gradient, which counts as no distance (conditioning.py).
    """
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
            return float("inf"), 0.0, f"{name} (has no gradient)", 0.0
    worst, forgiven = (0.0, ""), 0.0
    largest = max((g.abs().max().item() for g in gradients.values()), default=0.0)
    for name, wanted in gradients.items():
        size = wanted.abs().max().item()
        if size < 1e-6 * largest:
            continue  # zero up to rounding
        if name not in after:
            worst = max(worst, (float("inf"), name))
            continue
        apart = distance((before[name].astype(numpy.float64) - after[name]) / RATE, wanted)
        known = (noise or {}).get(name, 0.0) / max(size, 1e-30)
        if apart > GRADIENT and known > 0:
            forgiven = max(forgiven, min(apart, known))
            apart = max(0.0, apart - known)
        worst = max(worst, (apart, name))
    buffers = [distance(after[n], b.double()) for n, b in loaded.named_buffers() if n in after]
    return worst[0], max(buffers, default=0.0), worst[1], forgiven


def verdict(forward, gradients):
    """`ok` or `FAIL` and what was measured; `skip` where there was nothing to compare (None)."""
    measured, good = [], True
    if forward is not None:
        measured.append(f"forward {forward:.1e}")
        good &= forward <= FORWARD
    if gradients is not None:
        gradient, buffers, where, forgiven = gradients
        noise = f" beside rounding's {forgiven:.1e}" if forgiven else ""
        measured.append(f"gradients {gradient:.1e}{noise} {where} buffers {buffers:.1e}")
        good &= gradient <= GRADIENT and buffers <= FORWARD
    if not measured:
        return "skip", "PyTorch has no gradient of it"
    return "ok" if good else "FAIL", " ".join(measured)


def compare(name, inputs, forward, gradients):
    """One line on one module in one form; returns `ok`, `skip` or `FAIL`. `inputs` makes the file, and none where PyTorch cannot;
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


def sweep(description, forms, check):
    """Checks the modules that the command line names, in all forms; returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--forms", default=forms, type=lambda text: text.split(","))
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
    sys.exit(sweep(__doc__, "trace,script,frozen", check))
