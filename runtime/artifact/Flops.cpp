// See Flops.h.
#include "runtime/artifact/Flops.h"

#include <cstdint>

namespace cleave::artifact {

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
  if (instruction.has_convolution()) {
    // Every element of the output has one multiply-add per weight of its channel.
    const plan::Convolution &convolution = instruction.convolution();
    double flops = 2.0;
    for (int64_t size : convolution.output_shape())
      flops *= double(size);
    for (int i = 1; i < convolution.weight_shape_size(); ++i)
      flops *= double(convolution.weight_shape(i));
    return flops;
  }
  return 0;
}

} // namespace cleave::artifact
