#!/usr/bin/env python3
"""Predicted beside published: training runs that others measured, priced with their own configuration as pins.

    test/bench/published_runs.py RUNS.csv … [--bin build/bin] [--every N] [--only TEXT] [--jobs N] [--limit SECONDS] [--cluster A100=FILE] [--csv OUT.csv] [--page OUT.md]

A file has a header and a row per run, of one of three forms, which FORMS tells apart by a column:

  ffn            runs of any size of GPT and Llama
  # GPUs         GPTs on A100s, as the simulator vTrain publishes them
  global_batch   runs of named models, with layouts, precision and recomputation

Each run is priced as it was published: model, batch and micro-batches, stages and chunks, mesh, storage (replicated, ZeRO-1 or FSDP), recomputation, fused or
unfused attention, and card. Fused attention has the speed of a library, as the cluster gives it, also where Cleave would run a kernel of its own
(--own-attention: as Cleave runs it). Runs that cannot be priced are counted by reason. Memory is unlimited.

Predicted seconds are those of the plan's simulated step (`step_seconds`), in which communication overlaps with computation; "exposed" is the
share of it in which no kernel runs on rank 0. Of a pipeline, "schedule alone" is its makespan if no message made another one wait, without the
update. Stages are cut where the compiler cuts them, not into equal numbers of layers. Per file and over all: mean, geometric mean, spread and range of
the ratio predicted/published, the rank correlation (Spearman) of seconds per sample within each model (and release), and the ratio by stages, chunks per
stage, tensor-, context- and data-parallel size and micro-batch.
"""
import argparse
import collections
import concurrent.futures
import csv
import dataclasses
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import published_page

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DTYPES = {"fp16": "f16", "bf16": "bf16"}
# The cluster of a card, by the first name that the row's card begins with.
CLUSTERS = {"A100": "a100-80-node", "H100-96GB": "h100-500w-node", "H100": "h100-node", "H200": "h200-node", "B200": "b200-node",
            "GB200": "gb200-nvl72", "GB300": "gb300-nvl72", "MI300X": "mi300x-node"}
# Models of the zoo, by a pattern of published names.
MODELS = {r"llama-?3(\.1)?[-_ ]8b": "llama3-8b", r"llama-?3(\.1)?[-_ ]70b": "llama3-70b", r"llama-?3(\.1)?[-_ ]405b": "llama3-405b",
          r"llama-?2[-_ ]70b": "llama2-70b", r"gpt-?3": "gpt3", r"mixtral[-_ ]8x7b": "mixtral-8x7b", r"mixtral[-_ ]8x22b": "mixtral-8x22b"}


@dataclasses.dataclass
class Run:
    model: str              # as published, with its size
    zoo: list               # arguments of cleave-zoo
    gpu: str
    dtype: str              # as published
    seq: int
    batch: int              # samples per step
    micro: int              # samples per micro-batch and data rank
    seconds: float          # of a step, as published
    tp: int
    dp: int
    pp: int = 1
    vpp: int = 1            # chunks of the model on each stage of the pipeline
    cp: int = 1
    ep: int = 1
    storage: str = "dp"     # the recipe for parameters and states
    recompute: str = ""     # as published
    fused: bool = True      # attention in one kernel
    adapters: int = 0       # network adapters of 8 devices; 0: as the cluster has
    note: str = ""
    release: str = ""       # of the framework
    source: str = ""        # of the published number: a name or an address

    def recipe(self):
        """The recipe for layouts."""
        return "+".join([self.storage] + ["cp"] * (self.cp > 1) + ["tp"] * (self.tp > 1))

    def mesh(self):
        """The mesh of one stage."""
        axes = [("dp", self.dp), ("cp", self.cp), ("tp", self.tp)]
        return ",".join(f"{name}={size}" for name, size in axes if size > 1 or name == "dp")

    def ranks(self):
        return self.pp * self.dp * self.cp * self.tp

    def micro_batches(self):
        return self.batch // (self.micro * self.dp)

    def stages(self):
        """Arguments of cleave-compile. Frameworks run one forward, one backward, interleaved where a stage has several chunks."""
        if self.pp == 1:
            return []
        return ["--stages", str(self.pp), *(["--schedule", "interleaved", "--chunks", str(self.vpp)] if self.vpp > 1 else [])]

    def pipeline(self):
        return f"pp={self.pp}" + f"x{self.vpp}" * (self.vpp > 1) if self.pp > 1 else ""


