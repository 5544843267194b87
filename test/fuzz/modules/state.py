"""Blocks: buffers, attributes and values that are written in place, as wholes and through views; and regions around any block."""

import contextlib

import torch
from maker import SPECIAL, Reject, broadcasts, kind_of

VIEWS = ["[{i}]", "[-1]", "[1:]", "[:-1]", "[::2]", "[:, 1::2]", "[..., 0]", "[..., -1:]", ".t()", ".transpose({d}, -1)", ".view(-1)", ".flatten()", ".unsqueeze({d})",
         ".squeeze()", ".squeeze(0)", ".chunk(2)[0]", ".chunk(2, {d})[-1]", ".unbind({d})[{i}]", ".diagonal()", ".detach()", ".narrow({d}, 0, 1)", ".select({d}, {i})", ".mT",
         ".movedim({d}, 0)", ".unfold({d}, 2, 2)", ".split(1, {d})[0]", "[None]", ".swapaxes(0, -1)", ".reshape(-1)", ".view(-1, 2)", ".expand_as({v})", ".data", ".T", ".ravel()"]
# {v} what is written, {e} an expression that broadcasts to it, {c} a number, {d} a dim.
WRITES = ["{v}.add_({e})", "{v}.mul_({c})", "{v}.mul_({e})", "{v}.copy_({e})", "{v}.fill_({c})", "{v}.zero_()", "{v}.sub_({e}, alpha=0.5)", "{v}.clamp_(-1, 1)", "{v}.lerp_({e}, 0.25)",
          "{v}.mul_(0.5).add_({e})", "{v}.mul_(0.5).add_({e}, alpha=0.5)", "{v}.masked_fill_({v} > 0.5, {c})", "{v}.neg_()", "{v}.abs_()", "{v}.addcmul_({e}, {e}, value=0.25)",
          "{v}.div_(2.0)", "{v}.round_()", "{v}.relu_()", "{v}.tanh_()", "torch.add({v}, {e}, out={v})", "{v}.copy_({v}.flip({d}))", "{v}.copy_({v}.roll(1, {d}))",
          "{v}.add_({v}.flip({d}))", "{v}.sigmoid_()", "{v}.index_fill_({d}, torch.tensor([0]), {c})", "{v}.cumsum_({d})", "{v}.tril_()", "{v}.fill_diagonal_({c})",
          "{v}.index_add_({d}, torch.tensor([0]), {v}.narrow({d}, 0, 1))", "{v}.index_copy_({d}, torch.tensor([0]), {v}.narrow({d}, -1, 1))", "{v}.clamp_min_({e})", "{v}.maximum({e})",
          "{v}.scatter_({d}, torch.zeros_like({v}, dtype=torch.long), {c})", "{v}.sub_({v}.mean())", "{v}.copy_({v}.transpose({d}, -1).clone())", "{v}.pow_(2)", "{v}.square_()"]
ASSIGNMENTS = ["{v} += {e}", "{v} *= {c}", "{v} = {e}", "{v} -= {e}"]  # of an index, or of an attribute
DRAWS = ["{v}.normal_({c}, 0.0)", "{v}.uniform_({c}, {c})", "{v}.bernoulli_(0.0)", "{v}.bernoulli_(1.0)", "{v}.random_(2, 3)"]
COUNTS = ["{v}.add_(1)", "{v} += 1", "{v}.add_({v} + 1)", "{v}.fill_(3)", "{v}.mul_(2)", "{v}.remainder_(3)", "{v}.copy_({v} + 2)", "{v}.sub_(1)"]
READS = ["self.{b} * 1", "self.{b}.clone()", "self.{b} + 1", "self.{b}.sum()", "self.{b}.detach() * 2", "self.{b}.mean()"]


