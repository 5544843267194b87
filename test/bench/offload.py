#!/usr/bin/env python3
"""What values in host memory cost: predicted beside measured, for links of several speeds, and memory against time.

    test/bench/offload.py [--steps 8] [--speeds 0.5,1,2,4,8] [--curve]

A GPT (6 layers, 192 wide, batch 8, sequence 128, f32, AdamW) on one core. Per speed of the link to the host in GB/s (`host_link` of the
cluster file, enforced by the runtime): plans that keep states, parameters, activations, all of them, or nothing there by pins, and the free
plan in half of the memory. Lost time is that beyond the plan that keeps everything; the plans take turns, and the fastest step counts. The
losses of all plans must be equal. The last lines: how far predicted and measured lost time and steps are apart, and whether the free plan is
at most as slow as every pinned one that fits into its memory. Copies run beside computation, so that most lost times are near 0.

--curve: predicted step time within rising shares of the memory of the plan that keeps everything, with and without a host (at 8 GB/s).

Folder of the tools: environment variable CLEAVE_BIN.
"""
import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/e2e"))
import cleave  # noqa: E402
import stages  # noqa: E402

SIZES = ({"hidden": 192, "heads": 6, "layers": 6, "vocab": 512, "ffn": 768, "context": 128}, 128)
STATES, PARAMETERS, ACTIVATIONS = "offload:states", "offload:parameters", "offload:activations"
PINS = {"states": STATES, "parameters": PARAMETERS, "activations": ACTIVATIONS, "all": ",".join([STATES, PARAMETERS, ACTIVATIONS])}
SHARES = (1, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2)


class Bench:
    def __init__(self, folder, steps):
        self.folder, self.steps = folder, steps
        stages.BATCH = 8
        self.model, self.samples, options = stages.write("gpt2", SIZES, folder, 1)
        self.options = options[: options.index("--accumulate")]
        self.machine = folder / "machine.json"
        cleave.must("cleave-calibrate", "-o", self.machine)

    def cluster(self, speed):
        """This machine, with a link of so many GB/s to its host."""
        machine = json.loads(self.machine.read_text())
        machine["host_link"] = {"latency_seconds": 1e-5, "bytes_per_second": speed * 1e9}
        path = self.folder / f"link-{speed}.json"
        path.write_text(json.dumps(machine))
        return path

    def compile(self, name, speed, *options):
        """(plan, predicted seconds, bytes of device memory); none if nothing fits."""
        plan = self.folder / f"{name}-{speed}.plan"
        answer = cleave.tool("cleave-compile", self.model, *self.options, "--cluster", self.cluster(speed), *options, "-o", plan)
        if answer.code:
            return None
        found = json.loads(cleave.must("cleave-dump", plan, "--json").out)
        return plan, found["predicted"]["step_seconds"], found["programs"][0]["arenas"][0]["bytes"]

    def run(self, plan):
        """(seconds of the fastest step, losses)."""
        log = plan.with_suffix(".jsonl")
        log.unlink(missing_ok=True)
        steps, _ = cleave.train(plan, self.samples, self.steps, log)
        return min(step["seconds"] for step in steps[1:]), [step["loss"] for step in steps]


def compare(bench, speeds, rounds):
    apart, steps, slower = [], [], []
    print(f"{'GB/s':>5} {'kept there':>12} {'MiB':>6} {'step':>9} {'predicted':>9} {'lost':>8} {'predicted':>9} {'ratio':>6}")
    for speed in speeds:
        kept = bench.compile("nothing", speed, "--memory", "8GiB")
        plans = {"nothing": kept}
        for name, pin in PINS.items():
            plans[name] = bench.compile(name, speed, "--pin", pin, "--host-memory", "8GiB", "--memory", "8GiB")
        plans["free"] = bench.compile("free", speed, "--memory", f"{kept[2] // 2}B", "--host-memory", "8GiB")
        measured, losses = {}, {}
        for _ in range(rounds):
            for name, (plan, _, _) in plans.items():
                seconds, losses[name] = bench.run(plan)
                measured[name] = min(seconds, measured.get(name, seconds))
        assert all(each == losses["nothing"] for each in losses.values()), "losses differ"
        for name, (_, predicted, used) in plans.items():
            lost, expected = measured[name] - measured["nothing"], predicted - kept[1]
            ratio = lost / expected if expected > 0 else float("nan")
            print(f"{speed:5} {name:>12} {used / 2**20:6.1f} {measured[name] * 1e3:6.1f} ms {predicted * 1e3:6.1f} ms {lost * 1e3:5.1f} ms {expected * 1e3:6.1f} ms {ratio:6.2f}", flush=True)
            if name != "nothing":
                apart.append(ratio)
                steps.append(measured[name] / measured["nothing"] / (predicted / kept[1]))
            if name in PINS and used <= kept[2] // 2:
                slower.append(plans["free"][1] <= predicted * (1 + 1e-9) and measured["free"] <= measured[name] * 1.02)
    within = sum(abs(ratio - 1) <= 0.1 for ratio in apart)
    print(f"{within} of {len(apart)} plans lose what is predicted within 10 %")
    within = sum(abs(ratio - 1) <= 0.1 for ratio in steps)
    print(f"{within} of {len(steps)} steps are as long as predicted within 10 %, beside that of the plan that keeps everything")
    print(f"the free plan is at most as slow as {sum(slower)} of {len(slower)} pinned plans in no more memory")


def curve(bench):
    kept = bench.compile("nothing", 8, "--memory", "8GiB")
    print(f"{'memory':>7} {'without':>10} {'with a host':>11}")
    for share in SHARES:
        found = [bench.compile("curve", 8, "--memory", f"{int(share * kept[2])}B", *more) for more in ((), ("--host-memory", "8GiB"))]
        print(f"{share:7.2f} " + " ".join(f"{each[1] * 1e3:7.2f} ms" if each else f"{'none':>10}" for each in found), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--speeds", default="0.5,1,2,4,8")
    parser.add_argument("--curve", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), options.steps)
        curve(bench) if options.curve else compare(bench, [float(speed) for speed in options.speeds.split(",")], options.rounds)


if __name__ == "__main__":
    main()
