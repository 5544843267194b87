#!/usr/bin/env python3
"""Records what PyTorch computes when it trains the models of ../models: losses, norms, logits.

    python3 test/golden/record.py          # writes RUN.json and the .npz files of this folder
    python3 test/golden/record.py --check  # runs again and compares with what is there

Needs torch, numpy, onnx. Weights are read from ../models/M.dynamo-noopt.onnx, so a record never depends on how a
PyTorch version draws its parameters. README.md says what the files hold.
"""

import argparse
import copy
import json
import pathlib
import sys

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional as F
from torch.optim import swa_utils

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "models"))
import models  # noqa: E402
from check import root_mean_square  # noqa: E402
from optimizers import SCHEDULERS, make_optimizer  # noqa: E402

ROOT = HERE.parent.parent
STEPS = 20
LOW_STEPS = 50  # of runs in a low type
DISTURBED, DISTURBANCE = 8, 1e-6  # runs of autocast whose distances show what roundings alone do
SAMPLES = 40  # not a multiple of 7: an epoch of batch 7 ends inside a step
ADAMW = "adamw:lr=1e-3,beta1=0.9,beta2=0.999,eps=1e-8,weight-decay=0.01"
ADAM = "adam:lr=1e-3,beta1=0.9,beta2=0.999,eps=1e-8"
SGD = "sgd:lr=0.05,momentum=0.9,weight-decay=0.001"
NESTEROV = "sgd:lr=0.05,momentum=0.9,nesterov=1"
DAMPENING = "sgd:lr=0.05,momentum=0.9,dampening=0.5"
CROSS_ENTROPY = "softmax-cross-entropy:logits"
# Every optimizer with another schedule, for more steps.
SCHEDULED_STEPS = 200
SCHEDULED = {
    "sgd:lr=0.02,momentum=0.9,weight-decay=0.001": dict(lr_schedule="step:every=50,gamma=0.5"),
    "adam:lr=2e-3,beta1=0.9,beta2=0.99,eps=1e-6,amsgrad": dict(lr_schedule="one-cycle"),
    "adamw:lr=1e-3,beta1=0.9,beta2=0.99,eps=1e-6,weight-decay=0.1": dict(
        lr_schedule="cosine:warmup=20,min-ratio=0.1", groups=["no-decay", "fc2.*:lr=3e-3,weight-decay=0.05"], ema=0.95),
    "lamb:lr=5e-3,beta1=0.9,beta2=0.99,eps=1e-6,weight-decay=0.01": dict(lr_schedule="wsd:warmup=10,decay=60"),
    "lion:lr=1e-4,beta1=0.9,beta2=0.99,weight-decay=0.1": dict(lr_schedule="linear:warmup=10"),
    "rmsprop:lr=1e-3,alpha=0.95,eps=1e-4,weight-decay=0.001,momentum=0.5,centered": dict(lr_schedule="polynomial:power=2"),
    "adagrad:lr=0.02,lr-decay=0.01,weight-decay=0.001,eps=1e-6": dict(lr_schedule="constant:warmup=20,warmup-start=0.1"),
    "adafactor:lr=0.02,beta2-decay=-0.8,weight-decay=0.01": dict(lr_schedule="cosine:warmup=20,min-ratio=0.1"),
}

# Exports that hold the same model, by model: stems of ONNX files, and torch.export archives. BatchNormalization is folded in the other two of resnet.
SAME = {
    "gpt": ["gpt.dynamo", "gpt.dynamo-noopt", "gpt.ts-train", "gpt.ts-eval", "gpt-external", "gpt.pt2", "gpt.decomposed.pt2"],
    "gpt2": ["gpt2.dynamo", "gpt2.dynamo-noopt", "gpt2.ts-train", "gpt2.ts-eval"],
    "resnet": ["resnet.dynamo-noopt", "resnet.ts-train", "resnet.ts-train-13", "resnet.pt2", "resnet.decomposed.pt2"],
    "mlp": ["mlp.dynamo", "mlp.dynamo-noopt", "mlp.ts-train", "mlp.ts-eval", "mlp.pt2", "mlp.decomposed.pt2"],
    "vit": ["vit.dynamo", "vit.dynamo-noopt", "vit.ts-train", "vit.ts-eval", "vit.pt2", "vit.decomposed.pt2"],
    "example": ["../../docs/examples/gpt/gpt"],
}
SPECS = {**models.MODELS, "example": models.EXAMPLE_GPT}


