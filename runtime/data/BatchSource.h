// A data source whose micro-batches are handed over step by step, instead of being read from files.
#pragma once

#include "runtime/data/ArrayFile.h"
#include "runtime/data/DataSource.h"

#include <memory>
#include <string>
#include <vector>

namespace cleave::data {

class BatchSource final : public DataSource {
public:
  // `name` stands in messages: `the data command 'CMD'`.
  BatchSource(std::vector<InputDescription> inputs, std::string name)
      : inputs_(std::move(inputs)), name_(std::move(name)) {}

  // Takes the micro-batches of a step, as bytes in the format of BatchFormat.h. They are those that
  // fill() has until the next call. A user error if one does not fit the inputs.
  Status set(int64_t step, std::vector<std::string> slots);

  int64_t samples() const override { return 0; }
  int64_t samplesPerMicroBatch() const override;
  int64_t tokensPerSample() const override;
  Status fill(size_t input, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
              const std::vector<int64_t> &shape, void *destination) const override;

private:
  std::vector<InputDescription> inputs_;
  std::string name_;
  int64_t step_ = -1;
  std::vector<std::shared_ptr<const ArrayFile>> slots_; // of step_
};

} // namespace cleave::data
