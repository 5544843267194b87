#!/usr/bin/env python3
"""Writes states/: a model whose forward writes buffers in every way, in PyTorch's formats, and what PyTorch computes with it.

    python3 test/models/states.py

Needs torch and numpy. Every buffer of Written is written by one combination of REGIONS, VIEWS and WRITES, and its name says which. Others and
Plain have what is not a combination: frozen parameters, batch norms in regions, power iterations, a queue with a pointer, copies from
other views of the same buffer, counters, plain attributes. ../e2e/states.py trains the files.
"""

import contextlib
import importlib.util
import io
import pathlib
import warnings
from typing import List

import numpy as np
import torch
from torch import nn

import export_pt2

spec = importlib.util.spec_from_file_location("script_export", pathlib.Path(__file__).with_name("torch") / "export.py")
script_export = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script_export)

FOLDER = pathlib.Path(__file__).resolve().parent / "states"
ROWS, COLUMNS, STEPS, MICRO_BATCHES = 4, 6, 3, 2
RATE = 0.1


@contextlib.contextmanager
def no_grad_in_autocast():
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        yield


REGIONS = {
    "plain": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "nested": no_grad_in_autocast,
}

# Views of a [4, 6] tensor that can be written.
VIEWS = {
    "whole": lambda q: q,
    "row": lambda q: q[1],
    "rows": lambda q: q[1:3],
    "every_other_row": lambda q: q[::2],
    "columns": lambda q: q[:, 1::2],
    "transposed": lambda q: q.t(),
    "flat": lambda q: q.view(-1)[::5],
    "chunk": lambda q: q.chunk(2, 1)[1],
    "unbound": lambda q: q.unbind(0)[2],
    "split": lambda q: q.split([1, 3])[1],
    "squeezed": lambda q: q.unsqueeze(1).squeeze(1)[2:],
    "diagonal": lambda q: q.diagonal(1),
    "detached": lambda q: q.detach(),
    "narrow": lambda q: q.narrow(1, 2, 3),
    "reshaped": lambda q: q.reshape(2, 2, 6)[:, 1],
    "permuted": lambda q: q.permute(1, 0)[1:4],
    "windows": lambda q: q.unfold(1, 2, 3),
    "one_window": lambda q: q.view(24).unfold(0, 8, 24),
    "unflattened": lambda q: q.unflatten(1, (2, 3)).movedim(1, 0)[1],
}


def set_items(view, u):
    view[...] = u


def add_where(view, u):
    view.masked_fill_(u > 0.25, 0.5)


# Writes of u, which has the view's shape, to the view.
WRITES = {
    "add": lambda view, u: view.add_(u, alpha=0.5),
    "decay": lambda view, u: view.mul_(0.75).add_(u),
    "copy": lambda view, u: view.copy_(u),
    "set": set_items,
    "zero": lambda view, u: view.zero_(),
    "lerp": lambda view, u: view.lerp_(u, 0.25),
    "clamp": lambda view, u: view.add_(u).clamp_(-1, 1.5),
    "mask": add_where,
    "addcmul": lambda view, u: view.addcmul_(u, u, value=0.5),
    "out": lambda view, u: torch.mul(u, 0.5, out=view),
    "index_add": lambda view, u: view.index_add_(0, torch.zeros(1, dtype=torch.long), u[:1]),
    "index_copy": lambda view, u: view.index_copy_(0, torch.zeros(1, dtype=torch.long), u[:1]),
}


def combinations():
    """Every view in every region with changing writes, and every write to a whole buffer in every region."""
    chosen, writes = [], [write for write in WRITES if write != "out"]  # strict exports have it for contiguous tensors only
    for i, region in enumerate(REGIONS):
        for j, view in enumerate(VIEWS):
            chosen.append((region, view, writes[(3 * i + j) % len(writes)]))
        chosen += [(region, "whole", write) for write in WRITES if (region, "whole", write) not in chosen]
    return chosen


class Written(nn.Module):
    """One buffer per combination, all of which the loss reads."""

    def __init__(self, chosen):
        super().__init__()
        torch.manual_seed(3)
        self.layer = nn.Linear(COLUMNS, COLUMNS)
        self.chosen = ["/".join(one) for one in chosen]
        for region, view, write in chosen:
            self.register_buffer(f"{region}_{view}_{write}", (torch.rand(ROWS, COLUMNS) * 8).round() / 8)

    def buffer(self, one):
        return getattr(self, one.replace("/", "_"))

    def forward(self, x):
        for one in self.chosen:
            region, view, write = one.split("/")
            with REGIONS[region]():
                WRITES[write](VIEWS[view](self.buffer(one)), VIEWS[view](x.clone()))
        h = self.layer(x)
        losses = [(h * self.buffer(one).clone()).square().mean() for one in self.chosen]
        return torch.stack(losses).mean()


