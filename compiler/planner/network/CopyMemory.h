// CopyMemory: when copies of values in other layouts take memory.
//
// The readers of a value in one part of the step read it where it lives, or from a copy. In all
// parts but the last one, a copy takes memory beside the value, from before the first reader until
// after the last one. In the last part it takes the place of the value, whose memory is free once
// the copy is made: there the bytes are those of the layout that is read, copy or not. A reader
// that makes a view of what it reads keeps the copy as long as the view is read.
#pragma once

#include "compiler/planner/model/StepModel.h"

#include <array>
#include <optional>

namespace cleave::planner {

// When a copy takes memory.
struct CopySpan {
  Span span;
  bool replacesHome = false; // the value takes none of its own during the span
};

// The spans of the copies of all values that have at least `leastBytes` bytes.
class CopyMemory {
public:
  CopyMemory(const StepModel &model, int64_t leastBytes);

  // Of the value's copy for the readers in a part; nothing if it is small or has none there.
  std::optional<CopySpan> of(int value, Part part) const;
  // Of a copy for one reader.
  Span ofUse(const StepModel &model, const Use &use) const;
  // The instant from which on copies take the place of the value; the end of the step if they do
  // not.
  int64_t homeEnd(int value) const { return homeEnds_[value]; }
  // No copy takes the place of this value.
  void keepHome(int value) { homeEnds_[value] = instants_; }

private:
  static constexpr size_t kParts = 3;

  int64_t endOf(const StepModel &model, const Use &use) const;
  void setReads(const StepModel &model, int value);
  void setHomeEnd(const StepModel &model, int value);

  std::vector<std::array<Span, kParts>> reads_; // per value and part; empty without readers
  std::vector<int64_t> homeEnds_, storeEnds_;   // per value; storeEnds_: 0 without a store
  std::vector<bool> isSmall_;                   // per value
  int64_t instants_ = 0;                        // of the step
};

} // namespace cleave::planner
