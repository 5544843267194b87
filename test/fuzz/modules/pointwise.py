"""Blocks: elementwise functions at their corners, reductions, norms, cumulative functions, sorts and their ties."""

import re

from maker import SPECIAL, Reject

# {f} a float value, {g} a tensor that broadcasts with it, {c} a special number, {d} a dim of f, {b} a condition of f's shape.
UNARY = """
{f}.relu() | {f}.abs() | {f}.sign() * {f} | {f}.square() | {f}.exp() | ({f}.abs() + 0.5).log() | {f}.sigmoid() | {f}.tanh() | {f}.sin() | {f}.cos()
F.gelu({f}) | F.gelu({f}, approximate="tanh") | F.silu({f}) | F.softplus({f}) | F.elu({f}) | F.leaky_relu({f}, 0.25) | F.hardtanh({f}) | F.relu6({f})
F.hardsigmoid({f}) | F.hardswish({f}) | F.softsign({f}) | F.softshrink({f}) | F.hardshrink({f}) | F.tanhshrink({f}) | F.selu({f}) | F.celu({f}) | F.mish({f})
F.logsigmoid({f}) | F.threshold({f}, {c}, {c}) | {f}.clamp(min={c}) | {f}.clamp(max={c}) | {f}.clamp(-0.5, 1.0) | {f}.erf() | {f}.expm1() | {f}.atan()
({f} * 0.25).clamp(-0.75, 0.75).asin() | {f}.floor() + {f} | {f}.round() * {f} | {f}.trunc() - {f} | {f}.frac() | ({f}.square() + 1).rsqrt() | {f}.reciprocal()
{f}.abs().sqrt() | {f}.pow(2) | {f}.pow(3) | {f}.abs().pow(1.5) | {f}.nan_to_num() | {f}.sinh() | {f}.asinh() | {f}.logit(eps=0.125) | {f}.log1p()
({f} + 3).lgamma() | {f}.deg2rad() | torch.special.expit({f}) | {f} * {c} | {f} + {c} | {c} - {f} | {f} / 2 | 2 / ({f}.square() + 1) | 2.0 ** {f}
""".replace("\n", " | ")
BINARY = """
{f} + {g} | {f} - {g} | {f} * {g} | {f} / ({g}.abs() + 0.5) | torch.maximum({f}, {g}) | torch.minimum({f}, {g}) | torch.fmax({f}, {g}) | torch.fmin({f}, {g})
{f}.clamp(min={g}) | {f}.clamp(max={g}) | torch.clamp({f}, {g}, {g} + 1) | torch.logaddexp({f}, {g}) | torch.where({f} > {g}, {f}, {g} * 2)
torch.where({f} >= {g}, {f} * 3, {g}) | torch.atan2({f}, {g} + 3) | torch.hypot({f}, {g}) | {f}.lerp({g}, 0.25) | torch.addcmul({f}, {g}, {f}, value=0.5)
{f}.remainder({g}.abs() + 1) | torch.fmod({f}, {g}.abs() + 1) | torch.copysign({f}, {g}) | torch.heaviside({f}.detach(), {g}.detach()) + {f}
({f}.abs() + 0.5).pow({g}) | F.prelu({f}, torch.tensor(0.25)) | torch.dist({f}, {g}) | ({f} > {g}).to({f}.dtype) * {f} | torch.rsub({f}, {g})
torch.xlogy({f}, {g}.abs() + 1) | torch.floor_divide({f}, {g}.abs() + 1) + {f} | F.smooth_l1_loss({f}, {g}.expand_as({f}), reduction="none")
F.huber_loss({f}, {g}.expand_as({f}), reduction="none", delta=0.5) | torch.maximum(torch.minimum({f}, {g}), -{f}) | torch.maximum({g}, {f}).relu()
F.binary_cross_entropy_with_logits({f}, {g}.sigmoid().expand_as({f}), reduction="none") | torch.sub({f}, {g}, alpha=2) | torch.isclose({f}, {g}).to({f}.dtype) + {f}
""".replace("\n", " | ")
REDUCTIONS = """
{f}.sum({d}) | {f}.mean({d}) | {f}.amax({d}) | {f}.amin({d}) | {f}.max({d}).values | {f}.min({d}).values | {f}.max() | {f}.min() | {f}.sum() | {f}.mean()
{f}.prod({d}) | {f}.logsumexp({d}) | {f}.norm() | {f}.norm(dim={d}) | {f}.norm(p=1, dim={d}) | {f}.norm(p=float("inf"), dim={d}) | {f}.var({d}, unbiased=False)
{f}.std({d}, unbiased=False) | {f}.mean({d}, keepdim=True) | {f}.sum({d}, keepdim=True) | {f}.amax({d}, keepdim=True) | torch.linalg.vector_norm({f}, 3, {d})
{f}.median({d}).values | {f}.median() | {f}.cumsum({d}) | {f}.cumprod({d}) | {f}.cummax({d}).values | {f}.cummin({d}).values | {f}.logcumsumexp({d})
{f}.softmax({d}) | {f}.log_softmax({d}) | F.softmin({f}, {d}) | F.normalize({f}, dim={d}) | F.normalize({f}, p=1.0, dim={d}) | {f}.aminmax(dim={d}).max
F.cosine_similarity({f}, {g}.expand_as({f}), dim={d}) | {f}.renorm(2, 0, 1.0) | {f}.diff(dim={d}) | {f}.nansum({d}) | {f}.quantile(0.5, {d}) | {f}.var() | {f}.all({d}) * {f}.sum({d})
torch.trapezoid({f}, dim={d}) | F.pairwise_distance({f}, {g}.expand_as({f})) | torch.cdist({f}, {f}) | {f}.any({d}) * {f}.mean({d}) | {f}.count_nonzero({d}) * {f}.sum({d})
""".replace("\n", " | ")
SORTS = """
{f}.sort({d}).values | {f}.sort({d}, descending=True).values | {f}.sort({d}, stable=True).values | ({f} + torch.arange({f}.numel()).view({f}.shape) * 0.3).topk(2, {d}).values | ({f} + torch.arange({f}.numel()).view({f}.shape) * 0.3).topk(2, {d}, largest=False).values
{f}.gather({d}, {f}.argsort({d})) | ({f} + torch.arange({f}.numel()).view({f}.shape) * 0.3).kthvalue(1, {d}).values | {f}.msort() | {f}.argmax({d}) * {f}.sum({d}) | {f}.argmin({d}) * {f}.sum({d}) | {f}.mode({d}).values
{f}.max({d}).indices * {f}.mean({d}) | {f}.sort({d}).indices * {f} | {f}.unique_consecutive().sum() | torch.searchsorted({f}.detach().sort(-1).values, {f}) * {f}
torch.bucketize({f}.detach(), torch.tensor([-1.0, 0.0, 0.5])) * {f} | F.one_hot({f}.argmax(-1), {f}.shape[-1]) * {f} | {f} * ({f} >= {f}.topk(2, {d}).values.amin({d}, keepdim=True))
""".replace("\n", " | ")


