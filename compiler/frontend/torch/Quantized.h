// Quantized: the marks of a quantized model, which is not supported, and the one message about it. Tensors, objects and
// operators may each be the first mark that is met.
#pragma once

#include <string>

namespace cleave::torch {

// Whether PyTorch's element type of this name (`qint8`, `quint4x2`) has a scale and a zero point.
bool isQuantizedElement(const std::string &name);

// Whether objects of this class (`__torch__.torch.classes.quantized.LinearPackedParamsBase`) pack quantized weights, if
// their state is of their own kind. Others of the same folder are ordinary modules of a float model.
bool isQuantizedClass(const std::string &qualified);

// Whether the operator (`quantized::linear`, `aten::quantize_per_tensor`) computes with quantized numbers.
bool isQuantizedOperator(const std::string &name);

// Fails; `found` is what was found, a whole clause: `'w' is a tensor of qint8`.
[[noreturn]] void failOnQuantized(const std::string &found);

} // namespace cleave::torch
