"""Corners of single operators, for modules.py: ties, bounds, zeros, signs, rare arguments, writes through views.

`FAMILIES`: family -> {case: (first values of a parameter, function)}. A function takes that parameter and `i`, the int64 input
0 … 5, and gives floats of size about 1. One module holds all cases of a family, so that each is compared and a parameter that is off names its
case; `corner(family, case)` makes a module of one case alone.
"""

import torch
from torch import nn

from corner_values import KINKS
from corners_elementwise import ELEMENTWISE, KINK_FUNCTIONS, REDUCTIONS, TYPES
from corners_indexing import ALIASES, INDEXING, WRITES
from corners_layers import ATTENTION, CONVOLUTION, LOSSES, MOVEMENT, NORMS, POOLS, RECURRENT, RESIZE, SAMPLING
from corners_operators import BAGS, CONTROL, COUNTS, FUNCTIONS, PLACES, SIGNALS


class Corners(nn.Module):
    def __init__(self, cases):
        super().__init__()
        self.functions = {name: function for name, (_, function) in cases.items()}
        for name, (values, _) in cases.items():
            self.register_parameter(name, nn.Parameter(values() if callable(values) else torch.as_tensor(values, dtype=torch.float32)))

    def forward(self, i):
        return torch.cat([function(getattr(self, name), i).float().flatten() for name, function in self.functions.items()])


def draw():
    return (torch.arange(6),)


# Also recorded in operators/, so that they are compared without PyTorch (record_operators.py).
OPERATORS = {"bags": BAGS, "places": PLACES, "counts": COUNTS, "functions": FUNCTIONS, "signals": SIGNALS, "control": CONTROL}

FAMILIES = {
    "kinks": {name: (KINKS, lambda p, i, f=function: f(p)) for name, function in KINK_FUNCTIONS.items()},
    "elementwise": ELEMENTWISE, "types": TYPES, "reductions": REDUCTIONS, "indexing": INDEXING, "writes": WRITES, "aliases": ALIASES, "losses": LOSSES,
    "convolution": CONVOLUTION, "pools": POOLS, "resize": RESIZE, "sampling": SAMPLING, "norms": NORMS, "recurrent": RECURRENT,
    "attention": ATTENTION, "movement": MOVEMENT, **OPERATORS,
}


def corner(family, case):
    return Corners({case: FAMILIES[family][case]})


class Scripted(nn.Module):
    """What only a script keeps: blocks without gradients, loops that write, buffers that move on."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("history", torch.zeros(3, 6))

    def forward(self, x):
        y = self.fc(x)
        with torch.no_grad():
            self.mean.mul_(0.9).add_(y.mean(0), alpha=0.1)
            self.history[1:2] = y[:1]
            self.count += 1
            y.mul_(0.5)
            z = y + 1
            z.add_(1)
        out = torch.zeros_like(y)
        for k in range(y.shape[0]):
            if k % 2 == 0:
                out[k] = y[k] * self.mean + z[k]
            else:
                out[k, 1:] = y[k, 1:] - y[k - 1, :-1]
        rows = [out[k] * 2 ** k for k in range(2)]
        return torch.cat([torch.stack(rows), y.detach() * out[:2].t().t().unsqueeze(0)[0].sum(0)])


MODULES = {f"corner.{family}": (lambda cases=cases: Corners(cases), draw) for family, cases in FAMILIES.items()}
MODULES["corner.scripted.train"] = (Scripted, lambda: (torch.randn(4, 6),))
if torch.__version__.startswith("1."):
    del MODULES["corner.kinks"]  # its clamps had other slopes at their bounds
