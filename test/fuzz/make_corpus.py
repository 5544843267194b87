#!/usr/bin/env python3
"""Writes the first inputs of every target into FOLDER/TARGET/: small valid files, which the fuzzer mutates.

    python3 test/fuzz/make_corpus.py FOLDER BUILD [ARCHIVE…]

BUILD is a build with cleave-compile, which writes the plans. ARCHIVE: more TorchScript (.pt) and exported programs (.pt2) to take
apart, such as test/models/torch/sweep.py --keep keeps.
"""

import base64
import io
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = ROOT / "test/models"
MOST = 4000  # bytes of one input
HEADER = 20  # bytes of a plan file before its message


# JPEG files of 10 x 9 pixels, written by PIL: colours, progressive; and grey.
COLOURED = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6/+b9//j/"
    "2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wgARCAAJAAoDASIAAhEBAxEB/8QA"
    "FwAAAwEAAAAAAAAAAAAAAAAAAAEDBP/EABQBAQAAAAAAAAAAAAAAAAAAAAL/2gAMAwEAAhADEAAAAczmNf/EABYQAQEBAAAAAAAAAAAAAAAAABEAEP/aAAgB"
    "AQABBQJnf//EABYRAAMAAAAAAAAAAAAAAAAAAAABEv/aAAgBAwEBPwG2f//EABYRAQEBAAAAAAAAAAAAAAAAAAEAIf/aAAgBAgEBPwEMv//EABQQAQAAAAAA"
    "AAAAAAAAAAAAACD/2gAIAQEABj8CH//EABcQAQEBAQAAAAAAAAAAAAAAAAEAEBH/2gAIAQEAAT8hDcxn/9oADAMBAAIAAwAAABDT/8QAFREBAQAAAAAAAAAA"
    "AAAAAAAAAAH/2gAIAQMBAT8Qr//EABURAQEAAAAAAAAAAAAAAAAAAAAB/9oACAECAQE/EJH/xAAYEAACAwAAAAAAAAAAAAAAAAAAARBRYf/aAAgBAQABPxCk"
    "zJy//9k=")
GREY = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6/+b9//j/"
    "wAALCAAJAAoBAREA/8QAFgABAQEAAAAAAAAAAAAAAAAAAAEF/8QAGhAAAgIDAAAAAAAAAAAAAAAAAAMBFVKR0f/aAAgBAQAAPwCWyMGajotkYM1HTGB//9k=")


def png(width, height, kind, bits, rows, interlaced=0):
    """A PNG file; `rows` are its scan lines with their filters."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, interlaced)
    palette = chunk(b"PLTE", bytes(range(12))) if kind == 3 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + palette + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def images(out):
    made = {"jpeg-progressive": COLOURED, "jpeg-grey": GREY, "png-rgba": png(2, 2, 6, 8, bytes(2 * 9)), "png-16": png(2, 2, 2, 16, bytes(2 * 13)),
            "png-palette": png(4, 2, 3, 2, b"\0\x1b\1\xe4"), "png-interlaced": png(2, 2, 0, 8, bytes(2 + 2 + 3), 1)}
    (out / "image").mkdir()
    (out / "tar").mkdir()
    for name, content in made.items():
        (out / "image" / name).write_bytes(content)
    for name, form in (("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)):
        folder = "d" * (40 if name == "ustar" else 120)
        with tarfile.open(out / "tar" / name, "w", format=form) as archive:
            for member, content in (("0.png", made["png-16"]), ("0.cls", b"1"), (f"{folder}/1.jpg", GREY), (f"{folder}/1.cls", b"9\n")):
                info = tarfile.TarInfo(member)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


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


def zipped(path, method):
    """The bytes of an archive without the entries for debuggers."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            if not name.endswith(".debug_pkl") and "sample_inputs" not in name:
                new.writestr(zipfile.ZipInfo(name), old.read(name), method if "/code/" in name else zipfile.ZIP_STORED)
    return buffer.getvalue()


def parts(path, first):
    """The entries of an archive in the format of MakeArchive.h, with zeros as weights."""
    entries = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            short = name.split("/", 1)[1]
            if name.endswith(".debug_pkl") or "sample_inputs" in name or short.startswith(".data"):
                continue
            data = archive.read(name)
            if name.endswith(".json"):
                data = json.dumps(json.loads(data), separators=(",", ":")).encode()
            isWeight = short.split("/")[-1].removeprefix("weight_").isdigit()
            entries[short] = (f" zeros={len(data)}".encode(), b"") if isWeight else (b"", data)
    out = b""
    for name in sorted(entries, key=lambda name: (name != first, name)):
        note, data = entries[name]
        out += b"=== " + name.encode() + note + b"\n" + data + (b"" if data.endswith(b"\n") else b"\n")
    return out


