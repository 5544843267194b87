#!/usr/bin/env python3
"""Seeds faults that Cleave once had into a copy of the tree, one at a time, and measures the time until random modules find each.

    test/fuzz/modules/faults.py [--work DIR] [--seconds 600] [--only NAME]

Exit code 1 if a fault is not found in time, 77 without PyTorch.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from seeding import Fault, hunt, options  # noqa: E402

TOOLS = ["tools"]
JOBS = "2"


def lost_writes(name, condition):
    """A fault by which writes under a condition of TensorState::write() are lost after the step."""
    return Fault(name, [
        ("compiler/frontend/aten/IValue.h", "  bool isBuffer = false;", "  bool isLost = false;\n  bool isBuffer = false;"),
        ("compiler/frontend/aten/IValue.cpp", "  ++storage_->version;", f"  ++storage_->version;\n  storage_->isLost |= {condition};"),
        ("compiler/frontend/pt2/ModelTensors.cpp", "if (!storage.isTrained)\n", "if (!storage.isTrained && !storage.isLost)\n"),
    ])


FAULTS = [
    lost_writes("writes through a view are lost", "!seen.empty()"),
    lost_writes("writes in no_grad are lost", "!isRecorded"),
    Fault("positions are rounded", [
        ("passes/precision/WideProducts.cpp", "    if (isOf(Origin::Position)", "    if (!op.getBlock() && isOf(Origin::Position)"),
        ("passes/precision/WideProducts.cpp", " || analysis.isComputedFromIndices(&op) || isAngle)",
         " && (analysis.isComputedFromIndices(&op) || isAngle))")]),
    Fault("maximum(x, 0) has ReLU's gradient", [
        ("passes/autodiff/rules/Elementwise.cpp", "share(x > z, x == z, dy), share(z > x, x == z, dy)",
         "share(x > z, x > z, dy), share(z > x, z > x, dy)")]),
    Fault("the border of grid_sample has a gradient", [
        ("compiler/frontend/emit/Sampling.cpp", "emit::clamped(e_, position, 0, static_cast<double>(size - 1))",
         "e_.min(e_.max(position, 0), static_cast<double>(size - 1))")]),
    Fault("labels out of range are accepted", [
        ("runtime/data/DataSource.cpp", "return !input.vocabulary ||", "return input.label || !input.vocabulary ||")]),
    Fault("padding has the label -100", [
        ("runtime/data/ArraySource.cpp", "row(count, padding)", "row(count, -100)")]),
    Fault("counters advance once per step", [
        ("dialects/graph/Step.cpp", "producer && replacesPerMicroBatch(step, i))", "producer && step.empty() && replacesPerMicroBatch(step, i))"),
        ("dialects/graph/Step.cpp", "(isRepeated || replacesPerMicroBatch(step, i))", "isRepeated")]),
    Fault("the loss is a mean of means", [
        ("passes/train/Loss.cpp", "  if (mean && isOnlyOne)\n", "  if (mean)\n")]),
    Fault("a copy from a flipped view of itself is lost", [
        ("passes/bufferize/Boundary.cpp", "!view.isSamePlace(views_.of(home))", "view.buffer != views_.of(home).buffer"),
        ("passes/bufferize/Boundary.cpp", "!from.isSamePlace(home)", "from.buffer != home.buffer")]),
    Fault("ties with a left out element do not count", [
        ("compiler/frontend/aten/Indexing.cpp", "isExtreme && !includesSelf && isFloating(x)", "isExtreme && !includesSelf && !isFloating(x)")]),
    Fault("empty blocks divide by zero", [
        ("passes/bufferize/Collectives.cpp", "blocksShape(blockShape, ranks)), whole",
         "blocksShape(blockShape, ProgramBuilder::elementsOf(blocks) / View::dense(blocks, blockShape).size())), whole")]),
]


def run(build, *more):
    """The first difference that the generator prints; none in time: None."""
    command = [sys.executable, "-B", str(HERE / "fuzz_modules.py"), "--bin", str(build / "bin"), "--jobs", JOBS, "--shrinks", "0",
               "--first", "500000", "--out", str(build / "modules"), *map(str, more)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        return next((line.strip() for line in process.stdout if line.startswith("seed ")), None)
    finally:
        process.terminate()
        if process.wait() == 77:
            sys.exit(77)


def clean(build):
    if found := run(build, "--cases", 40):
        sys.exit(f"random modules find something without any fault: {found}")


if __name__ == "__main__":
    sys.exit(hunt(options(__doc__), FAULTS, TOOLS, lambda fault, build, seconds: run(build, "--cases", 1000000, "--seconds", seconds), clean))
