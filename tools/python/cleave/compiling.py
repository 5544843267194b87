"""compile, profile and export: from an nn.Module or a model file to a plan, to costs, and to a model file."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from . import modules, tools
from .folder import Folder
from .losses import loss_texts
from .optimizers import is_optimizer, lowered, optimizer_options
from .plan import Plan

Path = Union[str, os.PathLike]
# Options that name a file of rules; a dictionary is written into one.
RULES = ("pin", "cluster", "dtype")
# Options with which cleave-compile writes something else than a plan.
NO_PLAN = ("stop_after",)
# Types of PyTorch for products -> values of --dtype.
DTYPES = {"float32": "f32", "float": "f32", "bfloat16": "bf16", "float16": "f16", "half": "f16"}


def compile(model: Any, example_inputs: Any = None, *, loss: Any = None, optimizer: Any = None,
            set: Optional[Mapping[str, int]] = None, cluster: Union[str, Mapping[str, Any], None] = None, ranks: Union[int, str, None] = None,
            mesh: Union[str, Mapping[str, int], None] = None, pin: Union[str, Mapping[str, Any], None] = None,
            dtype: Any = None, memory: Union[str, int, None] = None, train: Optional[bool] = None,
            output: Optional[Path] = None, dynamic_shapes: Any = None, verbose: bool = False, **options: Any) -> Plan:
    """Compiles a model into a plan.

    model: an nn.Module, which is exported with its weights, a program of torch.export, or the path of a model file.
    example_inputs: for a module, the arguments of `forward`: a tensor, a tuple, or a dictionary by argument name. Their batch size is that
        of the plan unless `set` gives another.
    loss: `KIND:OUTPUT[,LABEL]`, or for a module a loss of PyTorch, such as `torch.nn.CrossEntropyLoss(label_smoothing=0.1)`; several as a
        list, or as a dictionary by output. For a module with one output, `KIND` is enough, for example `softmax-cross-entropy`. Without a
        loss the plan is for inference.
    optimizer: `KIND:OPTION=VALUE,…`, for example `adamw:lr=3e-4,weight-decay=0.1`; or an optimizer of PyTorch over the parameters of the module,
        of which hyperparameters and groups are taken, and not the state; or its class. Default: `adamw`.
    set: sizes of symbolic dims by name, for example `{"batch": 8}`; those of a module are called `INPUT.DIM`.
    cluster, ranks, mesh, pin, dtype, memory: what to plan for; see cleave-compile. Rules may be given as a dictionary instead of a file, and `dtype` as
        one of PyTorch's, such as `torch.bfloat16`.
    output: where to write the plan, and an exported module beside it as `OUTPUT.pt2`. Default: a temporary folder that lives as long as
        the plan; `Plan.save` copies it.
    dynamic_shapes: for torch.export, which dims of a module are dynamic. Default: the batch, where the module allows it.
    verbose: prints what cleave-compile prints.
    options: every other option of cleave-compile, for example `clip_norm=1.0`, `micro_batch="auto"`, `what_if=True`.

    Raises NoPlan if no plan fits the cluster, CompileError for every other mistake.
    """
    for name in NO_PLAN:
        if options.get(name):
            raise TypeError(f"found {name}, with which cleave-compile writes no plan; call the tool")
    folder = Folder("plan")
    plan = pathlib.Path(output) if output else folder.path / "model.plan"
    options.update(loss=loss, set=set, cluster=cluster, pin=pin, dtype=dtype, optimizer=optimizer, ranks=ranks, mesh=mesh, memory=memory,
                   train=bool(loss) if train is None else train)
    path, exported = _model_file(model, example_inputs, dynamic_shapes, plan.with_name(plan.name + ".pt2"), options, folder.path)
    _write_rules(options, folder.path)
    answer = tools.call("cleave-compile", path, output=plan, verbose=verbose, **options)
    return Plan(plan, path if exported else None, folder, answer.remarks)


def export(module: Any, example_inputs: Any, path: Path, *, dynamic_shapes: Any = None) -> pathlib.Path:
    """Writes an nn.Module with its weights as a torch.export archive, which every tool of Cleave reads."""
    return modules.save_program(modules.export_program(module, example_inputs, dynamic_shapes), path).path


def _model_file(model: Any, example_inputs: Any, dynamic_shapes: Any, archive: pathlib.Path, options: Dict[str, Any],
                folder: pathlib.Path) -> Tuple[Path, bool]:
    """The path of the model and whether it was exported, to `archive`. Completes the options; `folder` takes files that they name."""
    if isinstance(model, (str, os.PathLike)):
        if example_inputs is not None:
            raise TypeError("found example_inputs for a model file, expected them for an nn.Module alone; leave them away")
        if is_optimizer(options.get("optimizer")):
            raise TypeError("found an optimizer of PyTorch for a model file, expected a text such as 'adamw:lr=3e-4'")
        _take_objects(options, None, None, folder)
        return model, False
    if not modules.is_module(model):
        raise TypeError(f"found a model of type {type(model).__name__}, expected an nn.Module, a program of torch.export or a path")
    is_program = hasattr(model, "graph_signature")
    program = model if is_program else modules.export_program(model, example_inputs, dynamic_shapes)
    exported = modules.save_program(program, archive)
    options["set"] = modules.sizes_for(exported, options.get("set"))
    _take_objects(options, model, exported, folder)
    return exported.path, True


def _take_objects(options: Dict[str, Any], module: Any, exported: Optional[modules.Exported], folder: pathlib.Path) -> None:
    """Turns losses, types and optimizers of PyTorch into texts."""
    options["loss"] = loss_texts(options.get("loss"), exported.outputs if exported else None, folder)
    options["dtype"] = _dtype(options.get("dtype"))
    optimizer = options.get("optimizer")
    if isinstance(optimizer, str):
        options["optimizer"] = lowered(optimizer)
    elif is_optimizer(optimizer):
        found = optimizer_options(optimizer, module)
        if found.groups and options.get("optimizer_group"):
            raise TypeError("found optimizer_group beside an optimizer of PyTorch with groups, expected one of them")
        given = options.get("freeze") or []
        options.update(optimizer=found.optimizer, freeze=[*([given] if isinstance(given, str) else given), *found.freeze])
        options["optimizer_group"] = options.get("optimizer_group") or found.groups
    elif optimizer is not None:
        raise TypeError(f"found an optimizer of type {type(optimizer).__name__}, expected a text such as 'adamw:lr=3e-4', or one of torch.optim")


def _dtype(dtype: Any) -> Any:
    """The value of --dtype for a type of PyTorch; other values stay as they are. Rules may have such types, too."""
    if isinstance(dtype, Mapping):
        return {key: _dtype(value) if key in ("dtype", "rules") else value for key, value in dtype.items()}
    if isinstance(dtype, (list, tuple)):
        return [_dtype(value) for value in dtype]
    if type(dtype).__module__ == "torch":
        name = str(dtype).split(".")[-1]
        if name not in DTYPES:
            raise TypeError(f"found {dtype} as dtype, expected torch.float32, torch.bfloat16, torch.float16 or 'tf32'")
        return DTYPES[name]
    return DTYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype


def _write_rules(options: Dict[str, Any], folder: pathlib.Path) -> None:
    for name in RULES:
        if isinstance(options.get(name), Mapping):
            path = folder / f"{name}.json"
            path.write_text(json.dumps(options[name]))
            options[name] = path


class Profile:
    """The cost of a model: `total` and one row per module, operator or kind of operator, in the fields of `cleave-profile --format json`."""

    def __init__(self, found: Mapping[str, Any]):
        self.json = dict(found)
        """Everything that cleave-profile said."""
        self.total: Dict[str, Any] = found["total"]
        """Parameters, multiply-accumulates, FLOPs and bytes of the whole model; text where they depend on symbols."""
        self.rows: List[Dict[str, Any]] = found["rows"]
        """The same per row."""

    def __repr__(self) -> str:
        return f"<cleave.Profile of {len(self.rows)} rows: {', '.join(f'{name} {value}' for name, value in self.total.items())}>"

    def _repr_html_(self) -> str:
        import html

        names = list(self.rows[0]) if self.rows else list(self.total)
        lines = [*self.rows, {**{name: "" for name in names[:1]}, **self.total}]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(str(line.get(name, '')))}</td>" for name in names) + "</tr>" for line in lines)
        return f"<table><tr>{head}</tr>{body}</table>"


def profile(model: Any, example_inputs: Any = None, *, set: Optional[Mapping[str, int]] = None, loss: Any = None,
            train: Optional[bool] = None, dynamic_shapes: Any = None, **options: Any) -> Profile:
    """Parameters, FLOPs and memory of a model, which is not executed. With a loss, those of its training step. Options are those of
    cleave-profile, for example `by="operator"`, `depth=2`; model, example_inputs, set and dynamic_shapes as in `compile`."""
    options.update(set=set, loss=loss, train=bool(loss) if train is None else train)
    with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
        path, _ = _model_file(model, example_inputs, dynamic_shapes, pathlib.Path(folder) / "model.pt2", options, pathlib.Path(folder))
        return Profile(json.loads(tools.call("cleave-profile", path, format="json", **options).out))


def zoo(name: str, output: Path, **options: Any) -> pathlib.Path:
    """Writes a known architecture as an ONNX file without weights, for example `zoo("gpt2", "gpt.onnx", layers=2)` (cleave-zoo)."""
    tools.call("cleave-zoo", name, output=output, **options)
    return pathlib.Path(output)
