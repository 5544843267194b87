// See InputBlock.h.
#include "runtime/executor/InputBlock.h"

#include "runtime/executor/Executor.h"

#include <algorithm>
#include <cstring>

namespace cleave::executor {

InputBlock::InputBlock(const plan::Plan &plan, const plan::Tensor &tensor, uint32_t rank,
                       const data::DataSource &data)
    : data_(data), block_(artifact::blockOf(plan, tensor, rank)), slots_(slotsOf(plan)) {
  const std::string &name = tensor.all_of().empty() ? tensor.name() : tensor.all_of();
  const std::vector<data::InputDescription> inputs = inputsOf(plan);
  while (input_ < inputs.size() && inputs[input_].name != name)
    ++input_;
  if (tensor.all_of().empty())
    return;
  rows_ = tensor.shape(0) / slots_;
  if (block_.shape[0] > 0)
    rowBytes_ = uint64_t(block_.elements() / block_.shape[0]) * artifact::byteSize(tensor.dtype());
}

Status InputBlock::fill(int64_t step, int64_t slot, void *to) const {
  return isOfWholeStep() ? fillAll(step, static_cast<char *>(to))
                         : data_.fill(input_, step, slot, block_.begin, block_.shape, to);
}

// The rows of each micro-batch, and zeros behind the last one.
Status InputBlock::fillAll(int64_t step, char *to) const {
  const int64_t begin = block_.begin[0], end = begin + block_.shape[0];
  std::memset(to, 0, size_t(block_.shape[0]) * rowBytes_);
  for (int64_t slot = 0; slot < slots_; ++slot) {
    const int64_t first = std::max(begin, slot * rows_), last = std::min(end, (slot + 1) * rows_);
    if (first >= last)
      continue;
    std::vector<int64_t> offset = block_.begin, shape = block_.shape;
    offset[0] = first - slot * rows_, shape[0] = last - first;
    CLEAVE_TRY(
        data_.fill(input_, step, slot, offset, shape, to + uint64_t(first - begin) * rowBytes_));
  }
  return Status::ok();
}

} // namespace cleave::executor
