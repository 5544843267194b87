// Attention and its gradient by every instruction set, compared with plain loops in double.
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/CounterRandom.h"
#include "runtime/base/Float16.h"
#include "runtime/device/cpu/AttentionTask.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cpu/Parts.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace cleave;
using namespace cleave::device;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct AttentionCase {
  std::string name;
  int64_t batch = 1, heads = 1, groups = 1, queries = 1, keys = 1, width = 8, depth = 8;
  bool causal = false, safe = false;
  double fill = -kInfinity;
  std::string mask = "none"; // none, full, padding (one per key), hides (some queries see nothing)
  std::string bias = "none"; // none, full, shared (by batch, heads and queries)
  bool isBiasF32 = false;    // whatever the type of the other operands
  double dropRate = 0;
  bool isBlock = false;      // of larger scores, as one rank has it
  bool isTransposed = false; // heads lie inside rows, as a projection writes them
};

// A tensor [batch, heads, rows, columns] of f32 with its place in memory.
struct Tensor {
  int64_t sizes[4];
  std::vector<float> data;
  plan::StridedOperand at;

  float &operator()(int64_t b, int64_t h, int64_t r, int64_t c) {
    return data[size_t(at.offset() + b * at.strides(0) + h * at.strides(1) + r * at.strides(2) +
                       (at.strides_size() > 3 ? c * at.strides(3) : 0))];
  }
};

// Numbers that look random, in [-1, 1).
float number(int64_t i, int seed) {
  return 2 * randomNumber(uint64_t(i), hashedKey(uint64_t(seed))) - 1;
}

Tensor tensorOf(int64_t batch, int64_t heads, int64_t rows, int64_t columns, int seed,
                bool isTransposed = false) {
  Tensor t{{batch, heads, rows, columns}, {}, {}};
  int64_t row = isTransposed ? heads * columns : columns;
  int64_t head = isTransposed ? columns : rows * columns;
  for (int64_t stride : {heads * rows * columns, head, row, int64_t(1)})
    t.at.add_strides(stride);
  t.at.set_offset(3);
  t.data.resize(size_t(batch * heads * rows * columns + 3));
  for (size_t i = 0; i < t.data.size(); ++i)
    t.data[i] = number(int64_t(i), seed);
  return t;
}

// The tensors of one case.
struct Tensors {
  Tensor query, key, value, result, lse, bias, grad, queryGrad, keyGrad, valueGrad;
  std::vector<uint8_t> visible; // [batch, heads, queries, keys], before causality
  plan::StridedOperand mask;
  std::vector<float> scratch;
  int64_t seed = 1234, offsets[2] = {};
};

// Sets the strides of an operand that repeats its elements in the dims where `repeats`.
void repeat(plan::StridedOperand &operand, const std::vector<bool> &repeats,
            const std::vector<int64_t> &sizes) {
  operand.clear_strides();
  int64_t stride = 1;
  for (size_t d = 4; d-- > 0;) {
    operand.mutable_strides()->Add(repeats[d] ? 0 : stride);
    stride *= repeats[d] ? 1 : sizes[d];
  }
  std::reverse(operand.mutable_strides()->begin(), operand.mutable_strides()->end());
}

void buildMask(Tensors &t, const AttentionCase &c) {
  bool isPadding = c.mask == "padding";
  std::vector<int64_t> sizes{c.batch, c.heads, c.queries, c.keys};
  repeat(t.mask, {false, isPadding, isPadding, false}, sizes);
  t.visible.resize(size_t(c.batch * c.heads * c.queries * c.keys));
  for (size_t i = 0; i < t.visible.size(); ++i)
    t.visible[i] = number(int64_t(i), 11) > -0.4f;
  if (c.mask == "hides") // whole rows
    for (size_t i = 0; i < t.visible.size(); ++i)
      t.visible[i] &= (int64_t(i) / c.keys) % 3 != 1;
}

