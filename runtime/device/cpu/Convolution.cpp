// Convolution and its gradients by oneDNN. The plan's tensors are dense, row-major or
// channels-last; oneDNN's fast kernels require blocked channels. Tensors for which oneDNN chooses
// another layout are reordered through the scratch memory.
#include "runtime/device/cpu/Dnnl.h"
#include "runtime/device/cpu/Parts.h"

#include <optional>

namespace cleave::device {
namespace {

using Dims = dnnl::memory::dims;
using Layout = dnnl::memory::desc;
using Kind = plan::Convolution;

// oneDNN's description of a convolution, without its direction.
struct ConvolutionProblem {
  Layout input, weight, output; // as in the plan
  Dims strides, dilations, low, high;
  dnnl::memory::data_type factors;             // the type of the two tensors that are read
  Layout anyInput{}, anyWeight{}, anyOutput{}; // chosen by oneDNN
};

// A dense tensor, row-major or with its dim `channels` innermost in memory.
Layout dense(const Dims &dims, dnnl::memory::data_type type, std::optional<size_t> channels) {
  Dims strides(dims.size(), 1);
  int64_t stride = channels ? dims[*channels] : 1;
  for (size_t i = dims.size(); i-- > 0;)
    if (i != channels) {
      strides[i] = stride;
      stride *= dims[i];
    }
  return Layout(dims, type, strides);
}

// A depthwise convolution over one dim: oneDNN has fast kernels over two dims only.
bool isDepthwiseLine(const plan::Convolution &c) {
  return c.input_shape_size() == 3 && c.groups() > 1 && c.weight_shape(0) == c.groups() &&
         c.weight_shape(1) == 1;
}

ConvolutionProblem problemOf(const plan::Convolution &c, const ConvolutionOperands &operands) {
  auto typeOf = [&](Kind::Kind writes) {
    return dnnlType(c.kind() == writes ? operands.resultDtype : operands.dtype);
  };
  // With `line`, in front of the last dim: of a dim of size 1 that is added there.
  auto dims = [&](const auto &values, int64_t line) {
    Dims all(values.begin(), values.end());
    if (isDepthwiseLine(c))
      all.insert(all.end() - 1, line);
    return all;
  };
  Dims weight = dims(c.weight_shape(), 1);
  if (c.groups() > 1) {
    weight[0] /= c.groups();
    weight.insert(weight.begin(), c.groups());
  }
  auto any = [](const Layout &of) {
    return Layout(of.dims(), of.data_type(), dnnl::memory::format_tag::any);
  };
  Dims input = dims(c.input_shape(), 1), output = dims(c.output_shape(), 1),
       dilations = dims(c.dilations(), 1);
  for (auto &dilation : dilations)
    --dilation;                           // oneDNN counts from 0
  std::optional<size_t> channels, inputs; // the innermost dims of the data, and of the weight
  if (c.channels_last())
    channels = 1, inputs = c.groups() > 1 ? 2 : 1;
  ConvolutionProblem problem{.input = dense(input, typeOf(Kind::INPUT_GRADIENT), channels),
                             .weight = dense(weight, typeOf(Kind::WEIGHT_GRADIENT), inputs),
                             .output = dense(output, typeOf(Kind::FORWARD), channels),
                             .strides = dims(c.strides(), 1),
                             .dilations = dilations,
                             .low = dims(c.pads_low(), 0),
                             .high = dims(c.pads_high(), 0),
                             .factors = dnnlType(operands.dtype)};
  problem.anyInput = any(problem.input);
  problem.anyWeight = any(problem.weight);
  problem.anyOutput = any(problem.output);
  return problem;
}

// A tensor of the primitive: the plan's own memory if the layouts agree, otherwise scratch memory,
// which is reordered before or after the primitive.
dnnl::memory operand(DnnlAction &action, const Layout &have, const Layout &want, void *data,
                     bool written) {
  dnnl::memory plain(have, cpuEngine(), data);
  if (have == want)
    return plain;
  dnnl::memory blocked = action.inScratch(want);
  if (!written)
    action.add(dnnl::reorder(plain, blocked), {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, blocked}});
  return blocked;
}

dnnl::convolution_forward::primitive_desc forward(const ConvolutionProblem &p,
                                                  const dnnl::primitive_attr &attributes) {
  dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_training,
                                       dnnl::algorithm::convolution_direct, p.anyInput, p.anyWeight,
                                       p.anyOutput, p.strides, p.dilations, p.low, p.high);
  return {what, attributes, cpuEngine()};
}

