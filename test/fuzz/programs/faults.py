#!/usr/bin/env python3
"""Seeds faults into a copy of the tree, one at a time, and measures the time until the tools find each.

    test/fuzz/programs/faults.py [--work DIR] [--seconds 600] [--only NAME]

Exit code 1 if a fault is not found in time.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from seeding import Fault, hunt, options  # noqa: E402

TOOLS = ["fuzz-kernels", "fuzz-programs"]

FAULTS = [
    Fault("a wrong stride", [("passes/codegen/nest/GroupNest.cpp",
         "        access.strides[factor] = stride;",
         "        access.strides[factor] = stride + (dim == 0 && stride > 8);")], "fuzz-kernels"),
    Fault("a missing last row", [("passes/codegen/cpu/ColumnEmitter.cpp",
         "    if (whole < size)", "    if (whole + 1 < size)")], "fuzz-kernels"),
    Fault("a wrong fold of a reduction", [("passes/codegen/nest/KernelBuilder.cpp",
         "scalar(element, isMax ? -infinity : infinity)", "scalar(element, isMax ? 0 : infinity)")], "fuzz-kernels"),
    Fault("a swapped operand", [("passes/codegen/nest/GroupEmitter.cpp",
         "  Value result;\n  if (auto pow",
         "  if (isa<graph::RemOp>(op))\n    std::swap(operands[0], operands[1]);\n  Value result;\n  if (auto pow")], "fuzz-kernels"),
    Fault("a missing mask on padding", [("compiler/planner/choices/Padding.cpp",
         "            size % mesh.ranksAlong(axes[f]))", "            size % mesh.ranksAlong(axes[f]) > 1)")], "fuzz-programs"),
    Fault("a stale buffer", [("passes/bufferize/ValueViews.cpp",
         "bufferLastUse_.lookup(view.buffer) <= order_.positionOf(op);",
         "bufferLastUse_.lookup(view.buffer) <= order_.positionOf(op) + 1;")], "fuzz-programs"),
    Fault("a wrong bucket offset", [("runtime/comm/local/SharedPieces.cpp",
         "  return piece.staging[member] + segment.packedAt +",
         "  return piece.staging[member] + segment.packedAt - (segment.pair == 1 ? elementBytes : 0) +")], "fuzz-programs"),
    Fault("a missing barrier", [("runtime/comm/local/SharedCommunicator.cpp",
         "  pack(piece);\n  CLEAVE_TRY(arrive(batch.kind));\n  CLEAVE_TRY(checkPostings(batch));\n  combine(piece);",
         "  pack(piece);\n  combine(piece);\n  CLEAVE_TRY(arrive(batch.kind));")], "fuzz-programs"),
    Fault("a wrong slot", [("runtime/executor/StepActions.cpp",
         "context_.state.slot = scheduled.slot();", "context_.state.slot = scheduled.slot() / 2;")], "fuzz-programs"),
    Fault("a gradient rule with a wrong sign", [("passes/autodiff/rules/Elementwise.cpp",
         "return dy * -sin(x);", "return dy * sin(x);")], "fuzz-programs"),
]


def run(tool, build, seconds):
    """The first error that the tool prints; none in time: None."""
    result = subprocess.run([str(build / "bin" / tool), "--cases", "0", "--seconds", str(seconds), "--shrinks", "0",
                             "--first", "500000", "--out", str(build)],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return next((line for line in result.stdout.splitlines() if line.startswith("seed ")), None)


def clean(build):
    for tool in TOOLS:
        if found := run(tool, build, 20):
            sys.exit(f"{tool} finds something without any fault: {found}")


sys.exit(hunt(options(__doc__), FAULTS, TOOLS, lambda fault, build, seconds: run(fault.tool, build, seconds), clean))