Tensors tensorsOf(const AttentionCase &c) {
  bool turned = c.isTransposed;
  Tensors t{.query = tensorOf(c.batch, c.heads, c.queries, c.width, 1, turned),
            .key = tensorOf(c.batch, c.groups, c.keys, c.width, 2, turned),
            .value = tensorOf(c.batch, c.groups, c.keys, c.depth, 3, turned),
            .result = tensorOf(c.batch, c.heads, c.queries, c.depth, 4, turned),
            .lse = tensorOf(c.batch, c.heads, c.queries, 1, 5),
            .bias = tensorOf(c.batch, c.heads, c.queries, c.keys, 6),
            .grad = tensorOf(c.batch, c.heads, c.queries, c.depth, 7, turned),
            .queryGrad = tensorOf(c.batch, c.heads, c.queries, c.width, 8, turned),
            .keyGrad = tensorOf(c.batch, c.groups, c.keys, c.width, 9, turned),
            .valueGrad = tensorOf(c.batch, c.groups, c.keys, c.depth, 10, turned)};
  t.lse.at.mutable_strides()->RemoveLast();
  bool isShared = c.bias == "shared";
  if (isShared)
    repeat(t.bias.at, {true, true, true, false}, {1, 1, 1, c.keys});
  buildMask(t, c);
  AttentionSizes sizes{c.batch, c.heads, c.groups, c.queries, c.keys, c.width, c.depth};
  t.scratch.resize(size_t(attentionScratchBytes(sizes, sizeof(uint16_t))) / sizeof(float));
  if (c.isBlock) // rows 2 of a batch of 5, and 7 of the queries
    t.offsets[0] = 2, t.offsets[1] = 7;
  return t;
}

plan::Attention attentionOf(const AttentionCase &c, const Tensors &t, bool isGradient) {
  plan::Attention a;
  a.add_batch(c.batch);
  a.set_heads(c.heads), a.set_groups(c.groups), a.set_queries(c.queries), a.set_keys(c.keys);
  a.set_width(c.width), a.set_depth(c.depth);
  a.set_scale(0.3), a.set_causal(c.causal), a.set_safe(c.safe), a.set_fill(c.fill);
  a.set_drop_rate(c.dropRate);
  if (c.dropRate > 0)
    a.add_seed(0);
  *a.mutable_query() = t.query.at, *a.mutable_key() = t.key.at, *a.mutable_value() = t.value.at;
  *a.mutable_result() = t.result.at, *a.mutable_lse() = t.lse.at;
  if (c.bias != "none")
    *a.mutable_bias() = t.bias.at;
  if (c.mask != "none")
    *a.mutable_mask() = t.mask;
  if (c.isBlock) {
    for (uint32_t dim : {0, 2})
      a.add_offsets(0), a.add_offset_dims(dim);
    for (int64_t size : {int64_t(5), c.heads, c.queries + 20, c.keys})
      a.add_whole(size);
  }
  if (isGradient) {
    *a.mutable_grad() = t.grad.at, *a.mutable_query_grad() = t.queryGrad.at;
    *a.mutable_key_grad() = t.keyGrad.at, *a.mutable_value_grad() = t.valueGrad.at;
  }
  return a;
}

// The tensors of the device's type, as the device sees them.
class Stored {
public:
  Stored(const AttentionCase &c, Tensors &tensors, DType dtype)
      : bias_(c.isBiasF32 ? &tensors.bias : nullptr),
        all_{&tensors.query, &tensors.key,       &tensors.value,   &tensors.result,   &tensors.bias,
             &tensors.grad,  &tensors.queryGrad, &tensors.keyGrad, &tensors.valueGrad},
        dtype_(dtype) {
    for (size_t i = 0; dtype != DType::F32 && i < std::size(all_); ++i)
      for (float &value : all_[i]->data) {
        if (all_[i] == bias_)
          break;
        bits_[i].push_back(dtype == DType::BF16 ? toBF16(value) : toF16(value));
        value = wide(bits_[i].back());
      }
  }

  void *of(const Tensor &tensor) {
    size_t i = 0;
    while (all_[i] != &tensor)
      ++i;
    const bool isF32 = dtype_ == DType::F32 || &tensor == bias_;
    return isF32 ? static_cast<void *>(all_[i]->data.data()) : bits_[i].data();
  }

