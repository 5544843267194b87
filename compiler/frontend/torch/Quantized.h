// Quantized: identifies quantized models by tensors, objects and operators, and refuses them with
// one message.
#pragma once

#include <string>

namespace cleave::torch {

// Whether PyTorch's element type of this name (`qint8`, `quint4x2`) has a scale and a zero point.
bool isQuantizedElement(const std::string &name);

// Whether the class (`__torch__.torch.classes.quantized.LinearPackedParamsBase`) packs quantized
// weights, if its state is of a special kind. Other classes of these folders are modules of float
// models.
bool isQuantizedClass(const std::string &qualified);

// Whether the operator (`quantized::linear`, `aten::quantize_per_tensor`) computes with quantized
// numbers.
bool isQuantizedOperator(const std::string &name);

// Fails; `found` is a clause: `'w' is a tensor of qint8`.
[[noreturn]] void failOnQuantized(const std::string &found);

} // namespace cleave::torch
