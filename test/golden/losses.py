#!/usr/bin/env python3
"""Records what PyTorch computes for the losses of --loss: `losses.py` writes losses.json, which test/unit/train/LossTest.cpp repeats.

The model is logits = x w + b, [6, 3]; `map` is the same as [2, 3 classes, 3 positions]. Five steps of SGD in float64, lr 0.5, per loss: the loss
before each step, and the parameters at the end.
"""

import json
import pathlib

import torch
from torch.nn import functional as F

STEPS, LR = 5, 0.5
WEIGHTS = torch.tensor([1, 2, 0.5], dtype=torch.float64)
CLASSES = "softmax-cross-entropy"


def cross_entropy(**options):
    return lambda out, label: F.cross_entropy(out.flatten(0, -2), label.flatten(), **options)


# --loss, PyTorch's function of output and label, the kind of labels
LOSSES = [
    (f"{CLASSES}:logits", cross_entropy(), "classes"),
    (f"{CLASSES}:logits,y,label-smoothing=0.1", cross_entropy(label_smoothing=0.1), "classes"),
    (f"{CLASSES}:logits,class-weights=1:2:0.5", cross_entropy(weight=WEIGHTS), "classes"),
    (f"{CLASSES}:logits,class-weights=1:2:0.5,label-smoothing=0.2,ignore-index=2",
     cross_entropy(weight=WEIGHTS, label_smoothing=0.2, ignore_index=2), "counted classes"),
    (f"{CLASSES}:logits,reduction=sum", cross_entropy(reduction="sum"), "classes"),
    (f"{CLASSES}:map,class-dim=1", F.cross_entropy, "class map"),
    (f"{CLASSES}:map,class-dim=-2,class-weights=1:2:0.5", lambda out, label: F.cross_entropy(out, label, weight=WEIGHTS), "class map"),
    ("nll:logits,class-weights=1:2:0.5", lambda out, label: F.nll_loss(out, label, weight=WEIGHTS), "classes"),
    ("bce:logits", F.binary_cross_entropy_with_logits, "answers"),
    ("bce:logits,pos-weight=3", lambda out, label: F.binary_cross_entropy_with_logits(out, label, pos_weight=torch.tensor(3.0)), "answers"),
    ("bce:logits,pos-weight=1:2:0.5,reduction=sum",
     lambda out, label: F.binary_cross_entropy_with_logits(out, label, pos_weight=WEIGHTS, reduction="sum"), "answers"),
    ("mse:logits", F.mse_loss, "numbers"),
    ("mse:logits,reduction=sum,factor=0.1", lambda out, label: F.mse_loss(out, label, reduction="sum") * 0.1, "numbers"),
    ("l1:logits", F.l1_loss, "numbers"),
    ("huber:logits,delta=0.5", lambda out, label: F.huber_loss(out, label, delta=0.5), "numbers"),
    ("smooth-l1:logits,beta=0.5", lambda out, label: F.smooth_l1_loss(out, label, beta=0.5), "numbers"),
    ("smooth-l1:logits,beta=0", lambda out, label: F.smooth_l1_loss(out, label, beta=0.0), "numbers"),
]


def main():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    draw = lambda *shape: (torch.randn(*shape) * 64).round() / 64  # noqa: E731 (exact in few digits)
    x, w, b = draw(6, 4), draw(4, 3), draw(3)
    classes = torch.tensor([0, 2, 1, -100, 2, 1])
    labels = {
        "classes": classes,
        "counted classes": classes.clamp(min=0),
        "class map": classes.reshape(2, 3),
        "answers": (draw(6, 3) > 0).double(),
        "numbers": draw(6, 3),
    }
    runs = []
    for text, function, kind in LOSSES:
        weight, bias, losses = w.clone().requires_grad_(), b.clone().requires_grad_(), []
        for _ in range(STEPS):
            logits = x @ weight + bias
            output = logits.reshape(2, 3, 3).transpose(1, 2) if ":map" in text else logits
            loss = function(output, labels[kind])
            losses.append(loss.item())
            gradients = torch.autograd.grad(loss, [weight, bias])
            with torch.no_grad():
                for parameter, gradient in zip((weight, bias), gradients):
                    parameter -= LR * gradient
        runs.append({"loss": text, "labels": kind, "losses": losses, "weight": weight.flatten().tolist(), "bias": bias.tolist()})
    record = {"lr": LR, "x": x.flatten().tolist(), "weight": w.flatten().tolist(), "bias": b.tolist()}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in record.items()]
    shaped = {kind: {"shape": list(t.shape), "values": t.flatten().tolist()} for kind, t in labels.items()}
    lines.append('"labels": {\n  ' + ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in shaped.items()) + "\n }")
    lines.append('"runs": [\n  ' + ",\n  ".join(map(json.dumps, runs)) + "\n ]")
    pathlib.Path(__file__).with_suffix(".json").write_text("{\n " + ",\n ".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
