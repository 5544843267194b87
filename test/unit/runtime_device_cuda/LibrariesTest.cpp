// Products, convolutions and attention over the recorder: which bytes they access, and what is
// refused.
#include "runtime/base/Float16.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <catch2/catch.hpp>

using namespace cleave;
using cleave::test::Recorder;

namespace {

// A device, and memory that its operands lie in.
class Setting {
public:
  Setting() : recorder_(plan_) {
    Recorder::current() = &recorder_;
    device_ = std::move(*device::makeCudaDevice(0, test::recordingLibraries()));
  }
  ~Setting() {
    memory_.clear();
    device_.reset();
    Recorder::current() = nullptr;
  }
  void *memory(uint64_t bytes) {
    memory_.push_back(*device_->allocate(plan::DEVICE, bytes));
    return memory_.back().get();
  }
  device::Device &device() { return *device_; }
  Recorder &recorder() { return recorder_; }
  // How often libraries and driver were called like this since the last question.
  int calls(const std::string &name) { return recorder_.takeCalls()[name]; }
  // Runs the action, if there is one; the first fault or the reason for which there is none.
  std::string run(device::PreparedAction action) {
    if (!action)
      return action.status().message();
    Status status = (*action)->run();
    (*action).reset();
    return !recorder_.faults().empty() ? recorder_.faults()[0] : status.message();
  }

private:
  plan::Plan plan_;
  Recorder recorder_;
  std::unique_ptr<device::Device> device_;
  std::vector<std::shared_ptr<void>> memory_;
};

using Strides = std::vector<int64_t>;

void setOperand(plan::StridedOperand *operand, const Strides &strides) {
  operand->mutable_strides()->Add(strides.begin(), strides.end());
}

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
                uint64_t out, DType dtype = DType::F32, DType outDtype = DType::F32) {
  uint64_t size = uint64_t(byteSize(dtype)), outSize = uint64_t(byteSize(outDtype));
  device::MatmulOperands operands{dtype,
                                  outDtype,
                                  setting.memory(lhs * size),
                                  setting.memory(rhs * size),
                                  setting.memory(out * outSize),
                                  {setting.memory(64), 64}};
  return setting.run(setting.device().matmul(matmul, operands));
}

