// Matmul as plain loops, for f64 (gradient checks, small references) and for strides beyond oneDNN:
// right rather than fast.
#include "runtime/device/cpu/Parts.h"

namespace cleave::device {
namespace {

template <typename T> class PlainMatmul : public Action {
public:
  PlainMatmul(const MatmulShape &shape, bool accumulate, const MatmulOperands &operands)
      : shape_(shape), accumulate_(accumulate), lhs_(static_cast<const T *>(operands.lhs)),
        rhs_(static_cast<const T *>(operands.rhs)), out_(static_cast<T *>(operands.out)),
        bias_(static_cast<const T *>(operands.bias)) {}

  Status run() override {
    int64_t rows = shape_.m;
    for (int64_t size : shape_.batch)
      rows *= size;
    inParallel(rows, [this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        computeRow(row);
    });
    return Status::ok();
  }

private:
  // `row` counts rows over the whole batch.
  void computeRow(int64_t row) const {
    size_t r = shape_.batch.size(), c = r + 1;
    const T *lhs = lhs_ + row % shape_.m * shape_.lhs[r];
    const T *rhs = rhs_;
    T *out = out_ + row % shape_.m * shape_.out[r];
    int64_t rest = row / shape_.m;
    for (size_t i = r; i-- > 0;) {
      int64_t index = rest % shape_.batch[i];
      rest /= shape_.batch[i];
      lhs += index * shape_.lhs[i], rhs += index * shape_.rhs[i], out += index * shape_.out[i];
    }
    for (int64_t n = 0; n < shape_.n; ++n) {
      T &value = out[n * shape_.out[c]];
      value = (accumulate_ ? value : T(0)) + (bias_ ? bias_[n] : T(0));
    }
    for (int64_t k = 0; k < shape_.k; ++k) {
      T factor = lhs[k * shape_.lhs[c]];
      const T *from = rhs + k * shape_.rhs[r];
      for (int64_t n = 0; n < shape_.n; ++n)
        out[n * shape_.out[c]] += factor * from[n * shape_.rhs[c]];
    }
  }

  MatmulShape shape_;
  bool accumulate_;
  const T *lhs_, *rhs_;
  T *out_;
  const T *bias_;
};

} // namespace

PreparedAction preparePlainMatmul(const MatmulShape &shape, bool accumulate,
                                  const MatmulOperands &operands) {
  if (operands.dtype == DType::F32)
    return PreparedAction(std::make_unique<PlainMatmul<float>>(shape, accumulate, operands));
  if (operands.dtype == DType::F64)
    return PreparedAction(std::make_unique<PlainMatmul<double>>(shape, accumulate, operands));
  return Status::userError("the CPU has no matmul of " + std::string(name(operands.dtype)) +
                           "; f32, bf16 and f64 are there");
}

} // namespace cleave::device
