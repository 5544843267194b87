// Grouped products and their weight gradients in all layouts, on uneven and empty groups and on
// blocks of rows and groups, compared with plain loops in double.
#include "runtime/device/cpu/CpuDevice.h"

#include "test/unit/runtime_device/Stored.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::device;

namespace {

struct GroupedCase {
  std::string name;
  int64_t rows, inputs, outputs;
  std::vector<int64_t> ends;
  std::vector<int64_t> input, weight, output; // strides
  int64_t groups = 0, firstGroup = 0;         // of this rank; 0: all
  int64_t wholeRows = 0, firstRow = 0;
};

std::vector<GroupedCase> groupedCases() {
  return {
      {"uneven groups", 40, 16, 24, {7, 20, 33, 40}, {16, 1}, {384, 24, 1}, {24, 1}},
      {"empty groups and rows of none", 9, 3, 5, {0, 4, 4, 7, 7}, {3, 1}, {15, 5, 1}, {5, 1}},
      {"all rows in one group", 6, 4, 4, {0, 6, 6}, {4, 1}, {16, 4, 1}, {4, 1}},
      {"no rows in any group", 6, 4, 4, {0, 0}, {4, 1}, {16, 4, 1}, {4, 1}},
      {"transposed weights", 20, 8, 6, {5, 20}, {8, 1}, {48, 1, 8}, {6, 1}},
      {"transposed rows", 20, 8, 6, {5, 20}, {1, 20}, {48, 6, 1}, {1, 20}},
      {"columns out of wider matrices", 20, 8, 6, {5, 20}, {10, 1}, {90, 9, 1}, {13, 1}},
      {"one column", 12, 4, 1, {3, 9}, {4, 1}, {4, 1, 1}, {1, 1}},
      {"one input", 12, 1, 4, {3, 9}, {1, 1}, {4, 4, 1}, {4, 1}},
      {"no contiguous dim", 6, 3, 3, {2, 5}, {8, 2}, {20, 6, 2}, {9, 3}},
      {"a block of rows", 5, 4, 3, {2, 9, 14}, {4, 1}, {12, 3, 1}, {3, 1}, 0, 0, 15, 5},
      {"the last rows", 5, 4, 3, {2, 9, 12}, {4, 1}, {12, 3, 1}, {3, 1}, 0, 0, 15, 10},
      {"a block of groups", 12, 4, 3, {2, 5, 5, 11}, {4, 1}, {12, 3, 1}, {3, 1}, 2, 1},
      {"groups beyond the last", 12, 4, 3, {2, 5, 11}, {4, 1}, {12, 3, 1}, {3, 1}, 2, 2},
      {"rows and groups", 4, 4, 3, {2, 5, 5, 11}, {4, 1}, {12, 3, 1}, {3, 1}, 2, 2, 12, 8},
  };
}

constexpr size_t kElements = 4096;

// Small integers over 8, exact in every dtype.
std::vector<double> numbers(int seed) {
  std::vector<double> values(kElements);
  for (size_t i = 0; i < kElements; ++i)
    values[i] = (int((i * 37 + size_t(seed) * 11) % 17) - 8) / 8.0;
  return values;
}

int64_t groupsOf(const GroupedCase &c) { return c.groups ? c.groups : int64_t(c.ends.size()); }

plan::GroupedMatmul instructionOf(const GroupedCase &c, bool isGradient) {
  plan::GroupedMatmul m;
  m.set_weight_gradient(isGradient);
  m.set_rows(c.rows), m.set_inputs(c.inputs), m.set_outputs(c.outputs), m.set_groups(groupsOf(c));
  m.set_whole_groups(int64_t(c.ends.size()));
  m.set_whole_rows(c.wholeRows ? c.wholeRows : c.rows);
  m.mutable_input()->mutable_strides()->Assign(c.input.begin(), c.input.end());
  m.mutable_weight()->mutable_strides()->Assign(c.weight.begin(), c.weight.end());
  m.mutable_output()->mutable_strides()->Assign(c.output.begin(), c.output.end());
  return m;
}

// The row of this rank is in group g of this rank.
bool isIn(const GroupedCase &c, int64_t row, int64_t g) {
  const int64_t group = g + c.firstGroup, at = row + c.firstRow;
  return group < int64_t(c.ends.size()) && at < c.ends[size_t(group)] &&
         (group == 0 || at >= c.ends[size_t(group - 1)]);
}

// Replaces the result among the three tensors.
void computeByLoops(const GroupedCase &c, bool isGradient, const std::vector<double> &input,
                    std::vector<double> &weight, std::vector<double> &output) {
  auto in = [&](int64_t r, int64_t i) { return input[size_t(r * c.input[0] + i * c.input[1])]; };
  auto by = [&](int64_t g, int64_t i, int64_t o) -> double & {
    return weight[size_t(g * c.weight[0] + i * c.weight[1] + o * c.weight[2])];
  };
  auto out = [&](int64_t r, int64_t o) -> double & {
    return output[size_t(r * c.output[0] + o * c.output[1])];
  };
  for (int64_t o = 0; o < c.outputs; ++o) {
    for (int64_t r = 0; r < c.rows && !isGradient; ++r) {
      out(r, o) = 0;
      for (int64_t g = 0; g < groupsOf(c); ++g)
        for (int64_t i = 0; i < c.inputs && isIn(c, r, g); ++i)
          out(r, o) += in(r, i) * by(g, i, o);
    }
    for (int64_t g = 0; g < groupsOf(c) && isGradient; ++g)
      for (int64_t i = 0; i < c.inputs; ++i) {
        by(g, i, o) = 0;
        for (int64_t r = 0; r < c.rows; ++r)
          by(g, i, o) += isIn(c, r, g) ? in(r, i) * out(r, o) : 0;
      }
  }
}

std::vector<char> bytesOf(DType dtype, const std::vector<int64_t> &ends) {
  return stored(dtype, std::vector<double>(ends.begin(), ends.end()));
}

void check(const GroupedCase &c, bool isGradient, DType dtype, DType resultDtype, DType endsDtype) {
  INFO(c.name << ", " << name(dtype) << " to " << name(resultDtype)
              << (isGradient ? ", gradient" : ""));
  const std::vector<double> input = numbers(1);
  std::vector<double> weight = numbers(2), output = numbers(3);
  std::vector<char> inputBytes = stored(dtype, input),
                    weightBytes = stored(isGradient ? resultDtype : dtype, weight),
                    outputBytes = stored(isGradient ? dtype : resultDtype, output);
  const std::vector<char> ends = bytesOf(endsDtype, c.ends);
  auto device = makeCpuDevice(2);
  PreparedAction action =
      device->groupedMatmul(instructionOf(c, isGradient), {.dtype = dtype,
                                                           .resultDtype = resultDtype,
                                                           .endsDtype = endsDtype,
                                                           .input = inputBytes.data(),
                                                           .weight = weightBytes.data(),
                                                           .output = outputBytes.data(),
                                                           .ends = ends.data(),
                                                           .firstRow = &c.firstRow,
                                                           .firstGroup = &c.firstGroup});
  REQUIRE(action);
  REQUIRE(device->finishPreparing());
  REQUIRE((*action)->run());
  computeByLoops(c, isGradient, input, weight, output);
  CHECK((isGradient ? weightBytes : outputBytes) ==
        stored(resultDtype, isGradient ? weight : output));
}

} // namespace

