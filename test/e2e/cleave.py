"""How the tests of this folder run Cleave's tools and read what they write. Standard library only."""

import ast
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import zipfile
from array import array

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("CLEAVE_BIN", ROOT / "build/bin"))
SANITIZED = "ASAN_OPTIONS" in os.environ  # tools/dev/sanitized.sh
MODELS = ROOT / "test/models"
GOLDEN = ROOT / "test/golden"
MLP = {"model": MODELS / "mlp.dynamo.onnx", "data": GOLDEN / "mlp.npz"}
GPT = {"model": MODELS / "gpt.dynamo.onnx", "data": GOLDEN / "gpt.npz"}
ADAMW = "adamw:lr=1e-3,weight-decay=0.01"


class Answer:
    """How a tool ended: exit code and what it said."""

    def __init__(self, command, code, out, err):
        self.command, self.code, self.out, self.err = command, code, out, err

    def errors(self):
        return errors(self.err)

    def __str__(self):
        said = f"\n--- stdout\n{self.out[-1500:]}\n--- stderr\n{self.err[-1500:]}"
        return f"`{' '.join(map(str, self.command))}` ended with {self.code}{said}"


def errors(text):
    """The lines in which a tool says what is wrong; it should be one."""
    return [line for line in text.splitlines() if re.match(r"cleave-\w+: (?!remark|warning|note)", line)]


def tool(name, *arguments, timeout=1200, env=None):
    """Runs one tool to its end. A tool that does not end in time is a failure of the test."""
    command = [str(BIN / name), *map(str, arguments)]
    environment = {**os.environ, **(env or {})}
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, env=environment)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"`{' '.join(command)}` does not end within {timeout} s") from None
    return Answer(command, done.returncode, done.stdout, done.stderr)


def must(name, *arguments, **options):
    """Runs a tool that has to succeed."""
    answer = tool(name, *arguments, **options)
    if answer.code != 0:
        raise AssertionError(str(answer))
    return answer


def compile_options(model, *options, ranks=1, batch=8, train=True):
    training = ["--train", "--loss", "softmax-cross-entropy:logits", "--optimizer", ADAMW] if train else []
    return [model, *training, "--set", f"batch={batch}", "--cluster", "local-cpu", "--ranks", ranks, *options]


def compile_model(model, plan, *options, **how):
    """Writes `plan`, which the compiler has to manage."""
    return must("cleave-compile", *compile_options(model, *options, **how), "-o", plan)


def train(plan, data, steps, log, *options, **how):
    """Runs a training that has to succeed; returns the steps and ranks of its log."""
    must("cleave-run", plan, "--data", data, "--steps", steps, "--threads", 1, "--log", log, *options, **how)
    return read_log(log)


def read_log(path):
    """The lines of a log: (steps, ranks)."""
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines() if line.strip()]
    return [line for line in lines if "step" in line and "event" not in line], [line for line in lines if "planned_bytes" in line]


def evaluations(path):
    """The lines of a log that tell of evaluations, without their seconds."""
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines() if line.strip()]
    return [{key: line[key] for key in line if key not in ("event", "seconds")} for line in lines if line.get("event") == "eval"]


def losses(steps):
    return {line["step"]: line["loss"] for line in steps}


def apart(found, wanted):
    """The largest relative difference of two lists of numbers; infinite if lengths differ or one is not a number."""
    if len(found) != len(wanted) or any(not math.isfinite(x) for x in found):
        return math.inf
    scale = max((abs(x) for x in wanted), default=1.0)
    return max((abs(a - b) for a, b in zip(found, wanted)), default=0.0) / max(scale, 1e-30)


TYPES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B"}


def read_npy(data):
    """(shape, flat list) of one array in NumPy's format."""
    if data[:6] != b"\x93NUMPY":
        raise AssertionError("not a NumPy array")
    width, form = (2, "<H") if data[6] == 1 else (4, "<I")
    length = struct.unpack(form, data[8 : 8 + width])[0]
    header = ast.literal_eval(data[8 + width : 8 + width + length].decode())
    if header["fortran_order"]:
        raise AssertionError("an array in column-major order")
    values = array(TYPES[header["descr"]])
    values.frombytes(data[8 + width + length :])
    return tuple(header["shape"]), values.tolist()


def read_npz(path):
    """Name -> (shape, flat list)."""
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): read_npy(archive.read(name)) for name in archive.namelist()}


def write_npy(shape, numbers, double=False):
    """An array in NumPy's format: float32 (or with `double` float64) if the first number is a float, else int64."""
    code = "q" if not numbers or not isinstance(numbers[0], float) else "d" if double else "f"
    kind = next(descr for descr, letter in TYPES.items() if letter == code)
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array(code, numbers).tobytes()


def write_npz(path, arrays, double=False):
    """Writes arrays as write_npy does: name -> (shape, flat list)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, (shape, numbers) in arrays.items():
            archive.writestr(f"{name}.npy", write_npy(shape, numbers, double))


def preloading(library):
    """The environment that preloads a library into a tool. AddressSanitizer, if the tools are built with it, wants to come first."""
    return {"LD_PRELOAD": str(library), "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


def children(pid):
    """Process ids of the children of `pid`, in the order of their start (numbers may wrap around)."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append((int(fields[19]), int(entry.name)))
    return [number for _, number in sorted(found)]
