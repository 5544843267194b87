"""Compiles, trains, evaluates, resumes and exports a case with Cleave, and compares with PyTorch."""

import dataclasses
import json
import pathlib
import re
import resource
import signal
import subprocess
import time
import types

import forms
import losses
import numpy
import reference
import torch
from case import load

PROCESSOR_SECONDS, TIMEOUT = 600, 1800  # of one tool
# Largest relative differences: in float64; in float32 besides that of PyTorch itself; in bfloat16 likewise.
# WRITTEN: in ONNX, whose exporters write numbers of float64 models in float32, and in TorchScript, which does not state PyTorch's default dtype.
DOUBLE, WRITTEN, SINGLE, HALF = 1e-7, 1e-6, 2e-4, 3e-2
ENSEMBLE = 12  # computations with rounding errors: AdamW divides a gradient near zero by itself


@dataclasses.dataclass
class Outcome:
    kind: str  # ok, unusable, not exported, refused, noisy, exporter, difference, crash
    what: str = ""  # in a few words, without numbers, as far as shrinking has to keep it
    detail: str = ""
    seconds: dict = dataclasses.field(default_factory=dict)


class Ended(Exception):
    def __init__(self, kind, what, detail=""):
        super().__init__(what)
        self.outcome = Outcome(kind, what, detail)


class Clock:
    """Seconds by what they went to."""

    def __init__(self):
        self.seconds, self.begin = {}, time.time()

    def lap(self, name):
        now = time.time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.begin
        self.begin = now


class Tools:
    def __init__(self, folder, clock):
        self.folder, self.clock = folder, clock

    def __call__(self, name, *arguments):
        command = [str(self.folder / name), *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            raise Ended("crash", f"{name} does not end", " ".join(command)) from None
        self.clock.lap(name)
        if done.returncode == -signal.SIGXCPU:
            raise Ended("crash", f"{name} does not end", " ".join(command))
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if re.match(r"(.*: )?(error|cleave-\w+): (?!remark|warning|note)", line)]
            line = (said or done.stderr.strip().splitlines() or ["silent"])[-1][:400]
            kind = "refused" if done.returncode == 1 else "crash"
            raise Ended(kind, f"{name}: {general(line)}" if kind == "refused" else f"{name} exits with {done.returncode}: {general(line)}", line)
        return done.stderr


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 5))


def general(line):
    """A message without names, numbers and paths; of operators that are missing, the first alone."""
    if missing := re.search(r"torch\.ops\.[\w.]+|calls aten::\w+", line):
        return f"has no {missing.group(0)}"
    line = re.sub(r"(/[\w.-]+)+(:\d+(:\d+)?)?", "FILE", line)
    line = re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"", lambda m: m.group(0) if re.fullmatch(r".aten[\w:.]*.", m.group(0)) else "'…'", line)
    return re.sub(r"-?\b\d[\d.e+-]*(x\d+)*(xf\d+|xi\d+)?\b", "N", line)[:200]


def converted(case):
    """The model in float64."""
    model = reference.build(case).double()
    for module in model.modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                vars(module)[name] = value.double()
    return model


class Doubled:
    """A case whose data are float64."""

    def __init__(self, case):
        self.RUN, self.INPUTS, self.case = case.RUN, case.INPUTS, case

    def data(self, n, seed):
        torch.set_default_dtype(torch.float32)
        found = {name: t.double() if t.is_floating_point() else t for name, t in self.case.data(n, seed).items()}
        torch.set_default_dtype(torch.float64)
        return found


