#!/usr/bin/env python3
"""Writes the first inputs of every target into FOLDER/TARGET/: small whole files, from which a fuzzer mutates.

    python3 test/fuzz/make_corpus.py FOLDER BUILD

BUILD is a build with cleave-compile, which writes the plans.
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = ROOT / "test/models"
MOST = 4000  # bytes of one input
HEADER = 20  # bytes of a plan file before its message


def npy(dtype, shape, data, fortran=False):
    header = f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def arrays(out):
    single = npy("<f4", "(2, 3)", struct.pack("<6f", *range(6)))
    (out / "npy").mkdir()
    (out / "npy/f4").write_bytes(single)
    (out / "npy/i8").write_bytes(npy("<i8", "(3,)", struct.pack("<3q", 1, 2, 3)))
    (out / "npy/fortran").write_bytes(npy("<f8", "(2, 2)", struct.pack("<4d", 1, 2, 3, 4), True))
    (out / "npz").mkdir()
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(out / "npz" / name, "w", method) as archive:
            archive.writestr(zipfile.ZipInfo("a.npy"), single, method)
            archive.writestr(zipfile.ZipInfo("b.npy"), npy("|b1", "()", b"\x01"), method)
    (out / "safetensors").mkdir()
    head = json.dumps({"__metadata__": {"k": "v"}, "w": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
                       "b": {"dtype": "BF16", "shape": [1], "data_offsets": [8, 10]}}).encode()
    (out / "safetensors/two").write_bytes(struct.pack("<Q", len(head)) + head + bytes(10))


def models(out):
    (out / "onnx").mkdir()
    files = [*(MODELS / "ops").glob("*.onnx"), *(MODELS / "bad").glob("*.onnx")]
    for path in sorted(files):
        if path.stat().st_size <= MOST:
            shutil.copy(path, out / "onnx" / path.stem)


def documents(out, build):
    for target in ("cluster", "pins", "solver", "plan", "checkpoint"):
        (out / target).mkdir()
    link = {"latency_seconds": 3e-6, "bytes_per_second": 2e10}
    cluster = {"name": "x", "source": "y", "kind": "gpu", "nodes": 2, "devices_per_node": 4,
               "memory": {"device_bytes": 1000, "reserved_bytes": 10, "host_bytes": 5000},
               "compute": {"f32": {"peak_flops": 1e12, "efficiency": [[1, 0.1], [1e6, 0.9]]}, "bf16": {"peak_flops": 2e12}},
               "memory_bandwidth": {"bytes_per_second": 1e11, "efficiency": [[10, 0.5]]}, "launch_seconds": 2e-6,
               "host_link": link,
               "levels": [{"name": "node", "devices": 4, "links": {"send_recv": [link], "all_reduce": [dict(link, ranks=2), link]}},
                          {"name": "net", "devices": 0, "links": {"send_recv": [link]}}]}
    (out / "cluster/two-levels").write_text(json.dumps(cluster))
    (out / "pins/two").write_text(json.dumps({"pins": [{"name": "fc.*", "layout": [[], ["tp"]], "use": [[], []]},
                                                       {"op": "dot*", "layout": [["dp"]]}]}))
    problem = {"name": "p", "spaces": [{"name": "m", "budget": 8}],
               "nodes": [{"name": "a", "usages": [[0, 2, 0]], "choices": [{"label": "x", "cost": 1.5, "bytes": [4]},
                                                                          {"label": "y", "cost": None, "bytes": [2]}]},
                         {"name": "b", "usages": [], "choices": [{"label": "x", "cost": 0, "bytes": []}]}],
               "edges": [{"from": 0, "to": 1, "cost": [0, 2]}]}
    (out / "solver/two").write_text(json.dumps(problem))
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (("forward", []), ("train", ["--train", "--loss", "mse:logits", "--ranks", "2", "--pin", "zero3"])):
            plan = pathlib.Path(folder) / name
            command = [f"{build}/bin/cleave-compile", MODELS / "bad/good.onnx", "--set", "batch=4", *options, "-o", plan]
            subprocess.run(command, check=True, capture_output=True)
            (out / "plan" / f"{name}-message").write_bytes(plan.read_bytes()[HEADER:])
        shutil.copy(pathlib.Path(folder) / "forward", out / "plan/forward")
    index = {"format_version": 1, "step": 1, "extra": {}, "files": {"rank-00000.safetensors": 80},
             "tensors": {"w": {"dtype": "f32", "shape": [2], "slices": [{"file": "rank-00000.safetensors", "offset": [0],
                                                                          "shape": [2], "crc32": zlib.crc32(struct.pack("<2f", 1, 2))}]}}}
    (out / "checkpoint/one").write_text(json.dumps(index))


def main():
    out, build = pathlib.Path(sys.argv[1]), sys.argv[2]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    arrays(out)
    models(out)
    documents(out, build)
    for target in sorted(out.iterdir()):
        files = list(target.iterdir())
        print(target.name, len(files), sum(f.stat().st_size for f in files))


if __name__ == "__main__":
    main()
