#!/usr/bin/env python3
"""Makes the bundle of a GPU session: tools that need glibc alone, plans, small models with recorded losses.

    tools/dev/gpu/bundle.py -o gpu.tar.gz [--cluster h100-node] [--build build] [--small]

The large models are carried as plans without weights. The losses of the small ones are recorded here, on CPUs. Plans are for CLUSTER;
--small makes small ones of the large models, for a dry run with --cluster local-cpu.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "test/golden"
MODELS = ROOT / "test/models"
sys.dont_write_bytecode = True
sys.path.insert(0, str(GOLDEN))
import check  # noqa: E402  (the options of recorded runs)

RUNS = [f"{model}.{kind}" for model in ("mlp", "gpt", "resnet", "vit", "moe", "experts") for kind in ("b8", "bf16")]
RANKS = (1, 2, 4)
TRAIN = ["--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", "adamw:lr=3e-4,weight-decay=0.01"]
EXPERTS = {"zoo": "mixtral-8x7b", "sizes": {"layers": 2, "hidden": 64, "heads": 4, "kv-heads": 2, "ffn": 96, "experts": 4, "vocab": 512}}
LIMIT = 44 << 20  # bytes of the packed bundle


def gpt(layers, hidden, heads, vocab=50257, seq=1024):
    sizes = {"layers": layers, "hidden": hidden, "heads": heads, "ffn": 4 * hidden, "vocab": vocab, "context": seq}
    return {"zoo": "gpt2", "sizes": sizes, "set": {"seq": seq}}


# The benchmark models: architecture and sizes of cleave-zoo, batch. The session's first call measures the first one.
LARGE = {
    "gpt-124m": {**gpt(12, 768, 12), "batch": 16},
    "gpt-350m": {**gpt(24, 1024, 16), "batch": 16},
    "gpt-1.3b": {**gpt(24, 2048, 16), "batch": 8},
    "resnet50": {"zoo": "resnet50", "sizes": {}, "set": {}, "batch": 256},
    "vit-l": {"zoo": "vit_l_16", "sizes": {}, "set": {}, "batch": 64},
}
SMALL = {
    "gpt": {**gpt(2, 64, 2, vocab=512, seq=32), "batch": 2},
    "resnet": {"zoo": "resnet18", "sizes": {"image": 32, "classes": 10}, "set": {}, "batch": 2},
    "vit": {"zoo": "vit_b_16", "set": {}, "batch": 2,
            "sizes": {"image": 32, "classes": 10, "layers": 2, "hidden": 64, "heads": 2, "ffn": 128}},
}


def run(*command):
    """Runs a tool that has to succeed; returns its output."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bundle.py: `{' '.join(map(str, command))}` ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Bundle:
    def __init__(self, tools, cluster, folder):
        self.tools, self.cluster, self.folder = tools, cluster, folder
        self.plans = folder / "plans"
        self.plans.mkdir()
        self.manifest = {"cluster": cluster, "losses": [], "speed": []}

    def compile(self, model, options, cluster, plan):
        run(self.tools / "cleave-compile", model, *options, "--cluster", cluster, "-o", plan)
        return str(plan.relative_to(self.folder))

    def add_recorded(self, name):
        """The losses of a run of test/golden."""
        record = json.loads((GOLDEN / f"{name}.json").read_text())
        model = MODELS / f"{record['model']}.dynamo.onnx"
        self.add_losses(name, model, check.options_of(record, model.stem), GOLDEN / record["data"], record["steps"], "dtype" in record)

    def add_capacity_experts(self, name):
        """The losses of a mixture of experts of fixed capacity, as of cleave-zoo, on the words of test/golden's gpt."""
        model = self.folder / "moe.onnx"
        run(self.tools / "cleave-zoo", EXPERTS["zoo"], *[f"--{key}={value}" for key, value in EXPERTS["sizes"].items()], "-o", model)
        data = self.folder / "moe.npz"
        with zipfile.ZipFile(GOLDEN / "gpt.npz") as words, zipfile.ZipFile(data, "w") as renamed:
            for old, new in (("tokens", "input_ids"), ("logits.label", "logits.label")):
                renamed.writestr(f"{new}.npy", words.read(f"{old}.npy"))
        is_low = name.endswith("bf16")
        options = [*TRAIN, "--set", "batch=8,seq=16", *(["--dtype", "bf16"] if is_low else [])]
        self.add_losses(name, model, options, data, 20, is_low)

    def add_grouped_experts(self, name):
        """The losses of a mixture of experts of transformers, whose products are grouped."""
        is_low, steps = name.endswith("bf16"), 6
        options = ["--train", "--loss", "softmax-cross-entropy", "--optimizer", json.loads((GOLDEN / "experts.json").read_text())["optimizer"],
                   "--set", "batch=4", *(["--dtype", "bf16"] if is_low else [])]
        self.add_losses(name, GOLDEN / "experts-top2.pt2", options, GOLDEN / "experts.npz", steps, is_low)

    def add_losses(self, name, model, options, data, steps, is_low):
        """A run: plans for all numbers of ranks, and the losses of one rank on a CPU. `is_low`: in 16 bits."""
        with tempfile.TemporaryDirectory() as place:
            plan, log = pathlib.Path(place) / "cpu.plan", pathlib.Path(place) / "log.jsonl"
            run(self.tools / "cleave-compile", model, *options, "--cluster", "local-cpu", "-o", plan)
            run(self.tools / "cleave-run", plan, "--data", data, "--steps", steps, "--log", log)
            done, _ = check.read_log(log)
        for file in (model, data):
            if file.parent != self.folder:
                (self.folder / file.name).write_bytes(file.read_bytes())
        plans = {}
        for ranks in RANKS:
            plan = self.plans / f"{name}.{ranks}.plan"
            plans[ranks] = self.compile(model, [*options, "--ranks", ranks], self.cluster, plan)
        self.manifest["losses"].append({
            "name": name, "model": model.name, "data": data.name, "steps": steps, "plans": plans,
            "losses": [step["loss"] for step in done], "tolerance": check.TO_AUTOCAST if is_low else check.TO_RECORD})

    def add_speed(self, name, spec):
        """A large model: one plan, and the FLOPs of a step without recomputation."""
        model = self.folder / f"{name}.onnx"
        run(self.tools / "cleave-zoo", spec["zoo"], *[f"--{key}={value}" for key, value in spec["sizes"].items()], "-o", model)
        sizes = ",".join(f"{key}={value}" for key, value in {"batch": spec["batch"], **spec["set"]}.items())
        profile = json.loads(run(self.tools / "cleave-profile", model, *TRAIN, "--set", sizes, "--format", "json"))
        plan = self.compile(model, [*TRAIN, "--set", sizes, "--dtype", "bf16"], self.cluster, self.plans / f"{name}.plan")
        self.manifest["speed"].append({"name": name, "model": model.name, "plan": plan, **spec, "flops": flops_of(profile)})

    def pack(self, build, output):
        (self.folder / "manifest.json").write_text(json.dumps(self.manifest, indent=1))
        print(run(ROOT / "tools/dev/runtime-bundle.sh", "--build", build / "runtime-only", "--tool", "check-nccl", output,
                  *sorted(self.folder.iterdir())), end="")
        size = output.stat().st_size
        if size > LIMIT:
            sys.exit(f"bundle.py: found {size} bytes, expected at most {LIMIT}")


def flops_of(profile):
    """FLOPs of the products of the forward and the backward pass."""
    return 2 * (profile["total"]["forward_macs"] + profile["total"]["backward_macs"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--cluster", default="h100-node")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--small", action="store_true", help="small versions of the large models")
    parser.add_argument("--only", help="names of runs and models, separated by commas")
    a = parser.parse_args()
    wanted = a.only.split(",") if a.only else None
    with tempfile.TemporaryDirectory() as place:
        bundle = Bundle(a.build.resolve() / "bin", a.cluster, pathlib.Path(place))
        for name in RUNS:
            if not wanted or name in wanted:
                adders = {"moe": bundle.add_capacity_experts, "experts": bundle.add_grouped_experts}
                adders.get(name.split(".")[0], bundle.add_recorded)(name)
        for name, spec in (SMALL if a.small else LARGE).items():
            if not wanted or name in wanted:
                bundle.add_speed(name, spec)
        bundle.pack(a.build.resolve(), a.output.resolve())


if __name__ == "__main__":
    main()