  // Brings what the device has written back into the tensors.
  void readBack() {
    for (size_t i = 0; dtype_ != DType::F32 && i < std::size(all_); ++i)
      for (size_t k = 0; k < bits_[i].size(); ++k)
        all_[i]->data[k] = wide(bits_[i][k]);
  }

private:
  float wide(uint16_t bits) const { return dtype_ == DType::BF16 ? fromBF16(bits) : fromF16(bits); }

  const Tensor *bias_; // if it is f32
  Tensor *all_[9];
  DType dtype_;
  std::vector<uint16_t> bits_[9];
};

AttentionOperands operandsOf(const AttentionCase &c, Tensors &t, Stored &stored, DType dtype,
                             bool isGradient) {
  auto gradient = [&](Tensor &tensor) { return isGradient ? stored.of(tensor) : nullptr; };
  AttentionOperands at{.dtype = dtype,
                       .biasDtype = c.isBiasF32 ? DType::F32 : dtype,
                       .query = stored.of(t.query),
                       .key = stored.of(t.key),
                       .value = stored.of(t.value),
                       .result = stored.of(t.result),
                       .lse = t.lse.data.data(),
                       .bias = c.bias == "none" ? nullptr : stored.of(t.bias),
                       .mask = c.mask == "none" ? nullptr : t.visible.data(),
                       .grad = gradient(t.grad),
                       .queryGrad = gradient(t.queryGrad),
                       .keyGrad = gradient(t.keyGrad),
                       .valueGrad = gradient(t.valueGrad),
                       .seed = &t.seed,
                       .offsets = {},
                       .scratch = t.scratch.data()};
  if (c.isBlock)
    at.offsets = {&t.offsets[0], &t.offsets[1]};
  return at;
}

// One query's scores, weights and factors of dropout.
struct Row {
  std::vector<double> scores, weights, factors;
  std::vector<bool> isVisible;
  double lse;
};

Row rowOf(const AttentionCase &c, Tensors &t, int64_t b, int64_t h, int64_t q) {
  Row row;
  double largest = -kInfinity, sum = 0;
  bool seesAny = false;
  int64_t group = h / (c.heads / c.groups), rows = c.isBlock ? c.queries + 20 : c.queries;
  for (int64_t k = 0; k < c.keys; ++k) {
    double score = 0;
    for (int64_t d = 0; d < c.width; ++d)
      score += double(t.query(b, h, q, d)) * double(t.key(b, group, k, d));
    score *= 0.3;
    if (c.bias != "none")
      score += double(t.bias(b, h, q, k));
    bool isVisible = !c.causal || k <= q + t.offsets[1];
    if (c.mask != "none")
      isVisible = isVisible && t.visible[size_t(b * t.mask.strides(0) + h * t.mask.strides(1) +
                                                q * t.mask.strides(2) + k * t.mask.strides(3))];
    seesAny = seesAny || isVisible;
    row.isVisible.push_back(isVisible);
    row.scores.push_back(isVisible ? score : c.fill);
    largest = std::max(largest, row.scores.back());
    int64_t place = (((b + t.offsets[0]) * c.heads + h) * rows + q + t.offsets[1]) * c.keys + k;
    bool drops = randomNumber(uint64_t(place), hashedKey(uint64_t(t.seed))) < float(c.dropRate);
    row.factors.push_back(drops ? 0 : 1 / (1 - c.dropRate));
  }
  for (double score : row.scores)
    sum += std::exp(score - largest);
  for (double score : row.scores)
    row.weights.push_back(largest == -kInfinity && c.safe ? 0 : std::exp(score - largest) / sum);
  row.lse = largest == -kInfinity ? (c.safe ? kInfinity : NAN)
            : seesAny             ? largest + std::log(sum)
                                  : -kInfinity;
  return row;
}