class Expected:
    """The numbers of PyTorch, and how far off right ones may be."""

    def __init__(self, case):
        self.case = case
        self.isDouble = "torch.float64)" in case.TEXT
        self.isHalf = not self.isDouble and ("autocast" in case.TEXT or "dtype" in case.RUN)
        try:
            if self.isDouble:
                self.trace = reference.train(reference.build(case), case)
                self.own = None
            else:
                self.own = reference.train(reference.build(case), case)
                self.trace = self.exact()
        except reference.Refused:
            raise
        except reference.Unusable as error:
            raise Ended("unusable", str(error)) from None
        except IndexError:
            raise
        except Exception as error:  # a shrunk case may be anything
            raise Ended("unusable", f"PyTorch: {(str(error) or '-').splitlines()[0][:80]}") from None
        if not reference.is_finite(self.trace):
            raise Ended("unusable", "not finite, or large")

    def exact(self, noise=None):
        model = converted(self.case)
        torch.set_default_dtype(torch.float64)
        try:
            return reference.train(model, Doubled(self.case), noise)
        finally:
            torch.set_default_dtype(torch.float32)

    def tolerance(self):
        exact = WRITTEN if self.case.RUN["form"] in (*forms.ONNX, "script", "trace") else DOUBLE
        return exact if self.isDouble else HALF if self.isHalf else SINGLE

    def is_noise(self, found):
        """Whether numbers as far off as these come from rounding, by computing with rounding errors."""
        size = 2e-14 if self.isDouble else 4e-3 if self.isHalf else 2e-7
        others = [self.own] if self.own else []
        for seed in range(ENSEMBLE):
            noise = reference.Rounding(size, seed, torch.float32 if self.isDouble else torch.bfloat16, keepsPositions=self.isHalf)
            others.append(reference.train(reference.build(self.case), self.case, noise) if self.isDouble else self.exact(noise))
        spread = max((max((off for _, off in distances(other, self.trace)), default=0.0) for other in others), default=0.0)
        worst = max(off for _, off in distances(found, self.trace))
        return worst <= 20 * spread + self.tolerance()


def distances(found, wanted):
    """(name, relative difference) of every number, in the order of the steps."""
    for step, (loss, norm) in enumerate(zip(wanted.losses, wanted.norms)):
        yield f"the loss of step {step}", apart(found.losses[step], loss)
        yield f"the gradient norm of step {step}", apart(found.norms[step], norm)
    for name, value in wanted.state.items():
        if name in found.state:
            yield f"`{name}`", apart(found.state[name], value)
    if wanted.evaluation is not None and found.evaluation is not None:
        yield "the evaluation", apart(found.evaluation, wanted.evaluation)


def apart(found, wanted):
    if found is None:
        return float("inf")
    found, wanted = (numpy.asarray(v, numpy.float64) for v in (found, wanted))
    if found.shape != wanted.shape or not numpy.isfinite(found).all():
        return float("inf")
    return float(numpy.abs(found - wanted).max() / max(numpy.abs(wanted).max(), 1e-2)) if wanted.size else 0.0


