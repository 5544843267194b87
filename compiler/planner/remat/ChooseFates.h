// ChooseFates: which values of the forward part are computed again or kept in other spaces, and
// which arguments are there, for a plan whose sharding is decided, such that the step takes the
// least time within a budget. A cost network of its own, solved by compiler/solver.
//
// A node per op of the forward part whose results the backward part may need. Its choices: keep (as
// the plan does), gone (if only repetitions could read them), or again at one of a few instants of
// the clock, its slots: just before an op of the backward part that reads results of the op, or of
// ops that depend on it. An op that runs again at an instant finds its operands there only if they
// are kept until then, or are computed again no later: other pairs of choices are forbidden. Some
// results may be kept until the op runs again for the others (sufficientResults, passedOnResults):
// what reads only those finds them all the time. Where more than one repetition is allowed, a
// choice is a list of lives: its results are there from a slot until what reads them has run, gone,
// and there again from a later slot; the first life may be that of what is kept. Such choices are
// many, so that of large models only some slots are taken (FateChoices.h). Where there are bytes of
// other spaces, the results may also be copied there when the forward part has read them, and back
// at the first reader of the backward part. A node per large parameter, constant and state has the
// choices to be in device memory throughout, or in another space but when ops read or replace it,
// for which each has a copy of its own.
//
// Bytes are those of the plan. Kept results occupy theirs all the time. The results of an op that
// runs again occupy theirs until their last reader of the forward part, and from the op's slot on.
// The realised program needs no more: a repetition stands no earlier than at its slot, and buffers
// that are not kept may be reused. Seconds of a repetition: its kernels, the reductions of its
// results, and the layout changes of its operands, as if none of these were shared. A result in
// another space takes the seconds of its copies.
#pragma once

#include "compiler/planner/choices/Budget.h"
#include "compiler/planner/network/PricedDecisions.h"
#include "compiler/planner/remat/Fates.h"
#include "compiler/solver/Solver.h"

namespace cleave::planner {

// Fates that the user determines.
struct ForcedFates {
  std::vector<std::optional<bool>> again; // per op; nothing: the planner chooses
  std::map<int, std::vector<int>> kept;   // as Fates::kept
  std::map<int, Space> away, arguments;   // as in Fates; device memory: they stay there

  explicit ForcedFates(size_t ops) : again(ops) {}
};

// Fates, and what they are worth.
struct ChosenFates {
  Fates fates;
  double seconds = 0;    // per step, of all repetitions
  bool isFitting = true; // else the fates with the least peak that were found
  int64_t peakBytes = 0; // by this network
};

// Memory of a rank.
struct FateBudget {
  FateBudget(int64_t device, const OtherSpaces &others = {}) : device(device), others(others) {}

  Budget device;
  OtherSpaces others;
};

// The fates with which `whole`, decisions on costs.model() that keep everything, fit into the
// budget, found within the solver's limits. No op runs again more than `repetitions` times.
Result<ChosenFates> chooseFates(Costs &costs, const PricedDecisions &whole,
                                const ForcedFates &forced, const FateBudget &budget,
                                const solver::SolveOptions &limits, int repetitions = 1);

// Seconds per step that a repetition of the op would take under these decisions.
double secondsAgain(Costs &costs, const Decisions &decisions, int op);

} // namespace cleave::planner
