"""Writes ONNX models, such as long chains of operators, with nothing but the standard library."""

import struct

from onnx_edit import BYTES, VARINT, join

FORMS = ("pointwise", "matmul", "add", "residual")
WIDTH = 4  # elements of a row of every value


def name(field, text):
    return (field, BYTES, text.encode())


def value_info(value, dims):
    """A ValueInfoProto of float32: a number is a fixed dim, a word a symbol."""
    shape = join([(1, BYTES, join([name(2, dim) if isinstance(dim, str) else (1, VARINT, dim)])) for dim in dims])
    tensor = join([(1, VARINT, 1), (2, BYTES, shape)])
    return join([name(1, value), (2, BYTES, join([(1, BYTES, tensor)]))])


def weight(tensor, dims, values):
    return join([*((1, VARINT, dim) for dim in dims), (2, VARINT, 1), name(8, tensor),
                 (9, BYTES, struct.pack(f"<{len(values)}f", *values))])


def node(operator, inputs, output):
    return join([*(name(1, one) for one in inputs), name(2, output), name(3, f"n.{output}"), name(4, operator)])


def chain(form, length):
    """The nodes and the weights of `length` operators from `x` to `y`, the first of which adds a weight. The others: arithmetic
    of one operand, matmuls or sums with a weight each, or sums with the value two steps before."""
    nodes, weights, values = [node("Add", ["x", "w0"], "v0")], [weight("w0", (WIDTH,), [1.0] * WIDTH)], ["x", "v0"]
    for i in range(1, length):
        output, last = "y" if i + 1 == length else f"v{i}", values[-1]
        if form == "pointwise":
            nodes.append(node(("Sin", "Tanh", "Cos", "Sigmoid")[i % 4], [last], output))
        elif form == "residual":
            nodes.append(node("Add", [values[-3], last], output) if i % 3 == 2 else node(("Sin", "Tanh")[i % 3], [last], output))
        else:
            dims = (WIDTH, WIDTH) if form == "matmul" else (WIDTH,)
            identity = [float(form == "add" or at % (WIDTH + 1) == 0) for at in range(WIDTH ** len(dims))]
            weights.append(weight(f"w{i}", dims, identity))
            nodes.append(node("MatMul" if form == "matmul" else "Add", [last, f"w{i}"], output))
        values.append(output)
    return nodes, weights


def write_chain(path, form, length):
    """Writes the model: input `x` and output `y` of shape [batch, WIDTH]."""
    write_model(path, *chain(form, length), {"x": ["batch", WIDTH]}, {"y": ["batch", WIDTH]})


def write_model(path, nodes, weights, inputs, outputs):
    """Writes a model of these nodes and weights; inputs and outputs by name, with their dims."""
    graph = join([*((1, BYTES, one) for one in nodes), name(2, "model"), *((5, BYTES, one) for one in weights),
                  *((11, BYTES, value_info(*one)) for one in inputs.items()), *((12, BYTES, value_info(*one)) for one in outputs.items())])
    path.write_bytes(join([(1, VARINT, 8), (7, BYTES, graph), (8, BYTES, join([(2, VARINT, 17)]))]))
