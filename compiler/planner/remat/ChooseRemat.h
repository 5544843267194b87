// ChooseRemat: which values of the forward part are recomputed or kept in other spaces, and which
// arguments are in other spaces, for a plan whose sharding is decided, such that the step takes the
// least time within a budget. A cost network of its own, solved by compiler/solver.
//
// The network has a node per op of the forward part whose results the backward part may need. Its
// choices: keep (as the plan does), gone (if only recomputed ops could read the results), or
// recompute at one of a few instants of the clock, its slots: just before an op of the backward
// part that reads results of the op, or of ops that depend on it. An op that is recomputed at an
// instant finds its operands in memory only if they are kept until then, or are recomputed no
// later: other pairs of choices are forbidden. Some results may be kept until the op is recomputed
// for the others (sufficientResults, passedOnResults): ops that read only those find them all the
// time. Where an op may be recomputed more than once, a choice is a list of lives: its results are
// live from a slot until their readers have run, gone, and live once more from a later slot; the
// first life may be that of kept results. These choices are many, so large models use only some of
// the slots (RematChoices.h). Where there are bytes of other spaces, the results may also be copied
// there when the forward part has read them, and back at the first reader of the backward part. A
// node per large parameter, constant and state has the choices to be in device memory throughout,
// or in another space except when ops read or replace it, for which each has a copy of its own.
//
// Bytes are those of the plan. Kept results occupy theirs all the time. The results of a recomputed
// op occupy theirs until their last reader of the forward part, and from the op's slot on. The
// realised program needs no more: a recomputed op stands no earlier than at its slot, and buffers
// that are not kept may be reused. Seconds of a recomputation: its kernels, the reductions of its
// results, and the layout changes of its operands, as if none of these were shared. A result in
// another space takes the seconds of its copies.
#pragma once

#include "compiler/planner/choices/Budget.h"
#include "compiler/planner/network/PricedDecisions.h"
#include "compiler/planner/remat/RematPolicy.h"
#include "compiler/solver/Solver.h"

namespace cleave::planner {

// The decisions that the user determines.
struct PinnedRemat {
  std::vector<std::optional<bool>> recomputed; // per op; nothing: the planner chooses
  std::map<int, std::vector<int>> kept;        // as RematPolicy::kept
  std::map<int, Space> away, arguments;        // as in RematPolicy; device memory: they stay there

  explicit PinnedRemat(size_t ops) : recomputed(ops) {}
};

// A policy, its price and its memory.
struct ChosenRemat {
  RematPolicy policy;
  double seconds = 0;    // per step, of all recomputations and copies
  bool isFitting = true; // else the policy with the least peak that was found
  int64_t peakBytes = 0; // by this network
};

// Memory of a rank.
struct RematBudget {
  RematBudget(int64_t device, const OtherSpaces &others = {}) : device(device), others(others) {}

  Budget device;
  OtherSpaces others;
};

// The policy with which `whole`, decisions on costs.model() that keep everything, fits into the
// budget, found within the solver's limits. No op is recomputed more than `maxRecomputations`
// times.
Result<ChosenRemat> chooseRemat(Costs &costs, const PricedDecisions &whole,
                                const PinnedRemat &pinned, const RematBudget &budget,
                                const solver::SolveOptions &limits, int maxRecomputations = 1);

// Seconds per step that recomputing the op once would take under these decisions.
double recomputeSeconds(Costs &costs, const Decisions &decisions, int op);

} // namespace cleave::planner
