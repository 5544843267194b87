#!/usr/bin/env python3
"""Runs the parts of a GPU session over an unpacked bundle; called by tools/dev/gpu-session.sh.

    tools/dev/gpu/session.py BUNDLE OUTPUT [--device cuda|cpu] [--parts machine,losses,…] [--budget SECONDS] [--steps N]

Every part has a limit, and all together the budget. A part that fails or runs out of time is noted, the others go on.
"""

import argparse
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import time
import zipfile

import report

HERE = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    """What went wrong, in one line."""


class Session:
    def __init__(self, options):
        self.options, self.bundle, self.output = options, options.bundle, options.output
        self.manifest = json.loads((self.bundle / "manifest.json").read_text())
        self.end = time.monotonic() + options.budget
        self.results = {"bundle": {"cluster": self.manifest["cluster"]}, "parts": {}}

    # -- running ------------------------------------------------------------------------------------------------------------------

    def run(self, command, limit, **environment):
        """A program's output. Its failure, and its end after `limit` seconds or that of the session, is a Failure."""
        left = min(limit, self.end - time.monotonic())
        if left < 1:
            raise Failure("the session's time is over")
        command = [str(word) for word in command]
        name = pathlib.Path(command[0]).name
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=left,
                                  env={**os.environ, **environment})
        except subprocess.TimeoutExpired:
            raise Failure(f"{name} does not end within {left:.0f} s") from None
        except OSError as error:
            raise Failure(f"{name}: {error.strerror}") from None
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise Failure(f"{name} ends with {done.returncode}: {said[-1] if said else 'without a word'}")
        return done.stdout + done.stderr

    def train(self, plan, model, data, steps, limit, *options, prefix=(), **environment):
        """Trains with cleave-run; returns the steps and ranks of its log."""
        log = self.output / "last.jsonl"
        log.unlink(missing_ok=True)
        self.run([*prefix, self.bundle / "bin/cleave-run", self.bundle / plan, "--model", self.bundle / model, "--data", data,
                  "--steps", steps, "--log", log, *self.device(), *options], limit, **environment)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return [line for line in lines if "step" in line], [line for line in lines if "planned_bytes" in line]

    def device(self):
        """cleave-run's options for several ranks on the only GPU."""
        return ["--device", "cuda:0"] if self.options.device == "cuda" else []

    def all(self, parts):
        for name in parts:
            begin, entry = time.monotonic(), {}
            self.results["parts"][name] = entry
            try:
                getattr(self, name)(entry)
            except Exception as error:  # whatever it is, the other parts go on
                entry["failure"] = str(error) or type(error).__name__
            entry["part_seconds"] = round(time.monotonic() - begin, 1)
            self.write()

    def write(self):
        (self.output / "session.json").write_text(json.dumps(self.results, indent=1))
        (self.output / "session.txt").write_text(report.text(self.results))

    def each(self, entry, items, action):
        """Runs action(item) for every item and notes its result, or why there is none, under the item's name."""
        for item in items:
            name = item["name"]
            try:
                entry[name] = action(item)
            except Failure as failure:
                entry[name] = {"failure": str(failure)}
            self.write()

    # -- parts --------------------------------------------------------------------------------------------------------------------

    def machine(self, entry):
        entry["cleave"] = self.run([self.bundle / "bin/cleave-run", "--version"], 20).strip()
        for key, command in {"gpu": ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
                             "torch": [sys.executable, "-c", "import torch; print(torch.__version__)"]}.items():
            try:
                entry[key] = self.run(command, 60).strip()
            except Failure as failure:
                entry[key] = str(failure)

    def losses(self, entry):
        def compare(case):
            found = {}
            for ranks, plan in case["plans"].items():
                try:
                    steps, lines = self.train(plan, case["model"], self.bundle / case["data"], case["steps"], 60)
                    apart = distance([step["loss"] for step in steps], case["losses"])
                    found[ranks] = {"apart": apart, "ok": apart <= case["tolerance"],
                                    "memory_ok": all(line["planned_bytes"] == line["allocated_bytes"] for line in lines)}
                except Failure as failure:
                    found[ranks] = {"failure": str(failure), "ok": False}
            return {"tolerance": case["tolerance"], "ranks": found}

        self.each(entry, self.manifest["losses"], compare)

    def memory(self, entry):
        """compute-sanitizer over three steps."""
        if not shutil.which("compute-sanitizer"):
            raise Failure("compute-sanitizer is not installed")
        tool = ["compute-sanitizer", "--tool", "memcheck", "--target-processes", "all", "--error-exitcode", "9"]
        case = self.case("gpt")
        self.train(case["plans"]["1"], case["model"], self.bundle / case["data"], 3, 90, prefix=tool)
        entry["ok"] = True

    def host(self, entry):
        """Allocations per step: of a run of many steps less those of a run of few."""
        library, count = self.output / "count_allocations.so", self.output / "allocations"
        compiler = shutil.which("cc") or shutil.which("gcc") or "nvcc"
        shared = ["-shared", "-Xcompiler", "-fPIC"] if compiler == "nvcc" else ["-shared", "-fPIC"]
        self.run([compiler, *shared, "-O1", HERE / "count_allocations.c", "-o", library], 60)
        case, counts = self.case("gpt"), {}
        few, many = 4, case["steps"]
        for steps in (few, many):
            count.write_bytes(bytes(8))
            self.run([self.bundle / "bin/cleave-run", self.bundle / case["plans"]["1"], "--model", self.bundle / case["model"],
                      "--data", self.bundle / case["data"], "--steps", steps, "-q", *self.device()], 60, LD_PRELOAD=str(library),
                     CLEAVE_ALLOCATIONS=str(count))
            counts[steps] = struct.unpack("<Q", count.read_bytes())[0]
        entry["allocations_per_step"] = (counts[many] - counts[few]) / (many - few)
        steps, _ = self.train(case["plans"]["1"], case["model"], self.bundle / case["data"], case["steps"], 60)
        entry["seconds_per_step"] = statistics.median(step["seconds"] for step in steps)
        hosts = [step["host_seconds"] for step in steps if "host_seconds" in step]
        if hosts:
            entry["host_seconds_per_step"] = statistics.median(hosts)

    def calibration(self, entry):
        cluster = self.output / "cluster.json"
        tool = self.bundle / "bin/cleave-calibrate"
        entry["output"] = self.run([tool, "--device", "cuda", "--like", self.manifest["cluster"], "-o", cluster], 120).strip()
        entry["cluster"] = json.loads(cluster.read_text())

    def speed(self, entry):
        def measure(case):
            plan = json.loads(self.run([self.bundle / "bin/cleave-dump", self.bundle / case["plan"], "--json"], 30))
            data = self.output / "batch.npz"
            write_batches(data, [t for t in plan["tensors"] if t["role"] == "input"], case)
            steps, lines = self.train(case["plan"], case["model"], data, self.options.steps, 100)
            data.unlink()
            seconds = statistics.median(step["seconds"] for step in steps[len(steps) // 2:])
            return {"seconds": seconds, "predicted_seconds": plan["predicted"]["step_seconds"],
                    "flops": case["flops"], "flops_per_second": case["flops"] / seconds,
                    "memory_bytes": lines[0]["allocated_bytes"] + lines[0]["library_scratch_bytes"],
                    "losses": [steps[0]["loss"], steps[-1]["loss"]],
                    **({"host_seconds": statistics.median(step["host_seconds"] for step in steps[len(steps) // 2:])}
                       if "host_seconds" in steps[-1] else {})}

        self.each(entry, self.manifest["speed"], measure)

    def eager(self, entry):
        self.torch(entry, "eager", 90)

    def compiled(self, entry):
        self.torch(entry, "compiled", 150)

    def torch(self, entry, mode, limit):
        def measure(case):
            out = self.run([sys.executable, "-B", HERE / "torch_step.py", json.dumps(case), "--mode", mode, "--device",
                            self.options.device, "--steps", self.options.steps], limit)
            found = json.loads([line for line in out.splitlines() if line.startswith("{")][-1])
            return {**found, "flops_per_second": case["flops"] / found["seconds"]}

        self.each(entry, self.manifest["speed"], measure)

    def case(self, model):
        """The first recorded run of a model."""
        for case in self.manifest["losses"]:
            if case["name"].startswith(model):
                return case
        raise Failure(f"the bundle has no run of {model}")


def distance(found, wanted):
    """The largest relative difference of two lists of losses."""
    if len(found) != len(wanted) or any(x is None or not math.isfinite(x) for x in found):
        return math.inf
    return max(abs(a - b) / max(abs(b), 1e-30) for a, b in zip(found, wanted))


def write_batches(path, inputs, case):
    """Two batches of random values for the plan's inputs, as .npz: normal floats, numbers below the classes or words."""
    draw = random.Random(1)
    classes = case["sizes"].get("vocab", case["sizes"].get("classes", 1000))
    with zipfile.ZipFile(path, "w") as archive:
        for tensor in inputs:
            shape = (2 * tensor["shape"][0], *tensor["shape"][1:])
            count = math.prod(shape)
            if tensor["dtype"].startswith("f"):
                few = struct.pack("<65537f", *(draw.gauss(0, 1) for _ in range(65537)))  # repeated: drawing takes long
                form, body = "<f4", (few * (4 * count // len(few) + 1))[: 4 * count]
            else:
                form, body = "<i8", struct.pack(f"<{count}q", *(draw.randrange(classes) for _ in range(count)))
            header = f"{{'descr': '{form}', 'fortran_order': False, 'shape': {shape!r}, }}"
            header += " " * (-(len(header) + 11) % 64) + "\n"
            archive.writestr(f"{tensor['name']}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body)


PARTS = ["machine", "losses", "host", "memory", "calibration", "speed", "eager", "compiled"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bundle", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--budget", type=float, default=570, help="seconds of the whole session")
    parser.add_argument("--steps", type=int, default=20, help="of each large model")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        sys.exit(f"session.py: found part {min(unknown)}, expected some of {', '.join(PARTS)}")
    session = Session(options)
    session.all(parts)
    print(report.text(session.results), end="")


if __name__ == "__main__":
    main()
