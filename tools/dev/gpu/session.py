#!/usr/bin/env python3
"""Runs one call of a GPU session over an unpacked bundle; called by tools/dev/gpu-session.sh.

    tools/dev/gpu/session.py BUNDLE OUTPUT [--call first|second] [--device cuda|cpu] [--parts machine,smoke,…] [--models gpt-124m,…]
                             [--budget SECONDS] [--steps N]

A call runs its parts in order. Every part has a limit, and the call has a budget; a larger budget stretches all limits. A part that
fails or runs out of time is noted, and the others go on. OUTPUT receives every result as it comes.
"""

import argparse
import contextlib
import gzip
import importlib.metadata
import json
import math
import os
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

import report

HERE = pathlib.Path(__file__).resolve().parent
SMOKE_STEPS, PROFILE_STEPS, PROFILED = 5, 10, 3  # the last PROFILED of PROFILE_STEPS are traced
ALLOCATING_STEPS = {"cuda": 4000, "cpu": 16}
TOGETHER = 130 << 30  # bytes of a GPU that holds all large models in PyTorch at the same time
NOTED, LOGGED = 128 << 10, 512 << 10  # bytes kept of an output of a failed tool, and of a log of a library

# Seconds of a call, and of each of its parts in order. The parts may sum up to more: most end early.
CALLS = {
    "first": (180, {"machine": 10, "smoke": 70, "profile": 45, "compiled": 80, "speed": 40}),
    "second": (400, {"machine": 10, "pairs": 240, "losses": 80, "nccl": 20, "memory": 40, "calibration": 60, "host": 40}),
}
LIMITS = {"eager": math.inf, **CALLS["first"][1], **CALLS["second"][1]}


class Failure(Exception):
    """The reason of a failure, in one line."""


