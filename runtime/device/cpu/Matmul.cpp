// Matmul by oneDNN: one primitive per instruction, with the instruction's strides. oneDNN's brgemm
// kernels reach 80 to 95 % of the CPU's peak on dense, transposed and strided operands.
#include "runtime/device/cpu/Dnnl.h"
#include "runtime/device/cpu/Parts.h"

namespace cleave::device {
namespace {

using Dims = dnnl::memory::dims;

// The layout of an operand with the given rows and columns. A batch stride of 0 is oneDNN's
// broadcast dim.
dnnl::memory::desc layoutOf(const MatmulShape &shape, int64_t rows, int64_t columns,
                            const std::vector<int64_t> &strides, dnnl::memory::data_type type) {
  Dims dims(shape.batch.begin(), shape.batch.end());
  dims.push_back(rows), dims.push_back(columns);
  Dims steps(strides.begin(), strides.end());
  for (size_t i = 0; i < shape.batch.size(); ++i)
    if (steps[i] == 0)
      dims[i] = 1, steps[i] = 1;
  // The stride of a dim of size 1 has no meaning, but influences oneDNN's choice of a kernel.
  size_t r = dims.size() - 2, c = dims.size() - 1;
  if (rows == 1)
    steps[r] = steps[c] == 1 ? columns : 1;
  else if (columns == 1)
    steps[c] = 1;
  return dnnl::memory::desc(dims, type, steps);
}

// One row, for all rows of all results.
dnnl::memory::desc rowOf(const MatmulShape &shape, dnnl::memory::data_type type) {
  Dims dims(shape.batch.size() + 2, 1), steps(dims.size(), shape.n);
  dims.back() = shape.n, steps.back() = 1;
  return dnnl::memory::desc(dims, type, steps);
}

} // namespace

PreparedAction prepareDnnlMatmul(const MatmulShape &shape, bool accumulate,
                                 const MatmulOperands &operands, Scratch &scratch) {
  dnnl::memory::data_type type = dnnlType(operands.dtype), outType = dnnlType(operands.outDtype);
  try {
    auto lhs = layoutOf(shape, shape.m, shape.k, shape.lhs, type);
    auto rhs = layoutOf(shape, shape.k, shape.n, shape.rhs, type);
    auto out = layoutOf(shape, shape.m, shape.n, shape.out, outType);
    const dnnl::memory::desc bias =
        operands.bias ? rowOf(shape, outType) : dnnl::memory::desc(); // none
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (accumulate) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attributes.set_post_ops(sum);
    }
    dnnl::matmul::primitive_desc how(dnnl::matmul::desc(lhs, rhs, bias, out), attributes,
                                     cpuEngine());

    auto action = std::make_unique<DnnlAction>();
    auto at = [](const dnnl::memory::desc &layout, const void *data) {
      return dnnl::memory(layout, cpuEngine(), const_cast<void *>(data));
    };
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, at(lhs, operands.lhs)},
        {DNNL_ARG_WEIGHTS, at(rhs, operands.rhs)},
        {DNNL_ARG_DST, at(out, operands.out)},
        {DNNL_ARG_SCRATCHPAD, action->inScratch(how.scratchpad_desc())}};
    if (operands.bias)
      arguments.emplace(DNNL_ARG_BIAS, at(bias, operands.bias));
    action->add(dnnl::matmul(how), std::move(arguments));
    action->reserve(scratch);
    return PreparedAction(std::move(action));
  } catch (const dnnl::error &) { // it refuses strides of elements that overlap
    return preparePlainMatmul(shape, accumulate, operands);
  }
}

} // namespace cleave::device
