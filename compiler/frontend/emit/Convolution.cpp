// See Convolution.h.
#include "compiler/frontend/emit/Convolution.h"

namespace cleave::emit {

using namespace graph;

namespace {

std::string operandsOf(Value x, Value weight) {
  return "has data " + showShape(shapeOf(x)) + " and weight " + showShape(shapeOf(weight));
}

// Checks the channels of data and weight; fills the window's kernel from the weight.
void checkOperands(const Emitter &e, Value x, Value weight, Window &window) {
  e.checkFloat(x);
  e.checkSameType(x, weight);
  if (rankOf(x) < 3 || rankOf(weight) != rankOf(x))
    fail(operandsOf(x, weight), ", expected equally many dims, at least 3");
  Ints kernel = e.numbers(spatialOf(weight), "kernel");
  if (!window.kernel.empty() && window.kernel != kernel)
    fail("has a kernel of ", showInts(window.kernel), ", but its weight has ", showInts(kernel));
  window.kernel = kernel;
}

[[noreturn]] void failGroups(Value x, Value weight, int64_t groups) {
  fail(operandsOf(x, weight), " in ", groups, " groups: the channels do not fit");
}

Value withBias(const Emitter &e, Value x, Value bias) {
  if (!bias)
    return x;
  e.checkSameType(x, bias);
  return e.add(x, perChannel(e, bias, x));
}

} // namespace

Value perChannel(const Emitter &e, Value value, Value like) {
  Sizes dims = shapeOf(like);
  if (dims.size() < 2 || shapeOf(value) != Sizes{dims[1]})
    fail("has data ", showShape(dims), " and one operand ", showShape(shapeOf(value)),
         ", expected one number per channel");
  Sizes column(dims.size() - 1, Polynomial(1));
  column[0] = dims[1];
  return e.broadcast(e.reshape(value, column), dims);
}

Value convolution(const Emitter &e, Value x, Value weight, Value bias, Window window,
                  int64_t groups, AutoPad autoPad) {
  checkOperands(e, x, weight, window);
  Sizes data = shapeOf(x), kernel = shapeOf(weight);
  if (groups < 1 || kernel[1] * groups != data[1] || !kernel[0].dividedBy(groups))
    failGroups(x, weight, groups);
  window = fittedWindow(e, spatialOf(x), window, autoPad);
  Value result = ConvOp::create(e.b, e.loc, x, weight, window.strides, window.dilations,
                                window.padsLow, window.padsHigh, groups);
  e.type(shapeOf(result), elementOf(result)); // fails if it is too large
  return withBias(e, result, bias);
}

Value transposedConvolution(const Emitter &e, Value x, Value weight, Value bias, Window window,
                            Ints outputPadding, int64_t groups, AutoPad autoPad) {
  checkOperands(e, x, weight, window);
  Sizes data = shapeOf(x), kernel = shapeOf(weight);
  if (groups < 1 || kernel[0] != data[1] || !kernel[0].dividedBy(groups))
    failGroups(x, weight, groups);
  if (outputPadding.empty())
    outputPadding.assign(data.size() - 2, 0);
  Sizes small(data.size() - 2, Polynomial(int64_t(1) << 40)); // the window may exceed x
  window = fittedWindow(e, small, window);
  Sizes result{data[0], kernel[1] * groups};
  for (size_t i = 0; i < window.rank(); ++i) {
    if (i >= outputPadding.size() || outputPadding[i] < 0 ||
        outputPadding[i] >= std::max(window.strides[i], window.dilations[i]))
      fail("has an output padding of ", showInts(outputPadding),
           ", expected one from 0 to below the stride per spatial dim");
    if (autoPad != AutoPad::None) {
      int64_t pad = std::max<int64_t>(0, window.extent(i) + outputPadding[i] - window.strides[i]);
      window.padsHigh[i] = autoPad == AutoPad::SameUpper ? pad - pad / 2 : pad / 2;
      window.padsLow[i] = pad - window.padsHigh[i];
    }
    int64_t behind = window.extent(i) - window.padsLow[i] - window.padsHigh[i] + outputPadding[i];
    result.push_back((data[i + 2] - 1) * window.strides[i] + behind);
  }
  Value out =
      ConvInputGradOp::create(e.b, e.loc, e.type(result, elementOf(x)), x, weight, window.strides,
                              window.dilations, window.padsLow, window.padsHigh, groups);
  return withBias(e, out, bias);
}

} // namespace cleave::emit