class Session:
    def __init__(self, options, scratch):
        self.options, self.bundle, self.output, self.scratch = options, options.bundle, options.output, scratch
        self.manifest = json.loads((self.bundle / "manifest.json").read_text())
        self.stretch = max(1, options.budget / CALLS[options.call][0])  # a factor of all limits
        self.last = self.end = time.monotonic() + options.budget  # the ends of the call and of the part
        self.results = {"bundle": {"cluster": self.manifest["cluster"]}, "call": options.call, "parts": {}}
        for name in ("failures.txt", "libraries.txt"):
            (self.output / name).unlink(missing_ok=True)

    # -- running ------------------------------------------------------------------------------------------------------------------

    def run(self, command, limit, **environment):
        """Returns a program's output. Raises a Failure if it fails or does not end within `limit` seconds or the part's time.

        The program leads a process group, which is killed in the end. It writes to files: a descendant could hold a pipe open.
        """
        left = min(limit * self.stretch, self.end - time.monotonic())
        if left < 1:
            raise Failure("the time of the part is over")
        command = [str(word) for word in command]
        outputs = [self.scratch / "stdout", self.scratch / "stderr"]
        with open(outputs[0], "wb") as out, open(outputs[1], "wb") as err:
            try:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                           env={**os.environ, **environment})
            except OSError as error:
                raise Failure(f"{pathlib.Path(command[0]).name}: {error.strerror}") from None
        try:
            how = f"ends with {process.wait(left)}"
        except subprocess.TimeoutExpired:
            how = f"does not end within {left:.0f} s"
        finally:
            end_group(process)
        if how != "ends with 0":
            self.fail(command, how, outputs, environment)
        return "".join(path.read_text(errors="replace") for path in outputs)

    def fail(self, command, how, outputs, environment):
        """Appends the command and its outputs to failures.txt and raises a Failure."""
        out, err = (clip(path, NOTED) for path in outputs)
        words = [f"{key}={value}" for key, value in environment.items()] + command
        with open(self.output / "failures.txt", "a") as file:
            file.write(f"== {' '.join(words)}\n{how}\n-- standard output\n{out}\n-- standard error\n{err}\n\n")
        said = (err.strip() or out.strip()).splitlines()
        raise Failure(f"{pathlib.Path(command[0]).name} {how}: {said[-1] if said else 'no output'}")

    def train(self, plan, model, data, steps, limit, *options, prefix=(), **environment):
        """Trains with cleave-run; returns the steps and ranks of its log."""
        log = self.scratch / "last.jsonl"
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
            self.end = min(self.last, begin + LIMITS[name] * self.stretch)
            self.results["parts"][name] = entry
            try:
                getattr(self, name)(entry)
            except Exception as error:  # of any type: the other parts go on
                entry["failure"] = str(error) or type(error).__name__
            entry["part_seconds"] = round(time.monotonic() - begin, 1)
            self.write()

    def write(self):
        (self.output / "session.json").write_text(json.dumps(self.results, indent=1))
        (self.output / "session.txt").write_text(report.text(self.results))

    def note(self, entry, name, action, *arguments):
        """Sets entry[name] to the result of an action, or to the reason why it has none."""
        try:
            entry[name] = action(*arguments)
        except Exception as error:  # of any type: the other models go on
            entry[name] = {"failure": str(error) or type(error).__name__}
        self.write()

    # -- parts --------------------------------------------------------------------------------------------------------------------

    def machine(self, entry):
        tools = {"cleave": [self.bundle / "bin/cleave-run", "--version"],
                 "gpu": ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader"]}
        for key, command in tools.items():
            try:
                entry[key] = self.run(command, 10).strip()
            except Failure as failure:
                entry[key] = str(failure)
        packages = {package.metadata["Name"]: package.version for package in importlib.metadata.distributions()}
        entry["packages"] = ", ".join(f"{name} {packages[name]}" for name in sorted(packages)
                                      if name.startswith(("torch", "triton", "nvidia-")))

    def smoke(self, entry):
        """A few steps of every small model on one rank. A failed run is repeated with checks and with logs of the libraries."""
        for case in self.cases():
            steps = min(SMOKE_STEPS, case["steps"])
            found = self.compare(case, "1", steps, 20)
            entry[case["name"]] = {"tolerance": case["tolerance"], "ranks": {"1": found}}
            self.write()
            if not found["ok"]:
                logs = [self.scratch / "cublaslt.log", self.scratch / "cudnn.log"]
                found["checked"] = self.compare(
                    case, "1", steps, 20, CLEAVE_CHECK_KERNELS="1", CUBLASLT_LOG_LEVEL="2", CUBLASLT_LOG_FILE=str(logs[0]),
                    CUDNN_LOGLEVEL_DBG="2", CUDNN_LOGDEST_DBG=str(logs[1]))
                self.keep_logs(case["name"], logs)
                self.write()

    def keep_logs(self, name, logs):
        with open(self.output / "libraries.txt", "a") as file:
            for log in logs:
                file.write(f"== {name}: {log.name}\n{clip(log, LOGGED) if log.exists() else 'not written'}\n")
                log.unlink(missing_ok=True)

    def losses(self, entry):
        """All recorded steps on 2 and 4 ranks."""
        for ranks in ("2", "4"):
            for case in self.cases():
                found = entry.setdefault(case["name"], {"tolerance": case["tolerance"], "ranks": {}})["ranks"]
                found[ranks] = self.compare(case, ranks, case["steps"], 60)
                self.write()

    def compare(self, case, ranks, steps, limit, **environment):
        """Compares the losses of a run with the recorded ones, and the allocated bytes with the planned ones."""
        try:
            done, lines = self.train(case["plans"][ranks], case["model"], self.bundle / case["data"], steps, limit, **environment)
        except Failure as failure:
            return {"failure": str(failure), "ok": False}
        losses = [step["loss"] for step in done]
        apart = distance(losses, case["losses"][:steps])
        return {"apart": apart, "ok": apart <= case["tolerance"], "losses": losses,
                "memory_ok": all(line["planned_bytes"] == line["allocated_bytes"] for line in lines)}

    def nccl(self, entry):
        """All calls over NCCL in a group of one GPU."""
        if self.options.device != "cuda":
            raise Failure("NCCL needs a GPU")
        entry["output"] = self.run([self.bundle / "bin/check-nccl"], 20, NCCL_DEBUG="WARN").strip()

    def memory(self, entry):
        """compute-sanitizer over three steps."""
        if not shutil.which("compute-sanitizer"):
            raise Failure("compute-sanitizer is not installed")
        tool = ["compute-sanitizer", "--tool", "memcheck", "--target-processes", "all",
                "--report-api-errors", "no", "--error-exitcode", "9"]
        case = self.case("gpt")
        said = self.run([*tool, self.bundle / "bin/cleave-run", self.bundle / case["plans"]["1"], "--model", self.bundle / case["model"],
                         "--data", self.bundle / case["data"], "--steps", 3, "-q", *self.device()], 90)
        entry["summary"] = [line for line in said.splitlines() if "ERROR SUMMARY" in line]
        if not entry["summary"]:
            raise Failure("compute-sanitizer gives no summary")

    def host(self, entry):
        """Allocations per step: of a run of many steps less those of one of few. Those of the start differ by some thousands."""
        library, count = self.scratch / "count_allocations.so", self.scratch / "allocations"
        compiler = shutil.which("cc") or shutil.which("gcc") or "nvcc"
        shared = ["-shared", "-Xcompiler", "-fPIC"] if compiler == "nvcc" else ["-shared", "-fPIC"]
        self.run([compiler, *shared, "-O1", HERE / "count_allocations.c", "-o", library], 60)
        case, counts = self.case("gpt"), {}
        few, many = 4, 4 + ALLOCATING_STEPS[self.options.device]
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
        cluster = self.scratch / "cluster.json"
        tool = self.bundle / "bin/cleave-calibrate"
        entry["output"] = self.run([tool, "--device", "cuda", "--like", self.manifest["cluster"], "-o", cluster], 120).strip()
        entry["cluster"] = json.loads(cluster.read_text())

    def speed(self, entry):
        for case in self.models():
            self.note(entry, case["name"], self.cleave_step, case)

    def compiled(self, entry):
        for case in self.models():
            self.note(entry, case["name"], self.torch_step, case, "compiled")

    def eager(self, entry):
        for case in self.models():
            self.note(entry, case["name"], self.torch_step, case, "eager")

    def pairs(self, entry):
        """Cleave and torch.compile, model by model. Where the GPU holds all models, PyTorch compiles them at the same time before."""
        cases = self.models()
        together = len(cases) > 1 and self.gpu_bytes() >= TOGETHER
        with contextlib.ExitStack() as stack:
            compiling = {case["name"]: stack.enter_context(Compiling(self, case)) for case in cases if together}
            for one in compiling.values():
                one.wait(self.end - 60 * self.stretch)
            for case in cases:
                pair = entry[case["name"]] = {}
                self.note(pair, "Cleave", self.cleave_step, case)
                if together:
                    self.note(pair, "torch.compile", compiling[case["name"]].timed)
                else:
                    self.note(pair, "torch.compile", self.torch_step, case, "compiled")

    def gpu_bytes(self):
        """Memory of the GPU; 0 without one."""
        try:
            return 2**20 * int(self.run(["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"], 10).split()[0])
        except (Failure, ValueError, IndexError):
            return 0

    def profile(self, entry):
        for case in self.models():
            self.note(entry, case["name"], self.profiled, case)

    def profiled(self, case):
        """Measured and predicted times by kind of instruction; keeps the trace."""
        trace = self.scratch / "trace.json"
        plan, steps, _ = self.train_large(case, PROFILE_STEPS, "--profile", trace, "--profile-steps", PROFILED)
        text = trace.read_bytes()
        (self.output / f"{case['name']}.trace.json.gz").write_bytes(gzip.compress(text))
        seconds = statistics.fmean(step["seconds"] for step in steps[-PROFILED:])
        return {"seconds": seconds, "predicted_seconds": plan["predicted"]["step_seconds"],
                "kinds": kinds_of(json.loads(text)["traceEvents"], seconds)}

    def cleave_step(self, case):
        plan, steps, lines = self.train_large(case, self.options.steps)
        seconds = median(steps, "seconds")
        found = {"seconds": seconds, "predicted_seconds": plan["predicted"]["step_seconds"], "flops_per_second": case["flops"] / seconds,
                 "memory_bytes": lines[0]["allocated_bytes"] + lines[0]["library_scratch_bytes"],
                 "losses": [steps[0]["loss"], steps[-1]["loss"]]}
        if "host_seconds" in steps[-1]:
            found["host_seconds"] = median(steps, "host_seconds")
        return found

    def torch_command(self, case, mode):
        return [sys.executable, "-B", str(HERE / "torch_step.py"), json.dumps(case), "--mode", mode, "--device", self.options.device,
                "--steps", str(self.options.steps)]

    def torch_step(self, case, mode):
        return torch_result(self.run(self.torch_command(case, mode), 150), case)

    def train_large(self, case, steps, *options):
        """Trains a large model on random batches; returns its plan as of cleave-dump, and the steps and ranks of the log."""
        plan = json.loads(self.run([self.bundle / "bin/cleave-dump", self.bundle / case["plan"], "--json"], 30))
        data = self.scratch / "batch.npz"
        write_batches(data, [t for t in plan["tensors"] if t["role"] == "input"], case)
        return plan, *self.train(case["plan"], case["model"], data, steps, 100, *options)

    def models(self):
        """The large models of the call: the chosen ones, the bundle's first one in the first call, or all; smallest first."""
        large, wanted = self.manifest["speed"], self.options.models
        if not wanted and self.options.call == "first":
            return large[:1]
        return sorted((case for case in large if not wanted or case["name"] in wanted.split(",")), key=lambda case: case["flops"])

    def cases(self):
        """The recorded runs, those in bf16 first."""
        return sorted(self.manifest["losses"], key=lambda case: not case["name"].endswith("bf16"))

    def case(self, model):
        """The first recorded run of a model."""
        for case in self.manifest["losses"]:
            if case["name"].startswith(model):
                return case
        raise Failure(f"the bundle has no run of {model}")


class Compiling:
    """A model in PyTorch that compiles in the background, and is timed when it is told to."""

    def __init__(self, session, case):
        self.session, self.case, self.gate = session, case, session.scratch / f"{case['name']}.gate"
        self.outputs = [session.scratch / f"{case['name']}.{kind}" for kind in ("stdout", "stderr")]

    def __enter__(self):
        self.command = [*self.session.torch_command(self.case, "compiled"), "--gate", str(self.gate)]
        with open(self.outputs[0], "wb") as out, open(self.outputs[1], "wb") as err:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        return self

    def __exit__(self, *_):
        end_group(self.process)

    def wait(self, end):
        """Until it has compiled, has failed, or `end` is over."""
        while not self.gate.exists() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)

    def timed(self):
        self.gate.unlink(missing_ok=True)
        try:
            code = self.process.wait(max(1, min(60, self.session.end - time.monotonic())))
        except subprocess.TimeoutExpired:
            code = "no end"
        if code != 0:
            self.session.fail(self.command, f"ends with {code}", self.outputs, {})
        return torch_result(self.outputs[0].read_text(), self.case)