# A published kind of recomputation: the recipe, and the share of the way from there to full-recompute. torchtitan's "op" computes every second
# product of a layer again, which of a Llama 8B at 8192 tokens is 0.32 of the forward pass; its "layer" every second layer.
RECOMPUTATIONS = {"": ("no-recompute", 0), "full": ("full-recompute", 0), "selective+SP": ("selective-recompute", 0),
                  "selective op": ("selective-recompute", 0.32), "selective layer": ("selective-recompute", 0.5)}


def recomputation_of(run):
    return RECOMPUTATIONS.get("" if run.recompute.startswith("none") else run.recompute)


def whole(text, otherwise=0):
    return int(text) if text.isdigit() else otherwise


def leading(text):
    """The number with which the text begins; 1 if there is none."""
    return int(re.match(r"\d*", text)[0] or 1)


def sized(row):
    """Runs before 2024 have attention that stores its scores."""
    number = {name: int(row[name]) for name in ("hidden", "layers", "heads", "ffn", "vocab", "seq", "n_gpus", "tp", "pp", "dp", "mbs", "gbs")}
    llama = row["model"].lower().startswith("llama")
    sizes = [item for name in ("hidden", "layers", "heads", "ffn", "vocab") for item in (f"--{name}", row[name])]
    return Run(model=row["model"], zoo=["llama3-8b", *sizes] if llama else ["gpt3", *sizes, "--context", row["seq"]], gpu=row["gpu"],
               dtype=row["dtype"], seq=number["seq"], batch=number["gbs"], micro=number["mbs"], seconds=float(row["iter_s"]), tp=number["tp"],
               dp=number["dp"], pp=number["pp"], vpp=leading(row["vpp"]), storage="fsdp" if llama else "dp", recompute=row["recompute"], fused=llama, note=row["note"], release=row["source"], source=row["source"])


def vtrain(row):
    """Megatron-LM with full recomputation and attention that stores its scores."""
    hidden, layers, heads, seq = (row[name] for name in ("hidden size", "# layers", "attention heads", "sequence length"))
    return Run(model=f"gpt-{hidden}x{layers}", zoo=["gpt3", "--hidden", hidden, "--layers", layers, "--heads", heads, "--ffn", str(4 * int(hidden)),
                                                     "--vocab", "51200", "--context", seq],
               gpu="A100", dtype="fp16", seq=int(seq), batch=int(row["global batch"]), micro=int(row["micro batch"]),
               seconds=float(row["iteration time (ms)"]) * 1e-3, tp=int(row["tensor parallelism"]), dp=int(row["data parallelism"]),
               pp=int(row["pipeline parallelism"]), recompute="full", fused=False, adapters=4,
               source="vTrain")


def named(row):
    name = next((zoo for pattern, zoo in MODELS.items() if re.match(pattern, row["model"].lower())), None)
    cut = re.search(r"cut to (\d+) layers", row["model"])
    storage = "fsdp" if whole(row["fsdp"]) > 1 else "zero1" # Megatron's distributed optimizer
    # Context-parallel ranks are not counted in the column dp; files differ in whether experts are.
    number = {key: whole(row[key], 1) for key in ("tp", "cp", "pp", "ep")}
    number["vpp"] = whole(row["vp"], 1)
    batch, seq, gpus = whole(row["global_batch"]), whole(row["seq"]), whole(row["gpus"])
    dp = gpus // (number["tp"] * number["cp"] * number["pp"])
    step = row["step_ms"] or 0
    return Run(model=row["model"], zoo=[name, *(["--layers", cut[1]] if cut else [])] if name else [], gpu=row["gpu_type"],
               dtype=row["precision"].lower(), seq=seq, batch=batch, micro=whole(row["mbs"]), seconds=float(step) * 1e-3, dp=dp, storage=storage,
               recompute=row["recompute"], note=f"{row['kind']} {row['note']}", release=row["release"], source=row["source"],
               **number)


