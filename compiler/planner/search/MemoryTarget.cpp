#include "compiler/planner/search/MemoryTarget.h"

#include <algorithm>

namespace cleave::planner {

void MemoryTarget::record(int64_t slack) {
  if (slack >= 0)
    fitting_ = std::max(fitting_, bytes_);
  else
    tooLarge_ = std::min(tooLarge_.value_or(bytes_), bytes_);
}

void MemoryTarget::correct(int64_t slack, int64_t chosenBytes, int64_t left) {
  bytes_ = (slack < 0 ? std::min(bytes_, chosenBytes) : bytes_) + slack - left;
  if (tooLarge_ && (bytes_ <= fitting_ || bytes_ >= *tooLarge_))
    bytes_ = fitting_ + (*tooLarge_ - fitting_) / 2;
}

} // namespace cleave::planner
