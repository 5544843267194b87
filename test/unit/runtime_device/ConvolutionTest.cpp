// Convolutions and their two gradients against plain loops.
#include "runtime/base/ConvolutionLowering.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cpu/Dnnl.h"
#include "test/unit/runtime_device/Stored.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

using namespace cleave;
using namespace cleave::device;

namespace {

struct ConvolutionCase {
  std::string name;
  int64_t n, channels, height, width, out, kernel, stride, dilation, low, high, groups;
};

std::vector<ConvolutionCase> convolutions() {
  return {
      {"3x3 same", 2, 16, 8, 8, 32, 3, 1, 1, 1, 1, 1},
      {"first layer, three channels", 2, 3, 9, 9, 16, 7, 2, 1, 3, 3, 1},
      {"1x1", 2, 16, 5, 5, 8, 1, 1, 1, 0, 0, 1},
      {"strided 1x1", 2, 16, 8, 8, 8, 1, 2, 1, 0, 0, 1},
      {"uneven padding", 1, 4, 7, 7, 4, 3, 2, 1, 0, 1, 1},
      {"dilated", 1, 4, 9, 9, 4, 3, 1, 2, 2, 2, 1},
      {"grouped", 2, 8, 6, 6, 12, 3, 1, 1, 1, 1, 4},
      {"depthwise", 2, 8, 6, 6, 8, 3, 1, 1, 1, 1, 8},
  };
}

int64_t outputSize(const ConvolutionCase &c, int64_t size) {
  return (size + c.low + c.high - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
}

plan::Convolution convolutionOf(const ConvolutionCase &c, plan::Convolution::Kind kind,
                                bool channelsLast) {
  plan::Convolution conv;
  conv.set_kind(kind);
  conv.set_channels_last(channelsLast);
  conv.set_groups(c.groups);
  for (int64_t size : {c.n, c.channels, c.height, c.width})
    conv.add_input_shape(size);
  for (int64_t size : {c.out, c.channels / c.groups, c.kernel, c.kernel})
    conv.add_weight_shape(size);
  for (int64_t size : {c.n, c.out, outputSize(c, c.height), outputSize(c, c.width)})
    conv.add_output_shape(size);
  for (int i = 0; i < 2; ++i) {
    conv.add_strides(c.stride), conv.add_dilations(c.dilation);
    conv.add_pads_low(c.low), conv.add_pads_high(c.high);
  }
  return conv;
}

// Calls visit(index of input, of weight, of output) for every product of the convolution.
template <typename Visit> void forEachProduct(const ConvolutionCase &c, Visit visit) {
  int64_t oh = outputSize(c, c.height), ow = outputSize(c, c.width), per = c.channels / c.groups;
  for (int64_t n = 0; n < c.n; ++n)
    for (int64_t o = 0; o < c.out; ++o)
      for (int64_t y = 0; y < oh; ++y)
        for (int64_t x = 0; x < ow; ++x)
          for (int64_t i = 0; i < per; ++i)
            for (int64_t ky = 0; ky < c.kernel; ++ky)
              for (int64_t kx = 0; kx < c.kernel; ++kx) {
                int64_t iy = y * c.stride + ky * c.dilation - c.low;
                int64_t ix = x * c.stride + kx * c.dilation - c.low;
                int64_t channel = o / (c.out / c.groups) * per + i;
                if (iy >= 0 && iy < c.height && ix >= 0 && ix < c.width)
                  visit(((n * c.channels + channel) * c.height + iy) * c.width + ix,
                        ((o * per + i) * c.kernel + ky) * c.kernel + kx,
                        ((n * c.out + o) * oh + y) * ow + x);
              }
}

// Multiples of 1/8, or integers, which every dtype represents.
std::vector<double> numbers(DType dtype, int64_t count, int seed) {
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = double(int((i * 29 + size_t(seed) * 7) % 13) - 6) / (isFloat(dtype) ? 8 : 1);
  return values;
}

// The elements of a row-major tensor in channels-last order, or back.
std::vector<double> reordered(const std::vector<double> &values,
                              const google::protobuf::RepeatedField<int64_t> &shape, bool isBack) {
  std::vector<double> result;
  const int64_t outer = shape[0], rows = isBack ? shape[2] * shape[3] : shape[1],
                columns = isBack ? shape[1] : shape[2] * shape[3];
  for (int64_t n = 0; n < outer; ++n)
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t row = 0; row < rows; ++row)
        result.push_back(values[size_t((n * rows + row) * columns + column)]);
  return result;
}

// F32 and BF16 run in oneDNN, other types in loops. The result has another dtype than the other two
// tensors. `tolerance` is relative to the largest number. Returns the device's library bytes.
uint64_t checkConvolutions(DType dtype, DType resultDtype, double tolerance,
                           bool channelsLast = false) {
  uint64_t libraryBytes = 0;
  for (const ConvolutionCase &c : convolutions())
    for (auto kind : {plan::Convolution::FORWARD, plan::Convolution::INPUT_GRADIENT,
                      plan::Convolution::WEIGHT_GRADIENT}) {
      INFO(c.name << ", kind " << plan::Convolution::Kind_Name(kind) << ", " << name(dtype)
                  << " to " << name(resultDtype));
      plan::Convolution conv = convolutionOf(c, kind, channelsLast);
      int64_t oh = outputSize(c, c.height), ow = outputSize(c, c.width);
      std::vector<double> tensors[] = {
          numbers(dtype, c.n * c.channels * c.height * c.width, 1),
          numbers(dtype, c.out * c.channels / c.groups * c.kernel * c.kernel, 2),
          numbers(dtype, c.n * c.out * oh * ow, 3)};
      int result = kind == plan::Convolution::FORWARD          ? 2
                   : kind == plan::Convolution::INPUT_GRADIENT ? 0
                                                               : 1;
      std::vector<double> reference(tensors[result].size());
      forEachProduct(c, [&](int64_t input, int64_t weight, int64_t output) {
        int64_t at[] = {input, weight, output};
        int a = result == 0 ? 1 : 0, b = result == 2 ? 1 : 2;
        reference[size_t(at[result])] += tensors[a][size_t(at[a])] * tensors[b][size_t(at[b])];
      });
      const auto shapeOf = [&](int i) {
        return i == 0 ? conv.input_shape() : i == 1 ? conv.weight_shape() : conv.output_shape();
      };
      std::vector<char> bytes[3];
      for (int i = 0; i < 3; ++i)
        bytes[i] = stored(i == result ? resultDtype : dtype,
                          channelsLast ? reordered(tensors[i], shapeOf(i), false) : tensors[i]);
      auto device = makeCpuDevice(1);
      PreparedAction action = device->convolution(
          conv, {dtype, resultDtype, bytes[0].data(), bytes[1].data(), bytes[2].data()});
      INFO(action.status().message());
      REQUIRE(action);
      REQUIRE(device->finishPreparing());
      libraryBytes += device->libraryBytes();
      for (int twice = 0; twice < 2; ++twice)
        REQUIRE((*action)->run());
      std::vector<double> found = loaded(resultDtype, bytes[result]);
      if (channelsLast)
        found = reordered(found, shapeOf(result), true);
      double worst = 0, largest = 1;
      for (size_t i = 0; i < reference.size(); ++i) {
        worst = std::max(worst, std::abs(reference[i] - found[i]));
        largest = std::max(largest, std::abs(reference[i]));
      }
      CHECK(worst <= tolerance * largest);
    }
  return libraryBytes;
}

} // namespace

