// RematPolicy: for every op of the forward part, whether its results are kept for the backward
// part, in device memory or elsewhere, or are recomputed there; and for every argument, where it is
// from step to step. Plain data: passes/remat clones and marks the ops.
//
// A recomputed op reads kept operands from memory and recomputed ones from their recomputation.
// A view follows the decision of the value that it shows. An op is not recomputed if no reader in
// the backward part needs it, whatever the policy says. A recomputed kernel group may keep some
// results and compute the others from them, for example a norm from the sum that it normalises.
// Another op with several results may keep those that other recomputed ops need. An op may be
// recomputed more than once: each recomputation has a place, and is read from there to the next.
#pragma once

#include "compiler/planner/model/StepModel.h"

#include <limits>
#include <map>

namespace cleave::planner {

// The recompute decision of every op.
struct RematPolicy {
  std::vector<bool> recomputed;         // per op of the model; false: kept
  std::map<int, std::vector<int>> kept; // the kept results of recomputed ops, if any
  // For ops that are recomputed at given places, once or several times: per recomputation, the op
  // of the model, outside of the forward part, directly before which it stands; in rising order.
  // Readers before the first place read the results of the forward part. Without places, all
  // readers share one recomputation, directly before the first of them.
  std::map<int, std::vector<int>> places;
  // Spaces other than device memory: per kept op, where its results wait until they are read; per
  // argument, where it lives from step to step.
  std::map<int, Space> away, arguments;
  bool operator==(const RematPolicy &) const = default;

  // Whether this result of the op is recomputed.
  bool isRecomputed(int op, int result) const;
};

// All values are kept.
RematPolicy keepAll(const StepModel &model);

// The value that a view shows, or the value itself.
int sourceOf(const StepModel &model, int value);

// The results of the forward part that the backward part reads. Views count as their source.
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

// Whether the op may be recomputed: it is an op of the forward part that reads something, is not a
// view, makes no result of the step, and runs as often as all of its readers.
bool isRecomputable(const StepModel &model, int op);

// The results of a kernel group from which, with arguments of the step and constants, all others
// can be computed: those with the fewest bytes, and results that are small beside others. Nothing
// if there are none, or all are.
std::optional<std::vector<int>> sufficientResults(const StepModel &model, int op);

// The results that the forward part reads, of an op with several results that is not a kernel
// group; nothing if these are all of its results. They can be kept for other recomputed ops, while
// the op itself is recomputed later for the backward part.
std::optional<std::vector<int>> passedOnResults(const StepModel &model, int op);

// Whether the results of the op may wait in another space: the op computes something in the forward
// part that the backward part reads.
bool mayBeAway(const StepModel &model, const ForwardReads &reads, int op);
// Whether the argument may be in another space: it is a parameter, a constant or a state of at
// least kLeastAwayBytes.
bool mayBeAway(const StepModel &model, const Argument &argument);
inline constexpr int64_t kLeastAwayBytes = 4096;

// Drops what cannot be recomputed or kept elsewhere, and gives views the decision and the places of
// the values that they show.
void normalise(const StepModel &model, RematPolicy &policy);

// Keeps what crosses some places of the forward part, and recomputes all between them. The places
// minimise the sum of the bytes that are kept, of all micro-batches in flight, and the most bytes
// between two places: they are the boundaries of blocks, where few values cross. Values made after
// the last place are kept if the backward part follows at once.
RematPolicy fullRecompute(const StepModel &model);

// The ops after such places, in program order: each begins a segment. Only this share of the bytes
// that are kept counts.
std::vector<int> segmentsOf(const StepModel &model, double keptShare);

// Recomputes ops that take few FLOPs per byte and read what is kept anyway: norms and activations
// between products. No more values are kept, and none is needed earlier than without recomputation.
RematPolicy selectiveRecompute(const StepModel &model);

} // namespace cleave::planner