class Life:
    """A case in one format on the way through Cleave."""

    def __init__(self, tools, case, path, folder, symbolic, frozen):
        self.tools, self.case, self.run, self.path, self.folder = tools, case, case.RUN, path, folder
        self.symbolic, self.frozen = symbolic, frozen
        self.isWarned = False  # Cleave has said that the exporter changed the parameters
        self.write_data("train", reference.samples(self.run)[0], reference.TRAINING_SEED)
        self.write_data("eval", reference.samples(self.run)[1], reference.EVALUATION_SEED)

    def write_data(self, name, many, seed):
        self.arrays = {key: value.numpy() for key, value in self.case.data(many, seed).items()}
        numpy.savez(self.folder / f"{name}.npz", **self.arrays)

    def options(self):
        run, form = self.run, self.run["form"]
        options = ["--train", "--optimizer", run["optimizer"]]
        for index, spec in enumerate(run["losses"]):
            label = f"label{index}" if f"label{index}" in self.arrays else None
            options += ["--loss", losses.spelled(forms.output(form, index), spec, label)]
        if form in ("trace", "script"):
            for name in self.case.INPUTS:
                value = self.arrays[name]
                options.append(f"--input={name}={value.dtype}[{','.join(map(str, (run['batch'], *value.shape[1:])))}]")
        if self.symbolic:
            options += ["--set", f"batch={run['batch'] * run['micro']}"]
        if run["micro"] > 1:
            options += ["--micro-batch" if self.symbolic else "--accumulate", run["micro"]]
        return options + (["--eval"] if run["eval"] else []) + (["--dtype", run["dtype"]] if "dtype" in run else []) + self.frozen

    def plan(self, life):
        ranks, memory = life
        path = self.folder / f"{ranks}-{memory}.plan"
        if not path.exists():
            said = self.tools("cleave-compile", self.path, *self.options(), "--ranks", ranks, *(["--memory", "least"] if memory == "least" else []), "-o", path)
            self.isWarned |= "export with optimize=False" in said
        return path

    def steps(self, plan, steps, name, *more):
        last = ["--last-batch", self.run["last"]] if self.run.get("last") else []
        self.tools("cleave-run", plan, "--data", self.folder / "train.npz", "--steps", steps, "--threads", 1, "--log", self.folder / f"{name}.jsonl",
                   "--save", self.folder / f"{name}.saved", *last, *more)
        return [json.loads(line) for line in (self.folder / f"{name}.jsonl").read_text().splitlines()]

    def trace(self, index):
        """What Cleave computes in one of the ways of the case; a resumed training goes on under the next one."""
        lives, run = self.run["lives"], self.run
        plan = self.plan(lives[index])
        evaluation = ["--eval", self.folder / "eval.npz"] if run["eval"] else []
        name = f"whole{index}"
        if run["resume"]:
            lines = self.steps(plan, run["resume"], f"first{index}")
            plan = self.plan(lives[(index + 1) % len(lives)])
            lines += self.steps(plan, run["steps"], name, "--resume", self.folder / f"first{index}.saved", *evaluation)
        else:
            lines = self.steps(plan, run["steps"], name, *evaluation)
        self.tools("cleave-export", plan, "--checkpoint", self.folder / f"{name}.saved", "-o", self.folder / f"{name}.safetensors")
        by_step = {line["step"]: line for line in lines if "loss" in line and "step" in line}
        steps = [by_step.get(step, {"loss": None, "grad_norm": None}) for step in range(run["steps"])]
        return reference.Trace([s["loss"] for s in steps], [s["grad_norm"] for s in steps], read_safetensors(self.folder / f"{name}.safetensors"),
                               evaluation=next((line["eval_loss"] for line in lines if line.get("event") == "eval"), None))


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    types = {"F32": numpy.float32, "I64": numpy.int64, "F64": numpy.float64, "BOOL": numpy.bool_, "I32": numpy.int32}
    return {name: numpy.frombuffer(body[entry["data_offsets"][0] : entry["data_offsets"][1]], types[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def first_difference(found, expected, form, aliases):
    """(in a few words, in full) of the first number that is off, or None."""
    trace, limit = expected.trace, expected.tolerance()
    for what, off in distances(found, trace):
        if not off <= limit:
            kind = re.sub(r" of step \d+|`(.*)`", lambda m: " of a parameter" if m.group(1) in trace.reached else " of a buffer" if m.group(1) else "", what)
            return f"differs: {kind.strip()}", f"{what} is off by {off:.1e}: {shown(found, what)} instead of {shown(trace, what)}"
    for name, value in trace.state.items():
        isMoved = not torch.equal(value, trace.before[name]) and (name in trace.moved or name not in trace.reached)
        if isMoved and name not in found.state and not aliases.get(name, set()) & found.state.keys() and form not in forms.ONNX and name in trace.persistent:
            return "missing: a " + ("parameter" if name in trace.reached else "buffer"), f"`{name}` changes, and the export lacks it"
    return None


def shown(trace, what):
    if what == "the evaluation":
        return trace.evaluation
    if what.startswith("`"):
        return str(numpy.asarray(trace.state[what.strip("`")]).ravel()[:8].tolist())
    values = trace.losses if "loss" in what else trace.norms
    return values


def aliases_of(model):
    """Name -> the other names of the same tensor."""
    names = {}
    for name, tensor in [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]:
        names.setdefault(id(tensor), set()).add(name)
    return {name: group for group in names.values() for name in group}


def expectation(case):
    """The numbers, or the reason for which PyTorch refuses the data."""
    try:
        with reference.without_checkpoints(case):
            return Expected(case), None
    except reference.Refused as error:
        return None, str(error)
    except IndexError as error:
        return None, str(error)


def check(path, tools_folder, folder):
    """The outcome of the case in a file."""
    clock = Clock()
    try:
        compare(path, Tools(pathlib.Path(tools_folder), clock), folder, clock)
        outcome = Outcome("ok")
    except Ended as ended:
        outcome = ended.outcome
    outcome.seconds = clock.seconds
    return outcome


def compare(path, tools, folder, clock):
    case = load(path)
    case.TEXT = path.read_text()
    expected, refusal = expectation(case)
    model = reference.build(case)
    if expected:
        expected.trace.persistent = set(model.state_dict())
    clock.lap("PyTorch")
    file = folder / f"model{forms.suffix(case.RUN['form'])}"
    first = case.data(case.RUN["batch"], 0)
    try:
        symbolic, read = forms.export(lambda: reference.build(case), case.RUN["form"], {name: first[name] for name in case.INPUTS}, file, case.RUN["dynamic"])
    except forms.NotExported as error:
        raise Ended("not exported", str(error)) from None
    clock.lap("export")
    frozen = []
    if case.RUN["form"] in forms.ONNX:
        frozen = [f"--freeze={name}" for name, p in model.named_parameters() if not p.requires_grad]
        frozen += [f"--freeze={name}" for name, b in model.named_buffers() if b.is_floating_point() and case.RUN["form"] == "legacy" and "running_" not in name]
    life = Life(tools, case, file, folder, symbolic, frozen)
    for index in range(len(case.RUN["lives"])):
        try:
            found = life.trace(index)
        except Ended as ended:
            if ended.outcome.kind != "refused":
                raise
            if refusal:
                raise Ended("ok", "both refuse the data") from None
            if ended.outcome.what.startswith("cleave-run") and "--last-batch" not in ended.outcome.what:
                if " is nan" in ended.outcome.what and is_infinite_by_the_file(case, read):
                    raise Ended("exporter", "PyTorch computes NaN from the file, too") from None
                raise Ended("difference", f"refused while training: {ended.outcome.what}", ended.outcome.detail) from None
            raise
        if refusal and is_refused_by_dead_code(found, case, read):
            raise Ended("ok", "a statement that no output needs refuses the data") from None
        if refusal:
            raise Ended("difference", "accepted: data that PyTorch refuses", f"{refusal}; Cleave: losses {found.losses}")
        judge(expected, found, case, model, read, clock, life.isWarned)


def judge(expected, found, case, model, read, clock, isWarned):
    form = case.RUN["form"]
    difference = first_difference(found, expected, form, aliases_of(model))
    if difference is None:
        return
    with reference.without_checkpoints(case):
        isNoise = difference[0].startswith("differs") and expected.is_noise(found)
    if isNoise:
        raise Ended("noisy", *difference)
    if isWarned or by_the_file(expected, found, case, read):
        raise Ended("exporter", *difference)
    clock.lap("judge")
    raise Ended("difference", *difference)


def by_the_file(expected, found, case, read):
    """Whether Cleave's numbers are those that PyTorch, or ONNX Runtime, computes from the exported file: then the exporter changed the model."""
    try:
        model, limit = read(), expected.tolerance()
        if isinstance(model, forms.Runtime):
            if model.has_other_buffers(reference.build(case)) or model.lacks_parameters(reference.build(case), expected.trace.reached):
                return True
            loss = reference.first_loss(model, case)
            return apart(loss, expected.trace.losses[0]) > limit and apart(found.losses[0], loss) <= limit
        if case.RUN["form"] == "script":
            limit = max(limit, WRITTEN)
        wanted = trace_of_the_file(model, case)
        isOther = any(off > expected.tolerance() / 100 for _, off in distances(wanted, expected.trace.without_state()))
        return isOther and all(off <= limit for _, off in distances(found, wanted))
    except Exception:
        return False


def is_refused_by_dead_code(found, case, read):
    """Whether the exported file, without what no output needs, accepts the data and gives Cleave's first loss."""
    try:
        return apart(found.losses[0], reference.first_loss(forms.without_dead_code(read()), case)) <= SINGLE
    except Exception:
        return False


def trace_of_the_file(model, case):
    """The losses and norms that PyTorch computes from an exported file."""
    own = dict(reference.build(case).named_parameters(remove_duplicate=False))
    for name, parameter in model.named_parameters(remove_duplicate=False):  # a program does not say which are frozen
        parameter.requires_grad_(name not in own or own[name].requires_grad)
    training = types.SimpleNamespace(**{**vars(case), "RUN": {**case.RUN, "eval": False}})  # a program has no eval()
    return reference.train(forms.Fresh(model) if case.RUN["form"] == "script" else model, training).without_state()  # names differ


def is_infinite_by_the_file(case, read):
    """Whether PyTorch, too, computes infinities or NaN from the exported file. ONNX Runtime has no gradients and cannot tell."""
    try:
        model = read()
        return not isinstance(model, forms.Runtime) and not reference.is_finite(trace_of_the_file(model, case))
    except Exception:
        return False
