#!/usr/bin/env python3
"""Predicted beside published: training runs that others measured, priced with their own configuration as pins.

    test/bench/published_runs.py RUNS.csv … [--bin build/bin] [--every N] [--cluster A100=FILE] [--cluster H100=FILE]

A file has a header and a row per run, of one of two forms. Runs of any model: source, model, hidden, layers, heads, ffn, vocab, seq,
gpu, n_gpus, tp, pp, dp, mbs (micro-batch per data rank), gbs (samples per step), recompute, dtype, iter_s. Runs of GPT on A100s,
as the simulator vTrain publishes them: "# GPUs", "global batch", "micro batch", "hidden size", "attention heads", "# layers",
"sequence length", "tensor parallelism", "data parallelism", "pipeline parallelism", "iteration time (ms)".

Prints the ratio predicted/published per run, and per file its median, range and geometric mean, the spread around that, and the rank correlation.
Memory is unlimited. A run that computed the forward pass again in the backward pass is compared with 4/3 of the predicted time.
"""
import argparse
import csv
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
DTYPES = {"fp16": "f16", "bf16": "bf16"}


def common(row):
    """A row of either form as one dictionary; numbers as int."""
    if "# GPUs" in row:
        names = {"n_gpus": "# GPUs", "gbs": "global batch", "mbs": "micro batch", "hidden": "hidden size",
                 "heads": "attention heads", "layers": "# layers", "seq": "sequence length", "tp": "tensor parallelism",
                 "dp": "data parallelism", "pp": "pipeline parallelism"}
        run = {name: int(row[column]) for name, column in names.items()}
        return {**run, "model": "gpt", "ffn": 4 * run["hidden"], "vocab": 51200, "gpu": "A100", "dtype": "fp16",
                "recompute": "", "seconds": float(row["iteration time (ms)"]) * 1e-3}
    run = {name: int(row[name]) for name in ("n_gpus", "gbs", "mbs", "hidden", "heads", "layers", "seq", "ffn", "vocab", "tp", "dp", "pp")}
    return {**run, "model": row["model"], "gpu": row["gpu"], "dtype": row["dtype"], "recompute": row["recompute"],
            "seconds": float(row["iter_s"])}


def reason_to_skip(run):
    if run["pp"] > 1:
        return "stages of a pipeline cannot be planned yet"
    if run["dtype"] not in DTYPES:
        return f"there are no products in {run['dtype']}"
    if run["gbs"] % (run["mbs"] * run["dp"]):
        return "the step is no whole number of micro-batches"
    return ""


def predict(run, options, folder):
    """Seconds of a step, or the compiler's message."""
    llama = run["model"].lower().startswith("llama")
    path = folder / "model.onnx"
    sizes = ["--hidden", run["hidden"], "--layers", run["layers"], "--heads", run["heads"], "--ffn", run["ffn"], "--vocab", run["vocab"]]
    sizes += [] if llama else ["--context", run["seq"]]
    subprocess.run([options.bin / "cleave-zoo", "llama3-8b" if llama else "gpt3", *map(str, sizes), "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    layout = (["--mesh", f"dp={run['n_gpus']}", "--pin", "zero3"] if llama else
              ["--mesh", f"dp={run['dp']},tp={run['tp']}", "--pin", "megatron"])
    result = subprocess.run(
        [options.bin / "cleave-compile", path, "--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", "adamw",
         "--set", f"batch={run['mbs'] * run['dp']},seq={run['seq']}", "--accumulate", str(run["gbs"] // run["mbs"] // run["dp"]),
         "--dtype", DTYPES[run["dtype"]], "--cluster", options.clusters[run["gpu"][:4]],
         "--ranks", str(run["n_gpus"]), *layout, "--memory", "100000GiB", "--stop-after", "planned", "-o", folder / "out.mlir"],
        capture_output=True, text=True)
    found = re.search(r"^plan: .*?, ([\d.]+) (us|ms|s) per step", result.stdout + result.stderr, re.M)
    if not found:
        return (result.stdout + result.stderr).strip().splitlines()[-1]
    return float(found[1]) * UNITS[found[2]] * (4 / 3 if run["recompute"] == "full" else 1)


def ranks_of(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0] * len(values)
    for rank, i in enumerate(order):
        ranks[i] = rank
    return ranks


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    covariance = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    return covariance / math.sqrt(sum((x - mean_a)**2 for x in a) * sum((y - mean_b)**2 for y in b))


def summarize(pairs):
    if len(pairs) < 2:
        return
    logs = [math.log(predicted / published) for predicted, published in pairs]
    mean = sum(logs) / len(logs)
    spread = math.sqrt(sum((x - mean)**2 for x in logs) / len(logs))
    rho = correlation(ranks_of([p for p, _ in pairs]), ranks_of([q for _, q in pairs]))
    print(f"  {len(pairs)} runs: predicted/published: median {math.exp(statistics.median(logs)):.2f}, range {math.exp(min(logs)):.2f} to "
          f"{math.exp(max(logs)):.2f}, geometric mean {math.exp(mean):.2f}, spread x{math.exp(spread):.2f}, rank correlation {rho:.3f}")


def report(path, options, folder):
    with open(path, newline="") as file:
        runs = [common(row) for row in csv.DictReader(file)]
    print(f"{path}: {len(runs)} runs")
    skipped, pairs = {}, []
    for run in runs:
        if reason := reason_to_skip(run):
            skipped[reason] = skipped.get(reason, 0) + 1
    for reason, count in skipped.items():
        print(f"  skipped {count}: {reason}")
    for run in [run for run in runs if not reason_to_skip(run)][::options.every]:
        predicted = predict(run, options, folder)
        name = (f"  {run['model']:12} {run['hidden']:5}x{run['layers']:<3} {run['n_gpus']:4} {run['gpu'][:4]} tp={run['tp']:<2} dp={run['dp']:<3} "
                f"batch {run['gbs']:4} by {run['mbs']:2} {run['recompute']:15}")
        if isinstance(predicted, str):
            print(name, predicted)
            continue
        pairs.append((predicted, run["seconds"]))
        print(f"{name} published {run['seconds']:7.3f} s, predicted {predicted:7.3f} s, ratio {predicted / run['seconds']:.2f}", flush=True)
    summarize(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--every", type=int, default=1, help="price only every Nth run that can be priced")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--cluster", action="append", default=[], metavar="GPU=CLUSTER", help="of the runs on these GPUs")
    options = parser.parse_args()
    options.clusters = {"A100": "a100-80-node", "H100": "h100-node", **dict(text.split("=", 1) for text in options.cluster)}
    found = [path for path in options.files if path.exists()]
    for path in options.files:
        if path not in found:
            print(f"skipped: {path} does not exist")
    if not found:
        print("skipped: no file of published runs, see --help for the columns")
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in found:
            report(path, options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
