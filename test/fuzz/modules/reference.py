"""What PyTorch computes: eager training of a case as cleave-run trains it, and the same under rounding errors."""

import contextlib
import dataclasses
import re

import losses
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakTensorKeyDictionary

TRAINING_SEED, EVALUATION_SEED = 1, 2


class Unusable(Exception):
    """The case says nothing: PyTorch fails, or its numbers are not finite."""


class Refused(Exception):
    """PyTorch refuses the data: an index or a label is out of range."""


@dataclasses.dataclass
class Trace:
    losses: list = dataclasses.field(default_factory=list)
    norms: list = dataclasses.field(default_factory=list)
    state: dict = dataclasses.field(default_factory=dict)  # name -> tensor after the last step: parameters, buffers
    before: dict = dataclasses.field(default_factory=dict)  # the same before the first
    evaluation: float = None
    reached: set = dataclasses.field(default_factory=set)  # parameters that have a gradient
    moved: set = dataclasses.field(default_factory=set)  # of these those whose gradient is not always 0

    def without_state(self):
        """The losses and norms alone."""
        return dataclasses.replace(self, state={}, evaluation=None)


def samples(run):
    """(of the training, of an evaluation) how many there are."""
    step = run["batch"] * run["micro"]
    whole = step * run["steps"]
    return whole - (max(1, run["batch"] // 2) if run.get("last") else 0), 2 * run["batch"]


def batches(run):
    """The rows of every micro-batch: per step a list of lists."""
    many, _ = samples(run)
    size, per_step = run["batch"], run["batch"] * run["micro"]
    for step in range(run["steps"]):
        rows = [step * per_step + i for i in range(per_step)]
        if run.get("last") == "pad":
            rows = [row for row in rows if row < many]
        if run.get("last") == "drop" and many < per_step * (step + 1):
            rows = list(range(per_step))
        rows = [row % many for row in rows]
        yield [rows[at : at + size] for at in range(0, len(rows), size)]


def build(case):
    """A fresh model of a case's Python module."""
    torch.set_default_dtype(torch.float64 if "torch.float64)" in case.TEXT else torch.float32)
    torch.manual_seed(0)
    return case.Model()


@contextlib.contextmanager
def without_checkpoints(case):
    """What is recomputed writes once: PyTorch's own checkpoint() writes to buffers twice."""
    kept = case.checkpoint
    case.checkpoint = lambda function, *arguments, **options: function(*arguments)
    yield
    case.checkpoint = kept


def optimizer_of(run, parameters):
    kind, _, options = run["optimizer"].partition(":")
    values = {key: float(value) for key, value in (option.split("=") for option in options.split(","))}
    return {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[kind](parameters, **values)


def as_outputs(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def labels_of(data, index):
    return data.get(f"label{index}")


def step_loss(model, run, names, data, steps_rows):
    """The loss of a step, of all its micro-batches; adds the gradients."""
    counts = [0.0] * len(run["losses"])
    for rows in steps_rows:  # counts depend on labels only
        for index, spec in enumerate(run["losses"]):
            counts[index] += count(spec, data, index, rows)
    if not all(counts):
        raise Unusable("no label counts")
    value = 0.0
    for rows in steps_rows:
        outputs = as_outputs(model(*(data[name][rows] for name in names)))
        part = 0
        for index, (spec, output) in enumerate(zip(run["losses"], outputs)):
            label = labels_of(data, index)
            total, _ = losses.sum_and_count(spec, output, None if label is None else label[rows])
            divisor = 1 if spec["options"].get("reduction") == "sum" else counts[index]
            part = part + total * (spec["options"].get("factor", 1.0) / divisor)
        part.backward()
        value += float(part)
    return value


def count(spec, data, index, rows):
    label = labels_of(data, index)
    if label is None:
        return 1.0
    label = label[rows]
    if label.is_floating_point():
        return float(label.numel())
    ignored = spec["options"].get("ignore-index", -100)
    weights = spec["options"].get("class-weights")
    counted = label[label != ignored]
    if weights and counted.numel() and not 0 <= int(counted.min()) <= int(counted.max()) < len(weights):
        raise Refused("a label is out of range")
    return sum(weights[c] for c in counted.tolist()) if weights else float(counted.numel())


def train(model, case, noise=None):
    """The trace of a training."""
    run, names = case.RUN, case.INPUTS
    trace = Trace(before=state_of(model))
    data = case.data(samples(run)[0], TRAINING_SEED)
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise Unusable("no parameter is trained")
    if run.get("last") == "pad" and not noise:
        check_rows(model, case, data)
    optimizer = optimizer_of(run, parameters)
    if noise:
        noise.know(model.buffers())
    with noise or torch.enable_grad():
        for rows in batches(run):
            optimizer.zero_grad()
            trace.losses.append(step_loss(model, run, names, data, rows))
            gradients = [p.grad for p in parameters if p.grad is not None]
            if not gradients:
                raise Unusable("the loss depends on no parameter")
            trace.norms.append(float(torch.stack([g.double().square().sum() for g in gradients]).sum().sqrt()))
            trace.reached |= {name for name, p in model.named_parameters() if p.grad is not None}
            trace.moved |= {name for name, p in model.named_parameters() if p.grad is not None and p.grad.any()}
            optimizer.step()
        trace.state = state_of(model)
        if not all(is_moderate(value) for module in model.modules() for value in vars(module).values() if isinstance(value, torch.Tensor)):
            raise Unusable("an attribute is not finite, or large")
        if run["eval"]:
            trace.evaluation = evaluate(model, case)
    return trace


def first_loss(model, case):
    """The loss of the first step."""
    run = case.RUN
    return step_loss(model, run, case.INPUTS, case.data(samples(run)[0], TRAINING_SEED), next(iter(batches(run))))


def check_rows(model, case, data):
    """Padding is for models that compute every sample for itself."""
    whole = case.RUN["batch"]
    few = whole - max(1, whole // 2)
    results = []
    for many in (whole, few):
        with torch.no_grad(), restored(model):
            results.append([output[:few] for output in as_outputs(model(*(data[name][:many] for name in case.INPUTS)))])
    if not few or not all(torch.allclose(a, b) for a, b in zip(*results)):
        raise Unusable("samples depend on one another, or none is left to pad")


def evaluate(model, case):
    run = case.RUN
    data = case.data(samples(run)[1], EVALUATION_SEED)
    rows = [list(range(at, at + run["batch"])) for at in range(0, samples(run)[1], run["batch"])]
    total = [0.0] * len(run["losses"])
    counts = [0.0] * len(run["losses"])
    with torch.no_grad():
        for part in rows:
            with restored(model):
                outputs = as_outputs(model.eval()(*(data[name][part] for name in case.INPUTS)))
            for index, (spec, output) in enumerate(zip(run["losses"], outputs)):
                label = labels_of(data, index)
                total[index] += float(losses.sum_and_count(spec, output, None if label is None else label[part])[0])
                counts[index] += count(spec, data, index, part)
    if not all(counts):
        raise Unusable("no label counts")
    return sum(part / many for part, many in zip(total, counts))  # without the factors


@contextlib.contextmanager
def restored(model):
    """Afterwards the model has the parameters, buffers and attributes of before."""
    tensors = [*model.parameters(), *model.buffers()]
    tensors += [value for module in model.modules() for value in vars(module).values() if isinstance(value, torch.Tensor)]
    attributes = [(module, dict(vars(module)), dict(module._buffers)) for module in model.modules()]
    kept = [tensor.detach().clone() for tensor in tensors]
    yield
    for tensor, value in zip(tensors, kept):
        tensor.detach().copy_(value)
    for module, values, buffers in attributes:
        vars(module).update(values)
        module._buffers.update(buffers)


def state_of(model):
    found = {name: p.detach().clone() for name, p in model.named_parameters(remove_duplicate=False)}
    return found | {name: b.detach().clone() for name, b in model.named_buffers(remove_duplicate=False)}


def is_finite(trace):
    values = trace.losses + trace.norms + ([] if trace.evaluation is None else [trace.evaluation])
    return all(abs(v) < 1e5 for v in values) and all(is_moderate(t) for t in trace.state.values())


def is_moderate(value):
    return not value.is_floating_point() or not value.numel() or bool(value.abs().max() < 1e5)


# Sums whose terms are never exact: of products with weights that the operator computes, or differences from a mean. One of 0 is as far off as the terms.
CANCELS = re.compile(r"aten::(_?upsample_(bi|tri)?(linear|cubic)|grid_sampler|native_(batch|group|layer)_norm|_native_batch_norm|batch_norm)")


class Rounding(TorchDispatchMode):
    """Changes every result as a rounding error might, except where few bits (those of type `few`) say it all, or where it is one of the
    operands' elements: such numbers are exact in any order of computing, so that ties made on purpose stay ties. With `keepsPositions`, what
    is computed from constants, buffers and integers alone is kept, too."""

    def __init__(self, size, seed, few, keepsPositions):
        super().__init__()
        self.few, self.size, self.generator = few, size, torch.Generator().manual_seed(seed)
        self.constants = WeakTensorKeyDictionary() if keepsPositions else None

    def know(self, buffers):
        if self.constants is not None:
            self.constants.update((buffer, True) for buffer in buffers)

    def isConstant(self, function, given, result):
        """Whether a result is computed from constants and integers alone. A write of another value ends that."""
        if self.constants is None:
            return False
        isConstant = all(tensor in self.constants or not tensor.is_floating_point() for tensor in given)
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                if isConstant:
                    self.constants[tensor] = True
                else:
                    self.constants.pop(tensor, None)
        if function._schema.is_mutable and given and not isConstant:
            self.constants.pop(given[0], None)
        return isConstant

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        result = function(*arguments, **(options or {}))
        schema = function._schema
        given = [value for value in tree_leaves((arguments, options or {})) if isinstance(value, torch.Tensor)]
        if self.isConstant(function, given, result) or schema.is_mutable or any(r.alias_info for r in schema.returns):
            return result
        for value in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(value, torch.Tensor) and value.dtype == torch.float64 and value.numel():
                isExact = value.to(self.few).to(torch.float64) == value
                for operand in given:
                    if operand.is_floating_point():
                        isExact |= torch.isin(value.contiguous(), operand.contiguous())
                change = torch.rand(value.shape, generator=self.generator, dtype=torch.float64).sub_(0.5).mul_(2 * self.size)
                if CANCELS.match(schema.name):
                    value.add_(change * max((one.abs().max() for one in (*given, value) if one.is_floating_point() and one.numel()), default=0.0))
                    continue
                value.add_(torch.where(isExact, 0.0, value * change))
        return result
