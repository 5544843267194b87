"""Losses of PyTorch as options of cleave-compile: kind, options, and the output of the model."""

from __future__ import annotations

import pathlib
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional

from .errors import CompileError

# Longer lists of weights are written into files.
INLINE_WEIGHTS = 64


class Kind(NamedTuple):
    """A kind of loss, and the attributes of PyTorch's class that it has, with their names in Cleave. All have `reduction`."""

    name: str
    attributes: Mapping[str, str]
    has_classes: bool = False


# Class in torch.nn -> kind.
KINDS = {
    "CrossEntropyLoss": Kind("softmax-cross-entropy", {"weight": "class-weights", "ignore_index": "ignore-index",
                                                       "label_smoothing": "label-smoothing"}, True),
    "NLLLoss": Kind("nll", {"weight": "class-weights", "ignore_index": "ignore-index"}, True),
    "BCEWithLogitsLoss": Kind("bce", {"pos_weight": "pos-weight"}),
    "MSELoss": Kind("mse", {}),
    "L1Loss": Kind("l1", {}),
    "HuberLoss": Kind("huber", {"delta": "delta"}),
    "SmoothL1Loss": Kind("smooth-l1", {"beta": "beta"}),
}
# Function in torch.nn.functional -> class of the same loss.
FUNCTIONS = {"cross_entropy": "CrossEntropyLoss", "nll_loss": "NLLLoss", "binary_cross_entropy_with_logits": "BCEWithLogitsLoss",
             "mse_loss": "MSELoss", "l1_loss": "L1Loss", "huber_loss": "HuberLoss", "smooth_l1_loss": "SmoothL1Loss"}


def loss_texts(losses: Any, outputs: Optional[Mapping[str, Optional[int]]], folder: pathlib.Path) -> List[str]:
    """The values of --loss for one loss, several, or a dictionary of losses by output. A loss is a text, or PyTorch's: a module, its
    class, or its function. `outputs` are the outputs of the model with their numbers of dims, None of a model file; `folder` takes
    files of weights, which are read once."""
    if losses is None:
        return []
    if isinstance(losses, Mapping):
        return [_text(loss, output, outputs, folder) for output, loss in losses.items()]
    several = losses if isinstance(losses, (list, tuple)) else [losses]
    return [_text(loss, None, outputs, folder) for loss in several]


def _text(loss: Any, output: Optional[str], outputs: Optional[Mapping[str, Optional[int]]], folder: pathlib.Path) -> str:
    if isinstance(loss, str):
        kind, _, rest = loss.partition(":")
        if output is None and not rest and outputs is not None and len(outputs) == 1:
            (output,) = outputs
        return loss if output is None else ",".join([f"{kind}:{output}", *filter(None, [rest])])
    module = _module(loss)
    kind = KINDS[type(module).__name__]
    options = list(_options(module, kind, folder))
    if outputs is None:
        raise TypeError(f"found {_name(module)} for a model file, expected a text: `{_joined(kind, output or 'OUTPUT', options)}`")
    if output is None:
        output = _only(outputs, module)
    elif output not in outputs:
        raise CompileError(f"found {_name(module)} for an output `{output}`, expected one of {', '.join(outputs)}")
    return _joined(kind, output, options + _class_dim(module, kind, output, options, outputs[output]))


def _joined(kind: Kind, output: str, options: List[str]) -> str:
    return f"{kind.name}:{','.join([output, *options])}"


def _name(loss: Any) -> str:
    return f"torch.nn.{type(loss).__name__}"


def _only(outputs: Mapping[str, Any], module: Any) -> str:
    if len(outputs) != 1:
        raise CompileError(f"found {_name(module)} for a model with the outputs {', '.join(outputs)}; expected the output of the loss, "
                           f"for example loss={{'{next(iter(outputs), '0')}': {type(module).__name__}()}}")
    return next(iter(outputs))


def _module(loss: Any) -> Any:
    """The loss as a module: of a class or a function of PyTorch, with its defaults."""
    import torch

    name = getattr(loss, "__name__", "")
    if getattr(torch.nn.functional, name, None) is loss:
        name = FUNCTIONS.get(name, name)
        loss = getattr(torch.nn, name)() if name in KINDS else loss
    elif isinstance(loss, type) and name in KINDS and getattr(torch.nn, name) is loss:
        loss = loss()
    kind = type(loss)
    if kind.__name__ in KINDS and getattr(torch.nn, kind.__name__) is kind:
        return loss
    found = name or kind.__name__
    way_out = "BCEWithLogitsLoss on what the model gives before its sigmoid" if found in ("BCELoss", "binary_cross_entropy") else \
        "a text such as 'softmax-cross-entropy', or the loss as an output of the model: 'output'"
    raise CompileError(f"found the loss {found}, expected torch.nn's {', '.join(KINDS)}; {way_out}")


def _options(module: Any, kind: Kind, folder: pathlib.Path) -> Iterator[str]:
    """The options for the attributes that differ from those of a new module; an attribute that Cleave does not have is refused."""
    usual = _attributes(type(module)())
    for name, value in _attributes(module).items():
        if value is usual.get(name) or not hasattr(value, "shape") and value == usual.get(name):
            continue
        if name == "reduction" and value in ("mean", "sum"):
            yield f"reduction={value}"
        elif name in kind.attributes:
            yield f"{kind.attributes[name]}={_numbers(value, _name(module), name, folder)}"
        else:
            found = f" of shape {list(value.shape)}" if hasattr(value, "shape") else f"={value!r}"
            known = ", ".join([*kind.attributes, "reduction='mean'", "'sum'"])
            raise CompileError(f"found {_name(module)} with {name}{found}, which Cleave does not have; expected {known}")


def _attributes(module: Any) -> Dict[str, Any]:
    own = {name: value for name, value in vars(module).items() if not name.startswith("_") and name != "training"}
    return {**own, **module._buffers}


def _numbers(value: Any, owner: str, name: str, folder: pathlib.Path) -> str:
    """A number, or a list of weights: `1:2:0.5`, or the path of a file."""
    if not hasattr(value, "shape"):
        return repr(value)
    if value.dim() > 1:
        raise CompileError(f"found {owner} with {name} of shape {list(value.shape)}, expected one dim")
    numbers = [repr(number) for number in value.detach().double().reshape(-1).tolist()]
    if len(numbers) <= INLINE_WEIGHTS:
        return ":".join(numbers)
    path = folder / f"weights-{len(list(folder.glob('weights-*.txt')))}.txt"
    path.write_text("\n".join(numbers))
    return str(path)


def _class_dim(module: Any, kind: Kind, output: str, options: List[str], dims: Optional[int]) -> List[str]:
    """Where the classes are. PyTorch has them in dim 1. Three dims are left to the user: they may be [batch, classes, length], or the
    [batch, length, classes] of a language model, which PyTorch's loss takes only after a `flatten`."""
    if not kind.has_classes or dims is not None and dims <= 2:
        return []
    if dims is not None and dims > 3:
        return ["class-dim=1"]
    last, first = _joined(kind, output, options), _joined(kind, output, [*options, "class-dim=1"])
    raise CompileError(f"found {_name(module)} for the output `{output}` of {dims or 'unknown'} dims, expected to know which are the classes; "
                       f"give loss='{last}' if they are the last dim, or loss='{first}' if they are dim 1")
