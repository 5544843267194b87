"""Blocks: losses in the model; and the losses outside of it, with their labels: drawn, and computed as `--loss` means them."""

import torch
from maker import SPECIAL, Reject
from torch.nn import functional as F

INNER = """
F.mse_loss({f}, {g}.expand_as({f})) | F.l1_loss({f}, {g}.expand_as({f})) | F.smooth_l1_loss({f}, {g}.expand_as({f}), beta=0.5) | F.huber_loss({f}, {g}.expand_as({f}))
F.binary_cross_entropy_with_logits({f}, ({f}.detach() > 0).to({f}.dtype)) | F.binary_cross_entropy({f}.sigmoid(), {g}.sigmoid().expand_as({f}).detach())
F.kl_div({f}.log_softmax(-1), {g}.expand_as({f}).softmax(-1), reduction="batchmean") | F.kl_div({f}.log_softmax(-1), {g}.expand_as({f}).log_softmax(-1), log_target=True)
F.poisson_nll_loss({f}, {g}.abs().expand_as({f})) | F.gaussian_nll_loss({f}, {g}.expand_as({f}), {f}.square()) | F.soft_margin_loss({f}, {f}.detach().sign())
F.hinge_embedding_loss({f}, {f}.detach().sign()) | F.margin_ranking_loss({f}, {g}.expand_as({f}), torch.ones_like({f}), margin=0.5) | (1 - {f}).clamp(min=0).mean()
F.triplet_margin_loss({f}, {g}.expand_as({f}), {f} * 0.5) | F.cosine_embedding_loss({f}, {g}.expand_as({f}), torch.ones({f}.shape[0])) | F.multilabel_soft_margin_loss({f}, ({f}.detach() > 0).to({f}.dtype))
""".replace("\n", " | ")


def inner_classes(m):
    """Cross entropy in the model, labels given or derived."""
    value = m.value(condition=lambda t: t.dim() == 2 and t.numel() and t.shape[1] > 1)
    rows, classes = m.tensor(value).shape
    ignored = m.pick(["", "", ", ignore_index=0", ", ignore_index=1"])
    options = ignored + m.pick(["", "", ", label_smoothing=0.25", ', reduction="sum"'])
    labels = m.pick(m.values("int", lambda t: tuple(t.shape) == (rows,)) * 2 + [f"torch.arange({rows})", f"torch.zeros({rows}, dtype=torch.long)", f"{value}.detach().argmax(1)"])
    labels = f"({labels} % {classes})"
    if m.chance(0.3):
        labels = f"torch.where(torch.arange({rows}) == 0, {0 if '=0' in ignored else 1 if '=1' in ignored else -100}, {labels})"
    weight = m.pick(["", "", f", weight=torch.linspace(0.5, 1.5, {classes})"])
    kind = m.pick(["F.cross_entropy({0}, {1}{2})", "F.nll_loss({0}.log_softmax(1), {1}{2})"])
    options = options if kind.startswith("F.cross") else options.replace(", label_smoothing=0.25", "")
    m.let(kind.format(value, labels, options + weight), {"counted"})


# -- outside of the model
def draw(m, output):
    """(the spec of a loss of the expression `output`, the expression of its labels) or Reject."""
    value = m.evaluate(output)
    kind = m.pick(["softmax-cross-entropy"] * 4 + ["nll", "bce", "mse", "l1", "huber", "smooth-l1"])
    if not value.dim() or value.shape[0] != m.batch or not value.numel():
        raise Reject
    options, shape = {}, tuple(value.shape)
    if kind in ("softmax-cross-entropy", "nll"):
        if value.dim() < 2 or shape[-1] < 2:
            raise Reject
        return classes(m, kind, shape)
    if kind == "huber":
        options["delta"] = m.pick([0.5, 1.0])
    if kind == "smooth-l1":
        options["beta"] = m.pick([0.5, 1.0])
    if kind == "bce" and m.chance(0.3):
        options["pos-weight"] = 3.0
    common(m, options)
    labels = f"torch.randn(n{tail(shape)}, generator=g){m.pick(['', '.mul(2).round().div(2)'])}"
    return {"kind": kind, "options": options}, labels if kind != "bce" else f"({labels} > 0).to(torch.get_default_dtype())"


