#!/usr/bin/env python3
"""Seconds per step of plans whose sharding and recomputation are decided together, beside "sharding first, recomputation after".

    test/bench/joint_gain.py [--models gpt2,resnet50,vit_b_16,unet,mixtral-8x7b] [--ranks 4,8] [--shares 0.75,0.5,0.3,0.2]
                             [--cluster h100-node] [--csv FILE]

Both are plans of cleave-compile within the same budget; the second has `--pin sharding-first`. Entries of the zoo, narrowed in depth only.
Budgets: what parameters and states of the plan without a limit take on a rank, and a share of what else its peak holds. Printed per budget:
seconds and peak of both, by how much the joint plan is faster, and its gap to the bound on all plans. "none": no plan was found. Ends with 1 if a joint
plan is slower. Folder of the tools: environment variable CLEAVE_BIN.
"""
import argparse
import csv
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/e2e"))
import cleave  # noqa: E402

# Entry of the zoo: (its sizes, sizes of its inputs, loss).
MODELS = {
    "gpt2": ({"layers": 4}, "batch=64,seq=1024", "softmax-cross-entropy"),
    "resnet50": ({}, "batch=256", "softmax-cross-entropy"),
    "vit_b_16": ({"layers": 4}, "batch=256", "softmax-cross-entropy"),
    "unet": ({"image": 256, "classes": 2}, "batch=64", "mse"),
    "mixtral-8x7b": ({"layers": 2, "hidden": 1024, "heads": 16, "kv-heads": 4, "ffn": 3584}, "batch=32,seq=1024", "softmax-cross-entropy"),
}
MIB = 2**20


def write_model(name, folder):
    sizes = MODELS[name][0]
    path = folder / f"{name}.onnx"
    cleave.must("cleave-zoo", name, *(word for size, value in sizes.items() for word in (f"--{size}", value)), "-o", path)
    return path


def plan(model, name, ranks, options, folder, *extra):
    """What the dump of a plan says; None if none was found."""
    _, inputs, loss = MODELS[name]
    path = folder / "a.plan"
    answer = cleave.tool("cleave-compile", model, "--train", "--loss", f"{loss}:logits", "--optimizer", "adamw:lr=1e-4", "--set", inputs,
                         "--cluster", options.cluster, "--dtype", options.dtype, "--ranks", ranks, *extra, "-o", path)
    if answer.code:
        if "fit" not in answer.err:
            sys.exit(str(answer))
        return None
    return json.loads(cleave.must("cleave-dump", path, "--json").out)


def compare(model, name, ranks, options, folder):
    """Rows of the table, as dictionaries."""
    whole = plan(model, name, ranks, options, folder)
    peak = whole["predicted"]["peak_bytes"]
    fixed = sum(tensor["rank_bytes"] for tensor in whole["tensors"] if tensor["role"] in ("parameter", "state"))
    for share in map(float, options.shares.split(",")):
        budget = int(fixed + share * (peak - fixed))
        row = {"model": name, "ranks": ranks, "share": share, "budget": budget}
        for kind, pins in (("joint", ()), ("first", ("--pin", "sharding-first"))):
            found = plan(model, name, ranks, options, folder, "--memory", budget, *pins)
            for key in ("planned_seconds", "peak_bytes", "gap"):
                row[f"{kind}_{key}"] = found and found["predicted"][key]
        yield row


def show(row):
    def times(kind):
        seconds, peak = row[f"{kind}_planned_seconds"], row[f"{kind}_peak_bytes"]
        return f"{seconds * 1e3:.3f} | {peak / MIB:.0f}" if seconds else "none | "

    joint, first = row["joint_planned_seconds"], row["first_planned_seconds"]
    gain = f"{100 * (first / joint - 1):.1f} %" if joint and first else "fits" if joint else ""
    gap = f"{100 * row['joint_gap']:.1f} %" if joint else ""
    print(f"| {row['model']} | {row['ranks']} | {row['budget'] / MIB:.0f} ({row['share']}) | {times('joint')} | {times('first')} | {gain} | {gap} |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--ranks", default="4,8")
    parser.add_argument("--shares", default="0.75,0.5,0.3,0.2", help="of the peak of the plan without a limit, beyond parameters and states")
    parser.add_argument("--cluster", default="h100-node")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--csv")
    options = parser.parse_args()
    print("| model | ranks | budget, MiB (share) | joint, ms | MiB | sharding first, ms | MiB | slower by | gap of joint |\n"
          "|---|---|---|---|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for entry in options.models.split(","):
            model = write_model(entry, folder)
            for ranks in map(int, options.ranks.split(",")):
                for row in compare(model, entry, ranks, options, folder):
                    show(row)
                    rows.append(row)
    if options.csv and rows:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    worse = [row for row in rows if row["first_planned_seconds"] and
             (not row["joint_planned_seconds"] or row["joint_planned_seconds"] > row["first_planned_seconds"] * (1 + 1e-9))]
    if worse:
        sys.exit(f"{len(worse)} joint plans are slower")


if __name__ == "__main__":
    main()