FORMS = {"ffn": sized, "# GPUs": vtrain, "global_batch": named}


def reason_to_skip(run, options):
    if not run.zoo:
        return "the zoo does not have the model"
    if run.dtype not in DTYPES:
        return f"Cleave has no products in {run.dtype}"
    if run.ep > 1:
        return "no recipe splits experts"
    if not run.seconds or not run.batch or not run.micro or not run.dp:
        return "batch or seconds are not known"
    if run.batch % (run.micro * run.dp):
        return "the step is not a whole number of micro-batches"
    if recomputation_of(run) is None:
        return f"no recipe for recomputation '{run.recompute}'"
    if "eager" in run.note:
        return "not compiled: a kernel per op"
    if "async TP" in run.note:
        return "products are cut so that tensor-parallel collectives overlap, which cannot be planned yet"
    if run.note.startswith(("lora", "sft")):
        return "fine-tuning"
    if cluster_of(run, options) is None:
        return f"there is no cluster for {run.gpu}"
    return ""


def cluster_of(run, options):
    return next((options.clusters[card] for card in sorted(options.clusters, key=len, reverse=True) if run.gpu.startswith(card)), None)


def write_cluster(run, options, path):
    """Writes the cluster of the run: the named one, with its network adapters and the rate of fused attention."""
    name = cluster_of(run, options)
    file = pathlib.Path(name) if pathlib.Path(name).exists() else ROOT / "compiler/cluster/presets" / f"{name}.json"
    cluster = json.loads(file.read_text())
    if run.adapters:
        for link in [link for links in cluster["levels"][1]["links"].values() for link in links]:
            link["bytes_per_second"] *= run.adapters / 8
    if run.fused and not options.own_attention and "library_attention" in cluster:
        forward, gradient = (interpolate(cluster["library_attention"][key], run.seq) for key in ("forward", "gradient"))
        # Two products forward, five backward.
        cluster["attention_flops"] = 7 / (2 / forward + 5 / gradient) * cluster["compute"]["bf16"]["peak_flops"]
    path.write_text(json.dumps(cluster))


def interpolate(points, size):
    """As cluster::Curve."""
    after = next((k for k, (x, _) in enumerate(points) if x >= size), None)
    if not after:
        return points[0 if after == 0 else -1][1]
    (x, y), (x1, y1) = points[after - 1], points[after]
    return y + (y1 - y) * math.log(size / x) / math.log(x1 / x)


UNITS = {"min": 60, "s": 1, "ms": 1e-3, "us": 1e-6}


def schedule_of(plan, options):
    """The seconds of the stages' parts in their order, of which no message makes another wait, and the share of them in which stages are idle."""
    text = subprocess.run([options.bin / "cleave-dump", "--schedule", plan], check=True, capture_output=True, text=True).stdout
    found = re.search(r"^makespan (.*?), .* bubble <?([\d.]+) %", text, re.MULTILINE)
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (\w+)", found[1])), float(found[2]) / 100


def predict(run, options):
    """The seconds of a step, those of its computation, and schedule_of, or the compiler's message."""
    recipe, share = recomputation_of(run)
    found = price(run, recipe, options)
    if isinstance(found, str) or not share:
        return found
    full = price(run, "full-recompute", options)
    return full if isinstance(full, str) else [less + share * (more - less) for less, more in zip(found, full)]


def compile_command(run, recompute, folder, options):
    return [options.bin / "cleave-compile", folder / "model.onnx", "-q", "--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", "adamw",
            "--set", f"batch={run.micro * run.dp},seq={run.seq}", "--accumulate", str(run.micro_batches()), "--dtype", DTYPES[run.dtype],
            "--cluster", folder / "cluster.json", "--ranks", str(run.ranks()), "--mesh", run.mesh(), *run.stages(),
            "--pin", f"{run.recipe()},{recompute}", *([] if run.fused else ["--decompose-attention"]), "--memory", "100000GiB", "-o", folder / "plan"]


