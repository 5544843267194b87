// Matmuls with operands in all layouts, compared with plain loops in double.
#include "runtime/device/cpu/CpuDevice.h"

#include "test/unit/runtime_device/Stored.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace cleave;
using namespace cleave::device;

namespace {

struct Operand {
  std::vector<int64_t> strides;
  int64_t offset = 0;
};

struct ProductCase {
  std::string name;
  std::vector<int64_t> batch;
  int64_t m, n, k;
  Operand lhs, rhs, out;
  bool accumulate = false;
  bool hasBias = false;
};

// The cases: names and shapes.
std::vector<ProductCase> productsWithBias() {
  return {
      {"with a bias", {}, 33, 65, 17, {{17, 1}}, {{65, 1}}, {{65, 1}}, false, true},
      {"accumulating with a bias", {}, 5, 7, 9, {{9, 1}}, {{7, 1}}, {{9, 1}}, true, true},
      {"a batch with one bias",
       {6},
       8,
       8,
       4,
       {{4, 24, 1}},
       {{32, 8, 1}},
       {{64, 8, 1}},
       false,
       true},
      {"a row with a bias", {}, 1, 7, 9, {{9, 1}}, {{7, 1}}, {{7, 1}}, false, true},
      {"a bias alone", {}, 3, 3, 0, {{1, 1}}, {{3, 1}}, {{3, 1}}, false, true},
      {"a bias that accumulates alone", {}, 3, 3, 0, {{1, 1}}, {{3, 1}}, {{3, 1}}, true, true},
  };
}
std::vector<ProductCase> products() {
  std::vector<ProductCase> cases = {
      {"plain", {}, 5, 7, 9, {{9, 1}}, {{7, 1}}, {{7, 1}}},
      {"lhs transposed", {}, 5, 7, 9, {{1, 5}}, {{7, 1}}, {{7, 1}}},
      {"rhs transposed", {}, 5, 7, 9, {{9, 1}}, {{1, 9}}, {{7, 1}}},
      {"both transposed", {}, 64, 48, 32, {{1, 64}}, {{1, 32}}, {{48, 1}}},
      {"out transposed", {}, 5, 7, 9, {{9, 1}}, {{7, 1}}, {{1, 5}}},
      {"accumulating", {}, 33, 65, 17, {{17, 1}}, {{65, 1}}, {{65, 1}}, true},
      {"columns out of a wider matrix", {}, 8, 16, 16, {{48, 1}, 16}, {{16, 1}}, {{32, 1}, 8}},
      {"dense batch", {6}, 8, 8, 4, {{32, 4, 1}}, {{32, 8, 1}}, {{64, 8, 1}}},
      {"batch of two dims", {2, 3}, 8, 8, 4, {{96, 32, 4, 1}}, {{96, 32, 8, 1}}, {{192, 64, 8, 1}}},
      {"heads inside rows",
       {2, 4},
       16,
       16,
       8,
       {{16 * 96, 8, 96, 1}},
       {{16 * 96, 8, 1, 96}, 32},
       {{1024, 256, 16, 1}}},
      {"heads out to rows",
       {2, 4},
       16,
       8,
       16,
       {{1024, 256, 16, 1}},
       {{16 * 96, 8, 96, 1}, 64},
       {{16 * 32, 8, 32, 1}}},
      {"one rhs for the batch", {4}, 8, 8, 8, {{64, 8, 1}}, {{0, 8, 1}}, {{64, 8, 1}}},
      {"one rhs for an uneven batch", {4}, 8, 8, 8, {{80, 8, 1}}, {{0, 8, 1}}, {{64, 8, 1}}},
      {"one lhs for the batch", {4}, 8, 8, 8, {{0, 8, 1}}, {{64, 8, 1}}, {{64, 8, 1}}},
      {"a row", {}, 1, 7, 9, {{9, 1}}, {{7, 1}}, {{7, 1}}},
      {"a row with gaps", {}, 1, 7, 9, {{1, 3}}, {{7, 1}}, {{7, 1}}},
      {"a column", {}, 7, 1, 9, {{9, 1}}, {{1, 1}}, {{1, 1}}},
      {"a column with gaps", {}, 7, 1, 9, {{9, 1}}, {{4, 1}}, {{5, 1}}},
      {"an outer product", {}, 7, 6, 1, {{1, 1}}, {{6, 1}}, {{6, 1}}},
      {"a dot product", {}, 1, 1, 20, {{20, 1}}, {{1, 1}}, {{1, 1}}},
      {"rows of a batch of rows", {5}, 1, 6, 4, {{8, 4, 1}}, {{0, 6, 1}}, {{6, 6, 1}}},
      {"no contiguous dim", {}, 4, 4, 4, {{16, 2}}, {{4, 1}}, {{4, 1}}},
      {"nothing to sum", {}, 3, 3, 0, {{1, 1}}, {{3, 1}}, {{3, 1}}},
      {"nothing to accumulate", {}, 3, 3, 0, {{1, 1}}, {{3, 1}}, {{3, 1}}, true},
      {"nothing at all", {}, 0, 3, 3, {{3, 1}}, {{3, 1}}, {{3, 1}}},
      {"dims of size one",
       {1, 3, 1},
       4,
       4,
       4,
       {{9, 16, 7, 4, 1}},
       {{9, 16, 7, 4, 1}},
       {{9, 16, 7, 4, 1}}},
  };
  for (const ProductCase &c : productsWithBias())
    cases.push_back(c);
  return cases;
}

void fill(plan::StridedOperand *to, const Operand &from) {
  to->set_offset(from.offset);
  for (int64_t stride : from.strides)
    to->add_strides(stride);
}

plan::Matmul matmulOf(const ProductCase &c) {
  plan::Matmul matmul;
  for (int64_t size : c.batch)
    matmul.add_batch(size);
  matmul.set_m(c.m), matmul.set_n(c.n), matmul.set_k(c.k);
  matmul.set_accumulate(c.accumulate);
  fill(matmul.mutable_lhs(), c.lhs);
  fill(matmul.mutable_rhs(), c.rhs);
  fill(matmul.mutable_out(), c.out);
  return matmul;
}

// Small integers over 8, exact in every dtype.
template <typename T> std::vector<T> numbers(size_t count, int seed) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = T(int((i * 37 + seed * 11) % 17) - 8) / T(8);
  return values;
}

