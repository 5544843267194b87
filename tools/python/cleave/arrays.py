"""Arrays in files: .npy is written sample by sample, .safetensors is read. Standard library only: an array is anything with a shape and
a buffer (NumPy, `array.array`, `memoryview`), a tensor of PyTorch, or nested lists of numbers."""

from __future__ import annotations

import array
import ctypes
import json
import math
import os
import pathlib
import struct
from typing import Any, Dict, List, Sequence, Tuple, Union

Path = Union[str, os.PathLike]

# Element types: code of the buffer protocol -> type in a .npy header.
NPY_TYPES = {"?": "|b1", "b": "|i1", "B": "|u1", "h": "<i2", "H": "<u2", "i": "<i4", "I": "<u4", "l": "<i8", "L": "<u8", "q": "<i8", "Q": "<u8",
             "e": "<f2", "f": "<f4", "d": "<f8"}
TORCH_TYPES = {"bool": "|b1", "int8": "|i1", "uint8": "|u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4", "int64": "<i8",
               "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8"}
# Type in a .safetensors header -> code of the buffer protocol.
SAFETENSORS_TYPES = {"BOOL": "?", "I8": "b", "U8": "B", "I16": "h", "U16": "H", "I32": "i", "U32": "I", "I64": "q", "U64": "Q", "F16": "e",
                     "BF16": "H", "F32": "f", "F64": "d"}
HEADER_BYTES = 192  # of a .npy file, whatever its shape


class Raw:
    """The elements of an array in row-major order: type in a .npy header, shape, and bytes."""

    def __init__(self, dtype: str, shape: Sequence[int], data: bytes):
        self.dtype, self.shape, self.data = dtype, tuple(shape), data


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch; does not import PyTorch."""
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "data_ptr") or hasattr(value, "untyped_storage")


def raw(value: Any) -> Raw:
    """The elements of an array. A TypeError names a value that is not one."""
    if is_tensor(value):
        return _raw_tensor(value)
    if isinstance(value, (list, tuple)) and value and (is_tensor(value[0]) or not isinstance(value[0], (int, float, list, tuple))):
        return stacked([raw(element) for element in value])
    if isinstance(value, (bool, int, float, list, tuple)):
        return _raw_numbers(value)
    try:
        view = memoryview(value)
    except TypeError:
        if hasattr(value, "__array__"):
            return raw(value.__array__())
        raise TypeError(f"found a value of type {type(value).__name__}, expected an array") from None
    code = view.format.lstrip("@=<" if struct.pack("=H", 1) == b"\1\0" else "@=")
    if code not in NPY_TYPES:
        raise TypeError(f"found an array with elements of type '{view.format}', expected numbers")
    return Raw(NPY_TYPES[code], view.shape or (), view.tobytes())


def stacked(parts: Sequence[Raw]) -> Raw:
    """Arrays of one type and shape along a new first dim."""
    for part in parts:
        if (part.dtype, part.shape) != (parts[0].dtype, parts[0].shape):
            raise TypeError(f"found samples of shapes {list(parts[0].shape)} and {list(part.shape)} and types {parts[0].dtype} and {part.dtype}, "
                            "expected one shape and one type")
    return Raw(parts[0].dtype, (len(parts), *parts[0].shape), b"".join(part.data for part in parts))


def _raw_tensor(tensor: Any) -> Raw:
    name = str(tensor.dtype).split(".")[-1]
    if name == "bfloat16":
        tensor, name = tensor.float(), "float32"
    if name not in TORCH_TYPES:
        raise TypeError(f"found a tensor of {name}, expected one of {', '.join(TORCH_TYPES)}, bfloat16")
    tensor = tensor.detach().cpu().contiguous()
    return Raw(TORCH_TYPES[name], tensor.shape, ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()))


def _raw_numbers(value: Any) -> Raw:
    shape: List[int] = []
    flat: List[Any] = [value]
    while flat and isinstance(flat[0], (list, tuple)):
        sizes = {len(element) if isinstance(element, (list, tuple)) else -1 for element in flat}
        if len(sizes) != 1:
            raise TypeError("found lists of different lengths, expected an array")
        shape.append(sizes.pop())
        flat = [number for element in flat for number in element]
    floats = any(isinstance(number, float) for number in flat)
    return Raw("<f4" if floats else "<i8", shape, array.array("f" if floats else "q", flat).tobytes())


def npy_header(dtype: str, shape: Tuple[int, ...]) -> bytes:
    """What comes before the elements in the .npy format."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", HEADER_BYTES - 10) + header.encode().ljust(HEADER_BYTES - 11) + b"\n"


def check_alike(first: Raw, part: Raw, name: str) -> None:
    """Raises a TypeError if the samples of two arrays differ in type or shape."""
    if (part.dtype, part.shape[1:]) != (first.dtype, first.shape[1:]):
        raise TypeError(f"found samples of `{name}` of shape {list(part.shape[1:])} and type {part.dtype} after samples of shape "
                        f"{list(first.shape[1:])} and type {first.dtype}, expected one shape and one type")


class NpyWriter:
    """Writes arrays one after the other along the first dim of a .npy file. All have the type and the sample shape of the first."""

    def __init__(self, path: Path):
        self.path = pathlib.Path(path)
        self.samples = 0
        self._file = open(path, "wb")
        self._file.write(b" " * HEADER_BYTES)
        self._first: Raw = None  # type: ignore[assignment]

    def __enter__(self) -> NpyWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def append(self, part: Raw, name: str) -> None:
        """Adds samples along the first dim of `part`."""
        self._first = self._first or part
        check_alike(self._first, part, name)
        self._file.write(part.data)
        self.samples += part.shape[0]

    def close(self) -> None:
        """Completes the file."""
        if self._first and not self._file.closed:
            self._file.seek(0)
            self._file.write(npy_header(self._first.dtype, (self.samples, *self._first.shape[1:])))
        self._file.close()


def write_npy(path: Path, value: Raw, name: str) -> None:
    """Writes one array."""
    with NpyWriter(path) as writer:
        writer.append(value if value.shape else Raw(value.dtype, (1,), value.data), name)


def read_safetensors(path: Path) -> Dict[str, Tuple[str, Tuple[int, ...], memoryview]]:
    """Name -> (type, shape, bytes) of a .safetensors file."""
    content = memoryview(pathlib.Path(path).read_bytes())
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(bytes(content[8 : 8 + size]))
    data = content[8 + size :]
    return {name: (entry["dtype"], tuple(entry["shape"]), data[slice(*entry["data_offsets"])]) for name, entry in header.items()
            if name != "__metadata__"}


def load_arrays(path: Path) -> Dict[str, Any]:
    """The arrays of a .safetensors file by name: NumPy's, or without it memoryviews with shape and type. bfloat16 becomes its bits."""
    try:
        import numpy
    except ImportError:
        numpy = None
    found: Dict[str, Any] = {}
    data: Any
    for name, (dtype, shape, data) in read_safetensors(path).items():
        code = SAFETENSORS_TYPES[dtype]
        if numpy is not None:
            found[name] = numpy.frombuffer(data, dtype=numpy.dtype(code)).reshape(shape).copy()
        else:
            found[name] = data.cast(code, shape) if math.prod(shape) and shape else data.cast(code)
    return found
