"""A case: a PyTorch module as a tree of statements, its data, and what is done with it; and its text, a Python module that needs torch alone.

The text is what is run, also by the generator itself, so that a printed case is the case.
"""

import copy
import dataclasses
import importlib.util
import itertools
import pprint
import re
import sys

INDENT = "    "
# Features of forms.py that the text of a statement or declaration shows:
#   stop     gradients end here (not in comparisons, which have none)
#   rows     a table whose gradient differs from that of a plain lookup
#   nothing  a dropout that keeps nothing
#   digits   numbers that float32 rounds
#   average  running statistics that average over all batches
#   root     distances, which ONNX writes with a root, whose gradient at 0 is NaN
#   renorm   a table that lookups write to
#   windows  a write through unfold()
#   logs     x log y, which ONNX writes as x where x is 0
SAID = {"stop": re.compile(r"\.detach\(\)(?! >|\.sign|\.sort|\.argmax)|spectral_norm"), "rows": re.compile("padding_idx|scale_grad_by_freq"),
        "nothing": re.compile(r"Dropout\w*\(1\.0|dropout\w*\(.*p=1"), "digits": re.compile(r"torch\.pi"), "average": re.compile("momentum=None"), "root": re.compile("pairwise_distance|cosine_similarity"),
        "renorm": re.compile("max_norm"), "windows": re.compile(r"\.unfold\(.*(\w_\(|[-+*]=|out=)"), "logs": re.compile("xlogy")}
NAME = re.compile(r"(?<![.\w])[a-z]\d+\b")  # of a value; not an attribute


@dataclasses.dataclass
class Statement:
    """One statement of forward."""

    text: str
    gives: str = ""  # the name of the value that it defines, if any
    stand_in: str = ""  # an expression of the value's shape and type, which depends on nothing
    features: frozenset = frozenset()  # what an export may lack; see forms.py

    def lines(self):
        return [self.text]

    def walk(self):
        yield self


@dataclasses.dataclass
class Region:
    """A block: a `with`, a loop, or a function that is called behind its body."""

    header: str
    body: list
    footer: list = dataclasses.field(default_factory=list)  # lines behind the block
    ending: list = dataclasses.field(default_factory=list)  # last lines of the block
    gives: str = ""
    stand_in: str = ""
    features: frozenset = frozenset()

    def lines(self):
        inner = [line for node in self.body for line in node.lines()] + self.ending
        return [self.header] + [INDENT + line for line in inner or ["pass"]] + self.footer

    def walk(self):
        yield self
        for node in self.body:
            yield from node.walk()


@dataclasses.dataclass
class Case:
    seed: int
    double: bool = True  # whether modules and data are float64
    declarations: list = dataclasses.field(default_factory=list)  # lines of __init__
    body: list = dataclasses.field(default_factory=list)  # Statement and Region
    inputs: dict = dataclasses.field(default_factory=dict)  # name -> expression of all samples, with `n` samples and generator `g`
    labels: dict = dataclasses.field(default_factory=dict)  # the same of the labels of losses outside of the model
    terms: list = dataclasses.field(default_factory=list)  # summands of the loss in the model, or
    outputs: list = dataclasses.field(default_factory=list)  # the expressions that it returns
    run: dict = dataclasses.field(default_factory=dict)  # options, see options.py

    def features(self):
        found = set(self.run.get("features", ()))
        for node in self.nodes():
            found |= node.features
        text = "\n".join(self.forward_lines() + self.used_declarations() + [self.result()])
        return found | {feature for feature, pattern in SAID.items() if pattern.search(text)}

    def nodes(self):
        return itertools.chain.from_iterable(node.walk() for node in self.body)

    def forward_lines(self):
        return [line for node in self.body for line in node.lines()]

    def result(self):
        if self.terms:
            return " + ".join(self.terms)
        return ", ".join(self.outputs)

    def used_declarations(self):
        """The declarations that forward needs, by the attributes that it and they name."""
        text = "\n".join(self.forward_lines() + [self.result()])
        used, before = [], -1
        while len(used) != before:
            before = len(used)
            read = set(re.findall(r"self\.(\w+)", text))
            used = [line for line in self.declarations if _owner(line) in read or not _owner(line)]
            text += "\n" + "\n".join(used)
        return used

    def used_inputs(self):
        """The inputs that forward reads, or the first."""
        text = "\n".join(self.forward_lines() + [self.result()])
        used = {name: value for name, value in self.inputs.items() if re.search(rf"\b{name}\b", text)}
        return used or dict(list(self.inputs.items())[:1])

    def text(self):
        return TEMPLATE.format(
            seed=self.seed, double="64" if self.double else "32",
            declarations=_block(["super().__init__()"] + self.used_declarations(), 2),
            arguments=", ".join(["self"] + list(self.used_inputs())), forward=_block(self.forward_lines() + [f"return {self.result()}"], 2),
            data=_block([f'"{name}": {text},' for name, text in (self.used_inputs() | self.labels).items()], 2),
            inputs=list(self.used_inputs()), run=pprint.pformat(self.run, width=120, sort_dicts=False))

    def copy(self):
        return copy.deepcopy(self)

    def size(self):
        """What shrinking makes less of: nodes, then characters."""
        return len(list(self.nodes())) + len(self.used_declarations()) + len(self.terms) + len(self.outputs), len(self.text())


TEMPLATE = '''"""Case {seed} of the random PyTorch modules. Run as a script, it prints the losses of PyTorch; fuzz_modules.py FILE compares."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

torch.set_default_dtype(torch.float{double})


class Model(nn.Module):
    def __init__(self):
{declarations}

    def forward({arguments}):
{forward}


def data(n, seed):
    """n samples."""
    g = torch.Generator().manual_seed(seed)
    return {{
{data}
    }}


INPUTS = {inputs}
RUN = {run}

if __name__ == "__main__":
    torch.manual_seed(0)
    model = Model()
    for step in range(RUN["steps"]):
        size = RUN["batch"]
        rows = {{k: v[step * size : step * size + size] for k, v in data(size * RUN["steps"], 1).items()}}
        print(step, *(t.tolist() for t in [model(*(rows[name] for name in INPUTS))]))
'''


def _block(lines, depth):
    return "\n".join(INDENT * depth + line for line in lines)


def _owner(line):
    """The attribute that a line of __init__ declares or changes."""
    found = re.match(r"self\.register_buffer\(\W(\w+)|(?:\w+\.)*\w+_\(self\.(\w+)|self\.(\w+)", line)
    return next((group for group in found.groups() if group), "") if found else ""


def load(path):
    """The Python module in a file, fresh."""
    name = f"case_{abs(hash(str(path)))}_{path.stat().st_mtime_ns}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where torch.jit looks for the sources
    spec.loader.exec_module(module)
    return module