def expression(m, target):
    """An expression that broadcasts to the shape of `target`, and needs no gradient where that keeps none."""
    shape, kept = tuple(target.shape), m.between(0, 9)
    names = m.values(condition=lambda t: broadcasts(t.shape, shape))
    if kept < 6 and names:
        return m.pick(names) + ".detach()"
    if kept < 8 and (values := m.values(condition=lambda t: t.dim() and t.shape[1:] == shape or t.shape[:0] == shape)):
        return f"{m.pick(values)}.detach().mean(0)" if shape else f"{m.pick(values)}.detach().mean()"
    return m.pick([f"torch.full({shape}, {m.pick(SPECIAL)})", "torch.tensor(0.5)", f"torch.linspace(0, 1, {target.numel()}).view({shape})"])


def view(m, root):
    """An expression of a view of what `root` names."""
    text = root
    for _ in range(m.pick([0, 0, 0, 1, 1, 1, 2, 3])):
        value = m.evaluate(text)
        dims = value.dim()
        d = m.between(-dims, dims - 1) if dims else 0
        longer = text + m.pick(VIEWS).format(d=d, i=m.between(0, value.shape[d] - 1) if dims and value.shape[d] else 0, v=text)
        try:
            made = m.evaluate(longer)
        except Reject:
            continue
        if isinstance(made, torch.Tensor) and made.numel() and made.untyped_storage().data_ptr() == value.untyped_storage().data_ptr():
            text = longer
    return text


def write(m, root, features=(), tables=None):
    """A write to what `root` names, or to a view of it."""
    v = view(m, root)
    target = m.evaluate(v)
    kind = kind_of(target)
    if kind == "int":
        table = COUNTS
    elif kind == "bool":
        table = ["{v}.logical_not_()", "{v}.fill_(True)", "{v}.copy_({v}.flip(0))"]
    else:
        table = m.pick(tables or [WRITES, WRITES, WRITES, DRAWS])
        if v.endswith("]") and m.chance(0.3):
            table = ASSIGNMENTS
    dims = target.dim()
    text = m.pick(table).format(v=v, e=expression(m, target), c=m.pick(SPECIAL), d=m.between(-dims, dims - 1) if dims else 0)
    if text.count("=") and ".copy_" not in text and table is ASSIGNMENTS and text.startswith("self.") and "[" not in text:
        raise Reject
    m.do(text, {*features, "data"} if ".data" in text else features)


def buffer(m):
    """A new buffer or attribute, at times of the shape of a value."""
    shapes = [tuple(m.tensor(name).shape) for name in m.values() if m.tensor(name).numel() and m.tensor(name).dim() < 4]
    shape = m.pick(shapes * 2 + [(3,), (2, 4), (4, 6), (3, 3), (), (5, 2), (24,), (2, 3, 4)])
    name = m.fresh("b")
    value = m.pick(["torch.zeros({0})", "torch.ones({0})", "torch.linspace(-1, 1, {1}).view({0})", "torch.randn({0})", "torch.zeros({0}, dtype=torch.long)",
                    "torch.arange({1}).view({0})", "torch.ones({0}, dtype=torch.bool)"])
    value = value.format(shape, torch.Size(shape).numel())
    how = m.pick(["self.register_buffer('{0}', {1})"] * 6 + ["self.register_buffer('{0}', {1}, persistent=False)", "self.{0} = {1}"])
    m.declare(how.format(name, value))
    return name


def some_buffer(m):
    module = m.tensor("self")
    names = [name for name, b in vars(module).items() if isinstance(b, torch.Tensor)]
    names += [name for name, _ in module.named_buffers() if not name.endswith("num_batches_tracked")]  # counts in evaluations, too: a file has one mode
    return m.pick(names) if names and m.chance(0.6) else buffer(m)


def read(m, name):
    m.let(m.pick(READS).format(b=name) if kind_of(m.evaluate(f"self.{name}")) == "float" else f"self.{name} * {m.pick(SPECIAL)}")


def keep(m):
    """Writes and reads of a buffer."""
    name = some_buffer(m)
    isAttribute = name in vars(m.tensor("self"))
    for action in m.pick([[write], [write, read], [read, write], [write, read, write], [write, write, read], [read]]):
        if action is write:
            write(m, f"self.{name}", {"state", "attribute"} if isAttribute else {"state"})
        else:
            read(m, name)


