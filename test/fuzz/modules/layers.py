"""Blocks: layers with parameters and statistics, tied and frozen parameters, dropouts without chance, positions."""

import torch
from maker import SPECIAL, Reject, product

BEGINNINGS = ["", "", "nn.init.zeros_(self.{0}.weight)", "nn.init.ones_(self.{0}.weight)", "nn.init.eye_(self.{0}.weight)",
              "self.{0}.weight.data.mul_(4).round_().div_(4)", "nn.init.constant_(self.{0}.weight, 0.5)"]


def begin(m, name, dims=2):
    """Perhaps other first values of a layer."""
    line = m.pick(BEGINNINGS)
    if line and (dims == 2 or "eye" not in line):
        m.declare(line.format(name))
    if m.chance(0.2) and getattr(getattr(m.tensor("self"), name), "bias", None) is not None:
        m.declare(f"nn.init.zeros_(self.{name}.bias)")


def apply(m, layer, value, *others):
    """Declares a layer and applies it to a value; returns its name and that of the result."""
    name = m.fresh("m")
    m.declare(f"self.{name} = {layer}")
    return name, m.let(f"self.{name}({', '.join((value, *others))})")


def linear(m):
    value = m.value(condition=lambda t: t.dim())
    size = m.tensor(value).shape[-1]
    if not size:
        raise Reject
    name = m.fresh("m")
    m.declare(f"self.{name} = nn.Linear({size}, {m.pick([size, size, 1, 2, 3, 5])}, bias={m.pick(['True', 'True', 'False'])})")
    begin(m, name)
    m.let(f"self.{name}({value})")


def again(m):
    """A layer of before, or one that shares its weight."""
    layers = [(name, layer) for name, layer in m.tensor("self").named_children() if getattr(layer, "weight", None) is not None and layer.weight.dim() == 2]
    name, layer = m.pick(layers)
    out, size = layer.weight.shape
    if hasattr(layer, "in_features") and m.chance(0.5):
        other = m.fresh("m")
        m.declare(f"self.{other} = nn.Linear({size}, {out})")
        m.declare(f"self.{other}.weight = self.{name}.weight")
        name = other
    elif m.chance(0.4):
        m.let(f"F.linear({m.value(condition=lambda t: t.dim() and t.shape[-1] == out)}, self.{name}.weight.t())")
        return
    if hasattr(layer, "in_features"):
        m.let(f"self.{name}({m.value(condition=lambda t: t.dim() and t.shape[-1] == size)})")
    else:
        m.let(f"F.linear({m.value(condition=lambda t: t.dim() and t.shape[-1] == size)}, self.{name}.weight)")


def embedding(m):
    value = m.value("int", lambda t: t.numel() <= 32)
    many = m.between(2, 7)
    options = m.pick(["", "", ", padding_idx=0", f", padding_idx={many - 1}", ", scale_grad_by_freq=True", ", max_norm=1.0"])
    name = m.fresh("m")
    m.declare(f"self.{name} = nn.Embedding({many}, {m.between(1, 4)}{options})")
    begin(m, name)
    m.let(f"self.{name}({value} % {many})")


def norm(m):
    value = m.value(condition=lambda t: t.dim() > 1 and t.numel())
    shape = tuple(m.tensor(value).shape)
    statistics = m.pick(["", "", ", momentum=0.5", ", momentum=None", ", affine=False", ", track_running_stats=False", ", eps=0.5"])
    # Groups of one element are left out: their norm is a rounding error.
    normed = [(shape[-1], f"nn.LayerNorm({shape[-1]})"), (torch.Size(shape[-2:]).numel(), f"nn.LayerNorm({list(shape[-2:])}, elementwise_affine=False)"),
              (torch.Size(shape[1:]).numel(), f"nn.GroupNorm(1, {shape[1]})"), (torch.Size(shape[2:]).numel(), f"nn.GroupNorm({shape[1]}, {shape[1]})")]
    layers = [f"nn.RMSNorm({shape[-1]})"] + [layer for elements, layer in normed if elements > 1]
    if 2 <= len(shape) <= 4:
        layers += [f"nn.BatchNorm{max(1, len(shape) - 2)}d({shape[1]}{statistics})"] * 5
    if 3 <= len(shape) <= 4:
        layers += [f"nn.InstanceNorm{len(shape) - 2}d({shape[1]}{m.pick(['', ', affine=True', ', track_running_stats=True'])})"]
    name, _ = apply(m, m.pick(layers), value)
    weight = getattr(getattr(m.tensor("self"), name), "weight", None)
    if weight is not None and m.chance(0.3):
        m.declare(m.pick([f"nn.init.zeros_(self.{name}.weight)", f"nn.init.uniform_(self.{name}.weight)"]))


def convolution(m):
    value = m.value(condition=lambda t: t.dim() in (3, 4) and t.numel()) if m.chance(0.7) else m.image()
    dims, channels = m.tensor(value).dim() - 2, m.tensor(value).shape[1]
    out = m.between(1, 3)
    options = m.pick(["", ", padding=1", ", stride=2, padding=1", ", padding=1, padding_mode='circular'", ", padding=1, padding_mode='reflect'",
                      ", dilation=2, padding=2", f", groups={channels}, padding=1", ", bias=False", ", padding='same'"])
    transposed = m.chance(0.2) and "mode" not in options and "same" not in options
    out = channels * m.between(1, 2) if "groups" in options else out
    name = m.fresh("m")
    m.declare(f"self.{name} = nn.Conv{'Transpose' if transposed else ''}{dims}d({channels}, {out}, {m.between(1, 3)}{options})")
    begin(m, name, 4)
    m.let(f"self.{name}({value})")


