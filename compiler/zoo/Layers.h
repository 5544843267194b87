// Layers: the modules that the architectures are made of, with PyTorch's parameter names and
// layouts. Each takes and returns tensors of the graph; `name` is the submodule.
#pragma once

#include "compiler/zoo/Builder.h"

namespace cleave::zoo {

// -- layers of transformers

// y = x W^T + b with W of [out, in], for x of any rank.
Value linear(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
             bool bias = true, double deviation = 0.02);
// The same with W of [in, out] on rows: GPT-2's Conv1D. `sizes` are the dims of x without the last.
Value conv1d(Builder &b, const std::string &name, const Value &x, const std::vector<Size> &sizes,
             int64_t in, int64_t out, double deviation = 0.02);
Value layerNorm(Builder &b, const std::string &name, const Value &x, int64_t size,
                double epsilon = 1e-5);
Value rmsNorm(Builder &b, const std::string &name, const Value &x, int64_t size,
              double epsilon = 1e-6);
Value embedding(Builder &b, const std::string &name, const Value &indices, int64_t count,
                int64_t size, double deviation = 0.02);
// Rows of a table for the first `length` positions: [length, size].
Value positions(Builder &b, const std::string &name, Size length, int64_t count, int64_t size);

Value gelu(Builder &b, const Value &x, bool tanh = false);
Value silu(Builder &b, const Value &x);

// [batch, length, heads * size] -> [batch, heads, length, size] and back.
Value splitHeads(Builder &b, const Value &x, Size batch, Size length, int64_t heads, int64_t size);
Value joinHeads(Builder &b, const Value &x, Size batch, Size length, int64_t width);

// 0 where a position may be looked at and the lowest float elsewhere, [queries, keys].
Value causalMask(Builder &b, Size queries, Size keys);
// softmax(scale q k^T + mask) v on [batch, heads, length, size], as the exporter writes
// scaled_dot_product_attention; no mask where it is empty.
Value attend(Builder &b, const Value &q, const Value &k, const Value &v, const Value &mask,
             double scale);

// -- layers of convolutional networks

struct Window {
  int64_t kernel = 1, stride = 1, pad = 0, groups = 1;
};
Value conv2d(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
             Window window, bool bias = false);
Value batchNorm(Builder &b, const std::string &name, const Value &x, int64_t channels);
Value relu(Builder &b, const Value &x);
Value maxPool(Builder &b, const Value &x, Window window);
Value averagePool(Builder &b, const Value &x, Window window);
// The mean over both spatial dims, flat: [batch, channels].
Value globalAverage(Builder &b, const Value &x, int64_t channels);
// y = x W^T + b for x of rank 2.
Value classifier(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
                 double deviation = 0.01);

} // namespace cleave::zoo
