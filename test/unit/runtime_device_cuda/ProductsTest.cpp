// Products over the recorder: which bytes they access, and what is refused.
#include "runtime/base/Float16.h"
#include "test/unit/runtime_device_cuda/LibrarySetting.h"

#include <catch2/catch.hpp>

using namespace cleave;
using test::setOperand;
using test::Setting;
using test::Strides;

namespace {

plan::Matmul matmul(const Strides &batch, int64_t m, int64_t n, int64_t k, const Strides &lhs,
                    const Strides &rhs, const Strides &out) {
  plan::Matmul matmul;
  matmul.mutable_batch()->Add(batch.begin(), batch.end());
  matmul.set_m(m), matmul.set_n(n), matmul.set_k(k);
  setOperand(matmul.mutable_lhs(), lhs), setOperand(matmul.mutable_rhs(), rhs);
  setOperand(matmul.mutable_out(), out);
  return matmul;
}

// Runs the product in memory that is exactly as large as the operands (elements).
std::string run(Setting &setting, const plan::Matmul &matmul, uint64_t lhs, uint64_t rhs,
                uint64_t out, DType dtype = DType::F32, DType outDtype = DType::F32,
                uint64_t bias = 0) {
  uint64_t size = uint64_t(byteSize(dtype)), outSize = uint64_t(byteSize(outDtype));
  device::MatmulOperands operands{dtype,
                                  outDtype,
                                  setting.memory(lhs * size),
                                  setting.memory(rhs * size),
                                  setting.memory(out * outSize),
                                  bias ? setting.memory(bias * outSize) : nullptr,
                                  {setting.memory(64), 64}};
  return setting.run(setting.device().matmul(matmul, operands));
}

std::string run(const plan::Matmul &matmul, uint64_t lhs, uint64_t rhs, uint64_t out,
                DType dtype = DType::F32, DType outDtype = DType::F32) {
  Setting setting;
  return run(setting, matmul, lhs, rhs, out, dtype, outDtype);
}

// A number from -2 to 2.
float small(uint64_t i, uint64_t seed) { return float(int(i * seed % 5) - 2); }

// The elements of the result's memory after the product of factors, a result and a bias of small
// numbers, with the seeds 7, 11, 3 and 13.
std::vector<float> expectedOf(const plan::Matmul &matmul, uint64_t elements, bool hasBias) {
  std::vector<float> expected(elements);
  for (uint64_t i = 0; i < elements; ++i)
    expected[i] = small(i, 3); // also between the rows
  auto place = [](const plan::StridedOperand &operand, int64_t row, int64_t column) {
    return uint64_t(row * operand.strides(0) + column * operand.strides(1));
  };
  for (int64_t i = 0; i < matmul.m(); ++i)
    for (int64_t j = 0; j < matmul.n(); ++j) {
      float &sum = expected[place(matmul.out(), i, j)];
      sum = (matmul.accumulate() ? sum : 0) + (hasBias ? small(uint64_t(j), 13) : 0);
      for (int64_t k = 0; k < matmul.k(); ++k)
        sum += small(place(matmul.lhs(), i, k), 7) * small(place(matmul.rhs(), k, j), 11);
    }
  return expected;
}

} // namespace

TEST_CASE("cuda: products of all orders access their operands and no more") {
  CHECK(run(matmul({}, 3, 5, 7, {7, 1}, {5, 1}, {5, 1}), 21, 35, 15) == ""); // all by rows
  CHECK(run(matmul({}, 3, 5, 7, {1, 3}, {1, 7}, {5, 1}), 21, 35, 15) == ""); // lhs, rhs transposed
  CHECK(run(matmul({}, 3, 5, 7, {7, 1}, {1, 7}, {1, 3}), 21, 35, 15) == ""); // out transposed
  CHECK(run(matmul({}, 1, 5, 7, {7, 1}, {5, 1}, {5, 1}), 7, 35, 5) == "");   // one row
  CHECK(run(matmul({}, 3, 1, 7, {7, 1}, {1, 1}, {1, 1}), 21, 7, 3) == "");   // one column
  CHECK(run(matmul({}, 3, 5, 1, {1, 1}, {5, 1}, {5, 1}), 3, 5, 15) == "");   // an outer product
  CHECK(run(matmul({}, 3, 5, 7, {9, 1}, {6, 1}, {8, 1}), 25, 41, 21) == ""); // rows with gaps
  CHECK(run(matmul({}, 3, 5, 7, {7, 1}, {5, 1}, {5, 1}), 21, 35, 15, DType::BF16) == "");
}

TEST_CASE("cuda: batches are strided, merged into rows, or several calls") {
  CHECK(run(matmul({4}, 3, 5, 7, {21, 7, 1}, {35, 5, 1}, {15, 5, 1}), 84, 140, 60) == "");
  CHECK(run(matmul({4}, 3, 5, 7, {21, 7, 1}, {0, 5, 1}, {15, 5, 1}), 84, 35, 60) == "");
  // Heads in the middle: neither pair of dims is one dim of all operands.
  CHECK(run(matmul({2, 4}, 3, 5, 7, {84, 7, 28, 1}, {140, 35, 5, 1}, {60, 5, 20, 1}), 168, 280,
            120) == "");
}

