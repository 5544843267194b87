#!/usr/bin/env python3
"""Compiles and trains the models of the records here, and compares every step with PyTorch's numbers.

    test/golden/check.py [--bin build/bin] [--ranks 1,2,4] [--plans solver,dp,...] [--exports] [RUN...]

For each RUN (default: all) × ranks × plan: cleave-compile, cleave-run, then losses and gradient norms against the
record (1e-4 relative), and against the same run on one rank (1e-5); every rank must have allocated exactly the bytes
that were planned. Runs in a low type: losses within 2 % of PyTorch's under autocast, and not much farther from its float32 losses than
PyTorch's own are (root mean squares of relative differences): at most 1.5 times the farthest of nine runs of PyTorch that differ only
in roundings. The mean of all runs over PyTorch's mean is printed last. One line each; exit code 1 if any is off. With --exports the runs are repeated on one rank from every
export that must give the same numbers, not only the first.
Needs Python's standard library only. `check.py --log LOG RUN` compares an existing log and runs nothing.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TO_RECORD, TO_ONE_RANK, TO_AUTOCAST, NOISE = 1e-4, 1e-5, 2e-2, 1.5

# plan -> (options of cleave-compile, smallest number of ranks it makes sense for, the number it needs or None)
PLANS = {
    "solver": ([], 1, None),
    "dp": (["--pin", "dp"], 2, None),
    "zero3": (["--pin", "zero3"], 2, None),
    "megatron": (["--pin", "megatron"], 2, None),
    "2x2": (["--mesh", "dp=2,tp=2", "--pin", "megatron"], 4, 4),
}


# The models' inputs, and their types, which TorchScript files do not tell. torch.export archives name a first dim after its
# input, ONNX files call it `batch`.
INPUTS = {
    "gpt": ("tokens", "int64[batch,16]"),
    "gpt2": ("tokens", "int64[batch,16]"),
    "example": ("tokens", "int64[batch,64]"),
    "mlp": ("x", "float32[batch,20]"),
    "resnet": ("image", "float32[batch,3,16,16]"),
    "vit": ("image", "float32[batch,3,16,16]"),
}


def options_of(record, stem):
    """cleave-compile's options for what the record says was run, with this file."""
    micro = record["batch"] // record.get("accumulate", 1)
    name, kind = INPUTS[record["model"]]
    symbol = f"{name}.0" if stem.endswith(".pt2") else "batch"
    loss, typed = record["loss"], []
    if stem.endswith(".pt"):  # the only output has no name
        loss, typed = loss.replace(":logits", ":0,logits.label"), ["--input", f"{name}={kind}"]
    options = ["--train", "--loss", loss, *typed, "--optimizer", record["optimizer"], "--set", f"{symbol}={micro}"]
    if record["model"] == "resnet":
        options += ["--batch-norm", record.get("batch_norm", "train")]
    if "clip_norm" in record:
        options += ["--clip-norm", str(record["clip_norm"])]
    if "accumulate" in record:
        options += ["--accumulate", str(record["accumulate"])]
    if "dtype" in record:
        options += ["--dtype", record["dtype"]]
    if "freeze" in record:
        options += ["--freeze", record["freeze"] + "*"]
    for group in record.get("groups", ()):
        options += ["--optimizer-group", group]
    if "ema" in record:
        options += ["--ema", str(record["ema"])]
    return options


def cluster_of(record):
    """The cluster that is planned for: this machine, or one on which plans, whose roundings differ, are the same everywhere."""
    return "h100-node" if "dtype" in record else "local-cpu"


def call(command):
    """Runs `command`; returns None, or what went wrong in one line."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    except subprocess.TimeoutExpired:
        return f"{pathlib.Path(command[0]).name} does not end within 1800 s"
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    if done.returncode == 0:
        return None
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return (
        f"{pathlib.Path(command[0]).name} exits with {done.returncode}: {said[-1] if said else 'without a word'}"
    )


def read_log(path):
    """The lines of a log: (steps, ranks)."""
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines() if line.strip()]
    return [line for line in lines if "step" in line], [line for line in lines if "planned_bytes" in line]


def memory_complaint(lines, ranks):
    """What is wrong with what the ranks say about their memory, or None."""
    if sorted(line["rank"] for line in lines) != list(range(ranks)):
        return f"the log has {len(lines)} ranks' memory, not {ranks}"
    for line in lines:
        if line["planned_bytes"] != line["allocated_bytes"]:
            return f"rank {line['rank']} planned {line['planned_bytes']} bytes and took {line['allocated_bytes']}"
    return None


def distance(steps, key, wanted):
    """Largest relative difference of `key` over the steps."""
    if len(steps) != len(wanted):
        return float("inf")
    pairs = [(step.get(key), want) for step, want in zip(steps, wanted)]
    if any(a is None or a != a for a, _ in pairs):  # missing or not a number
        return float("inf")
    return max(abs(a - b) / max(abs(b), 1e-30) for a, b in pairs)


def train(tools, record, model, ranks, plan, folder):
    """Compiles and runs once; returns (steps, None) or (None, what went wrong)."""
    where, log = folder / "model.plan", folder / "log.jsonl"
    log.unlink(missing_ok=True)
    wrong = call(
        [
            tools / "cleave-compile",
            model,
            *options_of(record, model.name),
            "--cluster",
            cluster_of(record),
            "--device",
            "cpu",
            "--ranks",
            str(ranks),
            *PLANS[plan][0],
            "-o",
            where,
        ]
    )
    wrong = wrong or call(
        [
            tools / "cleave-run",
            where,
            "--data",
            HERE / record["data"],
            "--steps",
            str(record["steps"]),
            "--threads",
            "1",
            "--log",
            log,
            *(["--lr-schedule", record["lr_schedule"]] if "lr_schedule" in record else []),
        ]
    )
    if wrong:
        return None, wrong
    steps, lines = read_log(log)
    wrong = memory_complaint(lines, ranks)
    return (None, wrong) if wrong else (steps, None)


def root_mean_square(losses, wanted):
    """Of the relative differences over the steps."""
    return math.sqrt(sum((a / b - 1) ** 2 for a, b in zip(losses, wanted, strict=True)) / len(wanted))


def to_float32(record, steps):
    """How far the losses are from PyTorch's in float32."""
    return root_mean_square([step["loss"] for step in steps], record["float32"]["loss"])