// An argument of a oneDNN primitive.
struct Argument {
  int number;         // DNNL_ARG_…
  const Layout &have; // in the plan
  Layout want;        // of oneDNN
  void *data;
};

// Adds the primitive to the action, with the reorders of its arguments.
void assemble(DnnlAction &action, const dnnl::primitive &primitive, const Layout &scratchpad,
              std::initializer_list<Argument> reads, const Argument &written) {
  std::unordered_map<int, dnnl::memory> arguments;
  for (const Argument &tensor : reads)
    arguments.emplace(tensor.number, operand(action, tensor.have, tensor.want, tensor.data, false));
  dnnl::memory result = operand(action, written.have, written.want, written.data, true);
  arguments.emplace(written.number, result);
  arguments.emplace(DNNL_ARG_SCRATCHPAD, action.inScratch(scratchpad));
  action.add(primitive, std::move(arguments));
  if (written.have == written.want)
    return;
  dnnl::memory plain(written.have, cpuEngine(), written.data);
  action.add(dnnl::reorder(result, plain), {{DNNL_ARG_FROM, result}, {DNNL_ARG_TO, plain}});
}

void addForward(DnnlAction &action, const ConvolutionProblem &p, const ConvolutionOperands &at,
                const dnnl::primitive_attr &attributes) {
  auto how = forward(p, attributes);
  assemble(action, dnnl::convolution_forward(how), how.scratchpad_desc(),
           {{DNNL_ARG_SRC, p.input, how.src_desc(), at.input},
            {DNNL_ARG_WEIGHTS, p.weight, how.weights_desc(), at.weight}},
           {DNNL_ARG_DST, p.output, how.dst_desc(), at.output});
}

// oneDNN's primitive for the gradient of the input or of the weight.
template <typename Gradient>
typename Gradient::primitive_desc gradient(const ConvolutionProblem &p,
                                           const dnnl::primitive_attr &attributes) {
  // oneDNN's hint: the convolution itself, whose tensors all have the type of the factors.
  ConvolutionProblem hint = p;
  for (Layout *layout : {&hint.anyInput, &hint.anyWeight, &hint.anyOutput})
    *layout = Layout(layout->dims(), p.factors, dnnl::memory::format_tag::any);
  typename Gradient::desc what(dnnl::algorithm::convolution_direct, p.anyInput, p.anyWeight,
                               p.anyOutput, p.strides, p.dilations, p.low, p.high);
  return {what, attributes, cpuEngine(), forward(hint, attributes)};
}

void addInputGradient(DnnlAction &action, const ConvolutionProblem &p,
                      const ConvolutionOperands &at, const dnnl::primitive_attr &attributes) {
  auto how = gradient<dnnl::convolution_backward_data>(p, attributes);
  assemble(action, dnnl::convolution_backward_data(how), how.scratchpad_desc(),
           {{DNNL_ARG_DIFF_DST, p.output, how.diff_dst_desc(), at.output},
            {DNNL_ARG_WEIGHTS, p.weight, how.weights_desc(), at.weight}},
           {DNNL_ARG_DIFF_SRC, p.input, how.diff_src_desc(), at.input});
}

void addWeightGradient(DnnlAction &action, const ConvolutionProblem &p,
                       const ConvolutionOperands &at, const dnnl::primitive_attr &attributes) {
  auto how = gradient<dnnl::convolution_backward_weights>(p, attributes);
  assemble(action, dnnl::convolution_backward_weights(how), how.scratchpad_desc(),
           {{DNNL_ARG_SRC, p.input, how.src_desc(), at.input},
            {DNNL_ARG_DIFF_DST, p.output, how.diff_dst_desc(), at.output}},
           {DNNL_ARG_DIFF_WEIGHTS, p.weight, how.diff_weights_desc(), at.weight});
}

} // namespace

PreparedAction prepareDnnlConvolution(const plan::Convolution &convolution,
                                      const ConvolutionOperands &operands, Scratch &scratch) {
  try {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    ConvolutionProblem problem = problemOf(convolution, operands);
    auto action = std::make_unique<DnnlAction>();
    if (convolution.kind() == Kind::FORWARD)
      addForward(*action, problem, operands, attributes);
    else if (convolution.kind() == Kind::INPUT_GRADIENT)
      addInputGradient(*action, problem, operands, attributes);
    else
      addWeightGradient(*action, problem, operands, attributes);
    action->reserve(scratch);
    return PreparedAction(std::move(action));
  } catch (const dnnl::error &) { // it refuses some large pads and dilations
    return preparePlainConvolution(convolution, operands);
  }
}

} // namespace cleave::device