std::string run(const plan::Matmul &matmul, uint64_t lhs, uint64_t rhs, uint64_t out,
                DType dtype = DType::F32, DType outDtype = DType::F32) {
  Setting setting;
  return run(setting, matmul, lhs, rhs, out, dtype, outDtype);
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

// The products of a layer of `odd` outputs: of itself, and of the gradients of its input and its
// weights. Rows of outputs lie a multiple of 16 bytes apart. Values are small integers, so that all
// sums are exact.
TEST_CASE("cuda: long odd extents of 16-bit products are split, and give the same sums") {
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
      {matmul({}, few, odd, few, {few, 1}, {1, few}, {odd, 1}), DType::BF16, 1}};
  auto small = [](uint64_t i, uint64_t seed) { return float(int(i * seed % 5) - 2); };
  for (const auto &[product, outDtype, calls] : cases)
    for (bool accumulates : {false, true}) {
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
      plan::Matmul matmul = product;
      matmul.set_accumulate(accumulates);
      REQUIRE(setting.run(setting.device().matmul(
                  matmul, {DType::BF16, outDtype, lhs, rhs, out, {setting.memory(64), 64}})) == "");
      CHECK(setting.calls("matmul") == calls);
      std::vector<float> expected(elements), found(elements);
      for (uint64_t i = 0; i < elements; ++i) {
        expected[i] = small(i, 3); // also between the rows
        found[i] = outDtype == DType::F32 ? reinterpret_cast<float *>(view)[i]
                                          : fromBF16(reinterpret_cast<uint16_t *>(view)[i]);
      }
      auto place = [](const plan::StridedOperand &operand, int64_t row, int64_t column) {
        return uint64_t(row * operand.strides(0) + column * operand.strides(1));
      };
      for (int64_t i = 0; i < matmul.m(); ++i)
        for (int64_t j = 0; j < matmul.n(); ++j) {
          float &sum = expected[place(matmul.out(), i, j)];
          sum = accumulates ? sum : 0;
          for (int64_t k = 0; k < matmul.k(); ++k)
            sum += small(place(matmul.lhs(), i, k), 7) * small(place(matmul.rhs(), k, j), 11);
        }
      CHECK(found == expected);
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

namespace {

// Of 2 samples, in two groups, with this many spatial dims.
plan::Convolution convolution(plan::Convolution::Kind kind, int dims) {
  plan::Convolution c;
  c.set_kind(kind), c.set_groups(2);
  for (int64_t size : {2, 4})
    c.add_input_shape(size);
  for (int64_t size : {6, 2})
    c.add_weight_shape(size);
  for (int64_t size : {2, 6})
    c.add_output_shape(size);
  for (int d = 0; d < dims; ++d) {
    c.add_input_shape(8), c.add_weight_shape(3), c.add_output_shape(4);
    c.add_strides(2), c.add_dilations(1), c.add_pads_low(1), c.add_pads_high(1);
  }
  return c;
}

std::string run(Setting &setting, const plan::Convolution &c, DType dtype = DType::F32) {
  auto memory = [&](const auto &shape) {
    int64_t bytes = byteSize(dtype);
    for (int64_t size : shape)
      bytes *= size;
    return setting.memory(uint64_t(bytes));
  };
  device::ConvolutionOperands operands{dtype, dtype, memory(c.input_shape()),
                                       memory(c.weight_shape()), memory(c.output_shape())};
  return setting.run(setting.device().convolution(c, operands));
}

} // namespace

TEST_CASE("cuda: convolutions of one to three dims, and their gradients") {
  for (int dims : {1, 2, 3})
    for (auto kind : {plan::Convolution::FORWARD, plan::Convolution::INPUT_GRADIENT,
                      plan::Convolution::WEIGHT_GRADIENT}) {
      INFO(dims << " dims, " << plan::Convolution::Kind_Name(kind));
      Setting setting;
      CHECK(run(setting, convolution(kind, dims)) == "");
    }
}

TEST_CASE("cuda: convolutions of f32 use tensor cores if the plan allows tf32") {
  plan::Convolution c = convolution(plan::Convolution::FORWARD, 2);
  for (bool tf32 : {false, true}) {
    Setting setting;
    c.set_tf32(tf32);
    CHECK(run(setting, c) == "");
    CHECK(setting.calls("on tensor cores") == (tf32 ? 1 : 0));
  }
}

TEST_CASE("cuda: a convolution that cuDNN has not is refused with the way out") {
  Setting setting;
  CHECK_THAT(run(setting, convolution(plan::Convolution::FORWARD, 2), DType::I32),
             Catch::Matchers::Contains("no engines for i32") &&
                 Catch::Matchers::Contains("--direct-convolution"));
}

namespace {

plan::Attention attention() {
  plan::Attention a;
  a.add_batch(2);
  a.set_heads(4), a.set_groups(2), a.set_queries(8), a.set_keys(16);
  a.set_width(32), a.set_depth(32), a.set_scale(0.125);
  setOperand(a.mutable_query(), {4 * 8 * 32, 32, 4 * 32, 1}); // queries before heads
  setOperand(a.mutable_key(), {2 * 16 * 32, 16 * 32, 32, 1});
  setOperand(a.mutable_value(), {2 * 16 * 32, 16 * 32, 32, 1});
  setOperand(a.mutable_result(), {4 * 8 * 32, 8 * 32, 32, 1});
  setOperand(a.mutable_lse(), {4 * 8, 8, 1});
  return a;
}

// The gradient of this attention; that of the query lies like the query.
plan::Attention gradientOf(plan::Attention a) {
  *a.mutable_grad() = a.result();
  *a.mutable_query_grad() = a.query();
  *a.mutable_key_grad() = a.key(), *a.mutable_value_grad() = a.value();
  return a;
}

constexpr uint64_t kSumBytes = 256; // of 2 x 4 x 8 numbers in f32

device::AttentionOperands operandsIn(Setting &setting, const plan::Attention &a, DType dtype,
                                     uint64_t workspace) {
  const uint64_t rows = 2 * 2 * 4 * 8 * 32, groups = 2 * 2 * 2 * 16 * 32; // bytes
  device::AttentionOperands operands{};
  operands.dtype = operands.biasDtype = dtype;
  operands.query = setting.memory(rows);
  operands.key = setting.memory(groups);
  operands.value = setting.memory(groups);
  operands.result = setting.memory(rows);
  operands.lse = setting.memory(4 * 2 * 4 * 8);
  if (a.has_grad()) {
    operands.grad = setting.memory(rows), operands.queryGrad = setting.memory(rows);
    operands.keyGrad = setting.memory(groups), operands.valueGrad = setting.memory(groups);
  }
  if (workspace > 0)
    operands.workspace = {setting.memory(workspace), workspace};
  return operands;
}

std::string run(const plan::Attention &a, DType dtype, uint64_t workspace = kSumBytes) {
  Setting setting;
  const device::AttentionOperands operands = operandsIn(setting, a, dtype, workspace);
  return setting.run(setting.device().attention(a, operands));
}

} // namespace

TEST_CASE("cuda: attention and its gradient with grouped heads, causal or not") {
  plan::Attention a = attention();
  for (bool isCausal : {false, true}) {
    a.set_causal(isCausal), a.set_fill(-1e30);
    CHECK(run(a, DType::BF16) == "");
    CHECK(run(gradientOf(a), DType::F16) == "");
  }
}

TEST_CASE("cuda: instructions that differ only in their buffers share a graph of cuDNN") {
  Setting setting;
  plan::Attention first = gradientOf(attention()), second = first, other = first;
  second.mutable_query()->set_buffer(7), other.set_scale(0.5);
  const device::AttentionOperands one = operandsIn(setting, first, DType::BF16, kSumBytes),
                                  two = operandsIn(setting, first, DType::BF16, kSumBytes);
  auto prepare = [&](const plan::Attention &a, const device::AttentionOperands &operands) {
    device::PreparedAction action = setting.device().attention(a, operands);
    REQUIRE(action.status().message() == "");
    const int graphs = setting.calls("an execution plan of cuDNN");
    CHECK(setting.run(std::move(action)) == "");
    return graphs;
  };
  CHECK(prepare(first, one) == 1);
  CHECK(prepare(second, two) == 0);
  CHECK(prepare(other, one) == 1);
}

TEST_CASE("cuda: attention that cuDNN cannot do is refused with the reason") {
  using Catch::Matchers::Contains;
  plan::Attention a = attention();
  CHECK_THAT(run(a, DType::F32), Contains("only for bf16 and f16"));
  a.set_drop_rate(0.5);
  CHECK_THAT(run(a, DType::BF16), Contains("dropout") && Contains("--direct-attention"));
  a = attention();
  setOperand(a.mutable_bias(), {0, 0, 16, 1});
  CHECK_THAT(run(a, DType::BF16), Contains("a mask or a bias"));
  CHECK_THAT(run(gradientOf(attention()), DType::BF16, /*workspace=*/0),
             Contains("its workspace has 0 bytes, expected at least 256"));
  a = attention();
  a.set_causal(true), a.set_fill(-1);
  CHECK_THAT(run(a, DType::BF16), Contains("large negative number"));
}
