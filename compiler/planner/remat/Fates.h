// Fates: the decision, for every op of the forward part, whether its results are kept for the
// backward part, in device memory or elsewhere, or are computed again there; and for arguments
// where they are from step to step. Plain data: passes/remat repeats and marks the ops.
//
// An op that is run again reads its operands where they are: kept ones in memory, others from
// their own repetition. Views have the fate of what they show. An op that no reader needs again is
// not repeated, whatever its fate says. A kernel group that runs again may keep some results: its
// repetition computes the others from them, a norm from the sum that it normalises. Another op with
// several results may keep those that other repetitions need. An op may run again more than once:
// each repetition has a place, and is read from there to the next one.
#pragma once

#include "compiler/planner/model/StepModel.h"

#include <limits>
#include <map>

namespace cleave::planner {

// The fate of every op's results.
struct Fates {
  std::vector<bool> again;              // per op of the model: computed again; else kept
  std::map<int, std::vector<int>> kept; // of ops that run again the results that are kept, if any
  // Of ops that run again at given places, once or several times: per repetition the op of the
  // model, outside of the forward part, directly before which it stands; in rising order. Readers
  // before the first place read what the forward part made. Without places one repetition, directly
  // before the first reader, is read by all.
  std::map<int, std::vector<int>> places;
  // Spaces other than device memory: per op that does not run again, where its results wait until
  // they are read; per argument, where it lives from step to step.
  std::map<int, Space> away, arguments;
  bool operator==(const Fates &) const = default;

  // Whether this result of the op is computed again.
  bool isAgain(int op, int result) const;
};

// All values are kept.
Fates keepAll(const StepModel &model);

// The value that a view shows, or the value itself.
int sourceOf(const StepModel &model, int value);

// What the backward part reads of the forward part. Views count as their source.
struct ForwardReads {
  static constexpr int kNever = std::numeric_limits<int>::max();
  // Per op the first op outside of the forward part that reads one of its results; kNever: none.
  std::vector<int> first;
  // Per op the bytes of its results that are read there.
  std::vector<int64_t> bytes;
  // Per op the ops of the forward part whose results it reads, each once, in program order. Ops
  // without operands, which make constants, are left out.
  std::vector<std::vector<int>> inputs;
};
ForwardReads readsOf(const StepModel &model);

// Whether the op may run again: one of the forward part that reads something, is no view, makes no
// result of the step, and runs as often as all of its readers.
bool isRecomputable(const StepModel &model, int op);

// The results of a kernel group from which, with arguments of the step and constants, all others
// can be computed: those with the fewest bytes, and results that are small beside others. Nothing
// if there are none, or all are.
std::optional<std::vector<int>> sufficientResults(const StepModel &model, int op);

// Results of an op with several ones that are read by the forward part, if these are not all and
// the op is no kernel group. They can be kept for repetitions of other ops, while the op runs again
// for the backward part later.
std::optional<std::vector<int>> passedOnResults(const StepModel &model, int op);

// Whether the results of the op may wait in another space: the op computes something in the forward
// part that the backward part reads.
bool mayBeAway(const StepModel &model, const ForwardReads &reads, int op);
// Whether the argument may be in another space: it is a parameter, a constant or a state of at
// least kLeastAwayBytes.
bool mayBeAway(const StepModel &model, const Argument &argument);
inline constexpr int64_t kLeastAwayBytes = 4096;

// Drops what cannot run again or be kept elsewhere, and gives views the fate and the places of what
// they show.
void normalise(const StepModel &model, Fates &fates);

// Keeps what crosses some places of the forward part, and computes all between them again. The
// places are such that the bytes that are kept, of all micro-batches in flight, and the bytes
// between two places, whichever are most, have the least sum: the boundaries of blocks, where few
// values cross. What is made behind the last place is kept if the backward part follows at once.
Fates fullRecompute(const StepModel &model);

// The ops behind such places, in program order: each begins a segment. Only this share of the bytes
// that are kept counts.
std::vector<int> segmentsOf(const StepModel &model, double keptShare);

// Computes again what takes few FLOPs per byte and reads what is kept anyway: norms and activations
// between products. No more values are kept, and none is needed earlier than without.
Fates selectiveRecompute(const StepModel &model);

} // namespace cleave::planner
