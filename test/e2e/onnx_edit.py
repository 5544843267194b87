"""Makes another ONNX file out of one by changing single tensors, with nothing but the standard library.

Protobuf is a list of (field, wire type, value): `fields` splits a message, `join` puts it together again. Field numbers are
those of onnx.proto.
"""

import pathlib

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data):
    """The (field, wire type, value) of a message; a value is a number or bytes."""
    found, at = [], 0
    while at < len(data):
        tag, at = read_varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
        else:
            size, at = read_varint(data, at) if kind == BYTES else ({FIXED64: 8, FIXED32: 4}[kind], at)
            value, at = data[at : at + size], at + size
        found.append((tag >> 3, kind, value))
    return found


def join(parts):
    out = bytearray()
    for field, kind, value in parts:
        out += varint(field << 3 | kind)
        out += varint(value) if kind == VARINT else (varint(len(value)) if kind == BYTES else b"") + value
    return bytes(out)


def changed(data, path, change):
    """The message with `change` applied to every submessage at `path`, a list of field numbers."""
    if not path:
        return change(data)
    return join([
        (field, kind, changed(value, path[1:], change) if field == path[0] and kind == BYTES else value)
        for field, kind, value in fields(data)
    ])


def text(parts, field):
    return next((value.decode() for number, _, value in parts if number == field), "")


def replace_initializer(source, target, name, shape, floats, output_dims):
    """Writes `source` to `target` with the float32 initializer `name` replaced by little-endian `floats` of `shape`, and
    output_dims[NAME][DIM] as new dims of graph outputs."""
    seen = []

    def tensor(data):  # TensorProto: dims 1, data_type 2, name 8, raw_data 9
        if text(fields(data), 8) != name:
            return data
        seen.append(name)
        dims = [(1, VARINT, size) for size in shape]
        return join([*dims, (2, VARINT, 1), (8, BYTES, name.encode()), (9, BYTES, floats)])

    def output(data):  # ValueInfoProto: name 1, type 2.tensor_type 1.shape 2.dim 1.dim_value 1
        sizes = output_dims.get(text(fields(data), 1), {})

        def reshape(data):
            dims = fields(data)
            for dim, size in sizes.items():
                dims[dim] = (1, BYTES, join([(1, VARINT, size)]))
            return join(dims)

        return changed(data, [2, 1, 2], reshape)

    model = changed(pathlib.Path(source).read_bytes(), [7, 5], tensor)  # ModelProto.graph 7: initializer 5, output 12
    pathlib.Path(target).write_bytes(changed(model, [7, 12], output))
    if not seen:
        raise AssertionError(f"{source} has no initializer {name}")
