// Times the CPU device's matmuls and convolutions on the shapes of a GPT and of a ResNet, in CPU
// seconds of one thread (so that other processes on the machine disturb little).
//
//   bench-device                     prints milliseconds and FLOP/s
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "runtime/device/cpu/CpuDevice.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

using namespace cleave;
using namespace cleave::device;

namespace {

double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// The best of several runs; negative if it failed.
double timeAction(Device &device, PreparedAction &action) {
  if (!action || !device.finishPreparing() || !(*action)->run())
    return -1;
  double best = 1e9, total = 0;
  for (int i = 0; i < 5 || (total < 0.1 && i < 1000); ++i) {
    double begin = cpuSeconds();
    if (!(*action)->run())
      return -1;
    double seconds = cpuSeconds() - begin;
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

void addRow(Table &table, const std::string &name, double flops, double seconds) {
  table.add({name, seconds < 0 ? "failed" : secondsText(seconds),
             seconds < 0 ? "" : countText(flops / seconds, "FLOP/s")});
}

struct MatmulCase {
  const char *name;
  std::vector<int64_t> batch;
  int64_t m, n, k;
  std::vector<int64_t> lhs, rhs, out;
};

// One layer of a GPT: 8 x 256 tokens, 256 wide, 4 heads of 64.
std::vector<MatmulCase> matmulCases() {
  constexpr int64_t T = 2048, D = 256, S = 256, H = 4, E = 64;
  std::vector<int64_t> inQkv = {S * 3 * D, E, 3 * D, 1}, inQkvTurned = {S * 3 * D, E, 1, 3 * D};
  std::vector<int64_t> scores = {H * S * S, S * S, S, 1}, scoresTurned = {H * S * S, S * S, 1, S};
  std::vector<int64_t> tokens = {S * D, E, D, 1};
  return {
      {"linear", {}, T, 4 * D, D, {D, 1}, {4 * D, 1}, {4 * D, 1}},
      {"linear, weights as (out, in)", {}, T, 4 * D, D, {D, 1}, {1, D}, {4 * D, 1}},
      {"gradient of a linear's input", {}, T, D, 4 * D, {4 * D, 1}, {1, 4 * D}, {D, 1}},
      {"gradient of a linear's weights", {}, D, 4 * D, T, {1, D}, {4 * D, 1}, {4 * D, 1}},
      {"query * key", {8, H}, S, S, E, inQkv, inQkvTurned, scores},
      {"scores * value", {8, H}, S, E, S, scores, inQkv, tokens},
      {"gradient of value", {8, H}, S, E, S, scoresTurned, tokens, inQkv},
      {"gradient of scores", {8, H}, S, S, E, tokens, inQkvTurned, scores},
  };
}

void benchMatmuls(Table &table) {
  for (const MatmulCase &c : matmulCases()) {
    std::vector<float> lhs(1 << 22, 0.5f), rhs(1 << 22, 0.25f), out(1 << 22);
    plan::Matmul matmul;
    double flops = 2.0 * double(c.m) * double(c.n) * double(c.k);
    for (int64_t size : c.batch) {
      matmul.add_batch(size);
      flops *= double(size);
    }
    matmul.set_m(c.m), matmul.set_n(c.n), matmul.set_k(c.k);
    matmul.mutable_lhs()->mutable_strides()->Assign(c.lhs.begin(), c.lhs.end());
    matmul.mutable_rhs()->mutable_strides()->Assign(c.rhs.begin(), c.rhs.end());
    matmul.mutable_out()->mutable_strides()->Assign(c.out.begin(), c.out.end());
    auto device = makeCpuDevice(1);
    PreparedAction action =
        device->matmul(matmul, {DType::F32, DType::F32, lhs.data(), rhs.data(), out.data()});
    double seconds = timeAction(*device, action);
    bool right = out[0] == 0.125f * float(c.k);
    addRow(table, c.name, flops, right ? seconds : -1);
  }
}

struct ConvolutionCase {
  const char *name;
  int64_t batch, channels, size, out, kernel, stride, pad, groups;
};

void benchConvolutions(Table &table) {
  for (const ConvolutionCase &c : {ConvolutionCase{"3x3, 64 at 56", 8, 64, 56, 64, 3, 1, 1, 1},
                                   {"7x7/2, 3 to 64 at 224", 8, 3, 224, 64, 7, 2, 3, 1},
                                   {"3x3/2, 64 to 128 at 56", 8, 64, 56, 128, 3, 2, 1, 1},
                                   {"1x1, 256 to 64 at 56", 8, 256, 56, 64, 1, 1, 0, 1},
                                   {"3x3, 512 at 7", 8, 512, 7, 512, 3, 1, 1, 1},
                                   {"3x3, 16 at 32", 32, 16, 32, 16, 3, 1, 1, 1}})
    for (auto kind : {plan::Convolution::FORWARD, plan::Convolution::INPUT_GRADIENT,
                      plan::Convolution::WEIGHT_GRADIENT}) {
      plan::Convolution conv;
      int64_t out = (c.size + 2 * c.pad - c.kernel) / c.stride + 1;
      conv.set_kind(kind), conv.set_groups(c.groups);
      for (int64_t size : {c.batch, c.channels, c.size, c.size})
        conv.add_input_shape(size);
      for (int64_t size : {c.out, c.channels / c.groups, c.kernel, c.kernel})
        conv.add_weight_shape(size);
      for (int64_t size : {c.batch, c.out, out, out})
        conv.add_output_shape(size);
      for (int i = 0; i < 2; ++i) {
        conv.add_strides(c.stride), conv.add_dilations(1);
        conv.add_pads_low(c.pad), conv.add_pads_high(c.pad);
      }
      double perOutput = double(c.channels / c.groups * c.kernel * c.kernel);
      std::vector<float> input(size_t(c.batch * c.channels * c.size * c.size), 1);
      std::vector<float> weight(size_t(double(c.out) * perOutput), 1);
      std::vector<float> output(size_t(c.batch * c.out * out * out), 1);
      auto device = makeCpuDevice(1);
      PreparedAction action = device->convolution(
          conv, {DType::F32, DType::F32, input.data(), weight.data(), output.data()});
      double seconds = timeAction(*device, action);
      const char *what = kind == plan::Convolution::FORWARD          ? ""
                         : kind == plan::Convolution::INPUT_GRADIENT ? ", gradient of input"
                                                                     : ", gradient of weight";
      addRow(table, std::string("convolution ") + c.name + what,
             2 * double(output.size()) * perOutput, seconds);
    }
}

} // namespace

int main() {
  Table table({"what", ">time", ">rate"});
  benchMatmuls(table);
  benchConvolutions(table);
  std::printf("%s", table.str().c_str());
  return 0;
}