def judge_low(title, record, steps):
    """The same of a run in a low type."""
    loss = distance(steps, "loss", record["bfloat16"]["loss"])
    ours = to_float32(record, steps) if math.isfinite(loss) else math.inf
    theirs = record["distances"]
    ok = loss <= TO_AUTOCAST and ours <= NOISE * max(theirs)
    print(
        f"{'ok  ' if ok else 'FAIL'} {title}: loss {loss:.1e}, to float32 {ours:.1e},"
        f" PyTorch's {min(theirs):.1e} to {max(theirs):.1e}",
        flush=True,
    )
    return ok


def judge(title, record, steps, one_rank):
    """Prints one line; returns whether the steps are close enough."""
    if "dtype" in record:
        return judge_low(title, record, steps)
    loss = distance(steps, "loss", record["float32"]["loss"])
    norm = distance(steps, "grad_norm", record["float32"]["grad_norm"])
    ok = max(loss, norm) <= TO_RECORD
    line = f"loss {loss:.1e} grad_norm {norm:.1e}"
    if one_rank:
        apart = distance(steps, "loss", [step["loss"] for step in one_rank])
        ok = ok and apart <= TO_ONE_RANK
        line += f" one rank {apart:.1e}"
    print(f"{'ok  ' if ok else 'FAIL'} {title}: {line}", flush=True)
    return ok


def combinations(record, ranks, plans, exports):
    """(export, ranks, plan) to run, the plain run on one rank first."""
    torch = [f"torch/{path.name}" for path in sorted((ROOT / "test/models/torch").glob(f"{record['model']}.*.pt"))]
    found = [(stem, 1, "solver") for stem in (record["files"] + torch if exports else record["files"][:1])]
    for count in ranks:
        for plan in plans:
            _, least, exact = PLANS[plan]
            if count > 1 and count >= least and exact in (None, count):
                found.append((record["files"][0], count, plan))
    return found


def check(name, arguments, folder):
    """All combinations of one record; returns how many failed."""
    record = json.loads((HERE / f"{name}.json").read_text())
    failed, one_rank, distances = 0, None, []
    for stem, ranks, plan in combinations(record, arguments.ranks, arguments.plans, arguments.exports):
        title = f"{name} {pathlib.Path(stem).name} {ranks} {'rank' if ranks == 1 else 'ranks'} {plan}"
        steps, wrong = train(arguments.bin, record, ROOT / "test/models" / stem, ranks, plan, folder)
        if wrong:
            print(f"FAIL {title}: {wrong}", flush=True)
            failed += 1
            continue
        failed += not judge(title, record, steps, one_rank)
        one_rank = one_rank or steps
        distances += [to_float32(record, steps)] if "dtype" in record else []
    if distances:
        ratio = (sum(distances) / len(distances)) / (sum(record["distances"]) / len(record["distances"]))
        print(f"     {name}: as far from float32 as PyTorch's autocast times {ratio:.2f}, in the mean", flush=True)
    return failed


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--ranks", default="1,2,4", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--plans", default=",".join(PLANS), type=lambda text: text.split(","))
    parser.add_argument("--exports", action="store_true")
    parser.add_argument("--log", type=pathlib.Path)
    parser.add_argument("runs", nargs="*", metavar="RUN")
    arguments = parser.parse_args()
    if not set(arguments.plans) <= set(PLANS):
        parser.error(f"plans are {', '.join(PLANS)}")
    return arguments


def main():
    arguments = parse()
    if arguments.log:
        record = json.loads((HERE / f"{arguments.runs[0]}.json").read_text())
        return 0 if judge(arguments.runs[0], record, read_log(arguments.log)[0], None) else 1
    runs = arguments.runs or sorted(path.stem for path in HERE.glob("*.json"))
    with tempfile.TemporaryDirectory() as folder:
        failed = sum(check(name, arguments, pathlib.Path(folder)) for name in runs)
    print(f"{failed} failed" if failed else "all equal PyTorch's records")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
