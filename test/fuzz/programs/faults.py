#!/usr/bin/env python3
"""Seeds faults into a copy of the tree, one at a time, and measures the time until the tools find each.

    test/fuzz/programs/faults.py [--work DIR] [--seconds 600] [--only NAME]

A fault is a text of one source that is replaced by another. A fault whose text is not there (any more) is an error: the
table below follows the code. Exit code 1 if a fault is not found in time.
"""

import argparse
import pathlib
import subprocess
import sys
import time

from clone import compile_tools, fresh_clone

# name, tool, source, text, text with the fault
FAULTS = [
    ("a wrong stride", "fuzz-kernels", "passes/codegen/nest/GroupNest.cpp",
     "        access.strides[factor] = stride;",
     "        access.strides[factor] = stride + (dim == 0 && stride > 8);"),
    ("a missing last row", "fuzz-kernels", "passes/codegen/cpu/ColumnEmitter.cpp",
     "    if (whole < size)", "    if (whole + 1 < size)"),
    ("a wrong fold of a reduction", "fuzz-kernels", "passes/codegen/nest/KernelBuilder.cpp",
     "scalar(element, isMax ? -infinity : infinity)", "scalar(element, isMax ? 0 : infinity)"),
    ("a swapped operand", "fuzz-kernels", "passes/codegen/nest/GroupEmitter.cpp",
     "  Value result;\n  if (auto pow",
     "  if (isa<graph::RemOp>(op))\n    std::swap(operands[0], operands[1]);\n  Value result;\n  if (auto pow"),
    ("a missing mask on padding", "fuzz-programs", "passes/shard/Masking.cpp",
     "          size % mesh.ranksAlong(axes[f]))", "          size % mesh.ranksAlong(axes[f]) > 1)"),
    ("a stale buffer", "fuzz-programs", "passes/bufferize/StepLowering.cpp",
     "bufferLastUse_.lookup(view.buffer) <= position_.lookup(op);",
     "bufferLastUse_.lookup(view.buffer) <= position_.lookup(op) + 1;"),
    ("a wrong bucket offset", "fuzz-programs", "runtime/comm/local/SharedPieces.cpp",
     "  return piece.staging[member] + segment.packedAt +",
     "  return piece.staging[member] + segment.packedAt - (segment.pair == 1 ? elementBytes : 0) +"),
    ("a missing barrier", "fuzz-programs", "runtime/comm/local/SharedCommunicator.cpp",
     "  pack(piece);\n  CLEAVE_TRY(arrive(batch.kind));\n  CLEAVE_TRY(checkPostings(batch));\n  combine(piece);",
     "  pack(piece);\n  combine(piece);\n  CLEAVE_TRY(arrive(batch.kind));"),
    ("a wrong slot", "fuzz-programs", "runtime/executor/Executor.cpp",
     "state_.slot = scheduled.slot();", "state_.slot = scheduled.slot() / 2;"),
    ("a gradient rule with a wrong sign", "fuzz-programs", "passes/autodiff/rules/Elementwise.cpp",
     "return dy * -sin(x);", "return dy * sin(x);"),
]


def search(tool, build, seconds):
    """Seconds until the tool finds an error, and its message; or None."""
    begin = time.time()
    result = subprocess.run([str(build / "bin" / tool), "--cases", "0", "--seconds", str(seconds), "--shrinks", "0",
                             "--first", "500000", "--out", str(build)],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found = [line for line in result.stdout.splitlines() if line.startswith("seed ")]
    return (time.time() - begin, found[0]) if found else None


def hunt(fault, source, build, seconds):
    """The result of search() for the tree with the fault."""
    name, tool, path, text, wrong = fault
    file = source / path
    before = file.read_text()
    if text not in before:
        sys.exit(f"{name}: {path} does not hold its text any more")
    file.write_text(before.replace(text, wrong, 1))
    try:
        compile_tools(build)
        return search(tool, build, seconds)
    finally:
        file.write_text(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default="build/faults", type=pathlib.Path)
    parser.add_argument("--seconds", default=600, type=int)
    parser.add_argument("--only", help="part of a fault's name")
    arguments = parser.parse_args()
    source, build = fresh_clone(arguments.work)
    compile_tools(build)
    for tool in ("fuzz-kernels", "fuzz-programs"):
        if found := search(tool, build, 20):
            sys.exit(f"{tool} finds something without any fault: {found[1]}")
    missed = 0
    for fault in FAULTS:
        if arguments.only and arguments.only not in fault[0]:
            continue
        found = hunt(fault, source, build, arguments.seconds)
        missed += found is None
        print(f"{fault[0]:36}", f"{found[0]:6.1f} s  {found[1][:140]}" if found else "not found", flush=True)
    return 1 if missed else 0


sys.exit(main())
