#!/usr/bin/env python3
"""Compares bf16 training with PyTorch's autocast over many starts: is one of them farther from float32?

    test/golden/starts.py [--bin build/bin] [--starts 40] [--share 0.05] resnet

Each start is the model with weights changed by a share of themselves. From each, PyTorch trains in float32 and under autocast, and
Cleave in bf16; printed are the root mean squares of both losses' relative differences from float32 over the steps. At the end: the ratio
of the means with an interval that has 95 % of the resampled ratios, and the probability of such a difference of means if the two could be
exchanged in every start. One run is no measure: distances of runs that differ in roundings alone vary by a factor of 2.
The same is printed of the first gradients, in double precision instead of float32: relative errors, in the mean over the parameters.
Needs torch, numpy, onnx.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import torch
from onnx import numpy_helper

import check
import record

MODELS = record.HERE.parent / "models"
RESAMPLED = 20000


def start_of(name, seed, share):
    """The model with other weights."""
    model = record.load_model(name).train()
    record.disturb(model, seed, share)
    return model


def write_start(name, model, path):
    """The model's ONNX file with these weights."""
    state = dict(model.named_parameters())
    proto = onnx.load(str(MODELS / path.name))
    for initializer in proto.graph.initializer:
        if initializer.name in state:
            values = state[initializer.name].detach().numpy()
            initializer.CopyFrom(numpy_helper.from_array(values, initializer.name))
    onnx.save(proto, path)


def trained(tools, spec, path, folder):
    """Cleave's steps."""
    steps, wrong = check.train(tools, spec, path, 1, "solver", folder)
    if wrong:
        sys.exit(wrong)
    return steps


def loss_distances(tools, spec, data, path, seed, share):
    """(ours, PyTorch's): how far the losses of training are from float32."""
    full = record.train(spec, data, torch.float32, None, seed, share)["loss"]
    low = record.train(spec, data, torch.float32, torch.bfloat16, seed, share)["loss"]
    ours = [step["loss"] for step in trained(tools, spec, path, path.parent)]
    return check.root_mean_square(ours, full), check.root_mean_square(low, full)


def gradients(model, spec, data, is_low):
    """Of the first batch, by parameter; in double precision unless it is low."""
    x, label = (torch.from_numpy(data[key][: spec["batch"]]) for key in (check.INPUTS[spec["model"]][0], "logits.label"))
    if not is_low:
        model, x = model.double(), x.double() if x.is_floating_point() else x
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_low):
        loss = record.loss_of(spec["loss"], model(x), label)
    loss.backward()
    return {name: parameter.grad.double().numpy() for name, parameter in model.named_parameters()}


def read_safetensors(path):
    """float32 arrays by name."""
    content = path.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    return {
        name: np.frombuffer(content[begin:][slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
        for name, entry in json.loads(content[8:begin]).items()
        if entry.get("dtype") == "F32"
    }


def own_gradients(tools, spec, path, before):
    """What a step of length 1 takes from the weights."""
    checkpoint, weights = path.parent / "checkpoint", path.parent / "weights.safetensors"
    plan = path.parent / "model.plan"
    options = check.options_of({**spec, "optimizer": "sgd:lr=1"}, path.name)
    run = [tools / "cleave-run", plan, "--data", record.HERE / spec["data"], "--steps", "1", "--save", checkpoint]
    for command in (
        [tools / "cleave-compile", path, *options, "--cluster", check.cluster_of(spec), "--device", "cpu", "-o", plan],
        run,
        [tools / "cleave-export", plan, "--checkpoint", checkpoint, "-o", weights],
    ):
        if wrong := check.call(command):
            sys.exit(wrong)
    after = read_safetensors(weights)
    return {name: before[name].astype(np.float64) - after[name] for name in before}


def gradient_errors(tools, spec, data, path, seed, share):
    """(ours, PyTorch's): relative errors of the first gradients, in the mean over the parameters."""
    models = [start_of(spec["model"], seed, share) for _ in range(3)]
    full, low = gradients(models[0], spec, data, False), gradients(models[1], spec, data, True)
    ours = own_gradients(tools, spec, path, {n: p.detach().numpy() for n, p in models[2].named_parameters()})
    mean = lambda found: np.mean([np.linalg.norm(found[n] - full[n]) / np.linalg.norm(full[n]) for n in full])
    return mean(ours), mean(low)


def summarise(what, pairs):
    """Prints whether the means of (ours, PyTorch's) differ."""
    ours, theirs = np.array(pairs).T
    generator = np.random.default_rng(0)
    picked = generator.integers(0, len(ours), (RESAMPLED, len(ours)))
    low, high = np.quantile(ours[picked].mean(1) / theirs[picked].mean(1), (0.025, 0.975))
    signs = generator.choice((-1, 1), (RESAMPLED, len(ours)))
    gap = abs((ours - theirs).mean())
    chance = (abs((signs * (ours - theirs)).mean(1)) >= gap).mean()
    print(
        f"{what}: {len(ours)} starts, ours {ours.mean():.2e}, PyTorch's {theirs.mean():.2e}, ratio {ours.mean() / theirs.mean():.2f}"
        f" ({low:.2f} to {high:.2f}), p = {chance:.2g}, ours is farther in {(ours > theirs).sum()}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=check.ROOT / "build/bin")
    parser.add_argument("--starts", type=int, default=40)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("model", choices=[run.split(".")[0] for run in record.RUNS if run.endswith(".bf16")])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    spec = record.RUNS[f"{arguments.model}.bf16"]
    data = dict(np.load(record.HERE / spec["data"]))
    losses, errors = [], []
    for seed in range(arguments.starts):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{arguments.model}.dynamo-noopt.onnx"
            write_start(arguments.model, start_of(arguments.model, seed, arguments.share), path)
            losses.append(loss_distances(arguments.bin, spec, data, path, seed, arguments.share))
            errors.append(gradient_errors(arguments.bin, spec, data, path, seed, arguments.share))
        print(f"start {seed}: losses {losses[-1][0]:.1e} {losses[-1][1]:.1e}, gradients {errors[-1][0]:.1e} {errors[-1][1]:.1e}", flush=True)
    summarise("losses", losses)
    summarise("first gradients", errors)


if __name__ == "__main__":
    main()