TEST_CASE("a convolution and its gradients match plain loops") {
  // The processor determines which cases need scratch memory; some always do.
  CHECK(checkConvolutions(DType::F32, DType::F32, 1e-5) > 0);
  CHECK(checkConvolutions(DType::F64, DType::F64, 1e-13) == 0);
  CHECK(checkConvolutions(DType::I32, DType::I32, 0) == 0);
}

// The result of a depthwise convolution over one dim, of 2 samples with 6 channels.
static std::vector<double> depthwiseLine(plan::Convolution::Kind kind, DType dtype, int64_t length,
                                         int64_t kernel, int64_t stride, int64_t dilation,
                                         int64_t low, int64_t high) {
  constexpr int64_t kImages = 2, kChannels = 6;
  const int64_t output = (length + low + high - dilation * (kernel - 1) - 1) / stride + 1;
  plan::Convolution conv;
  conv.set_kind(kind), conv.set_groups(kChannels);
  for (int64_t size : {kImages, kChannels, length})
    conv.add_input_shape(size);
  for (int64_t size : {kChannels, int64_t(1), kernel})
    conv.add_weight_shape(size);
  for (int64_t size : {kImages, kChannels, output})
    conv.add_output_shape(size);
  conv.add_strides(stride), conv.add_dilations(dilation);
  conv.add_pads_low(low), conv.add_pads_high(high);
  std::vector<char> bytes[] = {stored(dtype, numbers(dtype, kImages * kChannels * length, 1)),
                               stored(dtype, numbers(dtype, kChannels * kernel, 2)),
                               stored(dtype, numbers(dtype, kImages * kChannels * output, 3))};
  auto device = makeCpuDevice(1);
  PreparedAction action =
      device->convolution(conv, {dtype, dtype, bytes[0].data(), bytes[1].data(), bytes[2].data()});
  REQUIRE(action);
  REQUIRE(device->finishPreparing());
  REQUIRE((*action)->run());
  const int result = kind == plan::Convolution::FORWARD          ? 2
                     : kind == plan::Convolution::INPUT_GRADIENT ? 0
                                                                 : 1;
  return loaded(dtype, bytes[result]);
}