// What one query adds to the results in `t`, which are 0 before the first.
void addRow(const AttentionCase &c, Tensors &t, int64_t b, int64_t h, int64_t q) {
  Row row = rowOf(c, t, b, h, q);
  int64_t group = h / (c.heads / c.groups);
  t.lse(b, h, q, 0) = float(row.lse);
  double mean = 0;
  std::vector<double> weightGrads(size_t(c.keys), 0);
  for (size_t k = 0; k < size_t(c.keys); ++k) {
    for (int64_t d = 0; d < c.depth; ++d) {
      double weight = row.weights[k] * row.factors[k];
      t.result(b, h, q, d) += float(weight * double(t.value(b, group, int64_t(k), d)));
      t.valueGrad(b, group, int64_t(k), d) += float(weight * double(t.grad(b, h, q, d)));
      weightGrads[k] +=
          row.factors[k] * double(t.grad(b, h, q, d)) * double(t.value(b, group, int64_t(k), d));
    }
    mean += row.weights[k] * weightGrads[k];
  }
  for (size_t k = 0; k < size_t(c.keys); ++k) {
    double grad = row.isVisible[k] ? 0.3 * row.weights[k] * (weightGrads[k] - mean) : 0;
    for (int64_t d = 0; d < c.width; ++d) {
      t.queryGrad(b, h, q, d) += float(grad * double(t.key(b, group, int64_t(k), d)));
      t.keyGrad(b, group, int64_t(k), d) += float(grad * double(t.query(b, h, q, d)));
    }
  }
}

Tensors expected(const AttentionCase &c, DType dtype) {
  Tensors t = tensorsOf(c);
  Stored rounded(c, t, dtype);
  for (Tensor *tensor : {&t.result, &t.queryGrad, &t.keyGrad, &t.valueGrad})
    std::fill(tensor->data.begin() + 3, tensor->data.end(), 0.0f);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t q = 0; q < c.queries; ++q)
        addRow(c, t, b, h, q);
  return t;
}

// Half a unit in the last place of a result, and what the rounded result adds to gradients.
float tolerance(DType dtype) {
  return dtype == DType::F32 ? 2e-5f : dtype == DType::BF16 ? 0x1p-6f : 0x1p-9f;
}

void compare(const char *name, const Tensor &actual, const Tensor &wanted, float tolerance) {
  for (size_t i = 0; i < wanted.data.size(); ++i) {
    float a = actual.data[i], w = wanted.data[i];
    bool isRight = a == w || (std::isnan(a) && std::isnan(w)) ||
                   std::abs(a - w) <= tolerance * (1 + std::abs(w));
    if (!isRight)
      FAIL(name << " element " << i << ": " << a << ", expected " << w);
  }
}

std::vector<AttentionCase> casesOfSizes() {
  return {{.name = "one score"},
          {.name = "odd sizes",
           .batch = 2,
           .heads = 3,
           .groups = 3,
           .queries = 65,
           .keys = 67,
           .width = 7,
           .depth = 5},
          {.name = "causal", .heads = 2, .groups = 2, .queries = 130, .keys = 130, .causal = true},
          {.name = "causal, more keys than queries", .queries = 70, .keys = 150, .causal = true},
          {.name = "causal, more queries than keys", .queries = 150, .keys = 70, .causal = true},
          {.name = "grouped heads",
           .batch = 2,
           .heads = 6,
           .groups = 2,
           .queries = 40,
           .keys = 90,
           .width = 16,
           .depth = 24},
          {.name = "one group", .heads = 4, .queries = 33, .keys = 65, .causal = true},
          {.name = "wide", .queries = 20, .keys = 70, .width = 256, .depth = 256},
          {.name = "keys in many parts", .queries = 100, .keys = 700, .causal = true}};
}

std::vector<AttentionCase> casesOfMasks() {
  return {
      {.name = "padding",
       .batch = 3,
       .heads = 2,
       .groups = 2,
       .queries = 64,
       .keys = 64,
       .mask = "padding"},
      {.name = "mask", .heads = 2, .groups = 2, .queries = 66, .keys = 129, .mask = "full"},
      {.name = "mask and causal", .queries = 100, .keys = 100, .causal = true, .mask = "padding"},
      {.name = "queries that see nothing", .queries = 70, .keys = 70, .mask = "hides"},
      {.name = "queries that see nothing, safe",
       .queries = 70,
       .keys = 70,
       .safe = true,
       .mask = "hides"},
      {.name = "queries that see nothing, finite fill",
       .queries = 70,
       .keys = 70,
       .fill = -1e9,
       .mask = "hides"},
      {.name = "a fill near the scores",
       .queries = 70,
       .keys = 200,
       .causal = true,
       .fill = -2,
       .mask = "full"}};
}

