// Matmul as plain loops, for dtypes and strides that oneDNN does not support; not optimized.
#include "runtime/base/ElementFormat.h"
#include "runtime/device/cpu/Parts.h"

#include <algorithm>

namespace cleave::device {
namespace {

constexpr int64_t kColumns = 128; // computed at a time

// Sums of products of numbers in `Format`, stored in `Out`.
template <typename Format, typename Out> class PlainMatmul : public Action {
  using Stored = typename Format::Stored;
  using StoredOut = typename Out::Stored;
  using Value = typename Out::Value;

public:
  PlainMatmul(const MatmulShape &shape, bool accumulate, const MatmulOperands &operands)
      : shape_(shape), accumulate_(accumulate), lhs_(static_cast<const Stored *>(operands.lhs)),
        rhs_(static_cast<const Stored *>(operands.rhs)),
        out_(static_cast<StoredOut *>(operands.out)),
        bias_(static_cast<const StoredOut *>(operands.bias)) {}

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
    size_t r = shape_.batch.size();
    const Stored *lhs = lhs_ + row % shape_.m * shape_.lhs[r];
    const Stored *rhs = rhs_;
    StoredOut *out = out_ + row % shape_.m * shape_.out[r];
    int64_t rest = row / shape_.m;
    for (size_t i = r; i-- > 0;) {
      int64_t index = rest % shape_.batch[i];
      rest /= shape_.batch[i];
      lhs += index * shape_.lhs[i], rhs += index * shape_.rhs[i], out += index * shape_.out[i];
    }
    for (int64_t first = 0; first < shape_.n; first += kColumns)
      computeColumns(lhs, rhs, out, first, std::min(kColumns, shape_.n - first));
  }

  void computeColumns(const Stored *lhs, const Stored *rhs, StoredOut *out, int64_t first,
                      int64_t count) const {
    size_t r = shape_.batch.size(), c = r + 1;
    Value sums[kColumns];
    for (int64_t n = 0; n < count; ++n)
      sums[n] = accumulate_ ? Out::load(out[(first + n) * shape_.out[c]]) : Value(0);
    for (int64_t k = 0; k < shape_.k; ++k) {
      Value factor = Format::load(lhs[k * shape_.lhs[c]]);
      const Stored *from = rhs + k * shape_.rhs[r] + first * shape_.rhs[c];
      for (int64_t n = 0; n < count; ++n)
        sums[n] += static_cast<Value>(factor * Format::load(from[n * shape_.rhs[c]]));
    }
    for (int64_t n = 0; bias_ && n < count; ++n)
      sums[n] += Out::load(bias_[first + n]);
    for (int64_t n = 0; n < count; ++n)
      out[(first + n) * shape_.out[c]] = Out::store(sums[n]);
  }

  MatmulShape shape_;
  bool accumulate_;
  const Stored *lhs_, *rhs_;
  StoredOut *out_;
  const StoredOut *bias_; // null: none
};

class PlainProduct : public Product {
public:
  explicit PlainProduct(const ProductForm &form) : form_(form) {}

  Status run(int64_t unknown, const void *lhs, const void *rhs, void *out) override {
    auto list = [](const std::array<int64_t, 2> &strides) {
      return std::vector<int64_t>(strides.begin(), strides.end());
    };
    auto size = [&](int64_t size) { return size == kUnknown ? unknown : size; };
    const MatmulShape shape{{},
                            size(form_.m),
                            size(form_.n),
                            size(form_.k),
                            list(form_.lhs),
                            list(form_.rhs),
                            list(form_.out)};
    CLEAVE_TRY_ASSIGN(std::unique_ptr<Action> action,
                      preparePlainMatmul(shape, /*accumulate=*/false,
                                         {.dtype = form_.dtype,
                                          .outDtype = form_.outDtype,
                                          .lhs = lhs,
                                          .rhs = rhs,
                                          .out = out}));
    return action->run();
  }

private:
  ProductForm form_;
};

} // namespace

std::unique_ptr<Product> makePlainProduct(const ProductForm &form) {
  return std::make_unique<PlainProduct>(form);
}

PreparedAction preparePlainMatmul(const MatmulShape &shape, bool accumulate,
                                  const MatmulOperands &operands) {
  return withProductFormats<WrappingFormat>(
      operands.dtype, operands.outDtype, [&](auto format, auto out) {
        return PreparedAction(std::make_unique<PlainMatmul<decltype(format), decltype(out)>>(
            shape, accumulate, operands));
      });
}

} // namespace cleave::device
