// Products of groups of rows, whose ends are data: one product per group that has rows.
#include "runtime/base/DType.h"
#include "runtime/device/cpu/Parts.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cleave::device {
namespace {

// The strides of a matrix, with those of dims of size 1 as if it were dense: they have no meaning.
std::array<int64_t, 2> stridesOf(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  if (columns == 1 && rows != 1 && row != 1)
    column = 1;
  if (rows == 1)
    row = column == 1 ? columns : 1;
  return {row, column};
}

std::array<int64_t, 2> transposed(std::array<int64_t, 2> strides) {
  return {strides[1], strides[0]};
}

// The product of one group. `isSwapped`: of the transposed matrices, which gives the transposed
// result, whose rows are then contiguous.
ProductForm formOf(const plan::GroupedMatmul &m, const GroupedMatmulOperands &at, bool &isSwapped) {
  const std::array<int64_t, 2> input = stridesOf(kUnknown, m.inputs(), m.input().strides(0),
                                                 m.input().strides(1)),
                               weight = stridesOf(m.inputs(), m.outputs(), m.weight().strides(1),
                                                  m.weight().strides(2)),
                               output = stridesOf(kUnknown, m.outputs(), m.output().strides(0),
                                                  m.output().strides(1));
  ProductForm form =
      m.weight_gradient()
          ? ProductForm{m.inputs(), m.outputs(), kUnknown, transposed(input), output, weight}
          : ProductForm{kUnknown, m.outputs(), m.inputs(), input, weight, output};
  isSwapped = form.out[1] != 1;
  if (isSwapped)
    form = {
        form.n, form.m, form.k, transposed(form.rhs), transposed(form.lhs), transposed(form.out)};
  form.dtype = at.dtype, form.outDtype = at.resultDtype;
  return form;
}

class GroupedMatmulAction : public Action {
public:
  GroupedMatmulAction(const plan::GroupedMatmul &matmul, const GroupedMatmulOperands &operands,
                      Scratch &scratch)
      : op_(matmul), at_(operands) {
    const ProductForm form = formOf(op_, at_, isSwapped_);
    product_ = makeDnnlProduct(form, scratch);
    if (!product_)
      product_ = makePlainProduct(form);
  }

  Status run() override {
    CLEAVE_TRY(readEnds());
    const int64_t firstGroup = scalarAt(at_.firstGroup);
    if (!op_.weight_gradient()) {
      clearRows(0, boundOf(firstGroup));
      clearRows(boundOf(firstGroup + op_.groups()), op_.rows());
    }
    for (int64_t group = 0; group < op_.groups(); ++group) {
      const int64_t begin = boundOf(firstGroup + group), end = boundOf(firstGroup + group + 1);
      if (begin < end)
        CLEAVE_TRY(multiply(group, begin, end));
      else if (op_.weight_gradient())
        clear(weightOf(group), op_.inputs(), op_.outputs(), op_.weight().strides(1),
              op_.weight().strides(2));
    }
    return Status::ok();
  }

private:
  static int64_t scalarAt(const void *address) {
    int64_t value = 0;
    if (address)
      std::memcpy(&value, address, sizeof(value));
    return value;
  }

  // Sets `bounds_`: 0 and the ends of all groups, among the rows of all ranks.
  Status readEnds() {
    bounds_.assign(1, 0);
    for (int64_t i = 0; i < op_.whole_groups(); ++i) {
      const int64_t end = at_.endsDtype == DType::I32 ? static_cast<const int32_t *>(at_.ends)[i]
                                                      : static_cast<const int64_t *>(at_.ends)[i];
      if (end < bounds_.back() || end > op_.whole_rows())
        return Status::userError("group ", i, " of a grouped product ends at row ", end,
                                 ", expected ", bounds_.back(), " to ", op_.whole_rows());
      bounds_.push_back(end);
    }
    return Status::ok();
  }

  // The first row of this rank that is in this group of all or in a later one.
  int64_t boundOf(int64_t group) const {
    const int64_t last = int64_t(bounds_.size()) - 1;
    const int64_t bound = bounds_[size_t(std::clamp<int64_t>(group, 0, last))];
    return std::clamp<int64_t>(bound - scalarAt(at_.firstRow), 0, op_.rows());
  }

  char *at(void *buffer, DType dtype, const plan::StridedOperand &operand, int64_t index) const {
    return static_cast<char *>(buffer) +
           (operand.offset() + index * operand.strides(0)) * int64_t(byteSize(dtype));
  }
  char *inputOf(int64_t row) const { return at(at_.input, at_.dtype, op_.input(), row); }
  char *weightOf(int64_t group) const {
    return at(at_.weight, op_.weight_gradient() ? at_.resultDtype : at_.dtype, op_.weight(), group);
  }
  char *outputOf(int64_t row) const {
    return at(at_.output, op_.weight_gradient() ? at_.dtype : at_.resultDtype, op_.output(), row);
  }

  Status multiply(int64_t group, int64_t begin, int64_t end) {
    const char *lhs = inputOf(begin), *rhs = weightOf(group);
    char *out = outputOf(begin);
    if (op_.weight_gradient())
      rhs = outputOf(begin), out = weightOf(group);
    if (isSwapped_)
      std::swap(lhs, rhs);
    return product_->run(end - begin, lhs, rhs, out);
  }

  void clearRows(int64_t begin, int64_t end) const {
    if (begin < end)
      clear(outputOf(begin), end - begin, op_.outputs(), op_.output().strides(0),
            op_.output().strides(1));
  }

  // Sets a matrix of results to 0.
  void clear(char *matrix, int64_t rows, int64_t columns, int64_t row, int64_t column) const {
    const auto bytes = int64_t(byteSize(at_.resultDtype));
    inParallel(rows, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        if (column == 1)
          std::memset(matrix + r * row * bytes, 0, size_t(columns * bytes));
        else
          for (int64_t c = 0; c < columns; ++c)
            std::memset(matrix + (r * row + c * column) * bytes, 0, size_t(bytes));
    });
  }

  plan::GroupedMatmul op_;
  GroupedMatmulOperands at_;
  bool isSwapped_ = false;
  std::unique_ptr<Product> product_;
  std::vector<int64_t> bounds_;
};

} // namespace

PreparedAction prepareGroupedMatmul(const plan::GroupedMatmul &matmul,
                                    const GroupedMatmulOperands &operands, Scratch &scratch) {
  if (matmul.outputs() == 0 || (matmul.weight_gradient() && matmul.inputs() == 0))
    return PreparedAction(std::make_unique<NoAction>());
  return PreparedAction(std::make_unique<GroupedMatmulAction>(matmul, operands, scratch));
}

} // namespace cleave::device
