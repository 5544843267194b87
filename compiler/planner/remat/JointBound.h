// JointBound: sharding and recomputation of a step decided together on one mesh, by prices for
// memory; a lower bound on all plans that fit, and layouts that are good for them.
//
// Every op of the forward part has a recompute decision beside its strategy: its results are kept
// for the backward part, are gone (if only recomputed ops could read them), or are recomputed, all
// of them or from those that are kept. Recomputed ops have the layouts of the original ops. For a
// price per byte at one instant of the step, the best decision on an op follows from its strategy,
// so the network is that of the step that keeps everything, with other costs of nodes: it is solved
// exactly, and equal layers are solved once. Its least cost, less the price of the budget, is a
// bound for every price; the best price is searched. If no price fits, a very high one may prove
// that no plan fits, at this instant or at another one.
//
// Nothing is counted that a plan could do without, whatever it recomputes:
//  * memory counts arguments, and each value as long as its content certainly exists: in the layout
//    in which it lives until it is read in the last part of the step, then in equal shares of all
//    ranks. Recomputed results count from their first to their last reader. While a product
//    runs, its result and the blocks that it reads, in the layouts in which it reads them;
//  * results that only recomputed ops need are computed by them alone: of a kernel group whose
//    results are not kept, the forward part is charged only for what it reads itself;
//  * layout changes of values that recomputed ops read are free, since others may need them too,
//    and values that only recomputed ops read are charged to these in equal shares, kept or
//    computed, whichever is less;
//  * in a stage of one chunk with several micro-batches in flight, what is kept waits in each of
//    them while a backward part runs (StepModel::waiting);
//  * recomputed ops may stand between any two ops, so that reductions there can wait for others
//    (StepModel::insertable).
#pragma once

#include "compiler/planner/network/PlanProblem.h"
#include "compiler/planner/remat/ChooseRemat.h"

namespace cleave::planner {

// A copy of the model whose prices hold for the step with any recomputed ops.
StepModel withRoomForRecomputation(const StepModel &model);

// What is known from other meshes.
struct JointHint {
  double price = 0;                   // seconds per byte that are tried first; 0: unknown
  int64_t instant = -1;               // at which memory has a price; -1: the fullest one
  double enough = solver::kForbidden; // a bound of so many seconds need not be improved
  bool isDoubtful = false; // no plan fits on another mesh: whether one does is asked first
  // The price and the instant are the best ones known for this mesh, and networks are solved with
  // all effort until the bound is `enough`.
  bool isThorough = false;
};

// The result for one mesh.
struct Joint {
  double lowerBound = -solver::kForbidden; // seconds of any plan; kForbidden: no plan fits
  double secondsPerByte = 0;               // the price of a byte with which it holds
  int64_t instant = 0;                     // at which memory has this price
  PlanProblem kept;                        // the network of the step that keeps everything
  // Of its nodes, at the least price tried with which they fit there, or the highest one; if no
  // plan fits, those with the least bytes. Empty: none are known.
  std::vector<int> choices;
};

// `costs`: of a model withRoomForRecomputation(). Errors as of buildProblem() and solver::solve().
Result<Joint> boundJointly(Costs &costs, const Pins &pins, const PinnedRemat &pinned,
                           const Budget &budget, const JointHint &hint, const ChoiceLimits &choices,
                           const solver::SolveOptions &limits);

} // namespace cleave::planner