def run(model, data, batch=8, optimizer=ADAMW, loss=CROSS_ENTROPY, **options):
    """One row of RUNS; options: clip_norm, accumulate, batch_norm ("frozen"), freeze (name prefix), dtype ("bf16": under
    torch.autocast), steps, files (where not all of SAME); groups (texts of --optimizer-group), lr_schedule, ema (decay)."""
    return dict(model=model, data=data, batch=batch, optimizer=optimizer, loss=loss, **options)


RUNS = {
    "gpt.b8": run("gpt", "gpt.npz"),
    "gpt.b7": run("gpt", "gpt.npz", batch=7),
    "gpt.clip": run("gpt", "gpt.npz", clip_norm=0.5),
    "gpt.accumulate": run("gpt", "gpt.npz", accumulate=2),
    "gpt.ignore": run("gpt", "gpt-ignore.npz", batch=7),
    "gpt2.b8": run("gpt2", "gpt.npz"),
    "gpt2.b7": run("gpt2", "gpt.npz", batch=7),
    "resnet.b8": run("resnet", "image.npz"),
    "resnet.b7": run("resnet", "image.npz", batch=7),
    "resnet.accumulate": run("resnet", "image.npz", accumulate=2),
    "resnet.frozen": run("resnet", "image.npz", batch_norm="frozen", files=["resnet.dynamo-noopt", "resnet.pt2", "resnet.decomposed.pt2"]),
    "mlp.b8": run("mlp", "mlp.npz"),
    "mlp.b7": run("mlp", "mlp.npz", batch=7),
    "mlp.sgd": run("mlp", "mlp.npz", optimizer=SGD),
    "mlp.nesterov": run("mlp", "mlp.npz", optimizer=NESTEROV),
    "mlp.dampening": run("mlp", "mlp.npz", optimizer=DAMPENING),
    "mlp.adam": run("mlp", "mlp.npz", optimizer=ADAM),
    "mlp.mse": run("mlp", "mlp-mse.npz", loss="mse:logits"),
    "mlp.freeze": run("mlp", "mlp.npz", freeze="fc2."),
    "vit.b8": run("vit", "image.npz"),
    "vit.b7": run("vit", "image.npz", batch=7),
    "example.b8": run("example", "license.npz"),
    **{f"mlp.{optimizer.partition(':')[0]}.scheduled": run("mlp", "mlp.npz", optimizer=optimizer, steps=SCHEDULED_STEPS, **options)
       for optimizer, options in SCHEDULED.items()},
    **{f"{model}.bf16": run(model, data, dtype="bf16", steps=LOW_STEPS)
       for model, data in (("gpt", "gpt.npz"), ("mlp", "mlp.npz"), ("resnet", "image.npz"), ("vit", "image.npz"))},
}


def make_data():
    """File name -> arrays by graph input and `logits.label`, SAMPLES samples each."""
    generator = torch.Generator().manual_seed(11)
    integers = lambda high, shape: torch.randint(high, shape, generator=generator).numpy()
    text = integers(64, (SAMPLES, 17))
    tokens, labels = text[:, :-1].copy(), text[:, 1:].copy()
    ignored = labels.copy()
    ignored[torch.rand(ignored.shape, generator=generator).numpy() < 0.3] = -100
    ignored[5] = -100  # a sample without any label
    x = torch.randn(SAMPLES, 20, generator=generator).numpy()
    image = torch.randn(SAMPLES, 3, 16, 16, generator=generator).numpy()
    target = torch.randn(SAMPLES, 7, generator=generator).numpy()
    text = np.frombuffer((ROOT / "LICENSE").read_bytes(), np.uint8).astype(np.int64)
    windows = STEPS * 8  # window i is bytes 64 i to 64 i + 63, its labels are the bytes one further
    return {
        "license.npz": {
            "tokens": text[: 64 * windows].reshape(windows, 64),
            "logits.label": text[1 : 64 * windows + 1].reshape(windows, 64),
        },
        "gpt.npz": {"tokens": tokens, "logits.label": labels},
        "gpt-ignore.npz": {"tokens": tokens, "logits.label": ignored},
        "image.npz": {"image": image, "logits.label": integers(10, (SAMPLES,))},
        "mlp.npz": {"x": x, "logits.label": integers(7, (SAMPLES,))},
        "mlp-mse.npz": {"x": x, "logits.label": target},
    }


