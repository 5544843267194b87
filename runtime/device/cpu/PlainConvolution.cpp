// Convolution and its gradients as plain loops, for element types that oneDNN does not take: right
// rather than fast.
#include "runtime/base/ElementFormat.h"
#include "runtime/device/cpu/Parts.h"

#include <array>

namespace cleave::device {
namespace {

using Kind = plan::Convolution;
using Space = std::array<int64_t, 3>; // per spatial dim; missing dims have size 1

template <typename List> Space spaceOf(const List &list, int first, int64_t absent) {
  Space space;
  space.fill(absent);
  for (int d = first; d < list.size(); ++d)
    space[size_t(3 - list.size() + d)] = list[d];
  return space;
}

int64_t elements(const Space &space) { return space[0] * space[1] * space[2]; }

// A tensor of planes in memory: element i of plane (image, channel) is at `at(image, channel) + i *
// step`.
struct Planes {
  Planes(int64_t channels, const Space &space, bool channelsLast)
      : step(channelsLast ? channels : 1), channel_(channelsLast ? 1 : elements(space)),
        image_(channels * elements(space)) {}
  int64_t at(int64_t image, int64_t channel) const { return image * image_ + channel * channel_; }

  int64_t step;

private:
  int64_t channel_, image_;
};

// The sizes of a convolution and the ranges in which its windows lie inside the input.
struct Geometry {
  explicit Geometry(const plan::Convolution &c)
      : images(c.input_shape(0)), channels(c.input_shape(1)), outputs(c.weight_shape(0)),
        groups(c.groups()), input(spaceOf(c.input_shape(), 2, 1)),
        kernel(spaceOf(c.weight_shape(), 2, 1)), output(spaceOf(c.output_shape(), 2, 1)),
        strides(spaceOf(c.strides(), 0, 1)), dilations(spaceOf(c.dilations(), 0, 1)),
        low(spaceOf(c.pads_low(), 0, 0)) {}

  int64_t channelsPerGroup() const { return channels / groups; }
  int64_t outputsPerGroup() const { return outputs / groups; }

  // Calls visit(input position, kernel position, output position) for every product within one
  // plane of each.
  template <typename Visit> void forEachProduct(Visit visit) const {
    for (int64_t y0 = 0; y0 < output[0]; ++y0)
      for (int64_t y1 = 0; y1 < output[1]; ++y1)
        for (int64_t k0 = 0; k0 < kernel[0]; ++k0)
          for (int64_t k1 = 0; k1 < kernel[1]; ++k1) {
            int64_t x0 = inputAt(0, y0, k0), x1 = inputAt(1, y1, k1);
            if (x0 < 0 || x0 >= input[0] || x1 < 0 || x1 >= input[1])
              continue;
            int64_t x = (x0 * input[1] + x1) * input[2], k = (k0 * kernel[1] + k1) * kernel[2],
                    y = (y0 * output[1] + y1) * output[2];
            for (int64_t k2 = 0; k2 < kernel[2]; ++k2)
              for (int64_t y2 = 0; y2 < output[2]; ++y2)
                if (int64_t x2 = inputAt(2, y2, k2); x2 >= 0 && x2 < input[2])
                  visit(x + x2, k + k2, y + y2);
          }
  }

