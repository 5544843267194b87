#!/usr/bin/env python3
"""Predicted beside measured seconds of many plans: does the planner order plans as the machine does?

    test/bench/plan_times.py [--pipelines] [--cluster FILE] [--rounds 2] [--steps 6] [--models gpt2,vit] [--under "chrt -f 10"] [--csv FILE]

Six models of the zoo at a size that a CPU can train, each on one and more ranks under every plan of PLANS, with `--pipelines` of
PIPELINES. Every plan is run in each round, plans in turns, and its fastest step counts, since other work on the machine only makes steps slower. Prints both times
per plan with the loss of the last step, and then: the rank correlation (Spearman) over all plans and within each model, and by
how much the plan that the planner chose is slower than the fastest of its ranks. Ranks that wait for each other on a machine with
other work can be slow for a whole run: plans whose two fastest rounds lie apart are counted, and need more rounds or `--under`.

`--under` are words before every cleave-run, for a machine with other work. More ranks than cores share cores; the prediction knows
that. Calibrate first, with nothing else running: cleave-calibrate -o FILE. Folder of the tools: environment variable CLEAVE_BIN.
"""
import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/e2e"))
import cleave  # noqa: E402
import zoo  # noqa: E402

MODELS = ["gpt2", "llama2-7b", "mixtral-8x7b", "vit_b_16", "resnet18", "unet"]
FREE = ()
# Options of cleave-compile by the number of ranks; the planner's own choice comes first.
PLANS = {
    1: [FREE, ("--pin", "selective-recompute"), ("--pin", "full-recompute"), ("--accumulate", "4")],
    2: [FREE, ("--pin", "dp"), ("--pin", "zero3"), ("--mesh", "tp=2", "--pin", "megatron"), ("--pin", "dp,full-recompute")],
    4: [FREE, ("--pin", "dp"), ("--mesh", "dp=2,tp=2", "--pin", "megatron")],
}
# With more ranks than cores, predictions are too slow: they let all ranks share the cores at all times, although some ranks of a
# pipeline wait for others.
PIPELINES = {
    2: [("--stages", "auto", "--schedule", "auto"), *(("--stages", "2", "--schedule", schedule)
                                                     for schedule in ("1f1b", "gpipe", "interleaved", "zb-h1", "zb-v")),
        ("--stages", "2", "--pin", "full-recompute"), ("--stages", "2", "--micro-batch", "2")],
}
MICRO_BATCHES = ("--micro-batch", "4")  # of a pipeline, if its options do not say otherwise


def compile_plans(name, options, folder):
    """The plans of one model that can be made: dictionaries with path, ranks, options and predicted seconds."""
    model, data = zoo.write_model(name, folder), zoo.write_samples(name, folder, 2)
    plans = []
    for ranks, choices in (PIPELINES if options.pipelines else PLANS).items():
        for extra in choices:
            batches = MICRO_BATCHES if options.pipelines and MICRO_BATCHES[0] not in extra else ()
            path = folder / f"{name}.{ranks}.{len(plans)}.plan"
            answer = cleave.tool("cleave-compile", model, *zoo.options(name), "--cluster", options.cluster, "--ranks", ranks, *batches,
                                 *extra, "-o", path)
            if answer.code:
                print(f"{name}, {ranks} ranks, {' '.join(extra)}: {answer.errors()[-1]}")
                continue
            predicted = json.loads(cleave.must("cleave-dump", path, "--json").out)["predicted"]["step_seconds"]
            plans.append({"model": name, "ranks": ranks, "options": " ".join(extra) or "free", "path": path,
                          "data": data, "predicted": predicted, "measured": math.inf, "rounds": [], "loss": math.nan})
    return plans


def measure(plan, options, log):
    """Runs a plan once and keeps its fastest step."""
    subprocess.run([*options.under.split(), str(cleave.BIN / "cleave-run"), str(plan["path"]), "--data", str(plan["data"]),
                    "--steps", str(options.steps), "--threads", "1", "--log", str(log)], check=True, capture_output=True)
    steps, _ = cleave.read_log(log)
    plan["rounds"].append(min(step["seconds"] for step in steps[1:]))
    plan["measured"] = min(plan["rounds"])
    plan["loss"] = steps[-1]["loss"]


def ranking(values):
    """Ranks up to a constant; equal values share the mean of theirs."""
    order = sorted(values)
    return [order.index(value) + order.count(value) / 2 for value in values]


def correlation(plans):
    """Spearman's rank correlation of predicted and measured seconds."""
    a, b = (ranking([plan[key] for plan in plans]) for key in ("predicted", "measured"))
    return statistics.correlation(a, b)


def report(plans):
    print(f"{'model':<14}{'ranks':>6}  {'plan':<38}{'predicted':>12}{'measured':>12}{'pred./meas.':>12}{'loss':>10}")
    for plan in plans:
        print(f"{plan['model']:<14}{plan['ranks']:>6}  {plan['options']:<38}{plan['predicted'] * 1e3:>9.1f} ms"
              f"{plan['measured'] * 1e3:>9.1f} ms{plan['predicted'] / plan['measured']:>12.2f}{plan['loss']:>10.5f}")
    by_model, by_ranks = {}, {}
    for plan in plans:
        by_model.setdefault(plan["model"], []).append(plan)
        by_ranks.setdefault((plan["model"], plan["ranks"]), []).append(plan)
    print(f"{len(plans)} plans of {len(by_model)} models: rank correlation {correlation(plans):.3f}; within a model",
          ", ".join(f"{model} {correlation(some):.2f}" for model, some in by_model.items()))
    slower = {key: some[0]["measured"] / min(plan["measured"] for plan in some) - 1 for key, some in by_ranks.items()}
    print("chosen plan slower than the fastest measured one:",
          ", ".join(f"{model} on {ranks} {share:.1%}" for (model, ranks), share in slower.items()))
    print(f"within 5 %: {sum(share <= 0.05 for share in slower.values())} of {len(slower)}")
    rounds = [sorted(plan["rounds"]) for plan in plans if len(plan["rounds"]) > 1]
    print(f"two fastest rounds more than 5 % apart: {sum(second > 1.05 * first for first, second, *_ in rounds)} of {len(rounds)} plans")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pipelines", action="store_true")
    parser.add_argument("--cluster", default="local-cpu")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--under", default="")
    parser.add_argument("--csv")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plans = [plan for model in options.models.split(",") for plan in compile_plans(model, options, folder)]
        for _ in range(options.rounds):
            for plan in plans:
                measure(plan, options, folder / "log.jsonl")
        report(plans)
        if options.csv:
            with open(options.csv, "w", newline="") as file:
                writer = csv.DictWriter(file, ["model", "ranks", "options", "predicted", "measured", "loss"], extrasaction="ignore")
                writer.writeheader()
                writer.writerows(plans)


if __name__ == "__main__":
    main()