TEST_CASE("a grouped product and its weight gradient match plain loops") {
  for (const GroupedCase &c : groupedCases())
    for (bool isGradient : {false, true}) {
      check(c, isGradient, DType::F32, DType::F32, DType::I32);
      check(c, isGradient, DType::F64, DType::F64, DType::I64);
      for (DType dtype : {DType::BF16, DType::F16})
        for (DType resultDtype : {dtype, DType::F32})
          check(c, isGradient, dtype, resultDtype, DType::I64);
    }
}

TEST_CASE("a grouped product refuses ends that are not ascending or not rows") {
  GroupedCase c{"", 6, 4, 4, {}, {4, 1}, {16, 4, 1}, {4, 1}};
  auto refusal = [&](std::vector<int64_t> given) {
    c.ends = std::move(given);
    std::vector<float> tensor(64);
    auto device = makeCpuDevice(1);
    PreparedAction action =
        device->groupedMatmul(instructionOf(c, false), {.dtype = DType::F32,
                                                        .resultDtype = DType::F32,
                                                        .endsDtype = DType::I64,
                                                        .input = tensor.data(),
                                                        .weight = tensor.data(),
                                                        .output = tensor.data(),
                                                        .ends = c.ends.data()});
    REQUIRE(action);
    REQUIRE(device->finishPreparing());
    return (*action)->run().message();
  };
  CHECK_THAT(refusal({4, 3, 6}), Catch::Contains("group 1 of a grouped product ends at row 3, "
                                                 "expected 4 to 6"));
  CHECK_THAT(refusal({4, 7}), Catch::Contains("ends at row 7, expected 4 to 6"));
  CHECK_THAT(refusal({-1, 6}), Catch::Contains("ends at row -1, expected 0 to 6"));
}