# data.pkl of an object of class M with a parameter, a buffer and a submodule of class C; traced_inputs.pkl of two inputs.
def tensor_pickle(storage, kind, key, shape):
    count, strides = 1, []
    for size in reversed(shape):
        strides.insert(0, count)
        count *= size
    number = lambda n: b"K" + bytes([n])
    text = lambda s: b"X" + struct.pack("<I", len(s)) + s.encode()
    tuple_of = lambda items: b"(" + b"".join(items) + b"t"
    storage = tuple_of([text("storage"), b"ctorch\n" + kind.encode() + b"\n", text(key), text("cpu"), number(count)]) + b"Q"
    return (b"ctorch._utils\n_rebuild_tensor_v2\n" +
            tuple_of([storage, number(0), tuple_of(map(number, shape)), tuple_of(map(number, strides)), b"\x89",
                      b"ccollections\nOrderedDict\n)R"]) + b"R")


def object_pickle(name, attributes):
    text = lambda s: b"X" + struct.pack("<I", len(s)) + s.encode()
    return b"c__torch__\n" + name.encode() + b"\n)\x81}(" + b"".join(text(k) + v for k, v in attributes.items()) + b"ub"


PROGRAMS = {
    "arithmetic": """    y = torch.add(torch.matmul(x, torch.t(self.weight)), self.bias)
    z, n = torch.relu(y), torch.size(x, 0)
    if n == 2:
      z = torch.mul(z, 2.5)
    else:
      z = torch.neg(z)
    return torch.softmax(z, -1)
""",
    "loop": """    total, i, parts = torch.zeros_like(x), 0, annotate(List[Tensor], [])
    for k in range(3):
      total = torch.add(total, torch.mul(x, k), alpha=1)
      _0 = torch.append(parts, total)
    while torch.lt(i, 2):
      i = torch.add(i, 1)
    return (torch.cat(parts, 1), {"a": total, "b": self.child.forward(x, )}, [i])
""",
    "branch": """    c = torch.gt(torch.sum(x), 0.)
    if bool(c):
      y = torch.exp(x)
    else:
      y = torch.sigmoid(x)
    with no_grad():
      _1 = torch.add_(self.running, torch.mean(x, [0]))
    s = torch.format("{} of {}", torch.size(x), torch.len(torch.size(x)))
    return torch.view(torch.slice(y, 1, 0, 2, 1), [-1, torch.size(x, 0)])
""",
    "shapes": """    a, b = torch.size(x)
    y = torch.permute(torch.unsqueeze(x, 0), [1, 0, 2])
    y = torch.reshape(y, [int(a), torch.mul(b, 1)])
    v = torch.select(y, 1, -1)
    torch.copy_(v, torch.ones([2], dtype=6))
    return torch.index_select(torch.transpose(y, 0, 1), 0, torch.arange(2)), torch.embedding(self.weight, n)
""",
}


def small_program():
    """An exported program as its JSON: view(x + x) of one input [s0, 3]."""
    size = {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 2}}}
    tensor = {"dtype": 7, "sizes": [size, {"as_int": 3}], "strides": [{"as_int": 3}, {"as_int": 1}],
              "storage_offset": {"as_int": 0}, "layout": 7, "requires_grad": False}
    name = lambda text: {"as_tensor": {"name": text}}
    add = {"target": "torch.ops.aten.add.Tensor", "name": "y", "outputs": [name("y")], "metadata": {},
           "inputs": [{"name": "self", "arg": name("x"), "kind": 1}, {"name": "other", "arg": name("x"), "kind": 1}]}
    view = {"target": "torch.ops.aten.view.default", "name": "z", "outputs": [name("z")], "metadata": {},
            "inputs": [{"name": "self", "arg": name("y"), "kind": 1},
                       {"name": "size", "arg": {"as_sym_ints": [{"as_int": 3}, {"as_int": -1}]}, "kind": 1}]}
    graph = {"inputs": [name("x")], "outputs": [name("z")], "nodes": [add, view],
             "tensor_values": {"x": tensor, "y": tensor}, "sym_int_values": {}, "is_single_tensor_return": False}
    signature = {"input_specs": [{"user_input": {"arg": name("x")}}], "output_specs": [{"user_output": {"arg": name("z")}}]}
    return {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": []}, "opset_version": {"aten": 10},
            "range_constraints": {"s0": {"min_val": 0, "max_val": None}}, "schema_version": {"major": 8, "minor": 1},
            "torch_version": "2.9"}


