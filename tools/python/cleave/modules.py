"""Modules of PyTorch: export with their weights, and the way back of trained weights. PyTorch is imported when it is needed."""

from __future__ import annotations

import contextlib
import os
import pathlib
import warnings
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from .arrays import read_safetensors
from .errors import CompileError, Warning

Path = Union[str, os.PathLike]


class Exported(NamedTuple):
    """An exported module.

    `sizes` are the dynamic dims that `--set` names (`x.0`) with their sizes in the example, `aliases` other names of these dims, and
    `outputs` the names of the results of `forward` with their numbers of dims, None where that is not known.
    """

    path: pathlib.Path
    sizes: Dict[str, int]
    aliases: Dict[str, str]
    outputs: Dict[str, Optional[int]]


def is_module(model: Any) -> bool:
    """Whether a value is an nn.Module, or a program of torch.export; does not import PyTorch."""
    return hasattr(model, "state_dict") and (hasattr(model, "named_parameters") or hasattr(model, "graph_signature"))


def _arguments(example_inputs: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if isinstance(example_inputs, (list, tuple)):
        return tuple(example_inputs), {}
    return (example_inputs,), {}


def _dynamic_batch(torch: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Dynamic shapes in which the first dim of every tensor that has the first tensor's first size may have any size."""
    leaves, spec = torch.utils._pytree.tree_flatten((tuple(args), dict(kwargs)))
    first = next((leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.dim()), None)
    if first is None or first.shape[0] < 2:  # a size of 1 is not generalised
        return None

    def dims(leaf: Any) -> Any:
        is_batch = isinstance(leaf, torch.Tensor) and leaf.dim() and leaf.shape[0] == first.shape[0]
        return {0: torch.export.Dim.AUTO} if is_batch else None

    positional, named = torch.utils._pytree.tree_unflatten([dims(leaf) for leaf in leaves], spec)
    return positional if not named else named if not positional else _by_name(positional, named)


def _by_name(positional: Any, named: Any) -> Any:
    raise CompileError("found positional and named example inputs, expected one kind; give all of them as a dictionary by argument name")


@contextlib.contextmanager
def _without_caches(module: Any) -> Iterator[None]:
    """Models of Transformers do not return their keys and values, which are for generating, and which torch.export does not take."""
    configs = {id(config): config for config in (getattr(part, "config", None) for part in module.modules())
               if getattr(config, "use_cache", None) is True}
    for config in configs.values():
        config.use_cache = False
    try:
        yield
    finally:
        for config in configs.values():
            config.use_cache = True


def export_program(module: Any, example_inputs: Any, dynamic_shapes: Any = None) -> Any:
    """The module as a program of torch.export, in the mode (train or eval) that it is in. `dynamic_shapes` is the argument of
    torch.export.export; by default the batch is dynamic where the module allows it."""
    with _without_caches(module):
        return _export(module, example_inputs, dynamic_shapes)


def _export(module: Any, example_inputs: Any, dynamic_shapes: Any) -> Any:
    import torch

    if example_inputs is None:
        raise CompileError("found an nn.Module without example inputs, expected example_inputs: the arguments of forward, of any batch size")
    args, kwargs = _arguments(example_inputs)
    shapes = dynamic_shapes if dynamic_shapes is not None else _dynamic_batch(torch, args, kwargs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=FutureWarning)
            return torch.export.export(module, args, kwargs, dynamic_shapes=shapes)
    except Exception as error:
        if shapes is None or dynamic_shapes is not None:
            raise CompileError(f"torch.export cannot export {type(module).__name__}: {error}") from error
        failure = error
    try:
        program = torch.export.export(module, args, kwargs)
    except Exception as error:
        raise CompileError(f"torch.export cannot export {type(module).__name__}: {error}") from error
    warnings.warn(f"{type(module).__name__} cannot be exported with a batch of any size, so the plan has that of the example inputs: "
                  f"{str(failure).splitlines()[0]}", Warning, stacklevel=5)
    return program


def save_program(program: Any, path: Path) -> Exported:
    """Writes a program of torch.export with its weights."""
    import torch

    path = pathlib.Path(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the format of the archive
        torch.export.save(program, str(path))
    return Exported(path, *_symbols(torch, program), _outputs(program))


def _symbols(torch: Any, program: Any) -> Tuple[Dict[str, int], Dict[str, str]]:
    """The dynamic dims of the inputs: a symbol has the name of its first dim, and the example's size."""
    sizes: Dict[str, int] = {}
    aliases: Dict[str, str] = {}
    names: Dict[str, str] = {}
    users = set(program.graph_signature.user_inputs)
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op != "placeholder" or node.name not in users or not isinstance(value, torch.Tensor):
            continue
        for dim, size in enumerate(value.shape):
            symbol = getattr(getattr(size, "node", None), "expr", None)
            if not isinstance(size, torch.SymInt) or not getattr(symbol, "is_symbol", False):
                continue
            name = f"{node.name}.{dim}"
            aliases[name] = names.setdefault(str(symbol), name)
            sizes.setdefault(aliases[name], int(size.node.hint))
    return sizes, aliases


def _outputs(program: Any) -> Dict[str, Optional[int]]:
    """The outputs by the names that Cleave gives them, keys of a dictionary or positions, with their numbers of dims."""
    spec = program.call_spec.out_spec
    results = program.graph_signature.user_outputs
    keys = getattr(spec, "context", None) if getattr(spec, "type", None) is not None and hasattr(spec.type, "keys") else None
    if not isinstance(keys, (list, tuple)) or len(keys) != len(results) or not all(isinstance(key, str) for key in keys):
        keys = [str(i) for i in range(len(results))]
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    return {key: values[result].dim() if hasattr(values.get(result), "dim") else None for key, result in zip(keys, results)}


def sizes_for(exported: Exported, given: Optional[Mapping[str, int]]) -> Dict[str, int]:
    """The values of --set: those of the user, and for other dims those of the example."""
    sizes = dict(exported.sizes)
    for name, size in (given or {}).items():
        sizes[exported.aliases.get(name, name)] = size
    return sizes


def read_tensors(path: Path) -> Dict[str, Any]:
    """The tensors of a .safetensors file by name."""
    import torch

    types = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32,
             "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}
    return {name: (torch.frombuffer(bytearray(data), dtype=types[dtype]) if len(data) else torch.empty(0, dtype=types[dtype])).reshape(shape)
            for name, (dtype, shape, data) in read_safetensors(path).items()}


def load_weights(module: Any, path: Path) -> List[str]:
    """Copies the arrays of a .safetensors file into the parameters and buffers of these names, and returns the names. A tied parameter
    has one of its names in the file. A name or a shape that the module does not have is a ValueError, and changes nothing."""
    import torch

    tensors = dict(module.named_buffers(remove_duplicate=False))
    tensors.update(module.named_parameters(remove_duplicate=False))
    found = read_tensors(path)
    for name, value in found.items():
        if name not in tensors or tensors[name].shape != value.shape:
            has = f"of shape {list(tensors[name].shape)}" if name in tensors else "not"
            raise ValueError(f"found weights `{name}` of shape {list(value.shape)}, which {type(module).__name__} has {has}; give the module that was compiled")
    with torch.no_grad():
        for name, value in found.items():
            tensors[name].copy_(value)
    return list(found)