def load_model(name):
    """The model with its dynamo-noopt export's weights; the example's come from the seed and are compared."""
    model = models.build(SPECS[name])
    if name == "example":
        proto = onnx.load(str(ROOT / "docs/examples/gpt/gpt.onnx"))
        own = model.head.weight.detach().numpy()
        if not any(
            i.name == "head.weight" and np.array_equal(numpy_helper.to_array(i), own)
            for i in proto.graph.initializer
        ):
            raise SystemExit("docs/examples/gpt/gpt.onnx: not the weights that seed 1 gives; export it again")
        return model
    proto = onnx.load(str(HERE.parent / "models" / f"{name}.dynamo-noopt.onnx"))
    state = {i.name: torch.from_numpy(numpy_helper.to_array(i).copy()) for i in proto.graph.initializer}
    unknown = set(state) - set(model.state_dict())
    missing = {n for n, _ in model.named_parameters(remove_duplicate=False)} - set(state) - {"tok.weight"}
    if unknown or missing:
        raise SystemExit(f"{name}: the export has {sorted(unknown)} and lacks {sorted(missing)}")
    model.load_state_dict(state, strict=False)
    return model


def loss_of(kind, logits, label):
    """Mean loss as `--loss` defines it."""
    if kind.startswith("mse"):
        return F.mse_loss(logits, label.to(logits.dtype))
    return F.cross_entropy(logits.flatten(0, -2), label.flatten(), ignore_index=-100)


def norm(tensors):
    """Euclidean norm over all elements, accumulated in float64."""
    return float(torch.sqrt(sum((t.detach().double() ** 2).sum() for t in tensors)))