def split(table):
    return [entry.strip() for entry in table.split(" | ") if entry.strip()]


def fill(m, template, name=None):
    """The template with values of the case in place of its letters."""
    name = name or m.value()
    shape = m.tensor(name).shape
    if "{d}" in template and not shape:
        raise Reject
    template = re.sub(r"\{c\}", lambda _: m.pick(SPECIAL), template)
    d = m.between(-len(shape), len(shape) - 1) if shape else 0
    return template.format(f=name, d=d, g=m.partner(name) if "{g}" in template else "")


def block_of(table, several=1):
    """A block that takes one entry of a table."""
    entries = split(table)

    def block(m):
        for _ in range(m.between(1, several)):
            m.let(fill(m, m.pick(entries)))

    return block


def centred(m):
    """Values that are mostly zeros or ties, made of others."""
    name = m.value()
    m.let(m.pick(["{0} * 0.0", "{0} - {0}.detach()", "({0} * 2).round() / 2 + ({0} - {0}.detach())", "{0} * ({0} > 0)", "{0}.clamp(0.0, 0.0)", "{0}.trunc() + {0} * 0"]).format(name))


FAMILIES = {
    "pointwise": [block_of(UNARY, 2), block_of(BINARY, 2)],
    "reductions": [block_of(REDUCTIONS)],
    "sorts": [block_of(SORTS)],
    "zeros": [centred],
}
