"""Draws cases. A Maker runs every statement that it draws on the first samples, so shapes and types are those of real tensors, and what PyTorch
refuses, or what is not finite, is not taken.

Blocks (pointwise.py and the files beside it) are functions of a Maker that add a few statements. Each case has some families of blocks only, so
that one defect does not hide all others.
"""

import contextlib
import random

import torch
from torch import nn
from torch.nn import functional as F

from case import Case, Region, Statement

LARGEST_VALUE, LARGEST_SIZE = 200.0, 512
# What people initialise with, and where functions have corners.
SPECIAL = ["0.0", "1.0", "-1.0", "0.5", "2.0", "-0.5", "0.25"]


class Reject(Exception):
    """A statement that cannot be taken."""


class Maker:
    def __init__(self, seed, skip=None):
        """Statements that match `skip`, a regular expression, are not taken."""
        self.skip = skip
        self.random = random.Random(seed)
        self.case = Case(seed)
        self.batch = self.random.choice([2, 3, 4, 4, 5, 6, 8])
        self.bodies = [self.case.body]
        self.counts = {}
        self.scope = []  # names of values, the inputs first
        self.wanted = []  # values that each get a term of the loss
        self.noted = frozenset()  # features of the open regions
        self.rebuild()

    # -- chance
    def chance(self, p):
        return self.random.random() < p

    def pick(self, options):
        options = list(options)
        if not options:
            raise Reject
        return self.random.choice(options)

    def between(self, low, high):
        return self.random.randint(low, high)

    def fresh(self, letter):
        self.counts[letter] = self.counts.get(letter, 0) + 1
        return f"{letter}{self.counts[letter]}"

    # -- values
    def tensor(self, name):
        return self.names[name]

    def values(self, kind="float", condition=lambda t: True):
        """Names of the values of a kind (float, int, bool) that fulfil the condition, in the order of the text."""
        return [name for name in self.scope if kind_of(self.names[name]) == kind and condition(self.names[name])]

    def value(self, kind="float", condition=lambda t: True):
        """One of them; more often one of the last."""
        found = self.values(kind, condition)
        if not found:
            raise Reject
        return found[-1 - min(int(self.random.expovariate(0.4)), len(found) - 1)]

    def evaluate(self, text):
        """What an expression gives now."""
        try:
            return eval(text, self.names)  # noqa: S307: the text is ours
        except Exception as error:
            raise Reject(str(error)) from None

    # -- statements
    def execute(self, text):
        try:
            exec(text, self.names)  # noqa: S102
        except Exception as error:
            self.isBroken = True
            raise Reject(str(error)) from None

    def let(self, expression, features=()):
        """Adds `v7 = expression` and returns v7."""
        self.refuse(expression)
        value = self.evaluate(expression)
        check(value)
        name = self.fresh("v")
        self.names[name] = value
        self.scope.append(name)
        self.add(Statement(f"{name} = {expression}", name, stand_in(value), frozenset(features) | self.noted))
        return name

    def do(self, text, features=()):
        """Adds a statement that defines nothing, such as a write in place."""
        self.refuse(text)
        self.execute(text)
        self.add(Statement(text, features=frozenset(features) | self.noted))
        for name in self.scope:
            check(self.names[name])

    def refuse(self, text):
        if self.skip and self.skip.search(text):
            raise Reject("left out by --skip")

    def add(self, node):
        self.bodies[-1].append(node)

    def declare(self, line):
        self.refuse(line)
        self.execute(line)
        self.case.declarations.append(line)

    @contextlib.contextmanager
    def region(self, header, context, features=(), whole=False):
        """Statements within go into a block; `context` is its effect while they are drawn. Without a part that is rejected, a `whole` one is nothing."""
        region, noted = Region(header, [], features=frozenset(features)), self.noted
        self.noted = noted | region.features
        self.bodies.append(region.body)
        try:
            with context:
                yield region
        except Reject:
            self.isBroken |= whole
            raise
        finally:
            self.bodies.pop()
            self.noted = noted
            if region.body:
                self.add(region)

    # -- declarations
    def parameter(self, shape):
        """An expression of a new parameter."""
        name = self.fresh("p")
        kind = self.pick(["torch.zeros({0})", "torch.ones({0})", "torch.randn({0})", "torch.randn({0}).mul(2).round().div(4)"])
        self.declare(f"self.{name} = nn.Parameter({kind.format(tuple(shape))})")
        return f"self.{name}"

    def image(self):
        """A value of four dims; if need be a new parameter."""
        found = self.values("float", lambda t: t.dim() == 4 and t.numel())
        if found and self.chance(0.8):
            return self.pick(found)
        return self.let(f"{self.parameter((self.between(1, 2), self.between(1, 3), self.between(2, 5), self.between(2, 5)))} * 1")

    def constant(self, shape):
        """An expression of a tensor that is neither trained nor written."""
        return self.pick(["torch.zeros({0})", "torch.ones({0})", "torch.full({0}, {1})", "torch.linspace(-1, 1, {2}).view({0})"]).format(
            tuple(shape), self.pick(SPECIAL), product(shape))

    def partner(self, name):
        """An expression of a float tensor that broadcasts with the value."""
        shape = tuple(self.tensor(name).shape)
        same = self.values("float", lambda t: tuple(t.shape) == shape)
        fits = self.values("float", lambda t: broadcasts(t.shape, shape))
        options = [self.pick(same)] * 3 + [self.pick(fits or same)] * 2
        options += [f"torch.zeros_like({name})", f"torch.full_like({name}, {self.pick(SPECIAL)})", f"torch.tensor({self.pick(SPECIAL)})"]
        if shape:
            options += [f"{name}.mean({self.between(-len(shape), -1)}, keepdim=True)", None, None]
        chosen = self.pick(options)
        return chosen or self.parameter(shape[self.between(0, len(shape) - 1):])

    # -- the whole
    def rebuild(self):
        """Runs the case from the start, after something has gone wrong."""
        torch.set_default_dtype(torch.float64 if self.case.double else torch.float32)
        torch.manual_seed(0)
        self.isBroken = False
        self.names = {"torch": torch, "nn": nn, "F": F, "self": nn.Module()}
        exec("from torch.utils.checkpoint import checkpoint", self.names)
        for line in self.case.declarations:
            exec(line, self.names)
        for name, text in self.case.inputs.items():
            self.names[name] = eval(text, {"torch": torch, "n": self.batch, "g": torch.Generator().manual_seed(0)})
        exec("\n".join(self.case.forward_lines()), self.names)
        self.scope = [name for name in self.scope if name in self.names]

    def take(self, block):
        """Lets a block add statements; what makes gradients fail or infinite is dropped again."""
        before, scope, declarations = len(self.case.body), list(self.scope), len(self.case.declarations)
        try:
            block(self)
        except Reject:
            pass
        if self.isBroken or (len(self.case.body) > before and not self.has_gradients()):
            del self.case.body[before:], self.case.declarations[declarations:]
            self.scope = scope
            self.rebuild()

    def has_gradients(self):
        parameters = [p for p in self.names["self"].parameters() if p.requires_grad]
        values = [self.names[name] for name in self.values() if self.names[name].requires_grad]
        if not parameters or not values:
            return True
        try:
            total = sum(value.double().square().sum() for value in values)
            found = torch.autograd.grad(total, parameters, allow_unused=True, retain_graph=True)
        except RuntimeError:
            return False
        return all(g is None or (g.isfinite().all() and (not g.numel() or g.abs().max() < 1e4)) for g in found)


def product(shape):
    result = 1
    for size in shape:
        result *= size
    return result


def broadcasts(shape, into):
    """Whether one shape broadcasts into another without changing that."""
    return len(shape) <= len(into) and all(a in (1, b) for a, b in zip(reversed(shape), reversed(into)))


def kind_of(value):
    if not isinstance(value, torch.Tensor):
        return "other"
    return "float" if value.is_floating_point() else "bool" if value.dtype == torch.bool else "int"


def check(value):
    if not isinstance(value, torch.Tensor) or value.is_complex() or value.numel() > LARGEST_SIZE or value.dim() > 5:
        raise Reject("not a tensor of moderate size")
    if value.numel() and value.is_floating_point() and not value.detach().abs().max() < LARGEST_VALUE:
        raise Reject("not finite")


def stand_in(value):
    kind = kind_of(value)
    return f"torch.{'ones' if kind == 'float' else 'zeros'}({tuple(value.shape)}{'' if kind == 'float' else f', dtype={value.dtype}'})"