def rearrange(m):
    """A buffer whose elements change places, as in a queue of past values, such that its value changes."""
    moves = []
    for name in (some_buffer(m) for _ in range(4)):
        before = m.evaluate(f"self.{name}")
        for d in range(-before.dim(), before.dim()):
            for move in (f".flip({d})", f".flip({d})", f".roll(1, {d})", ".roll(-1)", f".transpose({d}, -1)"):
                after = m.evaluate(f"self.{name}{move}")
                if after.shape == before.shape and not torch.equal(after, before):
                    moves.append((name, move))
    name, move = m.pick(moves)
    m.do(f"self.{name}.copy_(self.{name}{move})", {"state", "attribute"} if name in vars(m.tensor("self")) else {"state"})


def teacher(m):
    """A frozen parameter that follows a trained one."""
    frozen = [name for name, p in m.tensor("self").named_parameters() if not p.requires_grad]
    name = m.pick(frozen)
    with m.region("with torch.no_grad():", torch.no_grad(), {"stop"}):
        write(m, f"self.{name}", {"state"}, [WRITES])


def local(m):
    """Writes to a copy of a value; gradients pass through them."""
    name = m.let(f"{m.value(condition=lambda t: t.numel())} {m.pick(['* 2', '+ 0', '* 1.0', '- 0.5'])}")
    for _ in range(m.between(1, 2)):
        write(m, name, tables=[WRITES])
    m.let(f"{name} * {m.pick(SPECIAL)}")


def stop(m):
    m.let(m.pick(["{0}.detach() * {1}", "{0}.detach()", "{0}.data + {1}"]).format(m.value(), m.value()), {"stop"})


def inner(m):
    m.pick(m.blocks)(m)


def within(m, header, context, features=()):
    if len(m.bodies) > 3:
        raise Reject
    with m.region(header, context, features):
        for _ in range(m.between(1, 3)):
            inner(m)


def no_grad(m):
    if "autocast" in m.noted:  # torch.export leaves it out there
        raise Reject
    within(m, "with torch.no_grad():", torch.no_grad(), {"stop"})


def enable_grad(m):
    within(m, "with torch.enable_grad():", torch.enable_grad(), {"stop"} if m.noted & {"stop"} else ())


def autocast(m):
    enabled = m.chance(0.7)
    within(m, f'with torch.autocast("cpu", dtype=torch.bfloat16, enabled={enabled}):', torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled), {"autocast"})


def loop(m):
    """A loop whose body runs two or three times."""
    name, times = m.fresh("i"), m.between(2, 3)
    m.names[name] = 0
    with m.region(f"for {name} in range({times}):", contextlib.nullcontext(), whole=True) as region:
        keep(m) if m.chance(0.5) else local(m)
    m.execute("\n".join(region.lines()))


def part(m):
    """A function that is recomputed in the backward pass."""
    if len(m.bodies) > 3:
        raise Reject
    name, argument = m.fresh("f"), m.value()
    scope = list(m.scope)
    with m.region(f"def {name}({argument}):", contextlib.nullcontext(), {"checkpoint"}, whole=True) as region:
        for _ in range(m.between(1, 3)):
            inner(m)
        made = [value for value in m.values() if value not in scope]
        result = m.pick(made)
        region.ending = [f"return {result}"]
    region.gives = m.fresh("v")
    region.footer = [f"{region.gives} = checkpoint({name}, {argument}, use_reentrant=False)"]
    region.stand_in = f"torch.ones({tuple(m.tensor(result).shape)})"
    m.names[region.gives] = m.tensor(result)
    m.scope = scope + [region.gives]


FAMILIES = {
    "state": [keep, keep, keep, rearrange, teacher],
    "writes": [local],
    "stops": [stop],
    "regions": [no_grad, autocast, no_grad, autocast, enable_grad],
    "loops": [loop],
    "checkpoint": [part],
}
