// Window: the sliding window of convolutions and pooling, read from ONNX attributes.
#pragma once

#include "compiler/frontend/emit/Convolution.h"
#include "compiler/frontend/emit/Pooling.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {

// The attributes of a sliding window.
struct WindowAttributes {
  emit::Window window; // the kernel is empty if the attribute is missing
  // The attribute auto_pad: padding that follows from the sizes.
  emit::AutoPad autoPad = emit::AutoPad::None;
};

// Reads kernel_shape, strides, dilations, pads and auto_pad.
WindowAttributes readWindow(NodeImport &n);

// Sets the padding and output padding with which a transposed convolution of the node's first two
// inputs has these spatial `sizes`.
void padToSizes(NodeImport &n, Ints sizes, Ints &outputPadding, WindowAttributes &read);

// Reads the attributes that all pooling operators have.
emit::PoolOptions readPool(NodeImport &n);

} // namespace cleave::onnx