def recurrent(m):
    value = m.value(condition=lambda t: t.dim() == 3 and t.numel() <= 96 and t.numel())
    size = m.tensor(value).shape[-1]
    cell = m.pick(["nn.LSTM", "nn.GRU", "nn.RNN"])
    name = m.fresh("m")
    m.declare(f"self.{name} = {cell}({size}, {m.between(1, 3)}, batch_first={m.pick(['True', 'False'])}, bidirectional={m.pick(['True', 'False'])})")
    m.let(f"self.{name}({value})[0]")


def attention(m):
    value = m.value(condition=lambda t: t.dim() == 3 and t.numel() and t.shape[-1] % 2 == 0)
    name = m.fresh("m")
    m.declare(f"self.{name} = nn.MultiheadAttention({m.tensor(value).shape[-1]}, 2, batch_first=True)")
    m.let(f"self.{name}({value}, {value}, {value}, need_weights={m.pick(['True', 'False'])})[0]")


def parametrized(m):
    value = m.value(condition=lambda t: t.dim() and t.shape[-1] > 1)
    size = m.tensor(value).shape[-1]
    way = m.pick(["nn.utils.parametrizations.weight_norm", "nn.utils.parametrizations.spectral_norm", "nn.utils.spectral_norm", "nn.utils.weight_norm"])
    if "spectral" in way and "autocast" in m.noted:  # iterates in no_grad, which torch.export leaves out there
        raise Reject
    apply(m, f"{way}(nn.Linear({size}, {m.between(1, 4)}))", value)


def dropout(m):
    """Dropouts that keep all or nothing."""
    value = m.value()
    apply(m, m.pick(["nn.Dropout(0.0)", "nn.Dropout(0.0)", "nn.Dropout(1.0)", "nn.AlphaDropout(0.0)", "nn.Dropout1d(0.0)", "nn.Dropout2d(1.0)"]), value)


def activation(m):
    apply(m, m.pick(["nn.PReLU()", "nn.ReLU(inplace=True)", "nn.GELU()", "nn.Softmax(-1)", "nn.GLU()", "nn.Identity()", "nn.Flatten()", "nn.PReLU(init=0.0)"]), m.value())


def certain_draw(m):
    """Random functions whose result is certain."""
    value = m.value()
    m.let(f"{value} * " + m.pick(["torch.bernoulli(torch.ones_like({0}))", "torch.rand_like({0}).ceil()", "torch.normal(1.0, 0.0, tuple({0}.shape))",
                                  "torch.randint_like({0}, 1, 2)", "torch.randperm(1).add(1)", "torch.empty_like({0}).uniform_(0.5, 0.5)"]).format(value), {"random"})


def freeze(m):
    name, parameter = m.pick(list(m.tensor("self").named_parameters()))
    if sum(p.requires_grad for p in m.tensor("self").parameters()) > 1 and "original" not in name and parameter.is_leaf:
        m.declare(f"self.{name}.requires_grad_(False)")
        m.case.run["features"] = sorted({*m.case.run.get("features", ()), "frozen"})


def positions(m):
    """Sines and cosines of positions, some of them large, scale a value; the angles are too large for values of their own."""
    value = m.value(condition=lambda t: t.dim() and t.numel() and t.requires_grad and t.shape[-1] > 1)
    shape = tuple(m.tensor(value).shape)
    name, rate = m.fresh("b"), m.pick(["1.0", "0.75", "torch.pi / 8"])
    m.declare(f"self.register_buffer('{name}', torch.linspace(0.25, 1.5, {shape[-1]}), persistent={m.pick(['True', 'False'])})")
    first = m.pick(["0", "1000", "5000", "20000"])  # bfloat16 rounds integers above 256
    numbers = m.values("int", lambda t: t.dim() and t.shape[0] == shape[0] == m.batch)
    if len(shape) > 1 and numbers and m.chance(0.85):  # one position per sample, from an input: constants are folded
        place = f"({m.pick(numbers)}.reshape({m.batch}, -1)[:, :1].to(self.{name}.dtype) + {first})"
        angle = f"({place} @ self.{name}[None] * {rate}).view({(m.batch, *[1] * (len(shape) - 2), shape[-1])})"
    else:
        place = f"torch.arange({shape[-2] if len(shape) > 1 else 1}, dtype={m.pick(['torch.get_default_dtype()', 'torch.long'])})"
        angle = m.pick(["(({p} + {first})[:, None] * self.{b} * {rate})", "torch.outer(({p} + {first}) * {rate}, self.{b})",
                        "(({p} + {first}).to(self.{b}.dtype)[:, None] @ self.{b}[None] * {rate})"]).format(p=place, first=first, b=name, rate=rate)
        angle += "[0]" if len(shape) == 1 else ""
    m.wanted.append(m.let(f"{value} * {angle}.cos() + {value}.roll(1, -1) * {angle}.sin()"))


FAMILIES = {
    "linear": [linear, linear, linear, again, activation],
    "norms": [norm],
    "embedding": [embedding],
    "convolution": [convolution],
    "recurrent": [recurrent, attention],
    "parametrized": [parametrized],
    "dropout": [dropout, certain_draw],
    "frozen": [freeze, again],
    "positions": [positions] * 4,
}