  int64_t images, channels, outputs, groups;
  Space input, kernel, output, strides, dilations, low;

private:
  int64_t inputAt(size_t d, int64_t y, int64_t k) const {
    return y * strides[d] + k * dilations[d] - low[d];
  }
};

// Sums of products of numbers in `Format`, stored in `Result`.
template <typename Format, typename Result> class PlainConvolution : public Action {
  using Stored = typename Format::Stored;
  using StoredResult = typename Result::Stored;
  using Value = typename Result::Value;

public:
  PlainConvolution(const plan::Convolution &convolution, const ConvolutionOperands &operands)
      : kind_(convolution.kind()), g_(convolution), input_(operands.input),
        weight_(operands.weight), output_(operands.output),
        inputs_(g_.channels, g_.input, convolution.channels_last()),
        kernels_(g_.channelsPerGroup(), g_.kernel, convolution.channels_last()),
        outputs_(g_.outputs, g_.output, convolution.channels_last()) {}

  // Every part writes different planes.
  Status run() override {
    int64_t planes = kind_ == Kind::FORWARD          ? g_.images * g_.outputs
                     : kind_ == Kind::INPUT_GRADIENT ? g_.images * g_.channels
                                                     : g_.outputs * g_.channelsPerGroup();
    inParallel(planes, [this](int64_t begin, int64_t end) {
      std::vector<Value> sums;
      for (int64_t plane = begin; plane < end; ++plane)
        kind_ == Kind::FORWARD          ? computeOutput(plane, sums)
        : kind_ == Kind::INPUT_GRADIENT ? computeInput(plane, sums)
                                        : computeWeight(plane, sums);
    });
    return Status::ok();
  }

private:
  void computeOutput(int64_t plane, std::vector<Value> &sums) const {
    int64_t image = plane / g_.outputs, o = plane % g_.outputs, per = g_.channelsPerGroup();
    sums.assign(size_t(elements(g_.output)), Value(0));
    for (int64_t i = 0; i < per; ++i) {
      const Stored *x = read(input_) + inputs_.at(image, o / g_.outputsPerGroup() * per + i);
      const Stored *w = read(weight_) + kernels_.at(o, i);
      g_.forEachProduct([&](int64_t in, int64_t k, int64_t out) {
        add(sums[size_t(out)], x[in * inputs_.step], w[k * kernels_.step]);
      });
    }
    store(sums, written(output_) + outputs_.at(image, o), outputs_.step);
  }

  void computeInput(int64_t plane, std::vector<Value> &sums) const {
    int64_t image = plane / g_.channels, channel = plane % g_.channels, per = g_.channelsPerGroup();
    sums.assign(size_t(elements(g_.input)), Value(0));
    for (int64_t j = 0; j < g_.outputsPerGroup(); ++j) {
      int64_t o = channel / per * g_.outputsPerGroup() + j;
      const Stored *y = read(output_) + outputs_.at(image, o);
      const Stored *w = read(weight_) + kernels_.at(o, channel % per);
      g_.forEachProduct([&](int64_t in, int64_t k, int64_t out) {
        add(sums[size_t(in)], y[out * outputs_.step], w[k * kernels_.step]);
      });
    }
    store(sums, written(input_) + inputs_.at(image, channel), inputs_.step);
  }

  void computeWeight(int64_t plane, std::vector<Value> &sums) const {
    int64_t per = g_.channelsPerGroup(), o = plane / per;
    int64_t channel = o / g_.outputsPerGroup() * per + plane % per;
    sums.assign(size_t(elements(g_.kernel)), Value(0));
    for (int64_t image = 0; image < g_.images; ++image) {
      const Stored *x = read(input_) + inputs_.at(image, channel);
      const Stored *y = read(output_) + outputs_.at(image, o);
      g_.forEachProduct([&](int64_t in, int64_t k, int64_t out) {
        add(sums[size_t(k)], x[in * inputs_.step], y[out * outputs_.step]);
      });
    }
    store(sums, written(weight_) + kernels_.at(o, plane % per), kernels_.step);
  }

  static void add(Value &sum, Stored a, Stored b) {
    sum += static_cast<Value>(Format::load(a) * Format::load(b));
  }
  static void store(const std::vector<Value> &sums, StoredResult *to, int64_t step) {
    for (size_t i = 0; i < sums.size(); ++i)
      to[int64_t(i) * step] = Result::store(sums[i]);
  }
  static const Stored *read(const void *tensor) { return static_cast<const Stored *>(tensor); }
  static StoredResult *written(void *tensor) { return static_cast<StoredResult *>(tensor); }

  Kind::Kind kind_;
  Geometry g_;
  void *input_, *weight_, *output_;
  Planes inputs_, kernels_, outputs_;
};

} // namespace

PreparedAction preparePlainConvolution(const plan::Convolution &convolution,
                                       const ConvolutionOperands &operands) {
  return withProductFormats<WrappingFormat>(
      operands.dtype, operands.resultDtype, [&](auto format, auto result) {
        return PreparedAction(
            std::make_unique<PlainConvolution<decltype(format), decltype(result)>>(convolution,
                                                                                   operands));
      });
}

} // namespace cleave::device