std::vector<AttentionCase> otherCases() {
  return {{.name = "bias",
           .batch = 2,
           .heads = 2,
           .groups = 2,
           .queries = 10,
           .keys = 70,
           .bias = "full"},
          {.name = "shared bias, causal",
           .heads = 3,
           .groups = 1,
           .queries = 70,
           .keys = 70,
           .causal = true,
           .bias = "shared"},
          {.name = "bias of f32",
           .heads = 2,
           .groups = 2,
           .queries = 70,
           .keys = 70,
           .bias = "full",
           .isBiasF32 = true},
          {.name = "dropout",
           .batch = 2,
           .heads = 2,
           .groups = 1,
           .queries = 70,
           .keys = 130,
           .causal = true,
           .dropRate = 0.3},
          {.name = "dropout of everything", .queries = 5, .keys = 5, .dropRate = 1},
          {.name = "a block of larger scores",
           .batch = 2,
           .heads = 2,
           .groups = 2,
           .queries = 70,
           .keys = 97,
           .causal = true,
           .mask = "padding",
           .dropRate = 0.2,
           .isBlock = true},
          {.name = "heads inside rows",
           .batch = 2,
           .heads = 4,
           .groups = 2,
           .queries = 66,
           .keys = 66,
           .width = 20,
           .depth = 12,
           .causal = true,
           .isTransposed = true}};
}

void check(const AttentionCase &c, const AttentionKernels &kernels, DType dtype,
           const Tensors &wanted) {
  INFO(c.name << ", " << kernels.name << ", " << name(dtype));
  Tensors actual = tensorsOf(c);
  Stored stored(c, actual, dtype);
  auto run = [&](bool isGradient) {
    PreparedAction action =
        prepareAttention(attentionOf(c, actual, isGradient),
                         operandsOf(c, actual, stored, dtype, isGradient), kernels);
    REQUIRE(action);
    REQUIRE((*action)->run());
  };
  run(false), run(true);
  stored.readBack();
  float most = tolerance(dtype);
  compare("result", actual.result, wanted.result, most);
  compare("lse", actual.lse, wanted.lse, 2e-5f);
  compare("query_grad", actual.queryGrad, wanted.queryGrad, most);
  compare("key_grad", actual.keyGrad, wanted.keyGrad, most);
  compare("value_grad", actual.valueGrad, wanted.valueGrad, most);
}

} // namespace

TEST_CASE("attention and its gradient follow their formulas, with every instruction set") {
  for (const auto &cases : {casesOfSizes(), casesOfMasks(), otherCases()})
    for (const AttentionCase &c : cases)
      for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
        Tensors wanted = expected(c, dtype);
        for (const AttentionKernels &kernels : attentionKernels())
          check(c, kernels, dtype, wanted);
      }
}

TEST_CASE("attention gives the same bits on any number of threads") {
  AttentionCase c{.name = "threads",
                  .batch = 2,
                  .heads = 4,
                  .groups = 2,
                  .queries = 200,
                  .keys = 300,
                  .causal = true,
                  .dropRate = 0.1};
  std::vector<Tensors> results;
  for (int threads : {1, 3}) {
    auto device = makeCpuDevice(threads);
    Tensors t = tensorsOf(c);
    Stored stored(c, t, DType::F32);
    for (bool isGradient : {false, true}) {
      PreparedAction action = device->attention(attentionOf(c, t, isGradient),
                                                operandsOf(c, t, stored, DType::F32, isGradient));
      REQUIRE(action);
      REQUIRE((*action)->run());
    }
    results.push_back(std::move(t));
  }
  CHECK(results[0].result.data == results[1].result.data);
  CHECK(results[0].queryGrad.data == results[1].queryGrad.data);
  CHECK(results[0].keyGrad.data == results[1].keyGrad.data);
  CHECK(results[0].valueGrad.data == results[1].valueGrad.data);
}
