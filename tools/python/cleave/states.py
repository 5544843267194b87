"""States of an optimizer, from a checkpoint into an optimizer of PyTorch, which continues the training."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Union

from .modules import read_tensors

Path = Union[str, os.PathLike]

# Class in torch.optim -> states in a checkpoint, by the fields that the class keeps for a parameter.
ADAM = {"exp_avg": "adam.m", "exp_avg_sq": "adam.v", "max_exp_avg_sq": "adam.v_max"}
KINDS: Dict[str, Dict[str, str]] = {
    "SGD": {"momentum_buffer": "sgd.velocity"},
    "Adam": ADAM,
    "AdamW": ADAM,
    "RMSprop": {"square_avg": "rmsprop.v", "grad_avg": "rmsprop.m", "momentum_buffer": "rmsprop.velocity"},
    "Adagrad": {"sum": "adagrad.sum"},
    "Adafactor": {"row_var": "adafactor.rows", "col_var": "adafactor.columns", "variance": "adafactor.squares"},
}
# Field -> option of a group without which the class does not keep it.
NEEDS = {"momentum_buffer": "momentum", "max_exp_avg_sq": "amsgrad", "grad_avg": "centered"}
AVERAGE = "ema"  # not of an optimizer


def load_states(optimizer: Any, module: Any, path: Path) -> List[str]:
    """Gives an optimizer over parameters of the module the states of a file of `cleave-export --states`, and returns the names of the
    parameters that got some. Its options stay as they are. States of another kind or of other options are a ValueError."""
    kind = type(optimizer).__name__
    if kind not in KINDS:
        raise ValueError(f"found an optimizer {kind}, expected one of torch.optim's {', '.join(KINDS)}")
    tensors = read_tensors(path)
    step = tensors.pop("step", None) if kind != "SGD" else None
    states = _by_parameter(tensors)
    names = _names(module)
    held = optimizer.state_dict()
    parameters = [(group, parameter) for group in optimizer.param_groups for parameter in group["params"]]
    loaded = []
    for index, (group, parameter) in enumerate(parameters):
        name = next((name for name in names.get(id(parameter), ()) if name in states), None)
        if name is not None:
            held["state"][index] = _fields(kind, group, name, states.pop(name))
            if step is not None:
                held["state"][index]["step"] = step.float().clone()  # of each parameter, since it counts on in place
            loaded.append(name)
    if states:
        raise ValueError(f"found states of `{next(iter(states))}`, which is not a parameter of the optimizer, expected an optimizer over the "
                         "parameters of the module that was compiled")
    if not loaded and (kind != "SGD" or any(group["momentum"] for group in optimizer.param_groups)):
        raise ValueError(f"found no states of an optimizer in the checkpoint, expected those of torch.optim.{kind}")
    optimizer.load_state_dict(held)
    return loaded


def _by_parameter(tensors: Mapping[str, Any]) -> Dict[str, Dict[str, Any]]:
    states: Dict[str, Dict[str, Any]] = {}
    for name, value in tensors.items():
        parameter, _, state = name.rpartition("/")
        if parameter and state != AVERAGE:
            states.setdefault(parameter, {})[state] = value
    return states


def _names(module: Any) -> Dict[int, List[str]]:
    """The names of each parameter; a tied one has several."""
    names: Dict[int, List[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return names


def _fields(kind: str, group: Mapping[str, Any], name: str, found: Mapping[str, Any]) -> Dict[str, Any]:
    """The fields of a parameter's state."""
    fields = {field: found[state] for field, state in KINDS[kind].items() if state in found}
    if len(fields) < len(found):
        raise ValueError(f"found the states {', '.join(found)} of `{name}` in the checkpoint, expected those of torch.optim.{kind}")
    for field, option in NEEDS.items():
        if field in KINDS[kind] and bool(group[option]) != (field in fields):
            raise ValueError(f"found torch.optim.{kind} with {option}={group[option]} for `{name}`, expected it as in the plan, whose checkpoint has "
                             f"{'a' if field in fields else 'no'} state {KINDS[kind][field]}")
    for field, dim in (("row_var", -1), ("col_var", -2)):
        if field in fields:
            fields[field] = fields[field].unsqueeze(dim)
    return fields
