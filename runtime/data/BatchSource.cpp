// See BatchSource.h.
#include "runtime/data/BatchSource.h"

#include "runtime/data/BatchFormat.h"
#include "runtime/data/Block.h"
#include "runtime/data/Sources.h"

namespace cleave::data {

Status BatchSource::set(int64_t step, std::vector<std::string> slots) {
  slots_.clear();
  step_ = step;
  for (std::string &bytes : slots) {
    auto batch = parseBatch(std::move(bytes), inputs_);
    if (!batch)
      return Status::userError(name_, " ", batch.status().message(), ", in the batch of step ",
                               step);
    slots_.push_back(std::move(*batch));
  }
  return Status::ok();
}

// The samples are those of the first label, or of the first input.
int64_t BatchSource::samplesPerMicroBatch() const {
  const InputDescription *counted = inputs_.empty() ? nullptr : &inputs_[0];
  for (const InputDescription &input : inputs_)
    if (isLabel(input) && input.shape.size() > 1)
      counted = &input;
  return counted && !counted->shape.empty() ? counted->shape[0] : 1;
}

int64_t BatchSource::tokensPerSample() const {
  for (const InputDescription &input : inputs_)
    if (!isLabel(input) && input.vocabulary && input.shape.size() > 1)
      return elements(input.shape) / samplesPerMicroBatch();
  return 0;
}

Status BatchSource::fill(size_t index, int64_t step, int64_t slot,
                         const std::vector<int64_t> &offset, const std::vector<int64_t> &shape,
                         void *destination) const {
  const InputDescription &input = inputs_[index];
  if (step != step_)
    return Status::userError(name_, " has not written step ", step, " yet");
  const ArrayView &array = *slots_[size_t(slot)]->find(input.name);
  Block block{offset, shape}, whole{std::vector<int64_t>(input.shape.size(), 0), input.shape};
  Block part = intersection(block, whole);
  clearUnlessAll(part, block, input.dtype, destination);
  CLEAVE_TRY(copyPart(part, whole, array.dtype, array.data, block, input.dtype, destination)
                 .withContext(name_ + ", input `" + input.name + "`"));
  if (auto bad = findBadValue(input, destination, elements(shape)))
    return refuse(input, bad->value, concat("step ", step, " of ", name_));
  return Status::ok();
}

} // namespace cleave::data
