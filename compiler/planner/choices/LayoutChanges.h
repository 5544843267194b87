// LayoutChanges: the changes of layout that follow from decisions. The planner sums and explains
// them, partitioning emits them (passes/shard/Partition.cpp).
//
// An op's results go from the layouts in which its kernel leaves them to those that the plan wants.
// For its readers in one part of the step a value goes by its stops, and from the last one to the
// layout of each reader. Readers in one part share changes to the same layout, and a change that no
// reader needs is not made.
#pragma once

#include "compiler/planner/choices/Decisions.h"

namespace cleave::planner {

// The reason of a layout change.
enum class ChangePurpose {
  Copy,      // a stop, for the readers in one part of the step
  Reduction, // of an op's result
  Reader,    // an operand of an op
  Output,    // a result of the step
};

// One layout change, emitted once.
struct LayoutChange {
  ChangePurpose purpose = ChangePurpose::Reader;
  int value = 0;
  Sharding from, to;
  Part part = Part::Forward;
  int user = -1;     // of Reader the first op, of Output the output
  int64_t times = 1; // per step
};

// The layout that a value lives in: that of the result that it is, or an argument's storage.
const Sharding &homeOf(const StepModel &model, const Decisions &decisions, int value);

// The layouts that a value goes through before it is changed for its readers in `part`: that in
// which an argument is used, and that of a copy.
std::vector<Sharding> stopsOf(const StepModel &model, const Decisions &decisions, int value,
                              Part part);

// The part of the step whose copies a stop is one of, for readers in `part`: the forward part, if
// it is the layout for use of an argument that stays gathered.
Part partOfStop(const StepModel &model, const Decisions &decisions, int value, Part part,
                const Sharding &stop);

// The layout in which an output leaves the step: that of the argument that it replaces, or that in
// which its value lives, sums completed.
Sharding outputLayout(const StepModel &model, const Decisions &decisions, const Output &output);

// All layout changes of a step, by purpose.
std::vector<LayoutChange> layoutChanges(const StepModel &model, const Decisions &decisions);

} // namespace cleave::planner