def price(run, recompute, options):
    """The same of the plan with this recipe for recomputation."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_cluster(run, options, folder / "cluster.json")
        subprocess.run([options.bin / "cleave-zoo", *run.zoo, "-o", folder / "model.onnx"], check=True, stdout=subprocess.DEVNULL)
        try:
            result = subprocess.run(compile_command(run, recompute, folder, options), capture_output=True, text=True, timeout=options.limit)
        except subprocess.TimeoutExpired:
            return f"left out: planning takes more than {options.limit:.0f} s"
        if result.returncode:
            return (result.stdout + result.stderr).strip().splitlines()[-1]
        dump = subprocess.run([options.bin / "cleave-dump", folder / "plan", "--json"], check=True, capture_output=True, text=True)
        predicted = json.loads(dump.stdout)["predicted"]
        return predicted["step_seconds"], predicted["compute_seconds"], *(schedule_of(folder / "plan", options) if run.pp > 1 else (0, 0))


def ranks_of(values):
    """Ranks from 0, the mean of them for equal values."""
    order = sorted(values)
    return [(order.index(value) + len(order) - 1 - order[::-1].index(value)) / 2 for value in values]


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    covariance = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    scale = math.sqrt(sum((x - mean_a)**2 for x in a) * sum((y - mean_b)**2 for y in b))
    return covariance / scale if scale else float("nan")


def spearman(rows):
    return correlation(ranks_of([row.predicted / row.run.batch for row in rows]), ranks_of([row.run.seconds / row.run.batch for row in rows]))


@dataclasses.dataclass
class Priced:
    run: Run
    predicted: float    # seconds
    exposed: float      # share of them without a kernel
    schedule: float = 0 # of a pipeline: seconds if messages did not wait for each other, without the update
    bubble: float = 0   # share of them in which stages are idle

    @property
    def ratio(self):
        return self.predicted / self.run.seconds


def geometric_mean(rows, ratio=lambda row: row.ratio):
    return math.exp(sum(math.log(ratio(row)) for row in rows) / len(rows))


def grouped(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(sorted(groups.items()))


def summarize(title, rows):
    if not rows:
        return
    ratios = [row.ratio for row in rows]
    middle = geometric_mean(rows)
    spread = math.exp(math.sqrt(sum(math.log(ratio / middle)**2 for ratio in ratios) / len(rows)))
    print(f"{title}: {len(rows)} runs: predicted/published: mean {sum(ratios) / len(ratios):.3f}, geometric mean {middle:.3f}, spread x{spread:.3f}, "
          f"range {min(ratios):.2f} to {max(ratios):.2f}")
    for name, key in {"pp": lambda row: row.run.pp, "vpp": lambda row: row.run.vpp, "tp": lambda row: row.run.tp, "cp": lambda row: row.run.cp, "dp": lambda row: row.run.dp,
                      "micro-batch": lambda row: row.run.micro}.items():
        groups = grouped(rows, key)
        print(f"  by {name}:", ", ".join(f"{size}: {geometric_mean(group):.3f} ({len(group)})" for size, group in groups.items()))
    if staged := [row for row in rows if row.schedule]:
        alone = geometric_mean(staged, lambda row: row.schedule / row.run.seconds)
        print(f"  with pipelines: {geometric_mean(staged):.3f} ({len(staged)}), their schedules alone {alone:.3f}")
    models = {name: group for name, group in grouped(rows, lambda row: (row.run.model, row.run.seq, row.run.release)).items() if len(group) > 2}
    found = {name: spearman(group) for name, group in models.items()}
    weights = sum(len(models[name]) for name, rho in found.items() if not math.isnan(rho))
    if weights:
        mean = sum(rho * len(models[name]) for name, rho in found.items() if not math.isnan(rho)) / weights
        print(f"  rank correlation within a model: mean {mean:.3f};", ", ".join(f"{key[0]} {rho:.2f} ({len(models[key])})"
                                                                              for key, rho in found.items()))


def report(path, options, priced, omitted):
    """Prices the runs of a file, prints them, and appends them to `priced`; counts the others in `omitted` by reason. The page is written anew after each run."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    form = next((read for column, read in FORMS.items() if column in table[0]), None) if table else None
    if not form:
        sys.exit(f"{path}: found no row with one of the columns {', '.join(FORMS)}")
    runs = [form(row) for row in table]
    print(f"{path}: {len(runs)} runs")
    reasons = [reason_to_skip(run, options) for run in runs]
    for reason, count in collections.Counter(filter(None, reasons)).items():
        print(f"  skipped {count}: {reason}")
        omitted[reason] += count
    chosen = [run for run, reason in zip(runs, reasons) if not reason and options.only in f"{run.model} {run.gpu}"][::options.every]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for run, predicted in zip(chosen, pool.map(lambda run: predict(run, options), chosen)):
            name = (f"  {run.model:16} {run.gpu[:9]:9} {run.seq:6} {run.pipeline():7} {run.mesh():22} batch {run.batch:4} by {run.micro:2} "
                    f"{run.recipe():11} {run.recompute[:15]:15} {'' if run.fused else 'unfused'}")
            if isinstance(predicted, str):
                print(name, predicted, flush=True)
                omitted[predicted.removeprefix("left out: ")] += 1
                continue
            seconds, computing, schedule, bubble = predicted
            rows.append(Priced(run, seconds, 1 - computing / seconds, schedule, bubble))
            priced.append(rows[-1])
            if options.page:
                options.page.write_text(published_page.page(priced, omitted), encoding="utf-8")
            stages = f" (schedule alone {schedule:7.3f} s, {schedule / run.seconds:.3f}; bubble {100 * bubble:.0f} %)" if schedule else ""
            print(f"{name} published {run.seconds:7.3f} s, predicted {seconds:7.3f} s, exposed {100 * rows[-1].exposed:3.0f} %, "
                  f"ratio {rows[-1].ratio:.3f}{stages}", flush=True)
    summarize(str(path), rows)


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "gpu", "seq", "mesh", "batch", "micro", "recipe", "recompute", "published_s", "predicted_s", "exposed", "ratio",
                         "pp", "vpp", "schedule_s", "bubble"])
        for row in rows:
            run = row.run
            writer.writerow([run.model, run.gpu, run.seq, run.mesh(), run.batch, run.micro, run.recipe(), run.recompute, run.seconds, f"{row.predicted:.6g}",
                             f"{row.exposed:.4f}", f"{row.ratio:.4f}", run.pp, run.vpp, f"{row.schedule:.6g}", f"{row.bubble:.4f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--every", type=int, default=1, help="price only every Nth run that can be priced")
    parser.add_argument("--only", default="", help="price only runs whose model and card contain this text")
    parser.add_argument("--jobs", type=int, default=1, help="runs that are priced at a time")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="leave out runs that take longer to plan")
    parser.add_argument("--own-attention", action="store_true", help="price attention in the kernels that Cleave would run")
    parser.add_argument("--csv", type=pathlib.Path, help="also write a row per priced run")
    parser.add_argument("--page", type=pathlib.Path, help="also write a page of Markdown for docs with the priced runs")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--cluster", action="append", default=[], metavar="CARD=CLUSTER", help="of the runs on these cards")
    options = parser.parse_args()
    options.clusters = {**CLUSTERS, **dict(text.split("=", 1) for text in options.cluster)}
    found = [path for path in options.files if path.exists()]
    for path in options.files:
        if path not in found:
            print(f"skipped: {path} does not exist")
    if not found:
        print("skipped: no file of published runs, see --help for the columns")
        return
    rows, omitted = [], collections.Counter()
    for path in found:
        report(path, options, rows, omitted)
    if len(found) > 1:
        summarize("all", rows)
    if options.csv:
        write_csv(options.csv, rows)


if __name__ == "__main__":
    sys.exit(main())