class Others(nn.Module):
    """What is not one of the combinations."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.layer = nn.Linear(COLUMNS, COLUMNS)
        self.norms = nn.ModuleList(nn.BatchNorm1d(COLUMNS) for _ in range(3))
        self.samplewise = nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
        for name, value in (("queue", torch.zeros(3 * ROWS, COLUMNS)), ("flipped", torch.arange(6.0).view(3, 2)),
                            ("turned", torch.arange(9.0).view(3, 3)), ("before", torch.zeros(3)), ("first", torch.zeros(3)),
                            ("unread", torch.zeros(())), ("rate", torch.ones(()))):
            self.register_buffer(name, value)
        self.register_buffer("pointer", torch.zeros((), dtype=torch.long))
        self.register_buffer("shadow", torch.zeros(2, 3), persistent=False)

    def forward(self, x):
        with torch.no_grad():
            self.queue.copy_(torch.cat([x, self.queue[:-ROWS]]))
            self.before.copy_(self.first)
            self.first.add_(x[0, :3])
        self.pointer.add_(ROWS).remainder_(3 * ROWS)
        self.unread += 1
        self.rate.mul_(0.5)
        self.flipped.copy_(self.flipped.flip(1))
        self.turned.t().copy_(self.turned.t().flip(0))
        self.shadow[:, 1].add_(x[0, :2])
        h = self.layer(x)
        with torch.autocast("cpu", torch.bfloat16):
            self.norms[0](x)
        with torch.no_grad():
            self.norms[1](h)
        h = self.norms[2](h) * h + self.samplewise(h.view(ROWS, 2, 3)).view(ROWS, COLUMNS)
        loss = (h @ self.queue.t()).square().mean() * self.rate + h.mean() * self.before.sum()
        return loss + (self.flipped[0, 0] + self.turned[0, 2] + self.shadow.sum()) * h.square().mean()


class Teacher(nn.Module):
    """Frozen parameters that follow trained ones, and power iterations, both without gradients."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.student, self.teacher = nn.Linear(COLUMNS, COLUMNS), nn.Linear(COLUMNS, COLUMNS)
        self.teacher.requires_grad_(False)
        self.spectral = nn.utils.parametrizations.spectral_norm(nn.Linear(COLUMNS, COLUMNS))
        self.hooked = nn.utils.spectral_norm(nn.Linear(COLUMNS, COLUMNS))

    def forward(self, x):
        with torch.no_grad():
            for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
                slow.mul_(0.9).add_(fast, alpha=0.1)
        return (self.student(x) + self.spectral(x) * self.hooked(x) - self.teacher(x)).square().mean()


class Plain(nn.Module):
    """Attributes that are not registered as buffers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(6)
        self.layer = nn.Linear(COLUMNS, COLUMNS)
        self.sum, self.count = torch.zeros(ROWS, COLUMNS), torch.zeros(())

    def forward(self, x):
        with torch.no_grad():
            self.sum[1:] += x[1:]
        self.count.add_(1)
        return (self.layer(x) * self.sum.clone()).square().mean() / self.count


class Corners(nn.Module):
    """Buffers that become constants, a parameter whose slope is 0, and a dropout that returns its operand, gradient and all, in no_grad."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(9)
        self.layer = nn.Linear(COLUMNS, COLUMNS)
        self.level = nn.Parameter(torch.full((COLUMNS,), 1.5))
        self.register_buffer("ones", torch.zeros(ROWS, COLUMNS))
        self.register_buffer("threes", torch.zeros(COLUMNS))

    def forward(self, x):
        self.ones.bernoulli_(1.0)
        self.threes.fill_(3.0)
        h = self.layer(x)
        with torch.no_grad():
            h = nn.functional.dropout(h, 0.0).contiguous().to(h.dtype)
        return (h * self.level.floor() * self.ones.clone()).square().mean()