def disturb(model, seed, share=DISTURBANCE):
    """Changes every weight by this share of it or so: a millionth is of no importance but for the roundings that follow."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1 + share * torch.randn(parameter.shape, generator=generator))


def train(spec, data, dtype, autocast=None, seed=None, share=DISTURBANCE):
    """Runs the steps in `dtype`, forward passes under autocast to a low type if one is given, from weights disturbed by `share`
    if a seed is; returns the numbers of the record."""
    model = load_model(spec["model"]).to(dtype).train(spec.get("batch_norm") != "frozen")
    if seed is not None:
        disturb(model, seed, share)
    named = dict(model.named_parameters())
    for name, parameter in named.items():
        parameter.requires_grad_(not (spec.get("freeze") and name.startswith(spec["freeze"])))
    trained = {n: p for n, p in named.items() if p.requires_grad}
    optimizer = make_optimizer(spec["optimizer"], trained, spec.get("groups", ()))
    scheduler = SCHEDULERS[spec["lr_schedule"]](optimizer, spec["steps"]) if "lr_schedule" in spec else None
    average = swa_utils.AveragedModel(model, avg_fn=swa_utils.get_ema_avg_fn(spec["ema"])) if "ema" in spec else None
    input_name = SPECS[spec["model"]][1]
    x, label = torch.from_numpy(data[input_name]), torch.from_numpy(data["logits.label"])
    x = x.to(dtype) if x.is_floating_point() else x
    parts = spec.get("accumulate", 1)
    out = {"loss": [], "grad_norm": []}
    for step in range(spec.get("steps", STEPS)):
        picked = torch.arange(step * spec["batch"], (step + 1) * spec["batch"]) % len(x)
        optimizer.zero_grad()
        total = 0.0
        for rows in picked.chunk(parts):
            with torch.autocast("cpu", dtype=autocast, enabled=autocast is not None):
                loss = loss_of(spec["loss"], model(x[rows]), label[rows]) / parts
            loss.backward()
            total += loss.item()
        out["loss"].append(total)
        out["grad_norm"].append(norm(p.grad for p in trained.values()))
        if step == 0:
            out["first_grad_norms"] = {n: norm([p.grad]) for n, p in trained.items()}
        if "clip_norm" in spec:
            torch.nn.utils.clip_grad_norm_(trained.values(), spec["clip_norm"], foreach=False)
        if scheduler:
            out.setdefault("lr", []).append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if average:
            average.update_parameters(model)
        if scheduler and step + 1 < spec["steps"]:
            scheduler.step()
    out["final_norms"] = {n: norm([p]) for n, p in named.items()}
    if average:
        out["ema_norms"] = {n: norm([p]) for n, p in average.module.named_parameters()}
    out["final_buffer_norms"] = {n: norm([b]) for n, b in model.named_buffers() if b.is_floating_point()}
    return out


def autocast(spec, data, full):
    """What a record of a low type holds instead of float64."""
    low = train(spec, data, torch.float32, torch.bfloat16)
    runs = [low] + [train(spec, data, torch.float32, torch.bfloat16, seed) for seed in range(DISTURBED)]
    return {"bfloat16": low, "distances": [root_mean_square(run["loss"], full["loss"]) for run in runs]}


def record(spec, data):
    """The content of RUN.json."""
    model = load_model(spec["model"])
    own = dict(model.named_parameters())
    every = dict(model.named_parameters(remove_duplicate=False))
    tied = {n: next(o for o in own if own[o] is p) for n, p in every.items() if n not in own}
    full = train(spec, data, torch.float32)
    return {
        **spec,
        "files": [f if f.endswith(".pt2") else f"{f}.onnx" for f in spec.get("files", SAME[spec["model"]])],
        "parameters": {n: list(p.shape) for n, p in own.items()},
        "tied": tied,
        "steps": spec.get("steps", STEPS),
        "float32": full,
        **(autocast(spec, data, full) if "dtype" in spec else {"float64": train(spec, data, torch.float64)}),
    }


def forward(name, data):
    """The first samples (two of the larger example, else eight) and their logits: in training form and, where
    they differ, in inference form."""
    input_name = SPECS[name][1]
    x = data[input_name][: 2 if name == "example" else 8]
    model = load_model(name)
    with torch.no_grad():
        trained = copy.deepcopy(model).train()(torch.from_numpy(x)).numpy()
        inferred = model.eval()(torch.from_numpy(x)).numpy()
    out = {input_name: x, "logits": trained}
    if not np.array_equal(trained, inferred):
        out["logits.eval"] = inferred
    return out


def compare(name, new, old):
    """Largest relative difference between two records' float32 losses and norms. Numbers under autocast depend on the CPU."""
    worst = 0.0
    for key in ("loss", "grad_norm"):
        for a, b in zip(new["float32"][key], old["float32"][key], strict=True):
            worst = max(worst, abs(a - b) / max(abs(b), 1e-12))
    print(f"{name}: differs by {worst:.2e}")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed records; write nothing")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="only these records, without the .npz files")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    data = make_data()
    worst = 0.0
    for name, spec in RUNS.items():
        if arguments.runs and name not in arguments.runs:
            continue
        new = record(spec, data[spec["data"]])
        path = HERE / f"{name}.json"
        if arguments.check:
            worst = max(worst, compare(name, new, json.loads(path.read_text())))
        else:
            path.write_text(json.dumps(new, indent=1) + "\n")
            other = "bfloat16" if "dtype" in spec else "float64"
            gap = max(abs(a - b) / abs(b) for a, b in zip(new["float32"]["loss"], new[other]["loss"]))
            first, last = new["float32"]["loss"][0], new["float32"]["loss"][-1]
            print(f"{name}: loss {first:.4f} -> {last:.4f}, {other} differs by {gap:.1e}")
    if arguments.check or arguments.runs:
        sys.exit(1 if worst > 1e-5 else 0)
    for name, arrays in data.items():
        np.savez(HERE / name, **arrays)
    for name in SPECS:
        source = next(spec["data"] for spec in RUNS.values() if spec["model"] == name)
        np.savez(HERE / f"{name}.forward.npz", **forward(name, data[source]))


if __name__ == "__main__":
    main()
