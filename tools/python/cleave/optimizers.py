"""An optimizer of PyTorch as options of cleave-compile: kind, hyperparameters, groups, and the parameters that it leaves out."""

from __future__ import annotations

import warnings
from typing import Any, Dict, List, NamedTuple, Tuple, Union

from .errors import CompileError, Warning

# Class in torch.optim -> fields of its groups that Cleave has, with their names there.
BETAS = {"betas": ("beta1", "beta2")}
ADAM: Dict[str, Any] = {"lr": "lr", **BETAS, "eps": "eps", "weight_decay": "weight-decay", "amsgrad": "amsgrad"}
KINDS: Dict[str, Dict[str, Any]] = {
    "SGD": {"lr": "lr", "momentum": "momentum", "dampening": "dampening", "nesterov": "nesterov", "weight_decay": "weight-decay"},
    "Adam": ADAM,
    "AdamW": ADAM,
    "RMSprop": {"lr": "lr", "alpha": "alpha", "eps": "eps", "weight_decay": "weight-decay", "momentum": "momentum", "centered": "centered"},
    "Adagrad": {"lr": "lr", "lr_decay": "lr-decay", "weight_decay": "weight-decay", "initial_accumulator_value": "initial-accumulator-value",
                "eps": "eps"},
    "Adafactor": {"lr": "lr", "beta2_decay": "beta2-decay", "eps": ("eps1", "eps2"), "d": "d", "weight_decay": "weight-decay"},
}
# Fields that say how PyTorch computes, not what.
WITHOUT_MEANING = {"params", "foreach", "fused", "capturable", "differentiable", "initial_lr", "param_names"}

Options = Dict[str, Union[float, bool]]


class OptimizerOptions(NamedTuple):
    """Values of --optimizer, --optimizer-group and --freeze."""

    optimizer: str
    groups: List[str]
    freeze: List[str]


def is_optimizer(value: Any) -> bool:
    """Whether a value is an optimizer of PyTorch, or makes one of parameters: its class, or a partial of it; does not import PyTorch."""
    return hasattr(value, "param_groups") or callable(value)


def lowered(text: str) -> str:
    """An optimizer as text, with its kind in lower case: `AdamW:lr=1e-3` becomes `adamw:lr=1e-3`."""
    kind, colon, rest = text.partition(":")
    return kind.lower() + colon + rest


def _group_options(kind: str, group: Dict[str, Any]) -> Tuple[str, Options]:
    """The kind and the options of a group by Cleave's names. Adam with decoupled weight decay is AdamW."""
    fields = KINDS[kind]
    found: Options = {}
    for name, value in group.items():
        names = fields.get(name)
        if isinstance(names, tuple):
            found.update(zip(names, (float(number or 0) for number in value)))
        elif names is not None:
            found[names] = value if isinstance(value, bool) else float(value)
        elif name == "decoupled_weight_decay":
            kind = "AdamW" if value else "Adam"
        elif name not in WITHOUT_MEANING and value:
            raise CompileError(f"found torch.optim.{kind} with {name}={value}, which Cleave does not have; expected {', '.join(fields)}")
    return kind.lower(), found


def _text(options: Options) -> str:
    return ",".join(f"{name}={str(value).lower() if isinstance(value, bool) else repr(value)}" for name, value in options.items())


def _has_stepped(optimizer: Any) -> bool:
    """Whether an optimizer has a state that a new one does not have."""
    states = optimizer.state.values()
    return any(float(state["step"]) > 0 if "step" in state else any(value is not None for value in state.values()) for state in states)


def optimizer_options(optimizer: Any, module: Any) -> OptimizerOptions:
    """The options for an optimizer over parameters of the module, or for what makes one of them. Trainable parameters that it does not
    have are frozen."""
    if not hasattr(optimizer, "param_groups"):
        optimizer = optimizer(module.parameters())
    kind = type(optimizer).__name__
    if kind not in KINDS or type(optimizer).__module__.split(".")[:2] != ["torch", "optim"]:
        raise CompileError(f"found an optimizer {kind}, expected one of torch.optim's {', '.join(KINDS)}, or a text such as 'adamw:lr=3e-4'")
    if _has_stepped(optimizer):
        warnings.warn(f"found torch.optim.{kind} with a state; the plan takes its hyperparameters, and a run begins with a new state",
                      Warning, stacklevel=5)
    kinds, groups = zip(*(_group_options(kind, group) for group in optimizer.param_groups))
    if len(set(kinds)) > 1:
        raise CompileError("found torch.optim.Adam with decoupled_weight_decay in some groups, expected it in all or in none")
    named, freeze = _by_parameter(optimizer, groups, module)
    return OptimizerOptions(f"{kinds[0]}:{_text(groups[0])}", named, freeze)


def _by_parameter(optimizer: Any, groups: Tuple[Options, ...], module: Any) -> Tuple[List[str], List[str]]:
    """Parameters with options other than those of the first group, and trainable parameters without a group."""
    group_of = {id(parameter): index for index, group in enumerate(optimizer.param_groups) for parameter in group["params"]}
    named, freeze = [], []
    for name, parameter in module.named_parameters():
        index = group_of.pop(id(parameter), None)
        if index is None and parameter.requires_grad:
            freeze.append(name)
        differs = {key: value for key, value in groups[index].items() if value != groups[0][key]} if index else {}
        if differs:
            named.append(f"{name}:{_text(differs)}")
    if group_of:
        raise CompileError(f"found {len(group_of)} parameter{'s' * (len(group_of) != 1)} in the optimizer that {type(module).__name__} does not "
                           "have, expected an optimizer over parameters of the module")
    return named, freeze