TEST_CASE("cuda: all products of a batch read one bias") {
  const plan::Matmul heads =
      matmul({2, 4}, 3, 8, 7, {84, 7, 28, 1}, {224, 56, 8, 1}, {96, 8, 32, 1});
  Setting setting;
  SECTION("of as many elements as it has columns") {
    CHECK(run(setting, heads, 168, 448, 192, DType::BF16, DType::BF16, 8) == "");
    CHECK(setting.calls("matmul") == 2);
  }
  SECTION("and no fewer") {
    CHECK_THAT(run(setting, heads, 168, 448, 192, DType::BF16, DType::BF16, 7),
               Catch::Matchers::Contains("2 bytes behind the end"));
  }
}

// The products of a layer of `odd` outputs: of itself, and of the gradients of its input and its
// weights. Rows of outputs lie a multiple of 16 bytes apart. Values are small integers, so that all
// sums are exact.
TEST_CASE(
    "cuda: long odd extents of 16-bit products are split, and give the same sums and biases") {
  const int64_t odd = 515, pitch = 520, few = 16;
  const uint64_t elements = uint64_t(odd * pitch);
  struct Case {
    plan::Matmul product;
    DType outDtype;
    int calls;
  };
  const Case cases[] = {
      {matmul({}, few, odd, few, {few, 1}, {1, few}, {pitch, 1}), DType::BF16, 2}, // outputs
      {matmul({}, few, few, odd, {pitch, 1}, {few, 1}, {few, 1}), DType::F32, 2},  // input's
      {matmul({}, odd, few, few, {1, pitch}, {few, 1}, {few, 1}), DType::F32, 2},  // weights'
      {matmul({}, odd, odd, few, {1, pitch}, {pitch, 1}, {pitch, 1}), DType::F32, 4},
      {matmul({}, few, few, few, {pitch, 1}, {few, 1}, {few, 1}), DType::F32, 1},
      // Rows that begin anywhere.
      {matmul({}, few, odd, few, {few, 1}, {1, few}, {odd, 1}), DType::BF16, 1},
      {matmul({}, 1, few, few, {few, 1}, {few, 1}, {few, 1}), DType::BF16, 1}, // one row
      {matmul({}, few, 1, few, {few, 1}, {1, 1}, {1, 1}), DType::BF16, 1}};    // one column
  for (const auto &[product, outDtype, calls] : cases)
    for (int variant = 0; variant < 4; ++variant) {
      const bool accumulates = variant % 2 != 0, hasBias = variant / 2 != 0;
      Setting setting;
      setting.recorder().multiplies = true;
      // Memory of small integers, as the device and as this process address it.
      auto filled = [&](DType dtype, uint64_t seed) {
        void *data = setting.memory(elements * uint64_t(byteSize(dtype)));
        char *view = setting.recorder().viewOf(reinterpret_cast<uint64_t>(data));
        for (uint64_t i = 0; i < elements; ++i)
          if (dtype == DType::F32)
            reinterpret_cast<float *>(view)[i] = small(i, seed);
          else
            reinterpret_cast<uint16_t *>(view)[i] = toBF16(small(i, seed));
        return std::pair(data, view);
      };
      void *lhs = filled(DType::BF16, 7).first, *rhs = filled(DType::BF16, 11).first;
      auto [out, view] = filled(outDtype, 3);
      void *bias = hasBias ? filled(outDtype, 13).first : nullptr;
      plan::Matmul matmul = product;
      matmul.set_accumulate(accumulates);
      REQUIRE(setting.run(setting.device().matmul(
                  matmul,
                  {DType::BF16, outDtype, lhs, rhs, out, bias, {setting.memory(64), 64}})) == "");
      CHECK(setting.calls("matmul") == calls);
      std::vector<float> found(elements);
      for (uint64_t i = 0; i < elements; ++i)
        found[i] = outDtype == DType::F32 ? reinterpret_cast<float *>(view)[i]
                                          : fromBF16(reinterpret_cast<uint16_t *>(view)[i]);
      CHECK(found == expectedOf(matmul, elements, hasBias));
    }
}

TEST_CASE("cuda: products that cuBLASLt cannot do are refused with the reason") {
  CHECK_THAT(run(matmul({}, 3, 5, 7, {14, 2}, {5, 1}, {5, 1}), 42, 35, 15),
             Catch::Matchers::Contains("contiguous rows or columns"));
  CHECK_THAT(run(matmul({}, 3, 5, 7, {7, 1}, {5, 1}, {5, 1}), 21, 35, 15, DType::I32, DType::I32),
             Catch::Matchers::Contains("expected f32, f64, bf16 or f16"));
  CHECK(run(matmul({}, 3, 0, 7, {7, 1}, {0, 1}, {0, 1}), 21, 1, 1) == "");
}

TEST_CASE("cuda: a product multiplies in tf32 if the plan says so") {
  plan::Matmul product = matmul({}, 3, 5, 7, {7, 1}, {5, 1}, {5, 1});
  for (bool tf32 : {false, true}) {
    Setting setting;
    product.set_tf32(tf32);
    CHECK(run(setting, product, 21, 35, 15) == "");
    CHECK(setting.calls("matmul in tf32") == (tf32 ? 1 : 0));
  }
  CHECK_THAT(run(product, 21, 35, 15, DType::BF16), Catch::Matchers::Contains("in compute type"));
}

TEST_CASE("recorder: a product that reads behind its operand is found") {
  CHECK_THAT(run(matmul({}, 3, 5, 7, {7, 1}, {5, 1}, {5, 1}), 20, 35, 15),
             Catch::Matchers::Contains("4 bytes behind the end"));
}
