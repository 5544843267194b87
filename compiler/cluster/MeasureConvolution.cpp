// The speed of a grouped convolution that the library lowers (runtime/base/ConvolutionLowering.h).
#include "compiler/cluster/MeasureConvolution.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <omp.h>

namespace cleave::cluster {

// The gradient of the weights of a depthwise convolution of 5 x 5.
static std::function<void()> lowered(dnnl::stream &stream, double &columns) {
  using dnnl::memory;
  using Gradient = dnnl::convolution_backward_weights;
  const dnnl::engine engine = stream.get_engine();
  auto any = [](const memory::dims &dims) {
    return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  };
  constexpr int64_t kChannels = 16, kSize = 28, kKernel = 5;
  columns = kChannels * kSize * kSize * kKernel * kKernel;
  const memory::desc data = any({1, kChannels, kSize, kSize}),
                     weight = any({kChannels, 1, 1, kKernel, kKernel});
  const memory::dims strides = {1, 1}, dilations = {0, 0}, pads = {2, 2};
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward({dnnl::prop_kind::forward_training,
                                                           direct, data, weight, data, strides,
                                                           dilations, pads, pads},
                                                          engine);
  const Gradient::primitive_desc how({direct, data, weight, data, strides, dilations, pads, pads},
                                     engine, forward);
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, memory(how.src_desc(), engine)},
      {DNNL_ARG_DIFF_DST, memory(how.diff_dst_desc(), engine)},
      {DNNL_ARG_DIFF_WEIGHTS, memory(how.diff_weights_desc(), engine)}};
  return [primitive = Gradient(how), arguments, &stream] {
    primitive.execute(stream, arguments);
    stream.wait();
  };
}

double measureColumns(double seconds) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  double columns = 0, least = 0;
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0); // which the stream does not keep alive
    dnnl::stream stream(engine);
    least = leastSeconds(seconds, lowered(stream, columns));
  } catch (const dnnl::error &) { // it has no such convolution: priced as any other
  }
  omp_set_num_threads(threads);
  return least > 0 ? columns / least : 0;
}

} // namespace cleave::cluster
