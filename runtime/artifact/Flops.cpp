// See Flops.h.
#include "runtime/artifact/Flops.h"

#include "runtime/base/ConvolutionLowering.h"

#include <cstdint>

namespace cleave::artifact {

// Two products of the scores' size, and five for the gradients; scaling, masking, softmax, bias and
// dropout, as the graph's ops count them; half of all that if causal.
static double attentionFlops(const plan::Attention &attention) {
  double scores =
      double(attention.heads()) * double(attention.queries()) * double(attention.keys());
  for (int64_t size : attention.batch())
    scores *= double(size);
  double width = double(attention.width()), depth = double(attention.depth());
  bool isGradient = attention.has_grad();
  double products = isGradient ? 6 * width + 4 * depth : 2 * (width + depth);
  int others = 6 + attention.has_bias() + (attention.drop_rate() > 0 ? 2 + isGradient : 0);
  double flops = scores * (products + others + others % 2);
  return attention.causal() ? flops / 2 : flops;
}

static double convolutionFlops(const plan::Convolution &convolution) {
  // Every element of the output has one multiply-add per weight of its channel.
  double flops = 2.0;
  for (int64_t size : convolution.output_shape())
    flops *= double(size);
  for (int i = 1; i < convolution.weight_shape_size(); ++i)
    flops *= double(convolution.weight_shape(i));
  return flops;
}

double columnsOf(const plan::Convolution &convolution) {
  auto plain = [](const auto &list) {
    return std::span<const int64_t>(list.data(), size_t(list.size()));
  };
  const ConvolutionForm form{.groups = convolution.groups(),
                             .inputs = convolution.weight_shape(1),
                             .outputs = convolution.weight_shape(0) / convolution.groups(),
                             .kernel = plain(convolution.weight_shape()).subspan(2),
                             .strides = plain(convolution.strides()),
                             .dilations = plain(convolution.dilations()),
                             .padsLow = plain(convolution.pads_low()),
                             .padsHigh = plain(convolution.pads_high())};
  return loweredColumns(static_cast<ConvolutionPass>(convolution.kind()), form,
                        convolutionFlops(convolution));
}

double flopsOf(const plan::Program &program, const plan::Instruction &instruction) {
  if (instruction.has_launch())
    return program.kernels(int(instruction.launch().kernel())).flops();
  if (instruction.has_matmul()) {
    const plan::Matmul &matmul = instruction.matmul();
    double flops = 2.0 * double(matmul.m()) * double(matmul.n()) * double(matmul.k());
    for (int64_t size : matmul.batch())
      flops *= double(size);
    return flops;
  }
  if (instruction.has_convolution())
    return convolutionFlops(instruction.convolution());
  return instruction.has_attention() ? attentionFlops(instruction.attention()) : 0;
}

} // namespace cleave::artifact
