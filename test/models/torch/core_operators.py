#!/usr/bin/env python3
"""Lists the operators of PyTorch's core ATen set that Cleave does not import.

    test/models/torch/core_operators.py

The core set is what torch.export decomposes programs to, by PyTorch's own tags; what Cleave imports is what the tables in
compiler/frontend/aten name. Exit code 1 if an operator is missing that MISSING does not give a reason for, or one is there that it
does. Needs torch; without it the code is 77. `ctest -R core-operators` runs it.
"""

import pathlib
import re
import sys

try:
    import torch
except ImportError:
    print("skipped: found no PyTorch in this Python, whose operators are listed; -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

TABLES = pathlib.Path(__file__).resolve().parents[3] / "compiler/frontend/aten"

SHAPE = "the result's shape depends on data"
GRADIENT = "a gradient: Cleave takes gradients of the forward computation itself"
# operator -> why it is not imported
MISSING = {
    "_adaptive_avg_pool2d_backward": GRADIENT,
    "avg_pool2d_backward": GRADIENT,
    "convolution_backward": GRADIENT,
    "embedding_dense_backward": GRADIENT,
    "max_pool2d_with_indices_backward": GRADIENT,
    "native_group_norm_backward": GRADIENT,
    "native_layer_norm_backward": GRADIENT,
    "nonzero": SHAPE,
}


def core_set():
    """The names, without overloads."""
    names = set()
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if isinstance(packet, torch._ops.OpOverloadPacket):
            if any(torch.Tag.core in getattr(packet, overload).tags for overload in packet.overloads()):
                names.add(name)
    return names


def imported():
    rows = re.compile(r'^    {"([\w:]+)",', re.MULTILINE)
    return {name for path in sorted(TABLES.glob("*.cpp")) for name in rows.findall(path.read_text())}


def is_imported(name, known):
    return name in known or name.removesuffix("_copy") in known or name.removesuffix("_") in known


def main():
    known = imported()
    core = core_set()
    missing = sorted(name for name in core if not is_imported(name, known))
    for name in missing:
        print(f"{name:40} {MISSING.get(name, 'NO REASON')}")
    stale = sorted(name for name in MISSING if name not in missing)
    for name in stale:
        print(f"{name:40} has a reason, but is imported or no core operator")
    print(f"{len(core)} core operators, {len(missing)} not imported")
    return 1 if stale or any(name not in MISSING for name in missing) else 0


if __name__ == "__main__":
    sys.exit(main())
