// Window: the sliding window of convolutions and pooling, as the ONNX attributes give it.
#pragma once

#include "compiler/frontend/onnx/NodeImport.h"

namespace cleave::onnx {

struct Window {
  Dims kernel, strides, dilations, padsLow, padsHigh; // one entry per spatial dim
};

// Reads kernel_shape, strides, dilations, pads and auto_pad of a node over spatial dims of sizes
// `spatial`. `kernel` is the weight's kernel; empty: kernel_shape says it. With `ceil` (pooling)
// the last window may begin inside and end outside: the padding behind grows accordingly.
Window readWindow(NodeImport &n, const Dims &spatial, Dims kernel, bool ceil = false);

} // namespace cleave::onnx
