// Layers: the modules of the architectures, with PyTorch's parameter names and layouts. Each takes
// and returns tensors of the graph; `name` is the submodule, `in` and `out` are numbers of features
// or channels, `deviation` is that of the weight's initial values.
#pragma once

#include "compiler/zoo/Builder.h"

namespace cleave::zoo {

// -- layers of transformers

// y = x W^T + b with W of [out, in], for x of any rank.
Value linear(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
             bool bias = true, double deviation = 0.02);
// y = x W + b with W of [in, out]: GPT-2's Conv1D. `sizes` are the dims of x except the last.
Value conv1d(Builder &b, const std::string &name, const Value &x, const std::vector<Size> &sizes,
             int64_t in, int64_t out, double deviation = 0.02);
// Normalisations over the last dim, which has `size` elements.
Value layerNorm(Builder &b, const std::string &name, const Value &x, int64_t size,
                double epsilon = 1e-5);
Value rmsNorm(Builder &b, const std::string &name, const Value &x, int64_t size,
              double epsilon = 1e-6);
// The rows `indices` of a table of [count, size].
Value embedding(Builder &b, const std::string &name, const Value &indices, int64_t count,
                int64_t size, double deviation = 0.02);
// The first `length` rows of a table of [count, size].
Value positions(Builder &b, const std::string &name, Size length, int64_t count, int64_t size);

// Activations; `tanh` selects GELU's approximation by tanh.
Value gelu(Builder &b, const Value &x, bool tanh = false);
Value silu(Builder &b, const Value &x);

// [batch, length, heads * size] -> [batch, heads, length, size] and back.
Value splitHeads(Builder &b, const Value &x, Size batch, Size length, int64_t heads, int64_t size);
Value joinHeads(Builder &b, const Value &x, Size batch, Size length, int64_t width);

// Attention mask of [queries, keys]: 0 where the key is visible, the lowest float elsewhere.
Value causalMask(Builder &b, Size queries, Size keys);
// softmax(scale q k^T + mask) v on [batch, heads, length, size], in the form that the exporter
// writes for scaled_dot_product_attention. `mask` may be empty.
Value attend(Builder &b, const Value &q, const Value &k, const Value &v, const Value &mask,
             double scale);

// -- layers of convolutional networks

// Size, stride and padding of a square window, and the groups of a convolution.
struct Window {
  int64_t kernel = 1, stride = 1, pad = 0, groups = 1;
};
// Layers on images [batch, channels, height, width]; batchNorm has running statistics.
Value conv2d(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
             Window window, bool bias = false);
Value batchNorm(Builder &b, const std::string &name, const Value &x, int64_t channels);
Value relu(Builder &b, const Value &x);
Value maxPool(Builder &b, const Value &x, Window window);
Value averagePool(Builder &b, const Value &x, Window window);
// The mean over both spatial dims: [batch, channels].
Value globalAverage(Builder &b, const Value &x, int64_t channels);
// y = x W^T + b for x of rank 2.
Value classifier(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
                 double deviation = 0.01);

} // namespace cleave::zoo
