#!/usr/bin/env python3
"""Memory against time of one training step, beside PyTorch's own automatic recomputation, on one core in one run.

    PYTHON_WITH_TORCH test/bench/recomputation.py [--rounds 2] [--steps 6] [--under "chrt -f 10"]

The benchmark's GPT (4 layers, 256 wide, batch 8, sequence 256, f32, AdamW). PyTorch: torch.compile under each of BUDGETS as
`torch._functorch.config.activation_memory_budget`; bytes saved for the backward pass are those that its autograd functions save
(no parameters, no inputs), the peak is that of its allocator. Cleave: plans within budgets from "everything is kept" to the smallest
that fits. Peaks are bytes beyond parameters and states of the optimizer, so gradients, saved values and temporaries. All take turns,
the fastest step counts; losses are printed beside time (PyTorch takes three steps more), and how far the two are apart. The last lines say for
every point of PyTorch's curve whether a plan of Cleave needs less memory and less time.

Folder of the tools: environment variable CLEAVE_BIN.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/e2e"))
import cleave  # noqa: E402

BUDGETS = [1.0, 0.6, 0.3, 0.1, 0.0]
POINTS = 6  # plans of Cleave
MIB = 2**20


def torch_steps(budget, steps):
    """Trains under one budget of PyTorch and prints a line of JSON. Runs in a process of its own."""
    sys.path.insert(0, str(ROOT / "test/bench"))
    import time

    import torch
    import torch._functorch.config
    import torch_gpt
    from torch.profiler import ProfilerActivity, profile

    torch.set_num_threads(1)
    torch._functorch.config.activation_memory_budget = budget
    tokens, labels = (torch.from_numpy(array) for array in torch_gpt.license_windows(8 * (steps + 3)))
    model = torch_gpt.models.build(torch_gpt.models.BENCH_GPT).train()
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01, fused=True)
    saved = {}

    def train(step, pack=lambda tensor: tensor):
        rows = slice(8 * step, 8 * step + 8)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            loss = torch_gpt.F.cross_entropy(compiled(tokens[rows]).flatten(0, 1), labels[rows].flatten())
        loss.backward()
        optimizer.step()
        return loss.item()

    def keep(tensor):
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    losses, seconds = [], []
    for step in range(steps + 3):
        optimizer.zero_grad()
        begin = time.perf_counter()
        if step == 1:  # behind the first, which compiles
            losses.append(train(step, keep))
        elif step == 2:
            with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
                losses.append(train(step))
        else:
            losses.append(train(step))
            if step > 2:
                seconds.append(time.perf_counter() - begin)
    given = {tensor.untyped_storage().data_ptr() for tensor in [*model.parameters(), tokens, labels]}
    used = peak = 0
    events = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        used += event.nbytes()
        peak = max(peak, used)
    print(json.dumps({"saved": sum(size for data, size in saved.items() if data not in given), "peak": peak,
                      "seconds": min(seconds), "losses": losses}))


def run_torch(budget, options):
    done = subprocess.run([*options.under.split(), sys.executable, __file__, "--steps", str(options.steps), "--torch", str(budget)],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def compile_gpt(model, plan, *options):
    """The answer of cleave-compile."""
    return cleave.tool("cleave-compile", model, "--train", "--loss", "softmax-cross-entropy:logits", "--optimizer",
                       "adamw:lr=3e-4,weight-decay=0.01", "--set", "batch=8", "--ranks", 1, *options, "-o", plan)


def make_plans(model, folder):
    """Plans within budgets from the peak of the plan that keeps everything down to the smallest that fits."""
    plan = folder / "kept.plan"
    compile_gpt(model, plan)
    said = json.loads(cleave.must("cleave-dump", plan, "--json").out)
    most = said["predicted"]["peak_bytes"]
    fixed = sum(tensor["rank_bytes"] for tensor in said["tensors"] if tensor["role"] in ("parameter", "state"))
    low, high = fixed / most, 1.0  # the smallest share of `most` that fits
    while high - low > 0.01:
        middle = (low + high) / 2
        if compile_gpt(model, folder / "try.plan", "--memory", int(most * middle)).code == 0:
            high = middle
        else:
            low = middle
    plans = []
    for point in range(POINTS):
        budget = int(most * (1 + (high - 1) * point / (POINTS - 1)))
        path = folder / f"{point}.plan"
        answer = compile_gpt(model, path, "--memory", budget)
        if answer.code:
            print(answer)
            continue
        predicted = json.loads(cleave.must("cleave-dump", path, "--json").out)["predicted"]
        plans.append({"path": path, "budget": budget, "predicted": predicted["step_seconds"], "seconds": math.inf, "losses": [],
                      "planned": predicted["peak_bytes"], "peak": predicted["peak_bytes"] - fixed})
    return plans


def run_plan(plan, data, options, log):
    subprocess.run([*options.under.split(), str(cleave.BIN / "cleave-run"), str(plan["path"]), "--data", str(data), "--steps",
                    str(options.steps), "--threads", "1", "--log", str(log)], check=True, capture_output=True)
    steps, ranks = cleave.read_log(log)
    plan["seconds"] = min(plan["seconds"], *(step["seconds"] for step in steps[1:]))
    plan["losses"] = [step["loss"] for step in steps]
    plan["allocated"] = ranks[0]["allocated_bytes"]


def report(torches, plans):
    print(f"{'PyTorch, budget':<18}{'saved MiB':>12}{'peak MiB':>12}{'ms':>10}   last loss")
    for budget, row in torches.items():
        print(f"{budget:<18}{row['saved'] / MIB:>12.1f}{row['peak'] / MIB:>12.1f}{row['seconds'] * 1e3:>10.1f}   {row['losses'][-1]:.6f}")
    print(f"{'Cleave, --memory':<18}{'allocated':>12}{'peak MiB':>12}{'ms':>10}{'predicted':>12}   last loss")
    for plan in plans:
        print(f"{plan['budget'] / MIB:<18.1f}{plan['allocated'] / MIB:>12.1f}{plan['peak'] / MIB:>12.1f}{plan['seconds'] * 1e3:>10.1f}"
              f"{plan['predicted'] * 1e3:>12.1f}   {plan['losses'][-1]:.6f}")
    common = min(len(plans[0]["losses"]), len(torches[1.0]["losses"]))
    print(f"losses of PyTorch and Cleave over {common} steps apart by "
          f"{max(cleave.apart(plan['losses'][:common], torches[1.0]['losses'][:common]) for plan in plans):.1e}")
    print("losses of all plans equal, bit for bit:", all(plan["losses"] == plans[0]["losses"] for plan in plans))
    print("planned = allocated:", all(plan["planned"] == plan["allocated"] for plan in plans))
    for budget, row in torches.items():
        below = [plan for plan in plans if plan["peak"] <= row["peak"] and plan["seconds"] <= row["seconds"]]
        least = min((plan["peak"] for plan in below), default=math.nan)
        print(f"below PyTorch's point of budget {budget}: {len(below)} plans, the smallest with {least / row['peak']:.2f} of its peak")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--under", default="", help="words before every run, for a machine with other work")
    parser.add_argument("--torch", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch is not None:
        torch_steps(options.torch, options.steps)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for command in ([ROOT / "test/models/export.py", "--bench", folder / "gpt.onnx"],
                        [ROOT / "test/bench/torch_gpt.py", "--steps", options.steps, "--data", folder / "data.npz"]):
            subprocess.run([sys.executable, *map(str, command)], check=True, capture_output=True)
        plans = make_plans(folder / "gpt.onnx", folder)
        torches = {}
        for _ in range(options.rounds):
            for budget in BUDGETS:
                row = run_torch(budget, options)
                row["seconds"] = min(row["seconds"], torches.get(budget, row)["seconds"])
                torches[budget] = row
            for plan in plans:
                run_plan(plan, folder / "data.npz", options, folder / "log.jsonl")
        report(torches, plans)


if __name__ == "__main__":
    main()
