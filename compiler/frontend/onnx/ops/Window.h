// Window: the sliding window of convolutions and pooling, as the ONNX attributes give it.
#pragma once

#include "compiler/frontend/emit/Convolution.h"
#include "compiler/frontend/emit/Pooling.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {

struct WindowAttributes {
  emit::Window window; // the kernel is empty where the attribute is absent
  emit::AutoPad autoPad = emit::AutoPad::None;
};

// Reads kernel_shape, strides, dilations, pads and auto_pad.
WindowAttributes readWindow(NodeImport &n);

// The padding, and output padding, with which a transposed convolution of the node's first two inputs
// has a result of these spatial `sizes`.
void padToSizes(NodeImport &n, Ints sizes, Ints &outputPadding, WindowAttributes &read);

// What all pooling operators say about their windows.
emit::PoolOptions readPool(NodeImport &n);

} // namespace cleave::onnx