def torch_result(out, case):
    """What torch_step.py has printed, and the rate."""
    found = json.loads([line for line in out.splitlines() if line.startswith("{")][-1])
    return {**found, "flops_per_second": case["flops"] / found["seconds"]}


def end_group(process):
    """Kills a program and its descendants. Does not wait for a process that the driver holds."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)


def clip(path, limit):
    """The text of a file; of one with more than `limit` bytes, its head and tail."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit:
            return file.read().decode(errors="replace")
        head = file.read(limit // 2)
        file.seek(-(limit // 2), os.SEEK_END)
        return (head + f"\n… {size - 2 * (limit // 2)} bytes left out …\n".encode() + file.read()).decode(errors="replace")


def median(steps, key):
    """The median over the second half of the steps."""
    return statistics.median(step[key] for step in steps[len(steps) // 2:])


def kinds_of(events, step_seconds):
    """Sums a trace of cleave-run by kind of instruction: count and milliseconds of one step, slowest kind first."""
    predicted = {event["tid"] for event in events if event["name"] == "thread_name" and event["args"]["name"] == "predicted"}
    events = [event for event in events if event["ph"] == "X" and event["tid"] not in predicted]
    steps = len({event["args"]["step"] for event in events})
    kinds = {}
    for event in events:
        kind = event["args"]["kind"]
        row = kinds.setdefault(kind, {"kind": kind, "example": event["name"], "count": 0, "measured_ms": 0, "predicted_ms": 0})
        row["count"] += 1
        row["measured_ms"] += event["dur"] / 1e3
        row["predicted_ms"] += event["args"]["predicted_us"] / 1e3
    for row in kinds.values():
        for key in ("count", "measured_ms", "predicted_ms"):
            row[key] /= steps
        row["ratio"] = row["measured_ms"] / row["predicted_ms"] if row["predicted_ms"] else None
        row["share"] = row["measured_ms"] / (1e3 * step_seconds)
    return sorted(kinds.values(), key=lambda row: -row["measured_ms"])


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bundle", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--call", default="first", choices=CALLS)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--parts", help="default: those of the call")
    parser.add_argument("--models", help="large models; default: the bundle's first one in the first call, else all")
    parser.add_argument("--budget", type=float, help="seconds of the call; default: " +
                        ", ".join(f"{seconds} of the {call} one" for call, (seconds, _) in CALLS.items()))
    parser.add_argument("--steps", type=int, default=20, help="of each large model")
    options = parser.parse_args()
    budget, limits = CALLS[options.call]
    options.budget = options.budget or budget
    parts = options.parts.split(",") if options.parts else list(limits)
    if unknown := set(parts) - set(LIMITS):
        sys.exit(f"session.py: found part {min(unknown)}, expected some of {', '.join(LIMITS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the running tool is killed, too
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        session = Session(options, pathlib.Path(scratch))
        session.all(parts)
        print(report.text(session.results), end="")


if __name__ == "__main__":
    main()