def common(m, options):
    if m.chance(0.2):
        options["factor"] = m.pick([0.5, 2.0])
    if m.chance(0.12):
        options["reduction"] = "sum"


def tail(shape):
    return "".join(f", {size}" for size in shape[1:])


def classes(m, kind, shape):
    options = {}
    dim = m.pick([-1, -1, -1, 1])
    count = shape[dim]
    if dim == 1 and len(shape) > 2:
        options["class-dim"] = 1
    dim %= len(shape)
    shape = shape[:dim] + shape[dim + 1:]
    if kind == "softmax-cross-entropy" and m.chance(0.25):
        options["label-smoothing"] = 0.25
    if m.chance(0.25):
        options["class-weights"] = [m.pick([0.5, 1.0, 2.0, 1.5]) for _ in range(count)]
    if m.chance(0.3):
        options["ignore-index"] = m.pick([0, 1, -1, 255])
    common(m, options)
    whole = f"(n{tail(shape)},)"
    labels = f"torch.randint({count}, {whole}, generator=g)"
    if m.chance(0.5):
        ignored = options.get("ignore-index", -100)
        labels = f"torch.where(torch.rand({whole}, generator=g) < {m.pick([0.2, 0.6])}, {ignored}, {labels})"
    if m.chance(0.06):
        labels = labels.replace(f"randint({count},", f"randint({m.pick([-1, 0])}, {count + m.between(0, 1)},")
    return {"kind": kind, "options": options}, labels


def spelled(index, spec, label):
    """The spec as an option of cleave-compile."""
    options = "".join(f",{key}={':'.join(map(str, value)) if isinstance(value, list) else value}" for key, value in spec["options"].items())
    return f"{spec['kind']}:{index}{'' if label is None else ',' + label}{options}"


def sum_and_count(spec, output, label):
    """(the sum of the loss over its labels, what its mean divides by), differentiable, of PyTorch's functions."""
    options, kind = spec["options"], spec["kind"]
    if kind == "output":
        return output, 1
    if kind in ("softmax-cross-entropy", "nll"):
        return sum_of_classes(kind, options, output, label)
    if kind == "bce":
        weight = torch.tensor(options["pos-weight"]) if "pos-weight" in options else None
        total = F.binary_cross_entropy_with_logits(output, label, pos_weight=weight, reduction="sum")
    elif kind == "mse":
        total = F.mse_loss(output, label, reduction="sum")
    elif kind == "l1":
        total = F.l1_loss(output, label, reduction="sum")
    elif kind == "huber":
        total = F.huber_loss(output, label, delta=options["delta"], reduction="sum")
    else:
        total = F.smooth_l1_loss(output, label, beta=options["beta"], reduction="sum")
    return total, output.numel()


def sum_of_classes(kind, options, output, label):
    output = output.movedim(options.get("class-dim", -1), 1)
    ignored = options.get("ignore-index", -100)
    weights = torch.tensor(options["class-weights"]) if "class-weights" in options else torch.ones(output.shape[1])
    if kind == "nll":
        total = F.nll_loss(output, label, weights.to(output.dtype), ignore_index=ignored, reduction="sum")
    else:
        total = F.cross_entropy(output, label, weights.to(output.dtype), ignore_index=ignored, reduction="sum", label_smoothing=options.get("label-smoothing", 0.0))
    counted = label[label != ignored]
    return total, weights[counted].sum().item()


def inner_loss(m):
    from pointwise import fill, split

    m.let(fill(m, m.pick(split(INNER))))


FAMILIES = {"losses": [inner_loss, inner_classes]}
