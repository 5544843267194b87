// DimClasses: which dims of the tensors of a step count the same thing, such as the samples of the
// batch. Two dims belong together if a factor of some op is the major factor of both: the first of
// a dim whose size is not 1.
#pragma once

#include "compiler/planner/model/StepModel.h"

#include <optional>

namespace cleave::planner {

class DimClasses {
public:
  // `part`: only ops of this part of the step count; nothing: all.
  explicit DimClasses(const StepModel &model, std::optional<Part> part = std::nullopt);

  // The number of the class that a dim of a value, or a factor of an op, belongs to.
  int ofDim(int value, size_t dim) const { return class_[firstOfValue_[value] + dim]; }
  int ofFactor(int op, size_t factor) const { return class_[firstOfOp_[op] + factor]; }
  // Numbers of classes are below this.
  size_t limit() const { return class_.size(); }

private:
  std::vector<size_t> firstOfValue_, firstOfOp_; // in class_, of the dims and the factors
  std::vector<int> class_;
};

} // namespace cleave::planner