TEST_CASE("depthwise convolutions over one dim match plain loops, in which F64 is computed") {
  for (auto [kernel, stride, dilation, low, high] :
       {std::array<int64_t, 5>{3, 1, 1, 1, 1}, {4, 1, 1, 3, 0}, {4, 2, 1, 0, 1}, {3, 1, 2, 2, 2}})
    for (auto kind : {plan::Convolution::FORWARD, plan::Convolution::INPUT_GRADIENT,
                      plan::Convolution::WEIGHT_GRADIENT}) {
      const auto exact = depthwiseLine(kind, DType::F64, 19, kernel, stride, dilation, low, high),
                 found = depthwiseLine(kind, DType::F32, 19, kernel, stride, dilation, low, high);
      INFO("kernel " << kernel << ", kind " << plan::Convolution::Kind_Name(kind));
      REQUIRE(exact.size() == found.size());
      for (size_t i = 0; i < exact.size(); ++i)
        CHECK(found[i] == Approx(exact[i]).epsilon(1e-4).margin(1e-4));
    }
}

TEST_CASE("channels-last convolutions match plain loops") {
  checkConvolutions(DType::F32, DType::F32, 1e-5, /*channelsLast=*/true);
  checkConvolutions(DType::F64, DType::F64, 1e-13, true);
  checkConvolutions(DType::BF16, DType::BF16, 1.0 / 256, true);
}

TEST_CASE("convolutions of 16-bit floats are summed in f32 and stored as either type") {
  checkConvolutions(DType::BF16, DType::BF16, 1.0 / 256);
  checkConvolutions(DType::BF16, DType::F32, 1e-5);
  checkConvolutions(DType::F16, DType::F16, 1.0 / 2048);
  checkConvolutions(DType::F16, DType::F32, 1e-5);
}

// The name of the library's implementation in one direction.
static std::string implementation(ConvolutionPass pass, const ConvolutionForm &form) {
  using dnnl::memory;
  auto any = [](const memory::dims &dims) {
    return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  };
  auto list = [](std::span<const int64_t> of) { return memory::dims(of.begin(), of.end()); };
  constexpr int64_t kImages = 2, kSize = 28;
  memory::dims input = {kImages, form.groups * form.inputs}, weight = {form.outputs, form.inputs},
               output = {kImages, form.groups * form.outputs}, dilations;
  if (form.groups > 1)
    weight.insert(weight.begin(), form.groups);
  for (size_t d = 0; d < form.kernel.size(); ++d) {
    input.push_back(kSize), weight.push_back(form.kernel[d]);
    dilations.push_back(form.dilations[d] - 1);
    const int64_t reach = form.dilations[d] * (form.kernel[d] - 1) + 1;
    output.push_back((kSize + form.padsLow[d] + form.padsHigh[d] - reach) / form.strides[d] + 1);
  }
  const auto direct = dnnl::algorithm::convolution_direct;
  const memory::dims strides = list(form.strides), low = list(form.padsLow),
                     high = list(form.padsHigh);
  dnnl::convolution_forward::primitive_desc forward({dnnl::prop_kind::forward_training, direct,
                                                     any(input), any(weight), any(output), strides,
                                                     dilations, low, high},
                                                    cpuEngine());
  if (pass == ConvolutionPass::Forward)
    return forward.impl_info_str();
  if (pass == ConvolutionPass::InputGradient)
    return dnnl::convolution_backward_data::primitive_desc(
               {direct, any(input), any(weight), any(output), strides, dilations, low, high},
               cpuEngine(), forward)
        .impl_info_str();
  return dnnl::convolution_backward_weights::primitive_desc(
             {direct, any(input), any(weight), any(output), strides, dilations, low, high},
             cpuEngine(), forward)
      .impl_info_str();
}

TEST_CASE("the convolutions that count as lowered are those that the library lowers") {
  if (dnnl::get_effective_cpu_isa() < dnnl::cpu_isa::avx512_core)
    return; // other kernels
  const std::vector<std::pair<int64_t, int64_t>> channels = {{1, 1}, {2, 2},   {1, 2}, {4, 4},
                                                             {8, 8}, {16, 16}, {4, 8}, {16, 2}};
  for (auto [inputs, outputs] : channels)
    for (int64_t kernel : {1, 2, 3, 5, 7})
      for (int64_t stride : {1, 2})
        for (int64_t dilation : {1, 2})
          for (int64_t pad : {int64_t(0), kernel / 2}) {
            if (inputs * outputs > 1 && (kernel != 3 || dilation != 1 || pad != 1))
              continue; // grouped convolutions are told apart by their channels only
            const int64_t kernels[] = {kernel, kernel}, strides[] = {stride, stride},
                          dilations[] = {dilation, dilation}, pads[] = {pad, pad};
            const ConvolutionForm form{8, inputs, outputs, kernels, strides, dilations, pads, pads};
            for (ConvolutionPass pass : {ConvolutionPass::Forward, ConvolutionPass::InputGradient,
                                         ConvolutionPass::WeightGradient}) {
              const std::string name = implementation(pass, form);
              INFO(inputs << " to " << outputs << " channels, kernel " << kernel << ", stride "
                          << stride << ", dilation " << dilation << ", pad " << pad << ", pass "
                          << static_cast<int>(pass) << ": " << name);
              CHECK(isLowered(pass, form) == (name.find("gemm") != std::string::npos));
            }
          }
}