class Assigned(nn.Module):
    """Attributes that are assigned, in lists, or written out of place; scripted."""

    history: List[torch.Tensor]

    def __init__(self):
        super().__init__()
        torch.manual_seed(8)
        self.layer = nn.Linear(COLUMNS, COLUMNS)
        self.register_buffer("mean", torch.zeros(COLUMNS))
        self.register_buffer("other", torch.zeros(COLUMNS))
        self.history = [torch.zeros(COLUMNS), torch.ones(COLUMNS)]
        self.sum = torch.ones(ROWS, COLUMNS)
        self.scratch = torch.zeros(ROWS, COLUMNS)

    def forward(self, x):
        with torch.no_grad():
            self.mean = 0.75 * self.mean + 0.25 * x.mean(0)
            torch.add(self.mean, self.other, out=self.other)
        self.sum = self.sum + x
        self.scratch = self.layer(x)  # set before it is read: no state
        self.history[0] = self.history[1]
        self.history[1] = x[0]
        return ((self.scratch * self.sum) ** 2).mean() + (self.scratch * (self.mean + self.history[0] - self.other)).mean()


def samples():
    random = np.random.default_rng(7)
    return np.round(random.standard_normal((STEPS * MICRO_BATCHES * ROWS, COLUMNS)) * 32).astype(np.float32) / 32


def tensors_of(model):
    """What a step may change, by name: buffers, frozen parameters, plain attributes."""
    found = {name: value for name, value in model.named_buffers()}
    found |= {name: value for name, value in model.named_parameters()}
    found |= {name: value for name, value in vars(model).items() if isinstance(value, torch.Tensor)}
    for name, values in vars(model).items():
        found |= {f"{name}.{i}": value for i, value in enumerate(values) if isinstance(value, torch.Tensor)} if isinstance(values, list) else {}
    return {name: value.detach().numpy().copy() for name, value in found.items()}


def train(model, x, micro_batches):
    """Losses of STEPS steps of plain gradient descent, and the tensors after them."""
    trained = [p for p in model.parameters() if p.requires_grad]
    losses, batches = [], iter(torch.from_numpy(x).split(ROWS))
    for _ in range(STEPS):
        parts = []
        for _ in range(micro_batches):
            loss = model(next(batches))
            (loss / micro_batches).backward()
            parts.append(loss.item())
        losses.append(np.mean(parts))
        with torch.no_grad():
            for p in trained:
                if p.grad is not None:
                    p -= RATE * p.grad
                p.grad = None
    return np.array(losses), tensors_of(model)


ALL = ("exported", "strict", "decomposed", "trace")
# Traces and decomposed programs lack no_grad blocks, and PyTorch does not decompose programs that write plain attributes. PyTorch 2.15 loses
# writes through unfold() when it decomposes them (the decomposed program, run in PyTorch, leaves the buffer as it was).
MODELS = {"written": (lambda: Written(combinations()), ("exported", "trace")),
          "decomposed": (lambda: Written([one for one in combinations() if "window" not in one[1]]), ("decomposed",)), "others": (Others, ALL), "teacher": (Teacher, ("exported", "strict")),
          "plain": (Plain, ("exported", "strict")), "corners": (Corners, ("exported", "strict")), "assigned": (Assigned, ("script",))}


def write_forms(name, make, forms):
    x = torch.from_numpy(samples()[:ROWS])
    for form in forms:
        path = FOLDER / f"{name}.{form}.{'pt2' if form in ('exported', 'strict', 'decomposed') else 'pt'}"
        if form == "trace":
            traced = torch.jit.trace(make(), x, check_trace=False)
            traced.load_state_dict(make().state_dict(), strict=False)  # tracing ran the model once
            for name_, buffer in make().named_buffers():
                traced.get_buffer(name_).copy_(buffer)
            save_script(traced, path)
        elif form == "script":
            save_script(torch.jit.script(make()), path)
        else:
            program = torch.export.export(make(), (x,), strict=form == "strict")
            fresh = make()
            for constant in program.constants:  # the export ran the model once
                program.constants[constant] = getattr(fresh, constant, program.constants[constant])
            export_pt2.save(program.run_decompositions() if form == "decomposed" else program, path)


def save_script(module, path):
    whole = io.BytesIO()
    torch.jit.save(module, whole)
    script_export.strip(whole, path)


def record(name, make):
    data, x = {}, samples()
    for micro_batches in (1, MICRO_BATCHES):
        losses, tensors = train(make(), x, micro_batches)
        data[f"{micro_batches}/losses"] = losses.astype(np.float32)
        data |= {f"{micro_batches}/{tensor}": value for tensor, value in tensors.items()}
    np.savez_compressed(FOLDER / f"{name}.npz", **data)


def main():
    warnings.filterwarnings("ignore")
    FOLDER.mkdir(exist_ok=True)
    np.savez(FOLDER / "x.npz", x=samples())
    for name, (make, forms) in MODELS.items():
        write_forms(name, make, forms)
        record(name, make)


if __name__ == "__main__":
    main()
