// Attention and RotaryEmbedding of the standard domain.
#include "compiler/frontend/emit/Attention.h"

#include "compiler/frontend/onnx/file/TensorReader.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// Inputs of Attention.
namespace standard_inputs {
enum Input : size_t {
  kQuery,     // [batch, heads, steps, size] or [batch, steps, heads · size]
  kKey,       // as kQuery, with the key heads
  kValue,     // as kKey
  kMask,      // broadcast to [batch, heads, steps, keys]: bool, or added to the scores
  kPastKey,   // [batch, key heads, past steps, size]
  kPastValue, // as kPastKey
  kKeyCounts, // [batch]: keys of each line that are not padding
};
} // namespace standard_inputs

// [batch, steps, heads · size] -> [batch, heads, steps, size]; operands with 4 dims are returned
// unchanged.
Value splitHeads(NodeImport &n, Value x, int64_t heads) {
  Sizes dims = shapeOf(x);
  if (dims.size() == 4)
    return x;
  std::optional<Polynomial> size;
  if (dims.size() == 3 && heads > 0)
    size = dims[2].dividedBy(Polynomial(heads));
  if (!size)
    fail("has an operand ", showShape(dims), " for ", heads,
         " heads, expected [batch, steps, a multiple] or 4 dims");
  return n.swapDims(n.reshape(x, {dims[0], dims[1], heads, *size}), 1, 2);
}

Value joinHeads(NodeImport &n, Value x) {
  Sizes dims = shapeOf(x);
  return n.reshape(n.swapDims(x, 1, 2), {dims[0], dims[2], dims[1] * dims[3]});
}

AttentionOptions readOptions(NodeImport &n, Value q) {
  using namespace standard_inputs;
  AttentionOptions options;
  if (n.hasAttribute("scale"))
    options.scale = n.decimal("scale", 0);
  options.mask = n.optionalInput(kMask);
  options.causal = n.integer("is_causal", 0);
  options.leftWindow = n.integer("left_window_size", -1);
  options.rightWindow = n.integer("right_window_size", -1);
  options.softcap = n.decimal("softcap", 0);
  if (int64_t number = n.integer("softmax_precision", 0)) {
    std::optional<ElementType> type = elementTypeOf(static_cast<int32_t>(number));
    if (!type || !isFloat(*type))
      fail("attribute 'softmax_precision' is ", number, ", expected a floating-point type");
    options.softmaxType = graph::fromElementType(*type, n.b.getContext());
  }
  if (n.hasInput(kKeyCounts)) {
    options.keyCounts = n.cast(n.input(kKeyCounts), n.b.getI64Type());
    Value queries = n.splatSize(options.keyCounts, n.dim(q, 2));
    options.offsets = n.sub(options.keyCounts, queries);
  }
  return options;
}

// The scores that output 3 returns, by the attribute 'qk_matmul_output_mode'.
Value shownScores(NodeImport &n, const AttentionResult &result, const AttentionOptions &options) {
  int64_t mode = n.integer("qk_matmul_output_mode", 0);
  if (mode == 0)
    return result.product;
  if (mode == 1)
    return result.capped;
  if (mode == 3)
    return result.weights;
  if (mode != 2)
    fail("attribute 'qk_matmul_output_mode' is ", mode, ", expected 0 to 3");
  Value bias = attentionBias(n, result.capped, options);
  return bias ? n.add(result.capped, bias) : result.capped;
}

Values importAttention(NodeImport &n) {
  using namespace standard_inputs;
  n.checkInputs(3, 7);
  int64_t heads = n.integer("q_num_heads", 0), keyHeads = n.integer("kv_num_heads", 0);
  bool isFlat = n.rank() == 3;
  Value q = splitHeads(n, n.input(kQuery), heads), k = splitHeads(n, n.input(kKey), keyHeads),
        v = splitHeads(n, n.input(kValue), keyHeads);
  AttentionOptions options = readOptions(n, q);
  if (n.hasInput(kPastKey) && n.hasInput(kPastValue)) {
    options.offset = n.dim(n.input(kPastKey), 2);
    k = n.concat({n.input(kPastKey), k}, 2);
    v = n.concat({n.input(kPastValue), v}, 2);
  }
  AttentionResult result = attention(n, q, k, v, options);
  Values outputs = {isFlat ? joinHeads(n, result.output) : result.output, k, v};
  n.ignore({"qk_matmul_output_mode"});
  if (n.hasOutput(3))
    outputs.push_back(shownScores(n, result, options));
  return outputs;
}

// The rows of a table of cosines or sines for every position, with a dim of size 1 for the heads.
Value anglesOf(NodeImport &n, Value cache) {
  constexpr size_t kPositions = 3; // [batch, steps]
  if (n.hasInput(kPositions))
    cache = n.gather(cache, n.input(kPositions), 0);
  if (rankOf(cache) != 3)
    fail("has a cache of ", rankOf(cache), " dims, expected angles for every position");
  return n.insertDim(cache, 1);
}

Values importRotary(NodeImport &n) {
  n.checkInputs(3, 4);
  int64_t heads = n.integer("num_heads", 0), size = n.integer("rotary_embedding_dim", 0);
  bool interleaved = n.integer("interleaved", 0), isFlat = n.rank() == 3;
  Value x = splitHeads(n, n.input(0), heads);
  if (size == 0)
    size = n.number(n.dim(x, 3), "head size");
  Value rotated = rotate(n, x, anglesOf(n, n.input(1)), anglesOf(n, n.input(2)), size, interleaved);
  return {isFlat ? joinHeads(n, rotated) : rotated};
}

constexpr OpEntry kAttentionOps[] = {
    {"Attention", 23, importAttention},
    {"RotaryEmbedding", 23, importRotary},
};

} // namespace

llvm::ArrayRef<OpEntry> attentionOps() { return kAttentionOps; }

} // namespace cleave::onnx
