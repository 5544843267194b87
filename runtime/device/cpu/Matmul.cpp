// Matmul by oneDNN: one primitive per instruction, with the instruction's strides, or with a size
// that is known when it runs. oneDNN's brgemm
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

// A primitive with a size that each run gives.
class DnnlProduct : public Product {
public:
  // Throws dnnl::error where oneDNN refuses the form.
  DnnlProduct(const ProductForm &form, Scratch &scratch) : form_(form) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::matmul::primitive_desc how(dnnl::matmul::desc(lhs(DNNL_RUNTIME_DIM_VAL),
                                                        rhs(DNNL_RUNTIME_DIM_VAL),
                                                        out(DNNL_RUNTIME_DIM_VAL)),
                                     attributes, cpuEngine());
    primitive_ = dnnl::matmul(how);
    scratchpad_ = dnnl::memory(how.scratchpad_desc(), cpuEngine(), nullptr);
    if (const size_t bytes = how.scratchpad_desc().get_size())
      scratch.reserve(bytes,
                      [placed = scratchpad_](void *to) mutable { placed.set_data_handle(to); });
  }

  Status run(int64_t unknown, const void *from, const void *by, void *to) override {
    static thread_local dnnl::stream stream(cpuEngine());
    auto at = [](const dnnl::memory::desc &layout, const void *data) {
      return dnnl::memory(layout, cpuEngine(), const_cast<void *>(data));
    };
    try {
      primitive_.execute(stream, {{DNNL_ARG_SRC, at(lhs(unknown), from)},
                                  {DNNL_ARG_WEIGHTS, at(rhs(unknown), by)},
                                  {DNNL_ARG_DST, at(out(unknown), to)},
                                  {DNNL_ARG_SCRATCHPAD, scratchpad_}});
      stream.wait();
    } catch (const dnnl::error &error) {
      return Status::defect("oneDNN failed: ", error.what());
    }
    return Status::ok();
  }

private:
  dnnl::memory::desc lhs(int64_t unknown) const {
    return layout(form_.m, form_.k, form_.lhs, form_.dtype, unknown);
  }
  dnnl::memory::desc rhs(int64_t unknown) const {
    return layout(form_.k, form_.n, form_.rhs, form_.dtype, unknown);
  }
  dnnl::memory::desc out(int64_t unknown) const {
    return layout(form_.m, form_.n, form_.out, form_.outDtype, unknown);
  }
  static dnnl::memory::desc layout(int64_t rows, int64_t columns,
                                   const std::array<int64_t, 2> &strides, DType dtype,
                                   int64_t unknown) {
    auto size = [&](int64_t size) { return size == kUnknown ? unknown : size; };
    return dnnl::memory::desc(Dims{size(rows), size(columns)}, dnnlType(dtype),
                              Dims{strides[0], strides[1]});
  }

  ProductForm form_;
  dnnl::matmul primitive_;
  dnnl::memory scratchpad_;
};

} // namespace

std::unique_ptr<Product> makeDnnlProduct(const ProductForm &form, Scratch &scratch) {
  if (!isDnnlType(form.dtype))
    return nullptr;
  try {
    return std::make_unique<DnnlProduct>(form, scratch);
  } catch (const dnnl::error &) { // it refuses the strides
    return nullptr;
  }
}

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
