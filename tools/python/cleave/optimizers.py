"""An optimizer of PyTorch as options of cleave-compile: kind, hyperparameters, groups, and the parameters that it leaves out."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Union

from .errors import CompileError

# Class in torch.optim -> fields of its groups that Cleave has, with their names there.
BETAS = {"betas": ("beta1", "beta2")}
KINDS: Dict[str, Dict[str, Any]] = {
    "SGD": {"lr": "lr", "momentum": "momentum", "dampening": "dampening", "nesterov": "nesterov", "weight_decay": "weight-decay"},
    "Adam": {"lr": "lr", **BETAS, "eps": "eps", "weight_decay": "weight-decay", "amsgrad": "amsgrad"},
    "AdamW": {"lr": "lr", **BETAS, "eps": "eps", "weight_decay": "weight-decay", "amsgrad": "amsgrad"},
    "RMSprop": {"lr": "lr", "alpha": "alpha", "eps": "eps", "weight_decay": "weight-decay", "momentum": "momentum", "centered": "centered"},
    "Adagrad": {"lr": "lr", "lr_decay": "lr-decay", "weight_decay": "weight-decay", "initial_accumulator_value": "initial-accumulator-value",
                "eps": "eps"},
}
# Fields that say how PyTorch computes, not what.
WITHOUT_MEANING = {"params", "foreach", "fused", "capturable", "differentiable", "decoupled_weight_decay", "initial_lr", "param_names"}


class OptimizerOptions(NamedTuple):
    """Values of --optimizer, --optimizer-group and --freeze."""

    optimizer: str
    groups: List[str]
    freeze: List[str]


def is_optimizer(value: Any) -> bool:
    """Whether a value is an optimizer of PyTorch; does not import PyTorch."""
    return hasattr(value, "param_groups") and hasattr(value, "state_dict")


def _options(kind: str, group: Dict[str, Any]) -> Dict[str, Union[float, bool]]:
    """The options of a group by Cleave's names."""
    fields = KINDS[kind]
    found: Dict[str, Union[float, bool]] = {}
    for name, value in group.items():
        names = fields.get(name)
        if names is None:
            if name not in WITHOUT_MEANING and value:
                raise CompileError(f"found torch.optim.{kind} with {name}={value}, which Cleave does not have; expected {', '.join(fields)}")
        elif isinstance(names, tuple):
            found.update(zip(names, map(float, value)))
        else:
            found[names] = value if isinstance(value, bool) else float(value)
    return found


def _text(options: Dict[str, Union[float, bool]]) -> str:
    words = [name if value is True else f"{name}={value!r}" for name, value in options.items() if value is not False]
    return ",".join(words)


def optimizer_options(optimizer: Any, module: Any) -> OptimizerOptions:
    """The options for an optimizer over parameters of the module. Trainable parameters that it does not have are frozen."""
    kind = type(optimizer).__name__
    if kind not in KINDS:
        raise CompileError(f"found an optimizer {kind}, expected one of torch.optim's {', '.join(KINDS)}, or a text such as 'adamw:lr=3e-4'")
    groups = [_options(kind, group) for group in optimizer.param_groups]
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
    return OptimizerOptions(f"{kind.lower()}:{_text(groups[0])}", named, freeze)