def torch(out):
    for target in ("torchscript", "source", "pt2", "program", "archive", "pickle"):
        (out / target).mkdir()
    for name in ("mlp.trace", "mlp.frozen"):
        path = MODELS / "torch" / f"{name}.pt"
        (out / "torchscript" / name).write_bytes(zipped(path, zipfile.ZIP_DEFLATED))
        (out / "source" / name).write_bytes(parts(path, "code/__torch__.py"))
    with zipfile.ZipFile(out / "pt2/small", "w") as archive:
        archive.writestr(zipfile.ZipInfo("x/models/model.json"), json.dumps(small_program(), separators=(",", ":")))
        archive.writestr(zipfile.ZipInfo("x/data/weights/model_weights_config.json"), '{"config":{}}')
    with zipfile.ZipFile(MODELS / "mlp.pt2") as old, zipfile.ZipFile(out / "pt2/mlp", "w") as new:
        for name in old.namelist():
            if "sample_inputs" not in name:
                new.writestr(zipfile.ZipInfo(name), old.read(name), zipfile.ZIP_DEFLATED if name.endswith(".json") else None)
    (out / "program/small").write_text(json.dumps(small_program(), separators=(",", ":")) +
                                       '\n=== data/weights/model_weights_config.json\n{"config":{}}\n')
    (out / "program/mlp").write_bytes(parts(MODELS / "mlp.decomposed.pt2", "models/model.json"))
    with zipfile.ZipFile(MODELS / "torch/mlp.trace.pt") as archive:
        for name in ("data", "traced_inputs"):
            (out / "pickle" / name).write_bytes(archive.read(f"mlp.trace/{name}.pkl"))
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(out / "archive" / name, "w", method) as archive:
            archive.writestr(zipfile.ZipInfo("x/a"), "some text " * 5, method)
            archive.writestr(zipfile.ZipInfo("x/b/c"), bytes(40), method)
    child = object_pickle("C", {"training": b"\x88", "scale": b"G" + struct.pack(">d", 0.5)})
    data = b"\x80\x02" + object_pickle("M", {
        "training": b"\x88", "weight": tensor_pickle("storage", "FloatStorage", "0", [4, 3]),
        "bias": tensor_pickle("storage", "FloatStorage", "1", [4]),
        "running": tensor_pickle("storage", "FloatStorage", "2", [3]), "child": child}) + b"."
    traced = b"\x80\x02}(X\x07\0\0\0forward(" + tensor_pickle("storage", "FloatStorage", "0", [2, 3]) + \
        tensor_pickle("storage", "LongStorage", "1", [2, 3]) + b"tu."
    for name, body in PROGRAMS.items():
        code = f"""class M(Module):
  __parameters__ = ["weight", "bias", ]
  __buffers__ = ["running", ]
  training : bool
  weight : Tensor
  bias : Tensor
  running : Tensor
  child : __torch__.C
  def forward(self: __torch__.M,
    x: Tensor,
    n: Tensor) -> Tensor:
{body}class C(Module):
  __parameters__ = []
  training : bool
  scale : float
  def forward(self: __torch__.C,
    x: Tensor) -> Tensor:
    return torch.mul(x, self.scale)
def no_grad() -> NoneType:
  return None
"""
        text = code.encode() + b"=== data.pkl\n" + data + b"\n=== data/0 zeros=48\n\n=== data/1 zeros=16\n" \
            b"\n=== data/2 zeros=12\n\n=== traced_inputs.pkl\n" + traced + b"\n=== version\n3\n"
        (out / "source" / name).write_bytes(text)


def typed(out):
    (out / "options").mkdir()
    (out / "options/all").write_text("\n".join([
        "batch=8", "x=1,2.5,-3e4", "a.weight=b.weight", "x=float32[batch,3,224]", "flag=true", "softmax-cross-entropy:a,b",
        "mse:y", "output:loss", "adamw:lr=1e-3,weight-decay=0.1,beta1=0.9", "sgd:lr=.1,momentum=0.9,nesterov", "1.5 MiB",
        "800MB", "dp=2,tp=4", "2*batch*seq^2 - floor((h + 1)/2) + 3", "floor(floor(s/2)/3)*4"]))


def models(out):
    (out / "onnx").mkdir()
    files = [*(MODELS / "ops").glob("*.onnx"), *(MODELS / "bad").glob("*.onnx"), *(MODELS / "programs").glob("*.onnx"),
             MODELS / "symbolic/expression.onnx"]
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
    out, build, archives = pathlib.Path(sys.argv[1]), sys.argv[2], map(pathlib.Path, sys.argv[3:])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    arrays(out)
    images(out)
    models(out)
    torch(out)
    for path in archives:
        target, first = ("program", "models/model.json") if path.suffix == ".pt2" else ("source", "code/__torch__.py")
        (out / target / path.stem).write_bytes(parts(path, first))
    typed(out)
    documents(out, build)
    for target in sorted(out.iterdir()):
        files = list(target.iterdir())
        print(target.name, len(files), sum(f.stat().st_size for f in files))


if __name__ == "__main__":
    main()
