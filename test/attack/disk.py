"""A disk that is full or broken at every write of every tool.

`full/K`: the K-th call that creates, writes, flushes or renames a file of the job fails with ENOSPC, and so do all
later ones; `broken/K`: the K-th call fails with EIO, once. The tool has to end with exit code 1 and one message that
gives the reason and the file; afterwards the same command has to succeed, with the result of an undisturbed run.
`tmpfs/K`: training on a file system of K KiB. `stdout/TOOL`: the standard output of a tool is a full disk.
"""

import random
import subprocess
import time

import cleave
from checks import LIMIT, ends_with, says
from faults import BROKEN, COUNT, FULL, Fault
from jobs import Case, Setup, steps_in, weights
from processes import Lost, Missed, Skipped

TRAINED = Setup("mlp", 2, "shm", 4)
REASONS = {FULL: "No space left on device", BROKEN: "Input/output error"}


def training(case):
    return case.command(TRAINED, saves=2, options=["--profile", case.folder / "trace.json"])


def compiling(case):
    return [cleave.BIN / "cleave-compile", *cleave.compile_options(cleave.MLP["model"]), "-o", case.folder / "out.plan"]


def inference(case, ending):
    def plan():
        path = case.arena.folder / "inference.plan"
        cleave.compile_model(cleave.MLP["model"], path, ranks=2, train=False)
        return path
    return [cleave.BIN / "cleave-run", case.arena.once("inference", plan), "--data", cleave.MLP["data"], "--threads", 1,
            "--out", case.folder / f"out.{ending}"]


def exporting(case, ending):
    def checkpoint():
        other = Case(case.arena, "disk/checkpoint")
        if (job := other.train(TRAINED)).wait(300) != 0:
            raise Lost(job.err())
        return other.saved
    saved = case.arena.once("checkpoint", checkpoint)
    return [cleave.BIN / "cleave-export", case.arena.plan(TRAINED), "--checkpoint", saved,
            "-o", case.folder / f"out.{ending}"]


SCENARIOS = {
    "train": training,
    "compile": compiling,
    "npz": lambda case: inference(case, "npz"),
    "safetensors": lambda case: inference(case, "safetensors"),
    "phases": lambda case: [*compiling(case), "--dump-phases", case.folder / "phases"],
    "export": lambda case: exporting(case, "safetensors"),
    "onnx": lambda case: exporting(case, "onnx"),
    "zoo": lambda case: [cleave.BIN / "cleave-zoo", "gpt2", "--layers", 1, "-o", case.folder / "out.onnx"],
    "profile": lambda case: [cleave.BIN / "cleave-profile", cleave.MLP["model"], "-o", case.folder / "out.txt"],
}


PRINTING = {
    "dump": lambda case: [cleave.BIN / "cleave-dump", case.arena.plan(TRAINED)],
    "json": lambda case: [cleave.BIN / "cleave-dump", case.arena.plan(TRAINED), "--json"],
    "profile": lambda case: [cleave.BIN / "cleave-profile", cleave.MLP["model"], "--format", "json"],
    "compile": lambda case: [cleave.BIN / "cleave-compile", *cleave.compile_options(cleave.MLP["model"]),
                             "--stop-after", "planned", "-o", "-"],
}


def undisturbed(arena, scenario):
    """(calls that can fail, result) of a run without faults."""
    def run():
        case = Case(arena, f"undisturbed/{scenario}")
        fault = Fault(case, case.folder, 0, COUNT)
        if (job := case.start(SCENARIOS[scenario](case), fault.env)).wait(300) != 0:
            raise Lost(job.err())
        return len(fault.calls()), result(case, scenario)
    return arena.once(("disk", scenario), run)


def result(case, scenario):
    if scenario == "train":
        return weights(case.saved)
    found = {path.name: path.read_bytes() for path in case.folder.glob("out.*")}
    if scenario in ("compile", "phases"):  # the paths of tools and time of compilation may be part of it
        cleave.must("cleave-dump", case.folder / "out.plan")
        return sorted(found)
    return found


def cases(arena, count, seed):
    """All calls of all scenarios; a sample of those of training, compiling and inference if the campaign is short."""
    is_short = count < 200
    found = [f"{scenario}/{action}/{call}" for scenario in list(SCENARIOS)[: 4 if is_short else None]
             for action in REASONS for call in range(undisturbed(arena, scenario)[0])]
    found += [f"tmpfs/{kib}" for kib in range(4, 140, 4)]
    if is_short:
        return random.Random(seed).sample(found, min(len(found), count))
    return found + [f"stdout/{tool}" for tool in PRINTING]


def run(case, scenario, *words):
    if scenario == "tmpfs":
        small_disk(case, int(words[0]))
        return
    if scenario == "stdout":
        print_to_full_disk(case, words[0])
        return
    action, call = words[0], int(words[1])
    _, wanted = undisturbed(case.arena, scenario)
    fault = Fault(case, case.folder, call, action)
    job = case.start(SCENARIOS[scenario](case), fault.env)
    job.wait(LIMIT)
    case.tell(f"{REASONS[action]} at {fault.hit()}")
    if fault.hit() is None:
        raise Missed()
    if ends_with(job, [0, 1]) == 1:
        says(job, REASONS[action], str(case.folder))
        again(case, scenario)
    if result(case, scenario) != wanted:
        raise Lost(f"another result than without the fault; exit code {job.code}")


def print_to_full_disk(case, tool):
    job = case.start(["sh", "-c", 'exec "$@" > /dev/full', "sh", *PRINTING[tool](case)])
    ends_with(job, [1])
    says(job, REASONS[FULL])


def again(case, scenario):
    """The same command, after the disk is mended."""
    case.log.unlink(missing_ok=True)
    resumed = ["--resume", case.saved] if scenario == "train" and steps_in(case.saved) else []
    job = case.start([*SCENARIOS[scenario](case), *resumed], name="again")
    if ends_with(job, [0, 1, 3, 4]) != 0:
        raise Lost(f"the same command fails on a mended disk: {job.err()}")


def small_disk(case, kib):
    """Training in a private mount namespace on a small file system, which then becomes larger."""
    small = case.folder / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size={kib}k tmpfs {small} && exec sleep 10000"
    holder = case.start(["unshare", "-m", "sh", "-c", mount])  # keeps the namespace
    inside = ["nsenter", "-t", str(holder.pid), "-m"]
    end = time.monotonic() + 20
    while subprocess.run([*inside, "mountpoint", "-q", small], stderr=subprocess.DEVNULL).returncode != 0:
        if holder.code is not None or time.monotonic() > end:
            raise Skipped(f"no private file system: {holder.err()}")
    wanted = undisturbed(case.arena, "train")[1]
    case.saved, case.log = small / "saved", small / "log.jsonl"
    seen = f"/proc/{holder.pid}/root{case.saved}"
    case.tell(f"{kib} KiB of disk")
    job = case.start([*inside, *case.command(TRAINED, saves=2)], name="full")
    if ends_with(job, [0, 1]) == 1:
        says(job, REASONS[FULL], str(small))
        subprocess.run([*inside, "mount", "-o", "remount,size=64m", small], check=True)
        again = ["--resume", case.saved] if steps_in(seen) else []
        more = case.start([*inside, *case.command(TRAINED, saves=2, options=again)], name="again")
        if ends_with(more, [0, 1, 3, 4]) != 0:
            raise Lost(f"does not resume on a larger disk: {more.err()}")
    if weights(seen) != wanted:
        raise Lost("the final weights are not those of an undisturbed run")


ATTACKS = {"disk": (cases, run)}