template <typename T>
void expected(const ProductCase &c, const std::vector<T> &lhs, const std::vector<T> &rhs,
              const std::vector<T> &bias, std::vector<T> &out) {
  int64_t count = 1;
  size_t r = c.batch.size();
  for (int64_t size : c.batch)
    count *= size;
  for (int64_t b = 0; b < count; ++b) {
    int64_t at[3] = {c.lhs.offset, c.rhs.offset, c.out.offset}, rest = b;
    for (size_t i = r; i-- > 0; rest /= c.batch[i]) {
      at[0] += rest % c.batch[i] * c.lhs.strides[i];
      at[1] += rest % c.batch[i] * c.rhs.strides[i];
      at[2] += rest % c.batch[i] * c.out.strides[i];
    }
    for (int64_t m = 0; m < c.m; ++m)
      for (int64_t n = 0; n < c.n; ++n) {
        T &value = out[at[2] + m * c.out.strides[r] + n * c.out.strides[r + 1]];
        double sum = (c.accumulate ? value : T(0)) + (c.hasBias ? bias[n] : T(0));
        for (int64_t k = 0; k < c.k; ++k)
          sum += lhs[at[0] + m * c.lhs.strides[r] + k * c.lhs.strides[r + 1]] *
                 rhs[at[1] + k * c.rhs.strides[r] + n * c.rhs.strides[r + 1]];
        value = T(sum);
      }
  }
}

template <typename T> void check(DType dtype, int threads) {
  for (const ProductCase &c : products()) {
    INFO(c.name << ", " << name(dtype) << ", " << threads << " threads");
    std::vector<T> lhs = numbers<T>(8192, 1), rhs = numbers<T>(8192, 2), bias = numbers<T>(65, 3);
    std::vector<T> out = numbers<T>(8192, 4), reference = out;
    expected(c, lhs, rhs, bias, reference);
    auto device = makeCpuDevice(threads);
    MatmulOperands operands{dtype,      dtype,      lhs.data(),
                            rhs.data(), out.data(), c.hasBias ? bias.data() : nullptr};
    PreparedAction action = device->matmul(matmulOf(c), operands);
    INFO(action.status().message());
    REQUIRE(action);
    REQUIRE(device->finishPreparing());
    REQUIRE((*action)->run());
    CHECK(out == reference);
  }
}

} // namespace

TEST_CASE("a matmul with any strides matches plain loops, in f32 by oneDNN") {
  check<float>(DType::F32, 1);
  check<float>(DType::F32, 2);
}

TEST_CASE("a matmul with any strides matches plain loops, in f64") { check<double>(DType::F64, 2); }

TEST_CASE("a matmul with any strides matches plain loops, in other types") {
  check<_Float16>(DType::F16, 2);
  check<int32_t>(DType::I32, 2);
  check<int8_t>(DType::I8, 1);
  check<int64_t>(DType::I64, 1);
}

TEST_CASE("products of 16-bit floats are summed in f32 and stored as either type") {
  for (DType dtype : {DType::BF16, DType::F16})
    for (DType outDtype : {dtype, DType::F32})
      for (const ProductCase &c : products()) {
        INFO(c.name << ", " << name(dtype) << " to " << name(outDtype));
        std::vector<double> lhs = numbers<double>(8192, 1), rhs = numbers<double>(8192, 2);
        std::vector<double> bias = numbers<double>(65, 3), out = numbers<double>(8192, 4),
                            reference = out;
        expected(c, lhs, rhs, bias, reference);
        std::vector<char> lhsBytes = stored(dtype, lhs), rhsBytes = stored(dtype, rhs),
                          biasBytes = stored(outDtype, bias), outBytes = stored(outDtype, out);
        auto device = makeCpuDevice(2);
        PreparedAction action =
            device->matmul(matmulOf(c), {dtype, outDtype, lhsBytes.data(), rhsBytes.data(),
                                         outBytes.data(), c.hasBias ? biasBytes.data() : nullptr});
        REQUIRE(action);
        REQUIRE(device->finishPreparing());
        REQUIRE((*action)->run());
        CHECK(outBytes == stored(outDtype, reference));
      }
}
